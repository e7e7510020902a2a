// What a sandbox uses, what runs in it and which ports are open: shown while it is looked at, and acted upon.
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { type Console, openConsole } from "./console.ts";
import type { ConsolePage } from "./console-page.ts";

/** A server that says what it is, in a page that would like to see the one around it. */
const SERVER = `import http.server
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>t</title><p id=p>served</p><script>try{parent.document.title='taken'}catch{p.textContent='kept apart'}</script>")
    def log_message(self, *args): pass
http.server.HTTPServer(("127.0.0.1", 8123), Page).serve_forever()
`;

let shared: Console;
let page: ConsolePage;
let id: string;

beforeAll(async () => {
  shared = await openConsole();
  page = shared.first;
  id = await page.createSandbox();
}, 120_000);

afterAll(() => shared?.close());

const info = () => {
  const { apiUrl, sandboxUrl, apiKey } = shared.platform.info;
  return Sandbox.getInfo(id, { apiUrl, sandboxUrl, apiKey });
};

describe("metrics and ports", { timeout: 120_000 }, () => {
  test("CPU, memory and disk are plotted, and looking extends no life", async () => {
    const { endAt } = await info();
    await page.click("[role=tab]", "Metrics");
    await page.page.waitForFunction(
      () => {
        const plots = window.deepQuery("sandbox-metrics >>> sandbox-time-plot >>> .frame", "");
        return plots.length === 3 && plots.every((plot) => /now \d/.test(plot.ariaLabel ?? plot.getAttribute("aria-label") ?? ""));
      },
      { timeout: 90_000 },
    );
    // Two measurements make a line.
    await page.page.waitForFunction(
      () =>
        window.deepQuery("sandbox-time-plot >>> .line", "").filter((line) => line.getAttribute("d")?.includes("L")).length === 3,
      { timeout: 90_000 },
    );
    await page.find("sandbox-logs >>> .message");
    expect((await info()).endAt).toEqual(endAt);
  });

  test("an open port appears with its process and its URL, and what it serves is shown in a frame of its own origin", async () => {
    await page.click("[role=tab]", "Command");
    await page.start(`cat > server.py <<'EOF'\n${SERVER}EOF\nexec python3 server.py`);
    await page.click("[role=tab]", "Metrics");
    const url = await page.find("sandbox-ports >>> td.mono", `8123-${id}`);
    await page.find("sandbox-ports >>> tr", "python3 server.py");
    await page.find("sandbox-processes >>> td", "python3 server.py");
    await page.click('sandbox-ports >>> button[aria-label="Preview port 8123"]');
    const element = await page.find("sandbox-ports >>> iframe");
    const frame = await element.contentFrame();
    await frame?.waitForFunction(() => document.querySelector("p")?.textContent === "kept apart");
    expect(await page.page.title()).toBe("Sandbox console");
    expect(await url.evaluate((cell) => cell.textContent)).toBe(
      shared.platform.info.sandboxHostUrl.replace("{port}", "8123").replace("{sandboxId}", id),
    );
    await screenshot(page.page, "console-metrics");
    await page.click('sandbox-ports >>> button[aria-label="Close the preview"]');
    await page.gone("sandbox-ports >>> iframe");
  });

  test("the memory of a process stands beside that of the sandbox, in one unit, with its share", async () => {
    const { apiUrl, sandboxUrl, apiKey } = shared.platform.info;
    const sandbox = await Sandbox.connect(id, { apiUrl, sandboxUrl, apiKey });
    const handle = await sandbox.commands.start(["python3", "-c", "import time; held = b'x' * (200 << 20); time.sleep(3600)"]);
    const row = await page.find("sandbox-processes >>> tr", "held = b");
    const limit = ((await sandbox.getMetrics()).at(-1)?.memTotal ?? 0) / 2 ** 20;
    expect(limit).toBeGreaterThan(200);
    await page.find("sandbox-processes >>> th", `of ${Math.round(limit).toLocaleString("en")} MiB`);
    // It takes its memory bit by bit.
    const shown = async () => {
      const [, used = "", share = ""] = /([\d,.]+) MiB([\d.]+) %/.exec(await row.evaluate((row) => row.textContent)) ?? [];
      return { used: Number(used), share: Number(share) };
    };
    await expect.poll(async () => (await shown()).used, { timeout: 90_000 }).toBeGreaterThanOrEqual(200);
    const { used, share } = await shown();
    expect(used).toBeLessThan(260);
    expect(Math.abs(share - (100 * used) / limit)).toBeLessThanOrEqual(share < 10 ? 0.1 : 0.6);
    await handle.kill();
    await page.gone("sandbox-processes >>> tr", "held = b");
    await sandbox.close();
  });

  test("a process is ended after asking; one that goes on is forced", async () => {
    // By their numbers they keep their places while one of them is pointed at.
    await page.click("sandbox-processes >>> th button", "PID");
    await page.click('sandbox-processes >>> button[aria-label*="python3 server.py"]');
    await page.answer("Cancel");
    await page.click('sandbox-ports >>> button[aria-label="Preview port 8123"]');
    await page.find("sandbox-ports >>> iframe");
    await page.click('sandbox-processes >>> button[aria-label*="python3 server.py"]');
    await page.answer("End");
    await page.gone("sandbox-processes >>> td", "python3 server.py");
    await page.gone("sandbox-ports >>> tr", "8123");
    await page.find("sandbox-ports >>> .preview", "Nothing listens on port 8123 any more");
    await page.click('sandbox-ports >>> button[aria-label="Close the preview"]');
    await page.find("sandbox-ports >>> p", "Nothing listens yet");
    await page.click("[role=tab]", "Command");
    await page.commandEnd();
    await page.start("trap '' TERM; while :; do sleep 3; done # stubborn");
    await page.click("[role=tab]", "Metrics");
    await page.click('sandbox-processes >>> button[aria-label*="stubborn"]');
    await page.answer("End");
    await page.click('sandbox-processes >>> button[aria-label^="Force to end"]');
    await page.answer("Force");
    await page.gone("sandbox-processes >>> td", "stubborn");
  });

  test("looking leaves one entry in the sandbox's log, however long it lasts, and none of it is shown", async () => {
    const { apiUrl, sandboxUrl, apiKey } = shared.platform.info;
    const sandbox = await Sandbox.connect(id, { apiUrl, sandboxUrl, apiKey });
    const entries = async () =>
      (await sandbox.logs({ limit: 1000 })).filter(({ fields }) => fields.command?.includes("agent-sandbox-web reads what runs"));
    await page.click("[role=tab]", "Command");
    await page.click("[role=tab]", "Metrics");
    await page.find("sandbox-processes >>> tbody td");
    const before = (await entries()).length;
    // A process that comes and goes is seen by two more readings.
    const handle = await sandbox.commands.start(["sleep", "4242"]);
    await page.find("sandbox-processes >>> td", "sleep 4242");
    await handle.kill();
    await page.gone("sandbox-processes >>> td", "sleep 4242");
    expect(before).toBeGreaterThan(0);
    expect((await entries()).length).toBe(before);
    expect(await page.count("sandbox-processes >>> td", "reads what runs")).toBe(0);
    expect(await page.count("sandbox-logs >>> td", "reads what runs")).toBe(0);
    await sandbox.close();
  });

  test("nothing is read while it is not looked at, nor of a paused sandbox", async () => {
    const asked: string[] = [];
    page.page.on("request", (request) => asked.push(request.url()));
    await page.page.waitForRequest((request) => request.url().includes("/metrics"), { timeout: 90_000 });
    await page.click("[role=tab]", "Command");
    await page.find("sandbox-command >>> textarea");
    asked.length = 0;
    // The list of the sandboxes goes on: after two of its readings the metrics would have come too.
    for (let at = 0; at < 2; at += 1)
      await page.page.waitForRequest((request) => request.url().includes("/sandboxes?"), { timeout: 90_000 });
    expect(asked.filter((url) => url.includes("/metrics") || url.includes("/logs"))).toEqual([]);
  });

  test("nothing went wrong in the page", () => {
    expect(page.problems).toEqual([]);
  });
});
