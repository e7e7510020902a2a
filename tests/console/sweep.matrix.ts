// Every panel and dialog beside those of look.ts, at a desk's width and a phone's, in light and dark: sound for axe, nothing sticks out.
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityFindings } from "../support/axe.ts";
import { screenshot } from "../support/browser.ts";
import { FIRST_USE_MS, prepareRuntime, runtimeDir } from "../support/runtime.ts";
import { type Console, openConsole } from "./console.ts";
import { ConsolePage, TERMINAL_SCREEN } from "./console-page.ts";
import { cell, NotebookPage } from "./notebook-page.ts";

const WIDTHS = [
  { device: "desktop", viewport: { width: 1280, height: 800 } },
  { device: "phone", viewport: { width: 390, height: 844 } },
  // A desk's window at 200 % zoom.
  { device: "zoomed", viewport: { width: 640, height: 400, deviceScaleFactor: 2 } },
];

let shared: Console;
let page: ConsolePage;
let connection: { apiUrl: string; sandboxUrl: string; apiKey: string };
let id: string;

beforeAll(async () => {
  await prepareRuntime();
  shared = await openConsole(["--runtime-dir", runtimeDir]);
  page = shared.first;
  const { apiUrl, sandboxUrl, apiKey } = shared.platform.info;
  connection = { apiUrl, sandboxUrl, apiKey };
  id = await page.createSandbox("code-interpreter-v1");
  await Sandbox.setTimeout(id, 3_600_000, connection);
  await page.run("mkdir -p src && printf 'one quartzite\\ntwo\\n' > notes.txt && printf 'another quartzite\\n' > src/deep.txt");
}, FIRST_USE_MS);

afterAll(() => shared?.close());

/** Looks at what is shown in every width and colour. All that is wrong is gathered, then told at once. */
async function look(view: string): Promise<void> {
  const wrong: string[] = [];
  for (const { device, viewport } of WIDTHS) {
    await page.page.setViewport(viewport);
    for (const scheme of ["light", "dark"]) {
      await page.page.emulateMediaFeatures([
        { name: "prefers-color-scheme", value: scheme },
        { name: "prefers-reduced-motion", value: "reduce" },
      ]);
      const where = `${view}, ${device}, ${scheme}`;
      await screenshot(page.page, `sweep-${view}-${device}-${scheme}`);
      wrong.push(...(await accessibilityFindings(page.page, [TERMINAL_SCREEN])).map((finding) => `${where}: ${finding}`));
      const { wide, moving } = await page.page.evaluate(() => ({
        wide: document.documentElement.scrollWidth > innerWidth,
        // A caret may blink.
        moving: document
          .getAnimations()
          .filter((animation) => animation instanceof CSSAnimation && !/blink|cursor/i.test(animation.animationName))
          .filter(({ playState, effect }) => playState === "running" && effect?.getComputedTiming().iterations === Infinity).length,
      }));
      if (wide) wrong.push(`${where}: something sticks out sideways`);
      if (moving > 0) wrong.push(`${where}: something moves where motion is to be reduced`);
    }
  }
  await page.page.setViewport(WIDTHS[0]?.viewport ?? null);
  expect(wrong).toEqual([]);
}

const choose = async (action: string) => {
  await page.click('console-sandbox-bar >>> button[aria-label="More actions"]');
  await page.click("console-sandbox-bar >>> [role=menuitem]", action);
};

const dismiss = async (gone: string) => {
  await page.page.keyboard.press("Escape");
  await page.gone(gone);
};

describe("looked at in every width and colour", { timeout: 300_000 }, () => {
  test("the way in: by a key, to another address, and after a key that was refused", async () => {
    const inside = page;
    page = await ConsolePage.open(await shared.browser.createBrowserContext(), shared.url);
    await page.find("console-connect >>> #key:focus");
    await look("connect");
    await page.page.keyboard.type("wrong\n");
    await page.find("console-connect >>> sandbox-error >>> .title", "The key was refused");
    await look("connect-refused");
    await (await page.find("console-connect >>> #provider")).select("custom");
    await page.find("console-connect >>> #api");
    await look("connect-elsewhere");
    await page.page.close();
    page = inside;
    await page.page.bringToFront();
  });

  test("a sandbox with all that can be chosen", async () => {
    await page.click("console-sandboxes >>> button", "New sandbox");
    await page.click("console-new-sandbox >>> button", "Add a label");
    await page.click("console-new-sandbox >>> button", "Add a variable");
    await page.click("console-new-sandbox >>> summary");
    await look("new");
    expect(await (await page.find("console-new-sandbox >>> dialog")).evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await dismiss("console-new-sandbox >>> dialog");
  });

  test("Markdown beside its source", async () => {
    await page.run(
      "printf '# Title\\n\\n- *one* [two](https://example.org)\\n\\n| a | b |\\n|---|---|\\n| `c` | d |\\n' > text.md",
    );
    await page.click("sandbox-tree >>> .row", "text.md");
    await page.click('sandbox-editor >>> button[aria-label="Preview"]');
    await page.find("sandbox-editor >>> .rendered >>> h3", "Title");
    await look("markdown");
    await page.click('sandbox-editor >>> button[aria-label="Preview"]');
  });

  test("a search in the files", async () => {
    await page.click('sandbox-files >>> button[aria-label="Find in files"]');
    await page.fill("sandbox-search >>> input[type=search]", "quartzite");
    await page.page.keyboard.press("Enter");
    await page.find("sandbox-search >>> .count", "2 lines in 2 files");
    await look("search");
    await page.click("sandbox-search >>> .place", "one quartzite");
    await page.click('sandbox-files >>> button[aria-label="Find in files"]');
  });

  test("two versions of a file compared", async () => {
    await page.click("sandbox-editor >>> .cm-content");
    await page.page.keyboard.type("mine ");
    await page.run("printf 'one quartzite\\ntwo, from elsewhere\\n' > notes.txt");
    await page.click("sandbox-editor >>> .outside button", "Compare");
    await page.find("sandbox-editor >>> .cm-deletedChunk, .cm-changedLine");
    await look("compare");
  });

  test("a terminal in two parts, with its search and its settings", async () => {
    await page.terminal(1);
    await page.click('sandbox-terminal-group >>> button[aria-label="Split the terminal"]');
    await page.page.waitForFunction(() => window.deepQuery("sandbox-terminal", "").length === 2, { polling: 40 });
    await page.click('sandbox-terminal-group >>> button[aria-label="Find in the terminal"]');
    await page.find("sandbox-terminal >>> input");
    await look("terminal-split");
    await page.page.keyboard.press("Escape");
    await page.click('sandbox-terminal-group >>> button[aria-label="Settings of terminals"]');
    await page.find("sandbox-terminal-settings >>> .panel");
    await look("terminal-settings");
    await page.page.keyboard.press("Escape");
  });

  test("a chart behind a figure", async () => {
    const notebook = new NotebookPage(page);
    await notebook.show();
    await notebook.run(
      1,
      "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9], label='squares')\nplt.title('A figure')\nplt.show()",
    );
    await page.click(`${cell(1)} >>> sandbox-result >>> button`, "Explore the chart");
    await page.find(`${cell(1)} >>> sandbox-chart >>> svg`);
    await look("chart");
  });

  test("metrics with a port and its preview", async () => {
    await page.start("python3 -m http.server 8123");
    await page.click("[role=tab]", "Metrics");
    await page.click('sandbox-ports >>> button[aria-label="Preview port 8123"]');
    await page.find("sandbox-ports >>> iframe");
    await look("ports");
    await page.click('sandbox-ports >>> button[aria-label="Close the preview"]');
  });

  test.each([
    ["Fork", "fork"],
    ["Keep a snapshot", "keep"],
    ["Kill", "kill"],
  ])("the dialog of %s gives the focus back", async (action, name) => {
    await choose(action);
    await page.find("sandbox-dialog >>> dialog");
    await look(name);
    await dismiss("sandbox-dialog >>> dialog");
    const focus = await page.page.evaluate(() => {
      let focused = document.activeElement;
      while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
      return focused?.getAttribute("aria-label") ?? focused?.tagName;
    });
    expect(focus).toBe("More actions");
  });

  test("the snapshots and the shortcuts", async () => {
    await page.click('console-sandboxes >>> button[aria-label="Snapshots"]');
    await page.find("console-snapshots >>> dialog");
    await look("snapshots");
    await dismiss("console-snapshots >>> dialog");
    await page.page.keyboard.press("F1");
    await page.find("console-palette >>> input:focus");
    await page.page.keyboard.type("shortcuts");
    await page.page.keyboard.press("Enter");
    await page.find("console-shortcuts >>> dialog");
    await look("shortcuts");
    await dismiss("console-shortcuts >>> dialog");
  });

  test("a paused sandbox, one that is gone, and a platform that does not answer", async () => {
    await page.click("console-sandbox-bar >>> button", "Pause");
    await page.find(".paused", "This sandbox is paused");
    await look("paused");
    await page.click(".paused >>> button", "Resume");
    await page.gone(".paused");
    await page.click("console-sandbox-bar >>> button", "Kill");
    await page.answer("Kill");
    await page.find(".panel >>> sandbox-error >>> .title", "This sandbox has ended");
    await look("gone");
    // What was under way ends with the sandbox, which the browser reports as requests that failed.
    expect(page.problems.filter((problem) => !problem.includes("Failed to load resource"))).toEqual([]);
    await shared.stopPlatform();
    await page.find(".trouble >>> sandbox-error >>> .title");
    await look("reconnecting");
  });
});
