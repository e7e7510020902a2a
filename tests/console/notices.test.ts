// What the console tells of its own accord: that a sandbox is about to end, and what was done. It leaves, and covers nothing.
import { Sandbox } from "agent-sandbox-web";
import { describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { DESKTOP, PHONE } from "./console-page.ts";
import { useConsole } from "./use-console.ts";

let one: string;
let two: string;

const used = useConsole(async (page) => {
  one = await page.createSandbox();
  two = await page.createSandbox();
});

const URGENT = "console-notices >>> [aria-live=assertive] .notice";

describe("notices", { timeout: 120_000 }, () => {
  test("a sandbox in the background that is about to end is told of, and extended from there", async () => {
    const { page, connection } = used;
    await Sandbox.setTimeout(one, 110_000, connection);
    await page.find(URGENT, `Sandbox ${one} ends in 1 m`);
    await page.find(`${URGENT} >>> button`, "Show it");
    await page.click(`${URGENT} >>> button`, "+15 min");
    await page.gone(URGENT);
    await expect.poll(() => used.left(one)).toBeGreaterThan(10 * 60_000);
  });

  test("half a minute before the end it is told again, with what is not saved, and a snapshot is offered", async () => {
    const { page, connection } = used;
    await page.run("echo draft > note.txt");
    await page.openFile("note.txt");
    await page.page.keyboard.type("my ");
    await page.find("sandbox-editor >>> .tab .dirty");
    await Sandbox.setTimeout(two, 100_000, connection);
    await page.find(URGENT, `Sandbox ${two} ends in 1 m`);
    await page.find(URGENT, "A file in it is not saved.");
    await screenshot(page.page, "console-notice-end");
    await page.click(`${URGENT} >>> button`, "Keep a snapshot");
    await page.answer("Cancel");
    await page.gone(URGENT);
    await page.click('console-sandbox-bar >>> button[aria-label="+15 min of life"]');
    await expect.poll(() => used.left(two)).toBeGreaterThan(10 * 60_000);
    await page.click('sandbox-editor >>> button[aria-label="Save"]');
    await page.gone("sandbox-editor >>> .tab .dirty");
  });

  test("what was done is said, leaves by itself, and covers nothing on a phone", async () => {
    const { page } = used;
    await page.turnInto(PHONE);
    await page.terminal(1);
    await page.find("console-sandbox-bar >>> .back");
    await page.click('console-sandbox-bar >>> button[aria-label="More actions"]');
    await page.click("console-sandbox-bar >>> [role=menuitem]", "Keep a snapshot");
    await page.answer("Keep");
    // It leaves in a while: where it is, is read as soon as it is there.
    const places = await page.page.waitForFunction(
      () => {
        const [button] = window.deepQuery("console-notices >>> .notice button", "Show the snapshots");
        const notice = button?.closest(".notice")?.getBoundingClientRect();
        const terminal = window.deepQuery("sandbox-terminal", "")[0]?.getBoundingClientRect();
        return notice && terminal && { notice: notice.bottom, terminal: terminal.top };
      },
      { polling: 40, timeout: 45_000 },
    );
    const { notice, terminal } = (await places.jsonValue()) as { notice: number; terminal: number };
    expect(notice).toBeLessThanOrEqual(terminal);
    await screenshot(page.page, "console-notice-phone");
    await page.gone("console-notices >>> .notice");
    await page.turnInto(DESKTOP);
  });

  test("nothing went wrong in the page", () => {
    const { page } = used;
    expect(page.problems).toEqual([]);
  });

  test("a platform that is stopped says what is lost with it, and what stays", async () => {
    const { page, connection } = used;
    await page.page.close();
    await Sandbox.pause(one, connection);
    await used.shared.stopPlatform();
    expect(used.shared.platform.log()).toContain("stopping: 1 running sandboxes end, 1 paused ones stay");
  });
});
