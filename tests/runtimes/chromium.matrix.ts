// Chromium: what page.test.ts leaves out.
import { launchChromium } from "../support/browser.ts";
import { testPagesIn } from "./pages.ts";

testPagesIn(launchChromium, [
  "a cross-origin-isolated page",
  "a module worker",
  "a module service worker",
  "a classic service worker",
]);
