// The console in Firefox: a short slice of everything, with nothing amiss.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchFirefox, screenshot } from "../support/browser.ts";
import { type Console, openConsole } from "./console.ts";
import type { ConsolePage } from "./console-page.ts";

let shared: Console;
let page: ConsolePage;

beforeAll(async () => {
  shared = await openConsole([], launchFirefox);
  page = shared.first;
}, 180_000);

afterAll(() => shared?.close());

describe("in Firefox", { timeout: 180_000 }, () => {
  test("a sandbox is started, a command run, a file written in the editor and read in a terminal", async () => {
    await page.createSandbox();
    expect(await page.run("echo hello from $((40+2))")).toBe("exit 0");
    expect(await page.lastOutput()).toBe("hello from 42");
    await page.click('button[aria-label="New file"]');
    await page.answer("Create", "note.txt");
    await page.click("sandbox-editor >>> .cm-content");
    await page.page.keyboard.type("by hand");
    await page.click('sandbox-editor >>> button[aria-label="Save"]');
    await page.find("sandbox-editor >>> .status", "Saved");
    await page.terminal(1);
    await page.page.keyboard.type("cat note.txt; echo; echo $((50+5))");
    await page.page.keyboard.press("Enter");
    await page.terminalHas("by hand\n55");
  });

  test("metrics are plotted, and a command is found by its name", async () => {
    await page.page.keyboard.press("F1");
    await page.find("console-palette >>> input:focus");
    await page.page.keyboard.type("metrics");
    await page.page.keyboard.press("Enter");
    await page.page.waitForFunction(
      () =>
        window.deepQuery("sandbox-time-plot >>> .line", "").filter((line) => line.getAttribute("d")?.includes("L")).length === 3,
      { timeout: 60_000 },
    );
    await page.find("sandbox-processes >>> tbody td");
    await screenshot(page.page, "console-firefox");
  });

  test("it is paused and goes on", async () => {
    await page.click("console-sandbox-bar >>> button", "Pause");
    await page.find(".paused", "This sandbox is paused");
    await page.click(".paused >>> button", "Resume");
    await page.gone(".paused");
    await page.find("console-sandbox-bar >>> .state", "running");
  });

  test("nothing went wrong in the page", () => {
    expect(page.problems).toEqual([]);
  });
});
