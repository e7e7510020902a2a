// Whatever a sandbox says is text: names, output and links run nothing in the console's origin.
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
    for (const [port, printed] of [
      [8000, "http://0.0.0.0:8000/a?b=1#c"],
      [8001, "http://[::]:8001/a?b=1#c"],
      [8002, "http://localhost:8002/a?b=1#c"],
    ] as const) {
      await page.page.keyboard.type(`clear; echo ${printed}\n`);
      await clickInTerminal(printed);
      await page.find("sandbox-dialog >>> h2", `port ${port} of the sandbox`);
      await page.find("sandbox-dialog >>> p", printed);
      expect(await page.text("sandbox-dialog >>> .detail")).toBe(
        `http://${port}-${id}.localhost:${new URL(shared.url).port}/a?b=1#c`,
      );
      await page.answer("Cancel");
    }
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
