// Everything that can be done is found by its name, from the keyboard alone, also out of a terminal.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { type Console, openConsole } from "./console.ts";
import { ConsolePage } from "./console-page.ts";

let shared: Console;
let page: ConsolePage;

beforeAll(async () => {
  shared = await openConsole();
  page = shared.first;
}, 120_000);

afterAll(() => shared?.close());

async function press(...keys: ("Control" | "Shift" | "F1" | "k" | "P")[]): Promise<void> {
  for (const key of keys) await page.page.keyboard.down(key);
  for (const key of keys.reverse()) await page.page.keyboard.up(key);
}

/** Finds a command by typing, and takes the first. */
async function command(typed: string, first: string): Promise<void> {
  await page.find("console-palette >>> input:focus");
  await page.page.keyboard.type(typed);
  await page.find("console-palette >>> [aria-selected=true]", first);
  await page.page.keyboard.press("Enter");
  await page.gone("console-palette >>> dialog");
}

describe("the command palette", { timeout: 120_000 }, () => {
  test("leads to every kind of platform before there is a connection", async () => {
    const out = await ConsolePage.open(await shared.browser.createBrowserContext(), shared.url);
    const chosen = (provider: string) =>
      out.until(`window.deepQuery("console-connect >>> #provider", "")[0]?.value === "${provider}"`);
    await out.find("console-connect >>> #key:focus");
    for (const [typed, provider, field] of [
      ["agentbox", "agentbox", "#key"],
      ["another address", "custom", "#api"],
      ["serves this page", "own", "#key"],
    ] as const) {
      await out.page.keyboard.press("F1");
      await out.find("console-palette >>> input:focus");
      await out.page.keyboard.type(typed);
      await out.page.keyboard.press("Enter");
      await chosen(provider);
      await out.find(`console-connect >>> ${field}:focus`);
    }
    await out.page.keyboard.type(`${shared.platform.info.apiKey}\n`);
    await out.find("h2", "No sandboxes yet");
    expect(out.problems).toEqual([]);
    await out.page.close();
    await page.page.bringToFront();
  });

  test("a sandbox is started and worked in without the pointer", async () => {
    await page.find("h2", "No sandboxes yet");
    await press("Control", "k");
    await command("new sandb", "New sandbox");
    await page.find("console-new-sandbox >>> dialog");
    // From the choice of the template, where Enter opens the choice, into the first field.
    await page.page.keyboard.press("Tab");
    await page.page.keyboard.press("Enter");
    await page.gone("console-new-sandbox >>> dialog");
    await page.find("sandbox-console");
    await press("Control", "Shift", "P");
    await command("metr", "Metrics");
    await page.find("[role=tab][aria-selected=true]", "Metrics");
    await press("F1");
    await command("terminal 1", "Terminal 1");
    await page.terminal(1);
  });

  test("in a terminal Ctrl+K is the shell's, and F1 opens the palette without reaching it", async () => {
    await page.page.keyboard.type("echo gone; false");
    await page.page.keyboard.press("Home");
    await press("Control", "k");
    expect(await page.count("console-palette >>> dialog")).toBe(0);
    await page.page.keyboard.type("echo kept=$((40+2))");
    await press("F1");
    await page.find("console-palette >>> dialog");
    await screenshot(page.page, "console-palette");
    await page.page.keyboard.press("Escape");
    await page.page.keyboard.press("Enter");
    await page.terminalHas("\nkept=42");
    expect(await page.terminalText()).not.toContain("gone");
  });

  test("what cannot be found is said, and arrows go around", async () => {
    await press("F1");
    await page.page.keyboard.type("no such thing");
    await page.find("console-palette >>> .none");
    for (let at = 0; at < 13; at += 1) await page.page.keyboard.press("Backspace");
    await page.page.keyboard.press("ArrowUp");
    await page.find("console-palette >>> [aria-selected=true]", "Keyboard shortcuts");
    await page.page.keyboard.press("Enter");
    await page.find("console-shortcuts >>> dt", "F1");
    await page.page.keyboard.press("Escape");
    await page.gone("console-shortcuts >>> dialog");
  });

  test("colours chosen by hand are kept over a reload, and the shown sandbox too", async () => {
    const id = await page.text("console-sandbox-bar >>> h2");
    await press("F1");
    await command("colours", "Use dark colours");
    const background = () => page.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("console-sandbox-bar >>> h2", id);
    expect(await background()).toBe(dark);
    await page.click('button[aria-label="Use light colours"]');
    expect(await background()).not.toBe(dark);
    expect((await page.storage()).local).toEqual({});
  });

  test("nothing went wrong in the page", () => {
    expect(page.problems).toEqual([]);
  });
});
