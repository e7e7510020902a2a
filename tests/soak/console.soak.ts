/** The console stays as large as it is: while output comes and goes, and while its tabs are turned. */
import type { CDPSession, Page } from "puppeteer-core";
import { expect, test } from "vitest";
import { printTable } from "../bench/report.ts";
import { openConsole } from "../console/console.ts";
import type { ConsolePage } from "../console/console-page.ts";
import { FRAMES, TAB_TURNS } from "./size.ts";

/** Lines of one command: more than the page keeps of it. All commands print as many, since how many are kept goes up and down with them. */
const LINES = 4_000;
/** Commands and lines of the log that the page keeps. */
const KEPT_COMMANDS = 20;
const KEPT_LOG = 200;

/** How much the page may hold beyond what it held before, in MiB of its heap. */
const HEAP_ROOM = 4;
/** And how many nodes and listeners more: a command's kept lines differ a little in number. */
const PARTS_ROOM = 400;

interface Held {
  readonly heap: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** What the page holds once nothing is left to collect. */
async function held(page: Page, session: CDPSession): Promise<Held> {
  for (let time = 0; time < 3; time += 1) await session.send("HeapProfiler.collectGarbage");
  const { JSHeapUsedSize = 0, Nodes = 0, JSEventListeners = 0 } = await page.metrics();
  return { heap: JSHeapUsedSize / 2 ** 20, nodes: Nodes, listeners: JSEventListeners };
}

/** Prints so many lines, each a write of its own. */
async function frames(page: ConsolePage, count: number): Promise<void> {
  await page.start(`python3 -uc 'for i in range(${count}): print("frame", i)'; echo all of ${count}`);
  await page.page.waitForFunction((text) => window.lastOutput().includes(text), { timeout: 0, polling: 250 }, `all of ${count}`);
  await page.commandEnd();
}

/** Turns tabs; every tenth time a terminal is opened and closed. */
async function turns(page: ConsolePage, count: number): Promise<void> {
  const tabs = ["Command", "Notebook", "Metrics & ports", "Terminal 1"];
  for (let turn = 0; turn < count; turn += 1) {
    const label = tabs[turn % tabs.length] ?? "";
    await page.click(`[role=tab][aria-label="${label}"]`);
    await (await page.find("[role=tab][aria-selected=true]", label)).dispose();
    if (turn % 10 !== 9) continue;
    await page.click('button[aria-label="New terminal"]');
    await page.page.waitForFunction(
      () => (window.deepQuery("sandbox-terminal", "")[0] as { phase?: string } | undefined)?.phase === "open",
      {
        timeout: 60_000,
      },
    );
    await page.click("[role=tab][aria-selected=true] >>> .close");
    await page.gone("sandbox-terminal-group:not([data-id='1'])");
  }
  await page.click('[role=tab][aria-label="Command"]');
}

/** Lets the sandbox live longer than the run, which goes on for a quarter of an hour and more. */
async function extend(page: ConsolePage): Promise<void> {
  for (let hour = 0; hour < 4; hour += 1) {
    await page.click('console-sandbox-bar >>> button[aria-label="More actions"]');
    await page.click("console-sandbox-bar >>> [role=menuitem]", "+1 hour");
  }
}

test(`the console holds no more after ${FRAMES} frames of output and ${TAB_TURNS} turns of its tabs`, async () => {
  const shared = await openConsole();
  const rows: [string, Held][] = [];
  try {
    const { first: page } = shared;
    const session = await page.page.createCDPSession();
    await page.createSandbox();
    await extend(page);
    await page.terminal(1);
    // Code is loaded, and lists are filled up to what they keep.
    // The log has two lines of each command.
    for (let entry = 0; entry < KEPT_LOG; entry += 2) await page.run("true");
    await turns(page, 12);
    for (let run = 0; run < KEPT_COMMANDS; run += 1) await frames(page, LINES);
    rows.push(["before", await held(page.page, session)]);
    for (let left = FRAMES; left > 0; left -= LINES) await frames(page, LINES);
    rows.push([`after ${FRAMES} frames`, await held(page.page, session)]);
    await turns(page, TAB_TURNS);
    rows.push([`after ${TAB_TURNS} turns`, await held(page.page, session)]);
    const [[, before], ...after] = rows as [[string, Held], ...[string, Held][]];
    for (const [name, { heap, nodes, listeners }] of after) {
      expect(heap - before.heap, `heap ${name}`).toBeLessThan(HEAP_ROOM);
      expect(nodes - before.nodes, `nodes ${name}`).toBeLessThan(PARTS_ROOM);
      expect(listeners - before.listeners, `listeners ${name}`).toBeLessThan(PARTS_ROOM);
    }
    expect(page.problems).toEqual([]);
  } finally {
    printTable(
      "The console's page",
      ["when", "heap, MiB", "nodes", "listeners"],
      rows.map(([name, { heap, nodes, listeners }]) => [name, heap.toFixed(1), String(nodes), String(listeners)]),
    );
    await shared.close();
  }
});
