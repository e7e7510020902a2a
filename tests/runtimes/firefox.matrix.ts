// Firefox: every kind of page and worker.
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll } from "vitest";
import { launchFirefox } from "../support/browser.ts";
import { openIn, testPages } from "./pages.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchFirefox();
});
afterAll(() => browser?.close());

testPages((url) => openIn(browser, url));
