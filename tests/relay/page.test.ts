/** The example's page in Chromium, served by the Worker. Every byte that the browser receives is kept, and searched for the API key. */
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { platformWithServer } from "../server/support/platform.ts";
import { launchChromium, openPage } from "../support/browser.ts";
import type { Platform } from "../support/platform.ts";
import { type Example, startExample } from "./example.ts";
import { type RecordingProxy, recordingProxy } from "./recording-proxy.ts";

let platform: Platform;
let example: Example;
let proxy: RecordingProxy;
let browser: Browser;

beforeAll(async () => {
  platform = await platformWithServer();
  example = await startExample("worker", platform.info);
  proxy = await recordingProxy();
  browser = await launchChromium([`--proxy-server=${proxy.address}`, "--proxy-bypass-list=<-loopback>"]);
}, 600_000);
afterAll(async () => {
  await browser?.close();
  await example?.stop();
  await platform?.stop();
  await proxy?.close();
});

/** The forms in which a key could be hidden from a plain search. Base64 has one for each place that a text may begin at. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .slice(before === 0 ? 0 : 4, -4),
  );
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), [...secret].reverse().join(""), ...base64];
}

test("a user makes a sandbox, runs commands, reaches its server and a terminal; the browser never receives the key", async () => {
  const { page, problems } = await openPage(browser, example.url);
  /** Presses a button, and gives what the page shows once that is done. No polling: a busy machine's page has enough to do. */
  const press = (selector: string, shown = "#output") =>
    page.evaluate(
      async (selector, shown) => {
        const done = new Promise<void>((resolve) => {
          const seen = new MutationObserver(() => {
            if (document.body.ariaBusy === "false") resolve();
          });
          seen.observe(document.body, { attributes: true, attributeFilter: ["aria-busy"] });
        });
        document.querySelector<HTMLElement>(selector)?.click();
        await done;
        const element = document.querySelector(shown);
        return element instanceof HTMLOutputElement ? element.value : element?.textContent;
      },
      selector,
      shown,
    );
  expect(await press("#sign-in button")).toBe("Signed in. You have 0 sandboxes.\n");
  expect(await press("[name=create]", "#state")).toMatch(/ runs$/);
  expect(await press("#command button")).toBe("1\n2\n3\n");
  expect(await press("#shell [name=http]")).toBe("Linux\n");
  // The server's port for terminals may open a moment after the other.
  await expect.poll(() => press("#shell [name=websocket]"), { timeout: 60_000 }).toMatch(/Linux\s+exit/);
  expect(await press("[name=kill]", "#state")).toMatch(/ has ended$/);
  // Browsers tell of every look at a server that does not answer yet.
  expect(problems.filter((problem) => !/(with a status of|response code:) 502/.test(problem))).toEqual([]);

  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
  );
  const received = proxy.received();
  // The search would find it: these came, from the relay, from the sandbox and over the WebSocket.
  for (const expected of ["envdAccessToken", "application/connect+proto", "agent-sandbox-relay", "exited"]) {
    expect(received.includes(expected), expected).toBe(true);
  }
  for (const form of formsOf(platform.info.apiKey)) {
    expect(received.includes(form)).toBe(false);
    expect(kept).not.toContain(form);
  }
}, 300_000);
