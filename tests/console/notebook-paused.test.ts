// A sandbox is paused while its notebook is worked in.
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { FIRST_USE_MS } from "../support/runtime.ts";
import type { Console } from "./console.ts";
import type { ConsolePage } from "./console-page.ts";
import { cell, type NotebookPage, openNotebook } from "./notebook-page.ts";

let shared: Console;
let page: ConsolePage;
let notebook: NotebookPage;

beforeAll(async () => {
  ({ shared, page, notebook } = await openNotebook());
}, FIRST_USE_MS);

afterAll(() => shared?.close());

describe("a notebook whose sandbox is paused", { timeout: 240_000 }, () => {
  test("a pause cuts off what runs and says so; a cell that is run then asks for the sandbox to go on, and runs", async () => {
    const { apiUrl, sandboxUrl, apiKey } = shared.platform.info;
    await notebook.write(1, "1");
    await notebook.press("Shift", "Enter");
    await notebook.ended(1);
    await page.find(`${cell(2)} >>> .cm-focused`);
    await notebook.start(
      1,
      "import os, time\nmade_before = 40 + 2\nprint('before the pause')\nwhile not os.path.exists('/tmp/go'): time.sleep(0.1)",
    );
    await notebook.outputHas(1, "before the pause");
    await page.click("console-sandbox-bar >>> button", "Pause");
    await page.find(`${cell(1)} >>> .state`, "cut off by the pause");
    await page.find("sandbox-notebook >>> .state", "Paused");
    expect(await page.count("sandbox-cell >>> sandbox-error")).toBe(0);
    expect(await notebook.lines(1)).toContain("before the pause");
    await screenshot(page.page, "console-notebook-paused");
    await notebook.start(2, "made_before");
    await page.answer("Cancel");
    await page.find("sandbox-notebook >>> .state", "Paused");
    await notebook.start(2, "made_before");
    await page.answer("Resume and run");
    await page.gone("sandbox-notebook >>> .state", "Paused");
    // The cell from before may have gone on, and the next one waits for it then.
    const outside = await Sandbox.connect(await page.text("console-sandbox-bar >>> h2"), { apiUrl, sandboxUrl, apiKey });
    await outside.files.write("/tmp/go", "");
    await outside.close();
    await page.find(`${cell(2)} >>> sandbox-result >>> pre`, "42");
    expect(await page.count("sandbox-cell >>> sandbox-error")).toBe(0);
  });
});
