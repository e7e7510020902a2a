// A sandbox that is gone or paused: files and editor say so, offer nothing that cannot be done, keep the text, and lead on.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sandbox } from "agent-sandbox-web";
import { afterAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { useConsole } from "./use-console.ts";

const mine = mkdtempSync(join(tmpdir(), "console-rescue-"));
let id: string;

const used = useConsole(async (page) => {
  id = await page.createSandbox();
});

afterAll(() => rmSync(mine, { recursive: true, force: true }));

const HINT = "sandbox-editor >>> .outside";

describe("a command that a pause cuts off", { timeout: 120_000 }, () => {
  test("goes on to be read after it, or makes way for another that asks for the sandbox to go on; a paused sandbox is asked nothing", async () => {
    const { page, connection } = used;
    // More rows than there is room for.
    await page.run("mkdir -p unread/deeper f{10..59}; echo text > note.txt; echo two > two.txt; mkfifo go");
    await page.find("sandbox-tree >>> .row", "two.txt");
    await page.start("echo before; read -r line < go; echo after $line; read -r line < go");
    await page.outputHas("before");
    const asked: string[] = [];
    await page.click("console-sandbox-bar >>> button", "Pause");
    await page.find("sandbox-command >>> .badge", "cut off by the pause");
    await page.find(".paused");
    page.page.on("request", (request) => asked.push(request.url()));
    await page.click("sandbox-tree >>> .row", "unread");
    await page.find("sandbox-tree >>> .note", "This sandbox is paused");
    const [note, tree] = await page.page.evaluate(() =>
      ["sandbox-tree >>> .note", "sandbox-tree"].map((path) => {
        const { top = 0, bottom = 0 } = window.deepQuery(path, "")[0]?.getBoundingClientRect() ?? {};
        return { top, bottom };
      }),
    );
    expect(note?.top).toBeGreaterThanOrEqual(tree?.top ?? 0);
    expect(note?.bottom).toBeLessThanOrEqual(tree?.bottom ?? 0);
    await page.click("sandbox-tree >>> .row", "two.txt");
    await page.find("sandbox-editor >>> sandbox-error >>> .title", "This sandbox is paused");
    await page.click('button[aria-label="New terminal"]');
    await page.find("sandbox-terminal >>> .starting", "once the sandbox is resumed");
    await screenshot(page.page, "console-paused-everywhere");
    await page.click("[role=tab]", "Command");
    await page.fill("sandbox-command >>> textarea", "echo another");
    await page.page.keyboard.press("Enter");
    await page.answer("Cancel");
    expect(asked.filter((url) => new URL(url).host.includes(id))).toEqual([]);
    await Promise.all([
      page.page.waitForResponse((response) => response.url().endsWith("/process.Process/Connect"), { timeout: 90_000 }),
      page.click(".paused >>> button", "Resume"),
    ]);
    await page.find("sandbox-command >>> .end", "running");
    await page.find("sandbox-tree >>> .row", "deeper");
    await page.editorHas("two\n");
    const outside = await Sandbox.connect(id, { ...connection, timeoutMs: 1000 });
    await outside.commands.run("echo waited > go");
    await page.outputHas("after waited");
    await outside.close();
    await page.click("console-sandbox-bar >>> button", "Pause");
    await page.find(".paused");
    await page.fill("sandbox-command >>> textarea", "echo another");
    await page.page.keyboard.press("Enter");
    await page.answer("Resume and run");
    await page.outputHas("another");
    expect(await page.commandEnd()).toBe("exit 0");
  });
});

describe("a text that is not saved", { timeout: 120_000 }, () => {
  test("waits while the sandbox is paused, and is saved as soon as that goes on", async () => {
    const { page, connection } = used;
    await page.openFile("note.txt");
    await page.page.keyboard.type("my ");
    await page.find("sandbox-editor >>> .tab .dirty");
    await page.click("console-sandbox-bar >>> button", "Pause");
    await page.find(".paused");
    await page.click('sandbox-editor >>> button[aria-label="Save"]');
    await page.find(".save-error >>> .title", "This sandbox is paused");
    expect((await Sandbox.getInfo(id, connection)).status).toBe("paused");
    await screenshot(page.page, "console-save-paused");
    await page.click(".save-error >>> button", "Resume and save");
    await page.gone("sandbox-editor >>> .tab .dirty");
    await page.gone(".save-error");
    expect(await page.run("cat note.txt")).toBe("exit 0");
    expect(await page.lastOutput()).toBe("my text");
  });

  test("is there after the sandbox was killed: copied, downloaded, and another sandbox is offered", async () => {
    const { page, connection, shared } = used;
    await page.click("sandbox-editor >>> .cm-content");
    await page.page.keyboard.type("more ");
    await page.find("sandbox-editor >>> .tab .dirty");
    await Sandbox.kill(id, connection);
    await page.find(HINT, "This sandbox is gone, and the text is saved nowhere.");
    expect(await page.count(HINT, "writes it anew")).toBe(0);
    const text = await page.page.evaluate(() => (window.deepQuery("sandbox-editor", "")[0] as unknown as { text: string }).text);
    expect(text).toContain("more ");
    await screenshot(page.page, "console-gone");

    await shared.context.overridePermissions(new URL(shared.url).origin, ["clipboard-read", "clipboard-sanitized-write"]);
    await page.click(`${HINT} >>> button`, "Copy the text");
    await page.find(`${HINT} >>> button`, "Copied");
    expect(await page.page.evaluate(() => navigator.clipboard.readText())).toBe(text);

    const session = await page.page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", {
      behavior: "allow",
      downloadPath: mine,
      browserContextId: shared.context.id as string,
    });
    await page.click(`${HINT} >>> button`, "Download the text");
    await expect.poll(() => readdirSync(mine), { timeout: 30_000 }).toEqual(["note.txt"]);
    await expect.poll(() => readFileSync(join(mine, "note.txt"), "utf8")).toBe(text);

    await page.click("sandbox-editor >>> .tab", "two.txt");
    await page.find(HINT, "This sandbox is gone, and its files with it.");
    await page.click(`${HINT} >>> button`, "New sandbox");
    await page.find("console-new-sandbox >>> dialog");
    await page.page.keyboard.press("Escape");
    await page.gone("console-new-sandbox >>> dialog");
  });

  test("of a sandbox that is gone the tree stays, and offers neither trying again nor what needs the sandbox", async () => {
    const { page } = used;
    await page.click("sandbox-tree >>> .row", "deeper");
    await page.find("sandbox-tree >>> .note", "This sandbox is gone");
    await page.find("sandbox-tree >>> .row", "note.txt");
    expect(await page.count("sandbox-files >>> button", "Try again")).toBe(0);
    await (await page.find("sandbox-tree >>> .row", "note.txt")).click({ button: "right" });
    await page.find("sandbox-tree >>> [role=menuitem]", "Copy path");
    for (const action of ["Rename", "Delete", "Download"])
      expect(await page.count("sandbox-tree >>> [role=menuitem]", action)).toBe(0);
    await page.page.keyboard.press("Escape");
    await page.gone("sandbox-tree >>> [role=menuitem]");
    expect(await page.count('sandbox-files >>> button[aria-label="New file"]:enabled')).toBe(0);
    await page.click(".panel >>> sandbox-error >>> button", "Close");
  });

  test("nothing went wrong in the page but that the sandbox was not there", () => {
    expect(used.page.problems.filter((problem) => !(problem.startsWith("console: Failed") && problem.includes(id)))).toEqual([]);
  });
});
