// A server creates a sandbox and a page attaches to it: the API key is in no byte that the page receives or sends.
import { createServer, request } from "node:http";
import { Sandbox } from "agent-sandbox-web";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchChromium, openPage } from "../support/browser.ts";
import { type Listening, listen } from "../support/listen.ts";
import { servePages } from "../support/pages.ts";

/** Everything that went between the browser and the world, headers too, in the order it came. */
const received: Buffer[] = [];
const sent: Buffer[] = [];
let proxy: Listening;
let browser: Browser;

beforeAll(async () => {
  // All that the browser asks for goes through here, and hosts below .localhost lead to this machine.
  const recorder = createServer((asked, answer) => {
    const url = new URL(asked.url ?? "");
    sent.push(Buffer.from(`${asked.method} ${asked.url}\n${asked.rawHeaders.join("\n")}\n`));
    asked.on("data", (chunk: Buffer) => sent.push(chunk));
    const options = {
      host: "127.0.0.1",
      port: url.port,
      path: url.pathname + url.search,
      method: asked.method,
      headers: asked.headers,
    };
    const forwarded = request(options, (from) => {
      received.push(Buffer.from(`${from.statusCode}\n${from.rawHeaders.join("\n")}\n`));
      from.on("data", (chunk: Buffer) => received.push(chunk));
      answer.writeHead(from.statusCode ?? 500, from.headers);
      from.pipe(answer);
      answer.on("close", () => from.destroy());
    });
    forwarded.on("error", () => answer.destroy());
    asked.pipe(forwarded);
  });
  proxy = await listen(recorder);
  browser = await launchChromium([`--proxy-server=127.0.0.1:${proxy.port}`, "--proxy-bypass-list=<-loopback>"]);
});
afterAll(async () => {
  await browser.close();
  await proxy.close();
});

test("the API key is in no byte that a page with a handoff receives or sends", async () => {
  const platform = inject("platform");
  const { apiUrl, apiKey, sandboxUrl } = platform;
  const sandbox = await Sandbox.create("base", { apiUrl, apiKey, sandboxUrl });
  const pages = await servePages({
    folders: { "/pkg/": new URL("../../pkg/dist/", import.meta.url).pathname },
    texts: {
      "/": '<!doctype html><title>…</title><script type="module" src="/main.js"></script>',
      "/handoff.json": JSON.stringify(sandbox.handoff()),
      "/main.js": `import { Sandbox } from "/pkg/browser.js";
        const handoff = await (await fetch("/handoff.json")).json();
        const sandbox = await Sandbox.attach(handoff, { sandboxUrl: ${JSON.stringify(platform.sandboxHostUrl)} });
        await sandbox.files.write("from-page.txt", "hello");
        const { stdout } = await sandbox.commands.run("cat from-page.txt");
        const refused = await sandbox.kill().catch((error) => error);
        const running = await sandbox.isRunning();
        document.title = JSON.stringify([stdout, refused.code, running]);`,
    },
  });
  try {
    const { page, problems } = await openPage(browser, `${pages.url}/`);
    await page.waitForFunction(() => document.title.startsWith("["), { timeout: 60_000 });
    expect(JSON.parse(await page.title()), problems.join("\n")).toEqual(["hello", "E1001", true]);
    const [toPage, fromPage] = [Buffer.concat(received), Buffer.concat(sent)];
    // The recording holds what it must: the module, the handoff, the command's output.
    for (const known of ["agent-sandbox-web", sandbox.sandboxId, "hello", "\0asm"])
      expect(toPage.includes(known), known).toBe(true);
    expect(toPage.includes(platform.apiKey)).toBe(false);
    expect(fromPage.includes("/process.Process/Start")).toBe(true);
    expect(fromPage.includes(platform.apiKey)).toBe(false);
    await page.close();
  } finally {
    await Promise.all([pages.close(), sandbox.kill()]);
  }
});
