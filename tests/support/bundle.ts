/** A module of the tests, bundled by Vite and open in a page of Chromium. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import { build } from "vite";
import { launchChromium, openPage } from "./browser.ts";
import { servePages } from "./pages.ts";

export interface BundlePage {
  readonly browser: Browser;
  readonly page: Page;
  readonly problems: string[];
  /** Calls what the module put under that name on `globalThis`; arguments and results are JSON. */
  call<T>(name: string, ...args: unknown[]): Promise<T>;
  close(): Promise<void>;
}

/**
 * Bundles the module, which must set `globalThis.ready`, and opens it. Calls take as long as they take. Requests are not watched: what is
 * measured here is the page, not what Chromium keeps of it for whoever drives it.
 */
export async function openBundle(entry: string): Promise<BundlePage> {
  const out = mkdtempSync(join(tmpdir(), "bundle-page-"));
  await build({
    root: dirname(entry),
    configFile: false,
    logLevel: "error",
    build: {
      outDir: out,
      emptyOutDir: true,
      rollupOptions: { input: { page: entry }, output: { entryFileNames: "[name].js" } },
    },
  });
  const html =
    '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="/built/page.js"></script>';
  const pages = await servePages({ texts: { "/": html }, folders: { "/built/": out, "/": out } });
  const browser = await launchChromium([], { protocolTimeout: 0, networkEnabled: false });
  const close = async () => {
    await browser.close();
    await pages.close();
    rmSync(out, { recursive: true, force: true });
  };
  try {
    const { page, problems } = await openPage(browser, pages.url);
    await page.waitForFunction("globalThis.ready === true");
    const call = async <T>(name: string, ...given: unknown[]) => {
      const expression = `${name}(${given.map((value) => JSON.stringify(value)).join()})`;
      return (await page.evaluate(expression).catch((error: unknown) => {
        throw new Error(`${name} failed; the page said: ${problems.join("\n")}`, { cause: error });
      })) as T;
    };
    return { browser, page, problems, call, close };
  } catch (error) {
    await close();
    throw error;
  }
}
