// How the page comes by its right to use the platform, where it keeps it, and what it says when that is over.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { startPlatform } from "../support/platform.ts";
import { type Console, openConsole } from "./console.ts";
import { ConsolePage } from "./console-page.ts";

let shared: Console;

beforeAll(async () => {
  shared = await openConsole();
}, 120_000);

afterAll(() => shared?.close());

/** The files of the console that a page has loaded, without their hashes, sorted. */
const loaded = ({ page }: ConsolePage) =>
  page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .flatMap(({ name }) => /\/assets\/(.+)-[\w-]{8}(\.\w+)$/.exec(name)?.slice(1).join("") ?? [])
      .sort(),
  );

describe("access to the console", { timeout: 120_000 }, () => {
  test("the first load is small and nothing in it jumps: what works in a sandbox, and each of its larger parts, come when they are used", async () => {
    const { first } = shared;
    expect(await loaded(first)).toEqual(["agent_sandbox_web_bg.wasm", "index.css", "index.js"]);
    const transferred = await first.page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .filter(({ name }) => name.includes("/assets/"))
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
    );
    // All of it compressed: it is half a megabyte otherwise.
    expect(transferred).toBeLessThan(200_000);
    const jumps = await first.page.evaluate(async () => {
      type Shift = PerformanceEntry & { sources: { node?: Node }[] };
      const seen: string[] = [];
      const observer = new PerformanceObserver((list) => {
        for (const { sources } of list.getEntries() as Shift[]) {
          seen.push(...sources.map(({ node }) => (node instanceof Element ? node.outerHTML : String(node?.textContent))));
        }
      });
      observer.observe({ type: "layout-shift", buffered: true });
      // What was painted is judged with the frame that follows.
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      observer.disconnect();
      return seen;
    });
    expect(jumps).toEqual([]);
    await first.createSandbox();
    await first.find("sandbox-tree");
    const later = (await loaded(first)).join(" ");
    expect(later).toContain("sandbox-console.js");
    for (const part of ["terminal-engine", "editor-engine", "math", "chart", "notebook", "metrics"])
      expect(later).not.toContain(part);
  });

  test("storage holds the token and the open sandbox, and no address holds either key or token", async () => {
    const { first, platform } = shared;
    const requested: string[] = [];
    first.page.on("request", (request) => requested.push(request.url()));
    const id = await first.text("console-sandbox-bar >>> h2");
    await first.run("echo hello");
    await first.terminal(1);
    const { local, session, cookies } = await first.storage();
    expect(local).toEqual({});
    expect(cookies).toBe("");
    expect(session).toEqual({
      "agent-sandbox-console.token": expect.stringMatching(/^console_/),
      "agent-sandbox-console.tab": expect.any(String),
      "agent-sandbox-console.sandboxes": JSON.stringify({
        platform: `${shared.platform.info.apiUrl.replace("127.0.0.1", "localhost")} `,
        ids: [id],
        current: id,
      }),
    });
    expect(requested.length).toBeGreaterThan(3);
    for (const secret of [
      platform.info.apiKey,
      session["agent-sandbox-console.token"] ?? "",
      new URL(platform.info.consoleUrl).hash.slice(6),
    ]) {
      expect(requested.filter((url) => url.includes(secret))).toEqual([]);
      expect(first.page.url()).not.toContain(secret);
    }
  });

  test("another tab gets the token from the first", async () => {
    const second = await ConsolePage.open(shared.context, shared.url);
    await second.find("console-sandboxes >>> .item");
    expect(second.problems).toEqual([]);
    await second.page.close();
  });

  test("a code that was used is explained where no other tab can help", async () => {
    const other = await shared.browser.createBrowserContext();
    const page = await ConsolePage.open(other, shared.platform.info.consoleUrl);
    await page.find("sandbox-error >>> .title", "This link is used up");
    expect(page.page.url()).toBe(shared.url);
    await screenshot(page.page, "console-used-link");
    await other.close();
  });

  test("without a token the API key connects, and is kept nowhere unless that was asked for", async () => {
    const other = await shared.browser.createBrowserContext();
    const page = await ConsolePage.open(other, shared.url);
    await page.fill("console-connect >>> input", "e2b_0000000000000000000000000000000000000000");
    await page.page.keyboard.press("Enter");
    await page.find("sandbox-error >>> .title", "The key was refused");
    await page.fill("console-connect >>> input", shared.platform.info.apiKey);
    await page.page.keyboard.press("Enter");
    await page.find("console-sandboxes >>> .item");
    expect(await page.storage()).toEqual({
      local: {},
      session: { "agent-sandbox-console.tab": expect.any(String) },
      cookies: "",
    });
    await page.page.reload();
    await page.fill("console-connect >>> #key", shared.platform.info.apiKey);
    await page.click("console-connect >>> [name=keep]");
    await page.click("console-connect >>> button", "Connect");
    await page.find("console-sandboxes >>> .item");
    await page.page.reload();
    await page.find("console-sandboxes >>> .item");
    expect(await page.storage()).toMatchObject({ local: {}, cookies: "" });
    await other.close();
  });

  test("what answers in the platform's place is told from a platform", async () => {
    const other = await shared.browser.createBrowserContext();
    const page = await ConsolePage.open(other, shared.url);
    let elsewhere = true;
    await page.page.setRequestInterception(true);
    page.page.on("request", (request) =>
      elsewhere && request.url().endsWith("/console/config")
        ? request.respond({ status: 404, body: "<h1>Not here</h1>" })
        : request.continue(),
    );
    await page.fill("console-connect >>> #key", shared.platform.info.apiKey);
    await page.page.keyboard.press("Enter");
    await page.find("console-connect >>> sandbox-error >>> .title", "The platform refused");
    await page.find("console-connect >>> sandbox-error >>> p", "What answers here is no sandbox platform");
    // The key is known, and the focus where one tries again.
    await page.find("console-connect >>> .submit:focus");
    elsewhere = false;
    await page.page.keyboard.press("Enter");
    await page.find("console-sandboxes >>> .item");
    await other.close();
  });

  test("a wrong template is told in the dialog, and the dialog goes on working", async () => {
    const { first } = shared;
    await first.click("console-sandboxes >>> button", "New sandbox");
    await (await first.find("console-new-sandbox >>> #template")).select("other");
    await first.fill("console-new-sandbox >>> input[name=other]", "no-such-template");
    await first.click("console-new-sandbox >>> button", "Start");
    await first.find("console-new-sandbox >>> sandbox-error >>> .code", "E2001");
    await screenshot(first.page, "console-wrong-template");
    await (await first.find("console-new-sandbox >>> #template")).select("base");
    await first.click("console-new-sandbox >>> button", "Start");
    await first.gone("console-new-sandbox >>> dialog");
  });

  test("a sandbox that ends elsewhere is told in the list, in its terminal and in its command box, which offers nothing more", async () => {
    const { first, platform } = shared;
    const id = await first.text("console-sandbox-bar >>> h2");
    await first.terminal(1);
    const answer = await fetch(`${platform.info.apiUrl}/sandboxes/${id}`, {
      method: "DELETE",
      headers: { "x-api-key": platform.info.apiKey },
    });
    expect(answer.status).toBe(204);
    await first.find("sandbox-terminal >>> sandbox-error >>> .title");
    await first.find(".panel >>> sandbox-error >>> .title", "This sandbox has ended");
    await first.click("[role=tab]", "Command");
    const run = await first.find("sandbox-command >>> form button", "Run");
    expect(await run.evaluate((button) => (button as HTMLButtonElement).disabled)).toBe(true);
    await screenshot(first.page, "console-ended");
  });

  test("a platform that is dead is told, and the page goes on trying", async () => {
    const { first } = shared;
    await shared.stopPlatform();
    await first.find(".trouble >>> sandbox-error >>> .title");
    await first.find(".trouble >>> sandbox-error >>> button", "Try now");
    await screenshot(first.page, "console-dead-platform");
  });

  test("a platform that was started again leads back in, with the reason, and forgets the old token", async () => {
    const { first } = shared;
    const again = await startPlatform({ port: Number(new URL(shared.url).port) });
    try {
      await first.find("sandbox-error >>> .title", "The platform was restarted");
      expect(await first.storage()).toMatchObject({
        local: {},
        session: { "agent-sandbox-console.sandboxes": expect.any(String) },
        cookies: "",
      });
      expect(Object.keys((await first.storage()).session)).not.toContain("agent-sandbox-console.token");
      await screenshot(first.page, "console-restarted");
      await first.fill("console-connect >>> input", again.info.apiKey);
      await first.page.keyboard.press("Enter");
      await first.find("h2", "No sandboxes yet");
    } finally {
      await again.stop();
    }
  });
});
