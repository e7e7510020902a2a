// A person opens the printed address, starts a sandbox, runs a command, edits a file and types into a shell.
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { type Console, openConsole } from "./console.ts";
import type { ConsolePage } from "./console-page.ts";

const NAME = "a b#?%+ü😀.txt";

let shared: Console;
let page: ConsolePage;
/** The id of the sandbox that was killed. */
let killed: string;

beforeAll(async () => {
  shared = await openConsole();
  page = shared.first;
}, 120_000);

afterAll(() => shared?.close());

/** Types into the shown terminal and ends the line. */
async function enter(text: string): Promise<void> {
  await page.page.keyboard.type(text);
  await page.page.keyboard.press("Enter");
}

/** Waits for the shell's prompt: a program that is about to end would take what is typed ahead of it. */
async function prompted(): Promise<void> {
  await page.until(`window.deepQuery("sandbox-terminal", "")[0].text().trimEnd().endsWith("$")`);
}

/** Rows and columns as the shell in the shown terminal sees them. */
async function sizeInShell(mark: string): Promise<{ rows: number; cols: number }> {
  await enter(`echo ${mark}=$(stty size)=`);
  await page.until(`/${mark}=\\d+ \\d+=/.test(window.deepQuery("sandbox-terminal", "")[0].text())`);
  const [, rows, cols] = /=(\d+) (\d+)=/.exec((await page.terminalText()).split(mark).at(-1) ?? "") ?? [];
  return { rows: Number(rows), cols: Number(cols) };
}

describe("the story of the console", { timeout: 180_000 }, () => {
  test("the printed address opens it connected, and its code is gone from the address bar", async () => {
    await page.find("h2", "No sandboxes yet");
    expect(page.page.url()).toBe(shared.url);
    expect(await page.page.evaluate(() => [location.hash, history.length])).toEqual(["", expect.any(Number)]);
    await screenshot(page.page, "console-empty");
  });

  test("a sandbox is started and listed with its state, age and time left", async () => {
    const id = await page.createSandbox();
    await page.find("console-sandboxes >>> [aria-current=true]", id);
    await page.find("console-sandboxes >>> .second", "running for");
    await page.find("console-sandboxes >>> .second", "left");
  });

  test("a command's lines are shown as they come, then its exit code and duration", async () => {
    await page.start("echo line 1; until [ -e go-on ]; do sleep 0.1; done; rm go-on; echo line 2");
    await page.outputHas("line 1");
    expect(await page.lastOutput()).not.toContain("line 2");
    const { apiUrl, sandboxUrl, apiKey } = shared.platform.info;
    const id = await page.text("console-sandbox-bar >>> h2");
    const sandbox = await Sandbox.connect(id, { apiUrl, sandboxUrl, apiKey, timeoutMs: 1000 });
    await sandbox.files.write("go-on", "");
    await sandbox.close();
    await page.outputHas("line 2");
    expect(await page.commandEnd()).toBe("exit 0");
    await page.find("sandbox-command >>> .end", "s");
    expect(await page.run("echo oops >&2; exit 3")).toBe("exit 3");
    expect(await page.lastOutput()).toBe("oops");
  });

  test("a command is stopped by its button", async () => {
    await page.start("echo begun; sleep 1000");
    await page.outputHas("begun");
    await page.click("sandbox-command >>> button", "Stop");
    await page.commandEnd();
    await page.find("sandbox-command >>> button", "Run");
  });

  test("endless output leaves the page usable and stops", async () => {
    await page.start("yes");
    await page.outputHas("earlier lines are not kept");
    await page.click("sandbox-command >>> button", "Stop");
    await page.commandEnd();
    expect(await page.run("echo after")).toBe("exit 0");
    expect(await page.lastOutput()).toBe("after");
  });

  test("a file of a difficult name is written, closed, reopened and the same", async () => {
    await page.click('button[aria-label="New file"]');
    await page.answer("Create", NAME);
    await page.find("sandbox-editor >>> .cm-content");
    await page.page.keyboard.type("first line\nsecond: äöü 😀");
    await page.find("sandbox-editor >>> .dirty");
    await page.page.keyboard.down("Control");
    await page.page.keyboard.press("s");
    await page.page.keyboard.up("Control");
    await page.find("sandbox-editor >>> .status", "Saved");
    await page.gone("sandbox-editor >>> .dirty");
    expect(await page.run(`cat ./"${NAME}"`)).toBe("exit 0");
    expect(await page.lastOutput()).toBe("first line\nsecond: äöü 😀");

    await page.click("sandbox-editor >>> .close");
    await page.find("sandbox-editor >>> h2", "No file is open");
    await page.click("sandbox-tree >>> .row", NAME);
    await page.editorHas("first line\nsecond: äöü 😀");
    await screenshot(page.page, "console-editor");
  });

  test("a change in the sandbox is not overwritten without asking", async () => {
    await page.click("sandbox-editor >>> .cm-content");
    await page.page.keyboard.type("x");
    await page.find("sandbox-editor >>> .dirty");
    expect(await page.run(`sleep 0.01; echo changed inside > ./"${NAME}"`)).toBe("exit 0");
    await page.click('sandbox-editor >>> button[aria-label="Save"]');
    await page.find("sandbox-dialog >>> h2", "has changed");
    await page.answer("Cancel");
    await page.run(`cat ./"${NAME}"`);
    expect(await page.lastOutput()).toBe("changed inside");
    await page.click("sandbox-editor >>> .close");
    await page.answer("Close");
  });

  test("folders are made, files renamed and deleted, each after asking", async () => {
    await page.click('button[aria-label="New folder"]');
    await page.answer("Create", "a folder");
    await page.find("sandbox-tree >>> .row", "a folder");
    await page.run("touch 'a folder/old name.txt'");
    await page.click("sandbox-tree >>> .row", "a folder");
    const row = await page.find("sandbox-tree >>> .row", "old name.txt");
    await row.click({ button: "right" });
    await page.click("sandbox-tree >>> [role=menuitem]", "Rename");
    await page.answer("Rename", "new name.txt");
    await page.gone("sandbox-tree >>> .row", "old name.txt");
    await (await page.find("sandbox-tree >>> .row", "new name.txt")).focus();
    await page.page.keyboard.press("Delete");
    await page.answer("Cancel");
    await page.find("sandbox-tree >>> .row", "new name.txt");
    await (await page.find("sandbox-tree >>> .row", "new name.txt")).focus();
    await page.page.keyboard.press("Delete");
    await page.answer("Delete");
    await page.gone("sandbox-tree >>> .row", "new name.txt");
    await page.run("ls -A 'a folder' | wc -l");
    expect(await page.lastOutput()).toBe("0");
  });

  test("binary and large files are refused kindly and shown from their beginning", async () => {
    await page.run("printf 'PNG\\0\\1\\2' > some.bin; head -c 3000000 /dev/zero | tr '\\0' A > large.txt; ln -s /dev/null device");
    await page.click("sandbox-tree >>> .row", "some.bin");
    await page.find("sandbox-editor >>> pre", "50 4e 47 00 01 02");
    await page.click("sandbox-tree >>> .row", "large.txt");
    await page.find("sandbox-editor >>> p", "too large");
    await page.find("sandbox-editor >>> pre", "AAAA");
  });

  test("vi, less and top work in a terminal", async () => {
    await page.terminal(1);
    await enter("vi written.txt");
    // In quotes it stands in vi's own last line, and no longer in the command.
    await page.terminalHas('"written.txt"');
    await page.page.keyboard.type("ihello from vi");
    await page.page.keyboard.press("Escape");
    await enter(":wq");
    await prompted();
    await enter("echo back=$(cat written.txt)");
    await page.terminalHas("back=hello from vi");

    await enter("seq 500 | less");
    await page.terminalHas("\n:");
    await page.page.keyboard.type("G");
    await page.terminalHas("500\n(END)");
    await page.page.keyboard.type("q");
    await prompted();

    await enter("top");
    await page.terminalHas("Tasks:");
    await screenshot(page.page, "console-terminal");
    await page.page.keyboard.type("q");
    await prompted();
    await enter("echo after top");
    await page.terminalHas("\nafter top");
  });

  test("the shell's size follows the window, also of a terminal that was hidden meanwhile", async () => {
    const before = await sizeInShell("before");
    await page.click("[role=tab]", "Command");
    await page.page.setViewport({ width: 1100, height: 640 });
    await page.terminal(1);
    const after = await sizeInShell("after");
    expect(after.cols).toBeLessThan(before.cols);
    await page.page.setViewport({ width: 1280, height: 800 });
    const again = await sizeInShell("again");
    expect(again).toEqual(before);
    await (await page.find("[role=separator]")).focus();
    for (let step = 0; step < 4; step += 1) await page.page.keyboard.press("ArrowUp");
    await page.terminal(1);
    expect((await sizeInShell("higher")).rows).toBeGreaterThan(before.rows);
  });

  test("what is made and removed in a terminal comes and goes in the tree by itself", async () => {
    await enter("touch 'made outside.txt'; mkdir -p deep; echo made=$((1+1))");
    await page.terminalHas("made=2");
    await page.find("sandbox-tree >>> .row", "made outside.txt");
    await page.click("sandbox-tree >>> .row", "deep");
    await page.terminal(1);
    await enter("touch deep/below.txt; rm 'made outside.txt'");
    await page.find("sandbox-tree >>> .row", "below.txt");
    await page.gone("sandbox-tree >>> .row", "made outside.txt");
    // A folder that is closed while it changes is read again when it is opened.
    await page.click("sandbox-tree >>> .row", "deep");
    await page.gone("sandbox-tree >>> .row", "below.txt");
    await page.terminal(1);
    await enter("mv deep/below.txt deep/moved.txt; touch seen");
    await page.find("sandbox-tree >>> .row", "seen");
    await page.click("sandbox-tree >>> .row", "deep");
    await page.find("sandbox-tree >>> .row", "moved.txt");
    await page.terminal(1);
  });

  test("fast typing arrives whole and in order", async () => {
    await enter("clear");
    const words = Array.from({ length: 60 }, (_, at) => `w${at}`).join("-");
    await page.page.keyboard.type(`printf '%s' ${words} | md5sum; printf '%s' ${words} | wc -c\n`);
    await page.terminalHas(`\n${words.length}\n`);
    const { createHash } = await import("node:crypto");
    await page.terminalHas(createHash("md5").update(words).digest("hex"));
  });

  test("Ctrl-C ends `yes`, and the terminal answers at once", async () => {
    await enter("clear");
    await enter("yes");
    await page.until(`window.deepQuery("sandbox-terminal", "")[0].text().split("\\n").length > 1000`);
    await page.page.keyboard.down("Control");
    await page.page.keyboard.press("c");
    await page.page.keyboard.up("Control");
    await page.terminalHas("^C");
    await enter("echo quiet=$((1+1))");
    await page.terminalHas("quiet=2");
  });

  test("the end of a shell is told, and a new one is a click away", async () => {
    await enter("exit 7");
    await page.find("sandbox-terminal >>> .ended", "exit code 7");
    await page.click("sandbox-terminal >>> button", "Start a new one");
    await page.gone("sandbox-terminal >>> .ended");
    await page.terminal(1);
    await enter("echo again=$((20+3))");
    await page.terminalHas("again=23");
  });

  test("a reload keeps the sandbox open", async () => {
    const id = await page.text("console-sandbox-bar >>> h2");
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("console-sandbox-bar >>> h2", id);
    await page.find("sandbox-tree >>> .row", NAME);
  });

  test("looking does not extend a sandbox's life", async () => {
    const id = await page.text("console-sandbox-bar >>> h2");
    const endAt = async () => {
      const answer = await fetch(`${shared.platform.info.apiUrl}/sandboxes/${id}`, {
        headers: { "x-api-key": shared.platform.info.apiKey },
      });
      return ((await answer.json()) as { endAt: string }).endAt;
    };
    const before = await endAt();
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("sandbox-tree >>> .row", NAME);
    expect(await endAt()).toBe(before);
    await page.click("console-sandbox-bar >>> button", "+15 min");
    // It began with 15 minutes, of which a slow machine may have used some.
    await page.until(
      `Number(/(\\d+) m/.exec(window.deepQuery("console-sandbox-bar >>> .facts", "left")[0]?.textContent)?.[1]) >= 15`,
    );
    expect(Date.parse(await endAt()) - Date.parse(before)).toBeGreaterThan(14 * 60_000);
  });

  test("killing asks first; then the page says so and offers a new sandbox", async () => {
    const id = await page.text("console-sandbox-bar >>> h2");
    await page.terminal(1);
    killed = id;
    await page.click("console-sandbox-bar >>> button", "Kill");
    await page.until(`window.deepQuery("sandbox-dialog >>> button:focus", "")[0]?.textContent === "Cancel"`);
    await page.answer("Cancel");
    await page.find("console-sandboxes >>> .item", id);
    await page.click("console-sandbox-bar >>> button", "Kill");
    await page.answer("Kill");
    await page.find("sandbox-error >>> .title", "This sandbox has ended");
    await page.gone("console-sandboxes >>> .item", id);
    await page.until(`["ended", "failed"].includes(window.deepQuery("sandbox-terminal", "")[0].phase)`);
    await page.gone("sandbox-terminal >>> button");
    await screenshot(page.page, "console-killed");
    await page.click("button", "Close");
    await page.find("h2", "No sandbox is open");
  });

  test("nothing went wrong in the page", () => {
    // The kill cuts what was open to the sandbox, and then it is not there any more: the browser notes both by itself.
    const cut = (problem: string) => problem.startsWith("console: Failed to load resource") && problem.includes(killed);
    expect(page.problems.filter((problem) => !cut(problem))).toEqual([]);
  });
});
