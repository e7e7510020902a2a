// The same in a page of real Chromium, through the gateway: CORS for the server that knows none, and a token in the terminal's URL.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "puppeteer-core";
import { build } from "vite";
import { afterAll, beforeAll, test } from "vitest";
import { launchChromium, openPage } from "../support/browser.ts";
import type { Listening } from "../support/listen.ts";
import { servePages } from "../support/pages.ts";
import type { Platform } from "../support/platform.ts";
import { tests } from "./suite.ts";
import { platformWithServer } from "./support/platform.ts";

let platform: Platform;
let pages: Listening;
let browser: Browser;
let page: Page;
let bundle: string;

beforeAll(async () => {
  platform = await platformWithServer();
  bundle = await mkdtemp(join(tmpdir(), "server-page-"));
  await build({
    root: fileURLToPath(new URL("page/", import.meta.url)),
    base: "./",
    logLevel: "warn",
    build: { outDir: bundle, emptyOutDir: true, minify: false, target: "es2022", chunkSizeWarningLimit: 4_000 },
  });
  pages = await servePages({ folders: { "/": bundle } });
  browser = await launchChromium();
  ({ page } = await openPage(browser, `${pages.url}/index.html`));
  await page.waitForFunction("window.runServerTest !== undefined", { timeout: 60_000 });
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await platform?.stop();
  await rm(bundle, { recursive: true, force: true });
});

test.each(Object.keys(tests))("%s", async (name) => {
  const { apiUrl, sandboxHostUrl, apiKey } = platform.info;
  const failure = await page.evaluate((name, given) => window.runServerTest(name, given), name, {
    apiUrl,
    sandboxUrl: sandboxHostUrl,
    apiKey,
  });
  if (failure) throw new Error(failure);
});
