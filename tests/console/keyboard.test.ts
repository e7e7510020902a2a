// A day's small work without a pointer: what has the focus is seen at each step, and nothing holds it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIRST_USE_MS, prepareRuntime, runtimeDir } from "../support/runtime.ts";
import { type Console, openConsole } from "./console.ts";
import { ConsolePage } from "./console-page.ts";

/** More stops than there are anywhere: who has not arrived by then is held. */
const STOPS = 80;

let shared: Console;
let page: ConsolePage;

beforeAll(async () => {
  await prepareRuntime();
  shared = await openConsole(["--runtime-dir", runtimeDir]);
  page = await ConsolePage.open(await shared.browser.createBrowserContext(), shared.url);
}, FIRST_USE_MS);

afterAll(() => shared?.close());

/** What has the focus, and how that is seen; nothing is said of a text field, which has a caret. */
const focused = (path: string) =>
  page.page.evaluate((path) => {
    let element = document.activeElement as HTMLElement | null;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement as HTMLElement;
    if (!element || element === document.body) return { there: false, name: "nothing", seen: true, editor: false };
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const shown = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    const written = element.matches("input:not([type=checkbox]), textarea, [contenteditable=true]");
    return {
      there: window.deepQuery(path, "").includes(element),
      editor: element.matches(".cm-content"),
      name: `${element.localName} ${element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 40)}`,
      seen: written || (shown && outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0),
    };
  }, path);

/** Goes on to an element by Tab, or back with Shift. Every stop on the way is seen. */
async function tabTo(path: string, back = false): Promise<void> {
  await page.find(path);
  const stops: string[] = [];
  for (let stop = 0; stop < STOPS; stop += 1) {
    const { there, name, seen, editor } = await focused(path);
    expect(seen, `the focus on ${name} is seen`).toBe(true);
    if (there) return;
    stops.push(name);
    // In an editor Tab is its own, until Escape.
    if (editor) await page.page.keyboard.press("Escape");
    if (back) await page.page.keyboard.down("Shift");
    await page.page.keyboard.press("Tab");
    if (back) await page.page.keyboard.up("Shift");
  }
  throw new Error(`${path} was not reached by Tab, only:\n${stops.join("\n")}`);
}

const press = (...keys: Parameters<typeof page.page.keyboard.press>[0][]) =>
  keys.reduce((before, key) => before.then(() => page.page.keyboard.press(key)), Promise.resolve());

async function together(held: "Control" | "Shift", key: "s" | "Enter"): Promise<void> {
  await page.page.keyboard.down(held);
  await page.page.keyboard.press(key);
  await page.page.keyboard.up(held);
}

/** Chooses a view by the arrows in the row of tabs. */
async function view(label: string, back = false): Promise<void> {
  await tabTo("[aria-label=Views] >>> [role=tab][aria-selected=true]", back);
  for (let step = 0; step < 6; step += 1) {
    if ((await page.count("[aria-label=Views] >>> [role=tab][aria-selected=true]", label)) > 0) return;
    await press("ArrowRight");
  }
  throw new Error(`there is no view ${label}`);
}

describe("by the keyboard alone", { timeout: 120_000 }, () => {
  test("one connects and starts a sandbox", async () => {
    await page.find("console-connect >>> #key:focus");
    await page.page.keyboard.type(`${shared.platform.info.apiKey}\n`);
    await page.find("h2", "No sandboxes yet");
    await tabTo("console-sandboxes >>> .button.primary");
    await press("Enter");
    await page.find("console-new-sandbox >>> dialog");
    await tabTo("console-new-sandbox >>> #template");
    await page.page.keyboard.type("code");
    await tabTo("console-new-sandbox >>> .buttons .primary");
    await press("Enter");
    await page.gone("console-new-sandbox >>> dialog");
    await page.find("sandbox-console");
  });

  test("one works in a terminal and leaves it", async () => {
    await view("Terminal 1");
    await page.terminal(1);
    await page.page.keyboard.type("touch walk.txt && echo $((40+2)) made\n");
    await page.terminalHas("\n42 made");
    // Tab is the shell's.
    await press("F6");
  });

  test("one opens a file, changes it and saves it", async () => {
    await tabTo("sandbox-tree >>> [role=treeitem]", true);
    for (let step = 0; step < 9 && !(await focused("sandbox-tree >>> .row")).name.includes("walk.txt"); step += 1) {
      await press("ArrowDown");
    }
    await press("Enter");
    await page.find("sandbox-editor >>> .cm-focused");
    await page.page.keyboard.type("walked");
    await together("Control", "s");
    await page.find("sandbox-editor >>> .status", "Saved");
    await press("Escape");
  });

  test("one runs a cell", async () => {
    await view("Notebook");
    await tabTo("sandbox-cell >>> .cm-content");
    await page.page.keyboard.type("print(6 * 7)");
    await together("Shift", "Enter");
    await page.find("sandbox-cell >>> sandbox-output >>> .line", "42");
    await press("Escape");
  });

  test("one pauses, resumes and kills it", async () => {
    await tabTo('console-sandbox-bar >>> [aria-label="Pause"]', true);
    await press("Enter");
    await page.find(".paused", "This sandbox is paused");
    await tabTo(".paused >>> button");
    await press("Enter");
    await page.gone(".paused");
    await tabTo('console-sandbox-bar >>> [aria-label="Kill"]');
    await press("Enter");
    await page.find("sandbox-dialog >>> dialog");
    await tabTo("sandbox-dialog >>> .buttons .danger");
    await press("Enter");
    await page.find(".panel >>> sandbox-error >>> .title", "This sandbox has ended");
    await tabTo(".panel >>> sandbox-error >>> button:last-child");
    await press("Enter");
    await page.find("h2", "No sandbox is open");
  });
});
