// The console can be used by screen reader, in light and dark: what is looked at on each kind of device.
import type { Viewport } from "puppeteer-core";
import { describe, expect, test } from "vitest";
import { accessibilityFindings } from "../support/axe.ts";
import { screenshot } from "../support/browser.ts";
import { ConsolePage, TERMINAL_SCREEN } from "./console-page.ts";
import { NotebookPage } from "./notebook-page.ts";
import { type UsedConsole, useInterpreter } from "./use-console.ts";

/** A cell that gives something of most kinds. */
const EVERYTHING = `import sys
import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import HTML, Latex, JSON, display
print("\\033[32mgreen\\033[0m plain")
print("a warning", file=sys.stderr)
display(pd.DataFrame({"name": ["a", "b"], "value": [1.5, 22]}), Latex(r"$\\frac{a}{b}$"), JSON({"key": [1, 2]}), HTML("<b>HTML</b>"))
plt.bar(["a", "b"], [3, 5]); plt.show()
{}["missing"]`;

/** What is not where it should be: the page never has more than fits its window, and the chosen view's tab is in sight. */
const misplaced = (page: ConsolePage) =>
  page.page.evaluate(() => {
    const { scrollWidth = 0, scrollHeight = 0 } = document.scrollingElement ?? {};
    const tab = window.deepQuery("[aria-label=Views] >>> [role=tab][aria-selected=true]", "")[0];
    const { left = 0, right = 0 } = tab?.getBoundingClientRect() ?? {};
    const bar = tab?.parentElement?.getBoundingClientRect();
    return [
      ...(scrollWidth > innerWidth ? ["sideways"] : []),
      ...(scrollHeight > innerHeight ? ["downwards"] : []),
      // Widths are fractions of a pixel, and scrolling goes by whole ones.
      ...(bar && (left < bar.left - 1 || right > bar.right + 1) ? ["the chosen tab"] : []),
    ];
  });

/**
 * Looks at every view in both colours, on one kind of device.
 * @returns the console, whose sandbox has code cells and a file main.py
 */
export function looksSound(device: string, viewport: Viewport): UsedConsole {
  let sandboxId: string;
  const used = useInterpreter(async (page) => {
    sandboxId = await page.createSandbox("code-interpreter-v1");
    // Eight views twice are more than its first quarter of an hour on a slow machine.
    await page.click('console-sandbox-bar >>> button[aria-label="More actions"]');
    await page.click("console-sandbox-bar >>> [role=menuitem]", "+1 hour");
    await page.run(
      "mkdir -p src && printf 'import json\\n\\n\\ndef main() -> None:\\n    print(json.dumps({\"answer\": 42}))\\n' > main.py",
    );
  });

  describe(`on a ${device}`, { timeout: 180_000 }, () => {
    test.each(["light", "dark"])("in %s colours every view is sound", async (scheme) => {
      const { shared } = used;
      const page = await ConsolePage.open(shared.context, "about:blank", viewport);
      await page.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.page.goto(shared.url);
      const shot = async (view: string) => {
        await screenshot(page.page, `console-${device}-${scheme}-${view}`);
        expect(await accessibilityFindings(page.page, [TERMINAL_SCREEN]), view).toEqual([]);
        expect(await misplaced(page), view).toEqual([]);
      };
      await page.find("console-sandboxes >>> .item", sandboxId);
      await shot("list");
      await page.click("console-sandboxes >>> button", "New sandbox");
      await page.find("console-new-sandbox >>> dialog");
      await shot("new");
      await page.page.keyboard.press("Escape");
      await page.click("console-sandboxes >>> .item", sandboxId);
      await page.find("sandbox-console");
      if (device === "phone") await page.click("[role=tab]", "Files");
      await page.click('sandbox-files >>> button[aria-label="Find in files"]');
      await page.find("sandbox-search >>> input:focus");
      await page.page.keyboard.type("answer\n");
      await page.find("sandbox-search >>> *", "42");
      await shot("search");
      await page.click('sandbox-files >>> button[aria-label="Find in files"]');
      await page.click("sandbox-tree >>> .row", "main.py");
      await page.find("sandbox-editor >>> .cm-line");
      await shot("editor");
      await page.click("[role=tab]", "Command");
      await page.run("printf '\\033[32mgreen\\033[0m plain\\n'; echo problem >&2; exit 4");
      await shot("command");
      await page.terminal(1);
      await page.page.keyboard.type("ls --color\n");
      await page.terminalHas("main.py");
      await page.click('sandbox-terminal-group >>> button[aria-label^="Split"]');
      await page.click('sandbox-terminal-group >>> button[aria-label^="Find"]');
      await page.find("sandbox-terminal >>> input:focus");
      await shot("terminal");
      await page.click("[role=tab]", "Metrics");
      await page.find("sandbox-processes >>> tbody td");
      await shot("metrics");
      await (await page.find("sandbox-processes")).evaluate((part) => part.scrollIntoView());
      expect(await page.page.evaluate(() => document.querySelector("console-app")?.getBoundingClientRect().top)).toBe(0);
      await page.click('button[aria-label^="Commands"]');
      await page.find("console-palette >>> input:focus");
      await shot("palette");
      await page.page.keyboard.press("Escape");
      const notebook = new NotebookPage(page);
      await notebook.show();
      await notebook.run(1, EVERYTHING);
      await page.find("sandbox-result >>> .katex-html");
      await page.find("sandbox-result-frame");
      await page.click("sandbox-result >>> button", "Explore the chart");
      await page.find("sandbox-chart >>> svg");
      await shot("notebook");
      expect(page.problems).toEqual([]);
      await page.page.close();
    });
  });
  return used;
}
