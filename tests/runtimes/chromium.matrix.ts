// Chromium: what page.test.ts leaves out.
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
  ["a cross-origin-isolated page", "a module worker", "a module service worker", "a classic service worker"],
);
