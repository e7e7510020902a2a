// Firefox: every kind of page and worker.
import { launchFirefox } from "../support/browser.ts";
import { testPagesIn } from "./pages.ts";

testPagesIn(launchFirefox);
