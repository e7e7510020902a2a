// Whatever a sandbox says is text: names, output and links run nothing in the console's origin.
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Console, openConsole } from "./console.ts";
import type { ConsolePage } from "./console-page.ts";

const MARKUP = "<img src=x onerror=window.hit=1>";

let shared: Console;
let page: ConsolePage;

beforeAll(async () => {
  shared = await openConsole();
  page = shared.first;
  await page.createSandbox();
}, 120_000);

afterAll(() => shared?.close());

/** Whether anything of the sandbox's ran in the page. */
const hit = () => page.page.evaluate(() => "hit" in window || document.title !== "Sandbox console");

describe("hostile sandboxes", { timeout: 120_000 }, () => {
  test("names with markup, newlines and turned text are shown as they are and work", async () => {
    await page.run(`touch '${MARKUP}' $'line\\nbreak' $'evil\\xe2\\x80\\xaetxt.exe' '$(touch x).txt' && mkdir 'dir<b>'`);
    await page.find("sandbox-tree >>> .row .name", MARKUP);
    await page.find("sandbox-tree >>> .row .name", "line\\nbreak");
    await page.find("sandbox-tree >>> .row .name", "evil\\u{202e}txt.exe");
    await page.click("sandbox-tree >>> .row", MARKUP);
    await page.find("sandbox-editor >>> .tab", MARKUP);
    await page.find("sandbox-editor >>> .cm-content");
    await page.page.keyboard.type("kept");
    await page.click('sandbox-editor >>> button[aria-label="Save"]');
    await page.find("sandbox-editor >>> .status", "Saved");
    await page.run(`cat '${MARKUP}'; ls 'x' 2>&1`);
    expect(await page.lastOutput()).toContain("kept");
    const row = await page.find("sandbox-tree >>> .row", "line\\nbreak");
    await row.focus();
    await page.page.keyboard.press("Delete");
    await page.find("sandbox-dialog >>> h2", "line\\nbreak");
    await page.answer("Delete");
    await page.gone("sandbox-tree >>> .row", "line\\nbreak");
    expect(await hit()).toBe(false);
  });

  test("a name that a shell would run is only a name: in the tree, the editor, the search and an archive", async () => {
    const name = "$(touch ran1)`touch ran2`;touch ran3;";
    await page.run(`mkdir -p 'packed/${name}' && echo quartzite > 'packed/${name}/${name}.txt'`);
    await (await page.find("sandbox-tree >>> .row", "packed")).click({ button: "right" });
    await page.click("sandbox-tree >>> [role=menuitem]", "Download");
    await page.click('sandbox-files >>> button[aria-label="Find in files"]');
    await page.find("sandbox-search >>> input:focus");
    await page.page.keyboard.type("quartzite\n");
    await page.click("sandbox-search >>> .place", "quartzite");
    await page.editorHas("quartzite\n");
    await page.find("sandbox-editor >>> .cm-focused");
    await page.page.keyboard.type("written ");
    await page.click('sandbox-editor >>> button[aria-label="Save"]');
    await page.find("sandbox-editor >>> .status", "Saved");
    await page.click('sandbox-files >>> button[aria-label="Find in files"]');
    await page.gone("sandbox-transfers");
    await page.run(`cat 'packed/${name}/${name}.txt'; find / -name 'ran[123]' 2>/dev/null | wc -l`);
    expect(await page.lastOutput()).toBe("written quartzite\n0");
  });

  test("names of processes, labels and entries of the log are text", async () => {
    const { apiUrl, sandboxUrl, apiKey } = shared.platform.info;
    const other = await Sandbox.create({ apiUrl, sandboxUrl, apiKey, metadata: { [MARKUP]: "<script>window.hit=1</script>" } });
    await page.find("console-sandboxes >>> .chip", `${MARKUP}: <script>`);
    await page.start(`exec -a '${MARKUP}' sleep 600`);
    await page.click("[role=tab]", "Metrics");
    await page.find("sandbox-processes >>> td", MARKUP);
    await page.find("sandbox-logs >>> .message", MARKUP);
    await page.click(`sandbox-processes >>> button[aria-label*="onerror"]`);
    await page.find("sandbox-dialog >>> .detail", MARKUP);
    await page.answer("End");
    await page.gone("sandbox-processes >>> td", MARKUP);
    await other.kill();
    expect(await hit()).toBe(false);
  });

  test("command output with markup and escape sequences is text", async () => {
    await page.run(
      `printf '%s\\n' '${MARKUP}' '<script>window.hit=1</script>'; printf '\\033]0;title\\007\\033]52;c;aGk=\\007\\033[31mred\\033[0m \\033[2Jend\\n'`,
    );
    const output = await page.lastOutput();
    expect(output).toContain(MARKUP);
    expect(output).toContain("<script>window.hit=1</script>");
    expect(output).toContain("red end");
    const red = await page.find("sandbox-output >>> span", "red");
    expect(await red.evaluate((span) => span.style.color)).toBe("var(--sb-ansi-1)");
    expect(await hit()).toBe(false);
  });

  test("a terminal's title, clipboard and markup reach nothing", async () => {
    await shared.context.overridePermissions(new URL(shared.url).origin, ["clipboard-read", "clipboard-sanitized-write"]);
    await page.page.bringToFront();
    await page.page.evaluate(() => navigator.clipboard.writeText("mine"));
    await page.terminal(1);
    await page.page.keyboard.type(`printf '\\033]0;owned\\007\\033]52;c;b3duZWQ=\\007%s\\n' '${MARKUP}' && echo don''e\n`);
    await page.terminalHas("\ndone");
    await page.terminalHas(`\n${MARKUP}`);
    expect(await page.page.evaluate(() => navigator.clipboard.readText())).toBe("mine");
    expect(await hit()).toBe(false);
  });

  test("what a terminal is asked for types nothing: neither its title nor its colours, its answers come as reports only", async () => {
    // A title that is a command, then the requests for title, icon, colours, clipboard, settings and a checksum of the screen.
    const asked = [
      "\\033]2;touch injected\\r\\007",
      "\\033[21t",
      "\\033[20t",
      "\\033]52;c;?\\007",
      "\\033P$qm\\033\\\\",
      "\\033[1;1;1;1;5;5*y",
    ];
    await page.page.keyboard.type(`printf '${asked.join("")}' && sleep 1 && echo as''ked\n`);
    // The reports stand where the shell was not reading yet.
    await page.terminalHas("asked");
    // What the shell makes of a report is its own affair: it is interrupted.
    await page.page.keyboard.down("Control");
    await page.page.keyboard.press("c");
    await page.page.keyboard.up("Control");
    await page.page.keyboard.type("ls -A | grep -c inject''ed; echo look''ed\n");
    await page.terminalHas("\nlooked");
    expect(await page.terminalText()).toContain("\n0\nlooked");
    expect(await page.page.title()).toBe("Sandbox console");
  });

  test("links in a terminal open after a question, and only as http or https", async () => {
    await page.page.keyboard.type("clear\n");
    const link = (address: string, text: string) => `\\033]8;;${address}\\033\\\\${text}\\033]8;;\\033\\\\\\n`;
    await page.page.keyboard.type(
      `printf '${link("javascript:window.hit=1", "harmless")}${link("http://example.org:9/opened", "website")}' && echo link''ed\n`,
    );
    await page.terminalHas("\nlinked");
    const pages = async () => (await shared.context.pages()).length;
    const before = await pages();

    await clickInTerminal("harmless");
    await clickInTerminal("website");
    await page.find("sandbox-dialog >>> .detail", "http://example.org:9/opened");
    // The question about the website is the only one: the other link asked nothing and did nothing.
    expect(await page.count("sandbox-dialog >>> dialog")).toBe(1);
    await page.answer("Cancel");
    expect(await pages()).toBe(before);
    expect(await hit()).toBe(false);
  });

  test("an address of the sandbox itself leads to its port, not to the person's machine", async () => {
    const id = await page.text("console-sandbox-bar >>> h2");
    await page.terminal(1);
    await page.page.keyboard.type("clear; echo http://0.0.0.0:8000/a?b=1#c\n");
    await clickInTerminal("http://0.0.0.0:8000/a");
    await page.find("sandbox-dialog >>> h2", "port 8000 of the sandbox");
    await page.find("sandbox-dialog >>> p", "http://0.0.0.0:8000/a?b=1#c");
    expect(await page.text("sandbox-dialog >>> .detail")).toBe(`http://8000-${id}.localhost:${new URL(shared.url).port}/a?b=1#c`);
    await page.answer("Cancel");
  });

  test("nothing went wrong in the page", () => {
    expect(page.problems).toEqual([]);
  });
});

/** Clicks the first line of the terminal that begins with a text. */
async function clickInTerminal(text: string): Promise<void> {
  // What the terminal has got is drawn a frame later.
  const shown = await page.page.waitForFunction(
    (text) => {
      // The line with the command that printed it holds the text too, but does not begin with it.
      const row = window.deepQuery(".xterm-rows > div", text).find((row) => row.textContent.startsWith(text));
      return row?.getBoundingClientRect().toJSON() as DOMRect | undefined;
    },
    {},
    text,
  );
  const box = (await shown.jsonValue()) as DOMRect;
  const at = { x: box.x + 12, y: box.y + box.height / 2 };
  await page.page.mouse.move(at.x + 40, at.y);
  await page.page.mouse.move(at.x, at.y, { steps: 4 });
  await page.page.mouse.click(at.x, at.y);
}
