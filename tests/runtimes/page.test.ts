// A page of Chromium without a bundler, and one of a classic script. The other kinds of pages: chromium.matrix.ts.
import { launchChromium } from "../support/browser.ts";
import { testPagesIn } from "./pages.ts";

testPagesIn(launchChromium, ["a page without a bundler, the package from another origin", "a classic script that esbuild made"]);
