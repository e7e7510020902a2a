// One console for several platforms: the key stays where it was asked to, and the page connects only where its policy lets it.
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import { type Console, openConsole } from "./console.ts";
import { ConsolePage } from "./console-page.ts";

let shared: Console;
let other: Platform;
let otherApi: string;

beforeAll(async () => {
  other = await startPlatform();
  otherApi = other.info.apiUrl.replace("127.0.0.1", "localhost");
  const { host } = new URL(otherApi);
  shared = await openConsole(["--console-connect", otherApi, "--console-connect", `http://*.${host}`]);
}, 120_000);

afterAll(async () => {
  await shared?.close();
  await other?.stop();
});

async function connectTo(page: ConsolePage, apiUrl: string, key: string, keep = false): Promise<void> {
  await (await page.find("console-connect >>> #provider")).select("custom");
  await page.fill("console-connect >>> #key", key);
  await page.fill("console-connect >>> #api", apiUrl);
  if (keep) await page.click("console-connect >>> [name=keep]");
  await page.click("console-connect >>> button", "Connect");
}

describe("another platform", { timeout: 120_000 }, () => {
  test("is used by its address and key, which are kept nowhere", async () => {
    const { first: page } = shared;
    await page.page.keyboard.press("F1");
    await page.find("console-palette >>> input:focus");
    await page.page.keyboard.type("another platform\n");
    await connectTo(page, otherApi, other.info.apiKey);
    await page.find("h2", "No sandboxes yet");
    await page.find("header >>> .facts", new URL(otherApi).host);
    const id = await page.createSandbox();
    expect(await page.run("echo over there")).toBe("exit 0");
    await page.terminal(1);
    const { apiUrl, apiKey, sandboxUrl } = other.info;
    expect((await Sandbox.getInfo(id, { apiUrl, apiKey, sandboxUrl })).status).toBe("running");
    expect(JSON.stringify(await page.storage())).not.toContain(apiKey);
  });

  test("kept for the tab when that was asked for, until one leaves it", async () => {
    const { first: page } = shared;
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("header >>> .facts", new URL(shared.url).host);
    await page.page.keyboard.press("F1");
    await page.find("console-palette >>> input:focus");
    await page.page.keyboard.type("another platform\n");
    await connectTo(page, otherApi, other.info.apiKey, true);
    await page.find("header >>> .facts", new URL(otherApi).host);
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("header >>> .facts", new URL(otherApi).host);
    await page.find("console-sandboxes >>> .item");
    await page.page.keyboard.press("F1");
    await page.find("console-palette >>> input:focus");
    await page.page.keyboard.type("another platform\n");
    await page.find("console-connect >>> p", "needs no key");
    await screenshot(page.page, "console-platforms");
    expect(JSON.stringify(await page.storage())).not.toContain(other.info.apiKey);
    await page.click("console-connect >>> button", "Connect");
    await page.find("h2", "No sandboxes yet");
  });

  test("that the page's policy does not name is refused with the flag, and a wrong key with its reason", async () => {
    const page = await ConsolePage.open(await shared.browser.createBrowserContext(), shared.url);
    await (await page.find("console-connect >>> #provider")).select("custom");
    await page.find("console-connect >>> .hint", otherApi);
    const strange = "http://localhost:9";
    await connectTo(page, strange, "some-key");
    await page.find("console-connect >>> sandbox-error >>> .title", "may not connect there");
    await page.find("console-connect >>> sandbox-error >>> p", `--console-connect ${strange}`);
    await screenshot(page.page, "console-refused-platform");
    await connectTo(page, otherApi, "wrong-key");
    await page.find("console-connect >>> sandbox-error >>> .title", "The key was refused");
    await page.page.close();
  });
});
