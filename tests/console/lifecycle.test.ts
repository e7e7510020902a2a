// A sandbox as a whole: started with all that can be chosen, paused, resumed, forked, kept as a snapshot; its state is told as it is.
import { Sandbox } from "agent-sandbox-web";
import { describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { useConsole } from "./use-console.ts";

let id: string;

const used = useConsole();

const state = (words: string) => used.page.find("console-sandbox-bar >>> .state", words);

async function choose(action: string): Promise<void> {
  await used.page.click('console-sandbox-bar >>> button[aria-label="More actions"]');
  await used.page.click("console-sandbox-bar >>> [role=menuitem]", action);
}

describe("the life of a sandbox", { timeout: 120_000 }, () => {
  test("it is started with labels, variables, without network, and with what happens at its end", async () => {
    const { page, connection } = used;
    await page.click("console-sandboxes >>> button", "New sandbox");
    await page.click("console-new-sandbox >>> button", "Add a label");
    await page.fill('console-new-sandbox >>> [aria-label="Name of label 1"]', "team");
    await page.fill('console-new-sandbox >>> [aria-label="Value of label 1"]', "blue & <b>bold</b>");
    await page.click("console-new-sandbox >>> button", "Add a variable");
    await page.fill('console-new-sandbox >>> [aria-label="Name of variable 1"]', "GREETING");
    await page.fill('console-new-sandbox >>> [aria-label="Value of variable 1"]', "hello  $HOME");
    // An empty row is none.
    await page.click("console-new-sandbox >>> button", "Add a variable");
    await page.click("console-new-sandbox >>> [name=internet]");
    await page.click("console-new-sandbox >>> [name=public]");
    await (await page.find("console-new-sandbox >>> #end")).select("pause");
    await page.fill("console-new-sandbox >>> #timeout", "7");
    await page.click("console-new-sandbox >>> button", "Start");
    await page.find("sandbox-console");
    id = await page.text("console-sandbox-bar >>> h2");
    const info = await Sandbox.getInfo(id, connection);
    expect(info.metadata).toEqual({ team: "blue & <b>bold</b>" });
    expect(info.allowInternetAccess).toBe(false);
    expect(info.network?.allowPublicTraffic).toBe(false);
    expect(info.lifecycle?.onTimeout).toBe("pause");
    // Its start and its life are noted one after the other.
    const life = (info.endAt?.getTime() ?? 0) - (info.startedAt?.getTime() ?? 0);
    expect(Math.abs(life - 7 * 60_000)).toBeLessThan(5000);
    await page.run(`printf '%s' "$GREETING" > kept.txt; cat kept.txt`);
    expect(await page.lastOutput()).toBe("hello  $HOME");
    await state("running");
  });

  test("what a platform refuses is told in the dialog", async () => {
    const { page } = used;
    await page.click("console-sandboxes >>> button", "New sandbox");
    await page.click("console-new-sandbox >>> summary");
    await page.fill("console-new-sandbox >>> #allow", "api.example.com\n10.0.0.0/8");
    await page.fill("console-new-sandbox >>> #deny", "0.0.0.0/0");
    await page.click("console-new-sandbox >>> button", "Start");
    await page.find("console-new-sandbox >>> sandbox-error >>> .code", "E");
    await page.page.keyboard.press("Escape");
    await page.gone("console-new-sandbox >>> dialog");
  });

  test("pausing says so, ends nothing that is shown, and Resume goes on with the time that was left", async () => {
    const { page, connection } = used;
    await Sandbox.setTimeout(id, 40 * 60_000, connection);
    await page.click("console-sandbox-bar >>> button", "Pause");
    await state("paused");
    // Of the 40 minutes, as many as a slow machine leaves.
    await page.find(".paused", "Once resumed it lives for 3");
    await page.find("console-sandboxes >>> .second", "paused");
    expect((await Sandbox.getInfo(id, connection)).status).toBe("paused");
    expect(await page.lastOutput()).toBe("hello  $HOME");
    await screenshot(page.page, "console-paused");
    await page.click(".paused >>> button", "Resume");
    await state("running");
    await page.gone(".paused");
    expect(await used.left(id)).toBeGreaterThan(30 * 60_000);
    // The files are watched again, before anything is done with them here.
    const elsewhere = await Sandbox.connect(id, { ...connection, timeoutMs: 600_000 });
    await elsewhere.files.write("since.txt", "");
    await elsewhere.close();
    await page.find("sandbox-tree >>> .row", "since.txt");
    expect(await page.run("cat kept.txt")).toBe("exit 0");
    expect(await page.lastOutput()).toBe("hello  $HOME");
  });

  test("pausing elsewhere is told here, and a reload does not wake it", async () => {
    const { page, connection } = used;
    await Sandbox.pause(id, connection);
    await state("paused");
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("h2", "This sandbox is paused");
    expect((await Sandbox.getInfo(id, connection)).status).toBe("paused");
    await page.click(".empty >>> button", "Resume");
    await page.find("sandbox-tree >>> .row", "kept.txt");
  });

  test("resuming elsewhere opens it here", async () => {
    const { page, connection } = used;
    await Sandbox.pause(id, connection);
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("h2", "This sandbox is paused");
    await Sandbox.connect(id, { ...connection, timeoutMs: 600_000 }).then((sandbox) => sandbox.close());
    await page.find("sandbox-tree >>> .row", "kept.txt");
    await state("running");
  });

  test("a fork is opened beside it, with its files", async () => {
    const { page, connection } = used;
    const { endAt = new Date(0) } = await Sandbox.getInfo(id, connection);
    await choose("Fork");
    await page.find("sandbox-dialog >>> p", "what runs in it is not copied");
    await page.fill("sandbox-dialog >>> input", "0");
    await page.find("sandbox-dialog >>> .problem", "from 1 to");
    await page.answer("Fork", "1");
    await page.find(".notice", "The copy is open");
    const copy = await page.text("console-sandbox-bar >>> h2");
    expect(copy).not.toBe(id);
    await page.find("console-sandboxes >>> .item[aria-current=true] .chip", `fork of ${id}`);
    const copied = await Sandbox.getInfo(copy, connection);
    expect(Math.abs((copied.endAt?.getTime() ?? 0) - endAt.getTime())).toBeLessThan(3 * 60_000);
    await page.run("cat kept.txt");
    expect(await page.lastOutput()).toBe("hello  $HOME");
    expect(await page.count("console-sandboxes >>> .item")).toBe(2);
    await choose("Kill");
    await page.answer("Kill");
    await page.find("sandbox-error[calm] >>> p", "You killed it");
    expect(await page.count("sandbox-error:not([calm])")).toBe(0);
    await state("gone");
    await page.click("button", "Close");
  });

  test("a snapshot is kept, a sandbox starts from it, and it is deleted after asking", async () => {
    const { page } = used;
    await page.click("console-sandboxes >>> .item", id);
    await choose("Keep a snapshot");
    // What the platform would refuse is said where it can be mended.
    await page.fill("sandbox-dialog >>> input", "before lunch");
    await page.click("sandbox-dialog >>> .buttons button", "Keep");
    await page.find("sandbox-dialog >>> .problem", "Letters, digits, - and _");
    await page.answer("Keep", "before-lunch");
    await page.find(".notice", "is kept");
    await page.click('console-sandboxes >>> button[aria-label="Snapshots"]');
    await page.find("console-snapshots >>> li", "before-lunch");
    await page.find("console-snapshots >>> li", "filesystem only");
    await screenshot(page.page, "console-snapshots");
    await page.click("console-snapshots >>> li button", "Start");
    await page.click("console-new-sandbox >>> button", "Start");
    await page.gone("console-new-sandbox >>> dialog");
    await page.page.waitForFunction((id) => window.deepQuery("console-sandbox-bar >>> h2", "")[0]?.textContent !== id, {}, id);
    await page.run("cat kept.txt");
    expect(await page.lastOutput()).toBe("hello  $HOME");
    await page.click('console-sandboxes >>> button[aria-label="Snapshots"]');
    await page.click('console-snapshots >>> button[aria-label^="Delete"]');
    await page.answer("Cancel");
    await page.find("console-snapshots >>> li");
    await page.click('console-snapshots >>> button[aria-label^="Delete"]');
    await page.answer("Delete");
    // The platform keeps what is in use, and says so.
    await page.find("console-snapshots >>> sandbox-error >>> p", "sandboxes using it");
    await page.click("console-snapshots >>> .buttons button", "Close");
    await page.click("console-sandbox-bar >>> button", "Kill");
    await page.answer("Kill");
    await state("gone");
    await page.click('console-sandboxes >>> button[aria-label="Snapshots"]');
    await page.click('console-snapshots >>> button[aria-label^="Delete"]');
    await page.answer("Delete");
    await page.find("console-snapshots >>> p", "There are none yet");
    await page.click("console-snapshots >>> .buttons button", "Close");
  });

  test("nothing went wrong in the page", () => {
    const { page } = used;
    // What was refused or had gone is noted by the browser itself.
    expect(page.problems.filter((problem) => !problem.startsWith("console: Failed to load resource"))).toEqual([]);
  });
});
