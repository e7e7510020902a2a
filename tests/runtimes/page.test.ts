// A page of Chromium without a bundler, and one of a classic script. The other kinds of pages: chromium.matrix.ts.
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll } from "vitest";
import { launchChromium } from "../support/browser.ts";
import { openIn, testPages } from "./pages.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

testPages(
  (url) => openIn(browser, url),
  ["a page without a bundler, the package from another origin", "a classic script that esbuild made"],
);
