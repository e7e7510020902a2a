// A reload loses nothing: the sandboxes that were open, their tabs, and text that is in no file yet.
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { type Console, openConsole } from "./console.ts";
import type { ConsolePage } from "./console-page.ts";

let shared: Console;
let page: ConsolePage;
/** Two sandboxes that the page has open. */
let one: Sandbox;
let two: Sandbox;

beforeAll(async () => {
  shared = await openConsole();
  page = shared.first;
  one = await open();
  two = await open();
}, 120_000);

afterAll(async () => {
  await one?.close();
  await two?.close();
  await shared?.close();
});

/** Starts a sandbox in the page and takes hold of it here too. */
async function open(): Promise<Sandbox> {
  const { apiKey, apiUrl, sandboxUrl } = shared.platform.info;
  const id = await page.createSandbox();
  return Sandbox.connect(id, { apiKey, apiUrl, sandboxUrl, timeoutMs: 600_000 });
}

/** Shows one of the sandboxes that are open. */
async function show(sandbox: Sandbox): Promise<void> {
  await page.click("console-sandboxes >>> .item", sandbox.sandboxId);
  await page.find("console-sandbox-bar >>> h2", sandbox.sandboxId);
}

/** Opens a file and types at its beginning, without saving. */
async function edit(name: string, text: string): Promise<void> {
  await page.openFile(name);
  await page.page.keyboard.type(text);
  await page.find("sandbox-editor >>> .tab[aria-selected=true] .dirty");
}

const reload = () => page.page.reload({ waitUntil: "domcontentloaded" });

describe("a reload", { timeout: 120_000 }, () => {
  test("opens the sandboxes again, each with its tab, its files and what was not saved in them", async () => {
    await two.files.write("plan.txt", "plan\n");
    await edit("plan.txt", "my ");
    await page.terminal(1);
    await show(one);
    for (const name of ["kept.txt", "changed.txt", "removed.txt"]) await one.files.write(name, `${name}\n`);
    for (const name of ["kept.txt", "changed.txt", "removed.txt"]) await edit(name, "mine: ");
    await page.click('[role=tab][aria-label="Notebook"]');
    await page.click("sandbox-cell >>> .cm-content");
    await page.page.keyboard.type("# never run");

    await reload();
    await page.find("console-sandbox-bar >>> h2", one.sandboxId);
    await page.find("sandbox-cell >>> .cm-content", "# never run");
    await page.click('button[aria-label="Show the files above"]');
    await page.editorHas("mine: removed.txt\n");
    expect(await page.count("sandbox-editor >>> .dirty")).toBe(3);
    await show(two);
    await page.find('[role=tab][aria-label="Terminal 1"][aria-selected=true]');
    await page.terminal(1);
    await page.editorHas("my plan\n");
    await page.find("sandbox-editor >>> .tab .dirty");
  });

  test("warns when a file has changed meanwhile, and writes one anew that is gone", async () => {
    await show(one);
    // Away from the page, which would see it happen.
    const { url } = shared;
    await page.page.goto("about:blank");
    await one.files.write("changed.txt", "theirs\n");
    await one.files.remove("removed.txt");
    await page.page.goto(url, { waitUntil: "domcontentloaded" });
    await page.editorHas("mine: removed.txt\n");
    await page.find("sandbox-editor >>> .outside", "was deleted");
    await page.click('sandbox-editor >>> button[aria-label="Save"]');
    await page.gone("sandbox-editor >>> .outside");
    expect(await one.files.read("removed.txt")).toBe("mine: removed.txt\n");

    await page.click("sandbox-editor >>> .tab", "changed.txt");
    await page.editorHas("mine: changed.txt\n");
    await page.find("sandbox-editor >>> .outside", "has changed");
    await page.click('sandbox-editor >>> button[aria-label="Save"]');
    await page.find("sandbox-dialog >>> h2", "has changed");
    await page.answer("Cancel");
    await screenshot(page.page, "console-draft-changed");
    await page.click("sandbox-editor >>> .outside button", "Compare");
    await page.find("sandbox-editor >>> .cm-deletedChunk", "theirs");
    await page.click("sandbox-editor >>> .outside button", "End the comparison");

    // The text of the file is what undoing leads back to.
    await page.click("sandbox-editor >>> .tab", "kept.txt");
    await page.editorHas("mine: kept.txt\n");
    await page.find("sandbox-editor >>> .cm-focused");
    await page.page.keyboard.down("Control");
    await page.page.keyboard.press("z");
    await page.page.keyboard.up("Control");
    await page.editorHas("kept.txt\n");
    await page.gone("sandbox-editor >>> .tab[aria-selected=true] .dirty");
  });

  test("says before it comes that a text is too long to be kept", async () => {
    await one.files.write("long.txt", "0123456789\n".repeat(100_000));
    await edit("long.txt", "x");
    await page.find("sandbox-editor >>> .status", "too long to be kept");
    await page.page.keyboard.press("Backspace");
    await page.gone("sandbox-editor >>> .status", "too long to be kept");
  });

  test("goes on with the command that runs, with what it and those before have printed", async () => {
    await page.click('[role=tab][aria-label="Command"]');
    await page.run("echo earlier; exit 3");
    await page.start("for i in $(seq 100000); do echo tick $i; sleep 0.1; done");
    await page.outputHas("tick 3");
    await reload();
    await page.find("sandbox-command >>> .badge", "exit 3");
    await page.find("sandbox-command >>> .line", "earlier");
    await page.outputHas("output may be missing");
    expect(await page.lastOutput()).toContain("tick 1\n");
    await page.until("/missing[^]*tick \\d+\\n/.test(window.lastOutput())");
    await page.click("sandbox-command >>> form button", "Stop");
    await page.commandEnd();
    expect(await page.run("pgrep -f 'seq 10000[0]' | wc -l")).toBe("exit 0");
    expect(await page.lastOutput()).toBe("0");
    await page.click('[role=tab][aria-label="Notebook"]');
  });

  test("leaves out a sandbox that has ended, and what was kept of it", async () => {
    const kept = async () => Object.keys((await page.storage()).session).filter((key) => key.includes(two.sandboxId));
    expect(await kept()).not.toEqual([]);
    await page.page.goto("about:blank");
    await two.kill();
    await page.page.goto(shared.url, { waitUntil: "domcontentloaded" });
    await page.find("console-sandbox-bar >>> h2", one.sandboxId);
    await expect.poll(kept, { timeout: 30_000 }).toEqual([]);
    expect((await page.storage()).session["agent-sandbox-console.sandboxes"]).not.toContain(two.sandboxId);
  });

  test("shows of one that ended meanwhile what was not saved in it and its notebook, until it is closed", async () => {
    await page.page.goto("about:blank");
    await one.kill();
    await page.page.goto(shared.url, { waitUntil: "domcontentloaded" });
    await page.find(".panel >>> sandbox-error >>> .title", "This sandbox has ended");
    await page.find("sandbox-cell >>> .cm-content", "# never run");
    await page.click("sandbox-editor >>> .tab", "changed.txt");
    await page.editorHas("mine: changed.txt\n");
    await screenshot(page.page, "console-ended-reload");
    await page.click(".panel >>> sandbox-error >>> button", "Close");
    await page.find("h2", "No sandbox is open");
    expect(Object.keys((await page.storage()).session).filter((key) => key.includes(one.sandboxId))).toEqual([]);
  });

  test("asks before unsaved text would be lost with the tab, and nothing else went wrong", () => {
    const asked = (problem: string) => problem.startsWith("dialog:");
    expect(page.problems.some(asked)).toBe(true);
    const gone = (problem: string) =>
      problem.startsWith("console: Failed to load resource") && [one, two].some(({ sandboxId }) => problem.includes(sandboxId));
    expect(page.problems.filter((problem) => !asked(problem) && !gone(problem))).toEqual([]);
  });
});
