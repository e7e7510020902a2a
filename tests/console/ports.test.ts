// A port that opens in the sandbox is told wherever the person is, once, with the way to it; telling costs the sandbox nothing of its life.
import { Sandbox } from "agent-sandbox-web";
import { describe, expect, test } from "vitest";
import { PortWatch } from "../../www/elements/metrics/port-watch.ts";
import { screenshot } from "../support/browser.ts";
import { useConsole } from "./use-console.ts";

let id: string;

const used = useConsole(async (page) => {
  id = await page.createSandbox();
  // Which ports were open before is known once the second question is answered.
  for (let question = 0; question < 2; question += 1)
    await page.page.waitForResponse((response) => response.url().endsWith("/process.Process/SendInput"), { timeout: 90_000 });
});

const NOTICE = "console-notices >>> .notice";

/** A program that serves on ports, which it opens one after the other. */
const listen = (...ports: number[]) =>
  `exec python3 -c 'import http.server, threading
for p in (${ports.join(", ")},):
  s = http.server.ThreadingHTTPServer(("127.0.0.1", p), http.server.SimpleHTTPRequestHandler)
  threading.Thread(target=s.serve_forever).start()'`;

/** The URL of a port as the page knows it. */
const urlOf = (port: number) => used.shared.platform.info.sandboxHostUrl.replace("{port}", String(port)).replace("{sandboxId}", id);

describe("a port that opens", { timeout: 120_000 }, () => {
  test("is told, but for those that a program got from the kernel, and taken back when it closes", async () => {
    const { page, connection } = used;
    const { endAt } = await Sandbox.getInfo(id, connection);
    await page.start(listen(40_123, 8124));
    await page.find(NOTICE, `Port 8124 is open in sandbox ${id}`);
    expect(await page.count(NOTICE)).toBe(1);
    await screenshot(page.page, "console-port");
    await page.click("sandbox-command >>> form button", "Stop");
    await page.commandEnd();
    await page.gone(NOTICE);
    expect((await Sandbox.getInfo(id, connection)).endAt).toEqual(endAt);
  });

  test("is told once, is opened or its URL copied from there, or put away", async () => {
    const { page, shared } = used;
    await shared.context.overridePermissions(new URL(shared.url).origin, ["clipboard-read", "clipboard-sanitized-write"]);
    await page.start(listen(8124, 8125, 8126, 8127));
    await page.find(NOTICE, "Port 8127");
    expect(await page.count(NOTICE, "Port 8124")).toBe(0);
    await page.click(`${NOTICE}[data-key$="8126"] >>> button`, "Copy URL");
    await page.find(NOTICE, "The URL is copied");
    expect((await page.page.evaluate(() => navigator.clipboard.readText())).replace(/\/$/, "")).toBe(
      urlOf(8126).replace(/\/$/, ""),
    );
    await page.gone(NOTICE, "Port 8126");
    const [opened] = await Promise.all([
      shared.context.waitForTarget((target) => target.url().includes(`8125-${id}`), { timeout: 90_000 }),
      page.click(`${NOTICE}[data-key$="8125"] >>> button`, "Open"),
    ]);
    await (await opened.page())?.close();
    await page.page.bringToFront();
    await page.gone(NOTICE, "Port 8125");
    await page.click(`${NOTICE}[data-key$="8127"] >>> button[aria-label="Dismiss"]`);
    await page.gone(NOTICE, "Port");
    await page.click("sandbox-command >>> form button", "Stop");
    await page.commandEnd();
  });

  test("with many others is counted, and leads to the list", async () => {
    const { page } = used;
    await page.start(listen(8130, 8131, 8132, 8133, 8134));
    // The program may be met half way: then those are told apart that come later.
    await page.find(NOTICE, "8134");
    const many = await page.count(`${NOTICE} >>> button`, "Show them");
    if (many > 0) await page.click(`${NOTICE} >>> button`, "Show them");
    else await page.click("[role=tab]", "Metrics");
    await page.find("sandbox-ports >>> td", "8134");
    await page.click("[role=tab]", "Command");
    await page.click("sandbox-command >>> form button", "Stop");
    await page.gone(NOTICE, "813");
  });

  test("nothing went wrong in the page", () => {
    expect(used.page.problems).toEqual([]);
  });

  test("of a sandbox that is paused or ends is taken back", async () => {
    const { page } = used;
    await page.start(listen(8140));
    await page.find(NOTICE, "Port 8140");
    await page.click("console-sandbox-bar >>> button", "Pause");
    await page.find(".paused");
    await page.gone(NOTICE, "Port 8140");
  });
});

test("readings become news: what was there before is none, nor what was told, nor what the kernel gave or the sandbox uses", () => {
  const watch = new PortWatch();
  const given = [32_768, 60_999] as const;
  const read = (...ports: number[]) => watch.take({ ports: ports.map((port) => ({ port, loopback: true })), given });
  expect(read(22)).toEqual({ opened: [], closed: [] });
  expect(read(22, 3000, 49_983, 49_999, 9000, 32_768, 45_000, 60_999)).toEqual({ opened: [3000], closed: [] });
  expect(read(3000)).toEqual({ opened: [], closed: [22] });
  expect(read()).toEqual({ opened: [], closed: [3000] });
  expect(read(3000, 61_000, 22)).toEqual({ opened: [61_000], closed: [] });
});
