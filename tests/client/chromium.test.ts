// The client in a page of real Chromium, bundled by Vite without any configuration for it.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "puppeteer-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, inject, test } from "vitest";
import { launchChromium, openPage } from "../support/browser.ts";
import type { Listening } from "../support/listen.ts";
import { servePages } from "../support/pages.ts";
import { FIRST_USE_MS, prepareRuntime } from "../support/runtime.ts";
import type { ScriptedServer } from "../support/scripted-server.ts";
import type { Failure } from "./page/main.ts";
import { suites } from "./suites/index.ts";
import { sceneServer } from "./support/scene-server.ts";

let scenes: ScriptedServer;
let pages: Listening;
let browser: Browser;
let page: Page;
let bundle: string;

beforeAll(prepareRuntime, FIRST_USE_MS);

beforeAll(async () => {
  bundle = await mkdtemp(join(tmpdir(), "client-page-"));
  await build({
    root: fileURLToPath(new URL("page/", import.meta.url)),
    base: "./",
    logLevel: "warn",
    build: { outDir: bundle, emptyOutDir: true, minify: false, target: "es2022", chunkSizeWarningLimit: 4_000 },
  });
  scenes = await sceneServer();
  pages = await servePages({ folders: { "/": bundle } });
  browser = await launchChromium();
  ({ page } = await openPage(browser, `${pages.url}/index.html`));
  await page.waitForFunction("window.runTest !== undefined", { timeout: 60_000 });
});

afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await scenes?.close();
  await rm(bundle, { recursive: true, force: true });
});

const { apiUrl, apiKey, sandboxUrl, sandboxHostUrl } = inject("platform");

for (const [suiteIndex, suite] of suites.entries()) {
  describe(suite.name, () => {
    for (const [testIndex, { name, only }] of suite.tests.entries()) {
      if (only === "node") continue;
      test(name, async () => {
        const context = { scripted: scenes.address, platform: { apiUrl, apiKey, sandboxUrl: sandboxHostUrl }, pathUrl: sandboxUrl };
        const failure = (await page.evaluate(
          (suite, test, given) => window.runTest(suite, test, given),
          suiteIndex,
          testIndex,
          context,
        )) as Failure | undefined;
        if (failure) throw Object.assign(new Error(failure.message), { stack: failure.stack });
      });
    }
  });
}
