// A person works in several terminals: side by side, searched, copied from, set to their liking, and found again after a reload.
import { createHash } from "node:crypto";
import type { HTTPRequest } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { type Console, openConsole } from "./console.ts";
import { ConsolePage, PHONE } from "./console-page.ts";

let shared: Console;
let page: ConsolePage;

beforeAll(async () => {
  shared = await openConsole();
  page = shared.first;
  await page.createSandbox();
  await page.terminal(1);
}, 120_000);

afterAll(() => shared?.close());

/** Types into the terminal that has the focus and ends the line. */
async function enter(text: string): Promise<void> {
  await page.page.keyboard.type(text);
  await page.page.keyboard.press("Enter");
}

/** Waits until the shown terminal of this place, from 0, has a text. */
async function has(place: number, text: string): Promise<void> {
  await page.until(`window.deepQuery("sandbox-terminal", "")[${place}]?.text().includes(${JSON.stringify(text)})`);
}

/** The process ids of the shells that are shown. */
const pids = () =>
  page.page.evaluate(() =>
    window.deepQuery("sandbox-terminal", "").map((terminal) => (terminal as unknown as { pid: number }).pid),
  );

async function held(...keys: ("Control" | "Shift")[]): Promise<(key: "c" | "f") => Promise<void>> {
  for (const key of keys) await page.page.keyboard.down(key);
  return async (key) => {
    await page.page.keyboard.press(key);
    for (const key of keys) await page.page.keyboard.up(key);
  };
}

describe("terminals", { timeout: 90_000 }, () => {
  test("a terminal is split into shells of their own, and a part is closed with its shell", async () => {
    await page.click('button[aria-label="Split the terminal"]');
    await page.until(`window.deepQuery("sandbox-terminal", "").filter(({ phase }) => phase === "open").length === 2`);
    await enter("echo second=$((1+1))");
    await has(1, "second=2");
    const [first, second] = await pids();
    expect(first).not.toBe(second);
    await screenshot(page.page, "console-split");
    await page.click('button[aria-label="Close this part"]');
    await page.until(`window.deepQuery("sandbox-terminal", "").length === 1`);
    await enter(`while kill -0 ${second} 2>/dev/null; do sleep 0.1; done; echo gone=$((3+4))`);
    await has(0, "gone=7");
  });

  test("what was printed is searched", async () => {
    await enter("clear; seq 200 | sed 's/^/line /'");
    await has(0, "line 200");
    await (await held("Control", "Shift"))("f");
    await page.find("sandbox-terminal >>> .find input:focus");
    await page.page.keyboard.type("line 19");
    await page.find("sandbox-terminal >>> .find .count", "of 11");
    await page.page.keyboard.press("Enter");
    await page.page.keyboard.press("Escape");
    await page.gone("sandbox-terminal >>> .find");
    await enter("echo back=$((5+5))");
    await has(0, "back=10");
  });

  test("Ctrl-C copies what is selected, and several lines are pasted only after a question", async () => {
    await shared.context.overridePermissions(new URL(shared.url).origin, ["clipboard-read", "clipboard-sanitized-write"]);
    await page.page.bringToFront();
    await enter("clear; echo copied-word; cat > /dev/null");
    await page.until(`window.deepQuery(".xterm-rows > div", "").some((row) => row.textContent.startsWith("copied-word"))`);
    const at = await page.page.evaluate(() => {
      const row = window.deepQuery(".xterm-rows > div", "").find((row) => row.textContent.startsWith("copied-word"));
      const box = row?.getBoundingClientRect();
      return { x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
    });
    await page.page.mouse.click(at.x, at.y, { count: 2 });
    await (await held("Control"))("c");
    await page.until(`navigator.clipboard.readText().then((text) => text === "copied-word")`);
    await page.page.evaluate(() => {
      const data = new DataTransfer();
      data.setData("text/plain", "one\ntwo\n");
      const field =
        window.deepQuery("sandbox-terminal >>> textarea", "")[0] ??
        window.deepQuery("sandbox-terminal", "")[0]?.shadowRoot?.querySelector("textarea");
      field?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.find("sandbox-dialog >>> .detail", "one");
    await page.answer("Cancel");
    await (await held("Control"))("c");
    await enter("echo free=$((6+6))");
    await has(0, "free=12");
  });

  test("a large paste arrives whole", async () => {
    const line = "0123456789".repeat(6);
    await page.terminal(1);
    // The shell itself takes pastes without a question; from "ready" on it reads no more.
    await enter("clear; stty -echo; echo re''ady; cat > pasted; stty echo; md5sum < pasted");
    await has(0, "ready");
    await page.page.evaluate((text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      const field = window.deepQuery("sandbox-terminal", "")[0]?.shadowRoot?.querySelector("textarea");
      field?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, `${line}\n`.repeat(10_000));
    await page.answer("Paste");
    await page.page.keyboard.down("Control");
    await page.page.keyboard.press("d");
    await page.page.keyboard.up("Control");
    await has(0, createHash("md5").update(`${line}\n`.repeat(10_000)).digest("hex"));
  });

  test("larger text leaves room for fewer lines, and F6 leads out of the terminal", async () => {
    const lines = () => page.page.evaluate(() => window.deepQuery(".xterm-rows > div", "").length);
    const before = await lines();
    await page.click('button[aria-label="Settings of terminals"]');
    await screenshot(page.page, "console-terminal-settings");
    for (let step = 0; step < 5; step += 1) await page.click('sandbox-terminal-settings >>> button[aria-label="Larger"]');
    await page.until(`window.deepQuery(".xterm-rows > div", "").length < ${before}`);
    for (let step = 0; step < 5; step += 1) await page.click('sandbox-terminal-settings >>> button[aria-label="Smaller"]');
    await page.page.keyboard.press("Escape");
    await page.terminal(1);
    await page.page.keyboard.press("F6");
    await page.find('button[aria-label="Find in the terminal"]:focus');
  });

  test("a reload finds the shell again, with its text and its variables", async () => {
    await page.terminal(1);
    await enter("kept=yes; echo before-$((1+1))-reload");
    await has(0, "before-2-reload");
    const before = await pids();
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("sandbox-terminal");
    await page.until(`window.deepQuery("sandbox-terminal", "")[0].phase === "open"`);
    await has(0, "before-2-reload");
    expect(await pids()).toEqual(before);
    await page.terminal(1);
    await enter("echo still=$kept");
    await has(0, "still=yes");
  });

  test("a reload attaches to a shell that is not looked at, and marks the place", async () => {
    // A shell of its own: an interactive one misses a Ctrl-C that comes while it begins the next command of a loop.
    await enter("sh -c 'trap exit INT; i=0; while :; do i=$((i+1)); echo count $i; sleep 0.1; done'");
    await has(0, "count 3");
    await page.click('[role=tab][aria-label="Command"]');
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("sandbox-command");
    const hidden = `window.deepQuery("sandbox-console", "")[0]?.shadowRoot.querySelector("sandbox-terminal-group")?.shadowRoot.querySelector("sandbox-terminal")`;
    await page.until(`/count 3\\b[^]*output may be missing[^]*count \\d+\\n/.test(${hidden}?.text() ?? "")`);
    expect(await page.count("sandbox-terminal")).toBe(0);
    await page.terminal(1);
    await (await held("Control"))("c");
    await enter("clear; echo interrupted=$kept");
    await has(0, "interrupted=yes");
  });

  test("a shell of another tab is found and attached to, and only let go of", async () => {
    const [pid] = await pids();
    const other = await ConsolePage.open(shared.context, shared.url);
    await other.click("console-sandboxes >>> .item");
    await other.terminal(1);
    await other.click('button[aria-label="Settings of terminals"]');
    await other.click("sandbox-terminal-settings >>> .shell", String(pid));
    await other.until(`window.deepQuery("sandbox-terminal", "").filter(({ phase }) => phase === "open").length === 2`);
    await other.page.keyboard.type("echo from-the-other=$kept\n");
    await other.until(`window.deepQuery("sandbox-terminal", "")[1].text().includes("from-the-other=yes")`);
    await other.click('button[aria-label="Close this part"]');
    await other.page.keyboard.press("F1");
    await other.find("console-palette >>> input:focus");
    await other.page.keyboard.type("attach to");
    await other.page.keyboard.press("Enter");
    await other.find("sandbox-dialog >>> select", String(pid));
    await other.answer("Attach");
    await other.terminal(2);
    await other.page.keyboard.type("echo chosen=$kept\n");
    await other.terminalHas("chosen=yes");
    expect(other.problems).toEqual([]);
    await other.page.close();
    await page.page.bringToFront();
    await page.terminal(1);
    await enter("echo alive=$((7+7))");
    await has(0, "alive=14");
  });

  test("on a phone a bar has the keys that its keyboard lacks", async () => {
    const phone = await ConsolePage.open(shared.context, shared.url, PHONE);
    await phone.click("console-sandboxes >>> .item");
    await phone.terminal(1);
    await phone.page.keyboard.type("echo up-$((3*3))\n");
    await phone.terminalHas("up-9");
    await phone.page.keyboard.type("sleep 1000\n");
    await phone.click('sandbox-terminal-group >>> .keys button[aria-label="Ctrl for the next key"]');
    await phone.find('sandbox-terminal-group >>> .keys button[aria-pressed="true"]');
    await screenshot(phone.page, "console-phone-keys");
    await phone.page.keyboard.type("c");
    await phone.terminalHas("^C");
    await phone.gone('sandbox-terminal-group >>> .keys button[aria-pressed="true"]');
    await phone.page.keyboard.type("clear\n");
    await phone.until(`!window.deepQuery("sandbox-terminal", "")[0].text().includes("up-9")`);
    for (let time = 0; time < 3; time += 1) await phone.click('sandbox-terminal-group >>> .keys button[aria-label="Up"]');
    await phone.page.keyboard.press("Enter");
    await phone.terminalHas("up-9");
    expect(phone.problems).toEqual([]);
    await phone.page.close();
    await page.page.bringToFront();
  });

  test("a shell that comes late does not take the keys from where the person went on", async () => {
    const starts: HTTPRequest[] = [];
    const hold = (request: HTTPRequest) => {
      if (request.url().endsWith("/process.Process/Start")) starts.push(request);
      else void request.continue();
    };
    await page.page.setRequestInterception(true);
    page.page.on("request", hold);
    await page.click('button[aria-label="New terminal"]');
    await expect.poll(() => starts.length, { timeout: 45_000 }).toBe(1);
    await page.click('sandbox-files >>> button[aria-label="Find in files"]');
    await page.find("sandbox-search >>> input:focus");
    await page.page.keyboard.type("what ");
    page.page.off("request", hold);
    await Promise.all(starts.map((request) => request.continue()));
    await page.page.setRequestInterception(false);
    await page.until(`window.deepQuery("sandbox-terminal", "").every(({ phase }) => phase === "open")`);
    await page.page.keyboard.type("follows");
    const field = await page.find("sandbox-search >>> input:focus");
    expect(await field.evaluate((field) => (field as HTMLInputElement).value)).toBe("what follows");
    await field.dispose();
  });

  test("nothing went wrong in the page", () => {
    expect(page.problems).toEqual([]);
  });
});
