// Several tabs of one browser: another at the plain address, and a copy of one, take nothing from the tab that works.
import { Sandbox } from "agent-sandbox-web";
import { describe, expect, test } from "vitest";
import { ConsolePage, DESKTOP } from "./console-page.ts";
import { useConsole } from "./use-console.ts";

let id: string;

const used = useConsole(async (page) => {
  id = await page.createSandbox();
});

/** How many interactive shells run in the sandbox. */
async function shells(): Promise<number> {
  const sandbox = await Sandbox.connect(id, { ...used.connection, timeoutMs: 1000 });
  const all = await sandbox.commands.list();
  await sandbox.close();
  return all.filter(({ args }) => args.includes("-i")).length;
}

/** What the tab keeps of its work. */
const kept = async (page: ConsolePage) =>
  Object.keys((await page.storage()).session).filter((key) => /\.(?:work|sandboxes)\b/.test(key));

/** Types into the terminal of the tab that works, and waits for the answer. */
async function works(word: string): Promise<void> {
  const { page } = used;
  await page.page.bringToFront();
  await page.terminal(1);
  await page.page.keyboard.type(`echo ${word}-$((40+2))\n`);
  await page.terminalHas(`${word}-42`);
}

describe("the room of the lower part", { timeout: 120_000 }, () => {
  test("what is taken from it for a while is given back", async () => {
    const { page } = used;
    const height = async () => (await page.find("sandbox-console >>> .panel")).evaluate((panel) => panel.clientHeight);
    await page.find("sandbox-console >>> .splitter").then((splitter) => splitter.focus());
    const before = await height();
    await page.page.keyboard.press("ArrowUp");
    await expect.poll(height).toBe(before + 24);
    await page.page.setViewport({ ...DESKTOP, height: 380 });
    await expect.poll(height).toBeLessThan(before);
    await page.page.setViewport(DESKTOP);
    await expect.poll(height).toBe(before + 24);
  });
});

describe("beside a tab that works", { timeout: 120_000 }, () => {
  test("one at the plain address shows the list and opens nothing; what it opens then is its own", async () => {
    const { page, shared, connection } = used;
    await works("first");
    await page.page.keyboard.type("mine=-kept\n");
    const { endAt } = await Sandbox.getInfo(id, connection);
    const second = await ConsolePage.open(shared.context, shared.url);
    await second.page.bringToFront();
    await second.find("console-sandboxes >>> .item", id);
    await second.find("h2", "No sandbox is open");
    expect(await second.count("sandbox-console")).toBe(0);
    expect((await Sandbox.getInfo(id, connection)).endAt).toEqual(endAt);
    expect(await shells()).toBe(1);
    await second.click("console-sandboxes >>> .item", id);
    await second.terminal(1);
    await second.page.keyboard.type('echo length-$(printf %s "$mine" | wc -c)\n');
    await second.terminalHas("length-0");
    expect(await shells()).toBe(2);
    expect((await Sandbox.getInfo(id, connection)).endAt).toEqual(endAt);
    await second.page.close({ runBeforeUnload: false });
    await works("again");
    await page.page.keyboard.type("echo still$mine\n");
    await page.terminalHas("still-kept");
    expect(second.problems).toEqual([]);
  });

  test("a copy of it begins anew, and the work stays where it was, also after a reload", async () => {
    const { page, shared } = used;
    const before = await shells();
    // What a tab keeps is written at the latest when it is left.
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await works("reloaded");
    await page.page.keyboard.type("echo not-lost$mine\n");
    await page.terminalHas("not-lost-kept");
    expect(await kept(page)).not.toEqual([]);
    const [target] = await Promise.all([
      shared.context.waitForTarget((target) => target.opener() === page.page.target()),
      page.page.evaluate(() => {
        window.open("about:blank");
      }),
    ]);
    const opened = await target.page();
    if (!opened) throw new Error("the copy has no page");
    await opened.bringToFront();
    // It begins with the storage of the tab that opened it.
    const copy = await ConsolePage.openIn(opened, shared.url);
    await copy.find("console-sandboxes >>> .item", id);
    await copy.find("h2", "No sandbox is open");
    expect(await kept(copy)).toEqual([]);
    await copy.page.reload({ waitUntil: "domcontentloaded" });
    await copy.find("h2", "No sandbox is open");
    expect(await shells()).toBe(before);
    await copy.page.close();
    await works("after-the-copy");
    expect(await kept(page)).not.toEqual([]);
    expect(copy.problems).toEqual([]);
  });

  test("nothing went wrong in it", () => {
    expect(used.page.problems).toEqual([]);
  });
});
