// Browsers open six connections to a host over HTTP/1.1, for all tabs together: twelve terminals must leave room for calls.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Console, openConsole } from "./console.ts";
import { ConsolePage } from "./console-page.ts";

const TERMINALS = 12;

let shared: Console;

beforeAll(async () => {
  shared = await openConsole();
}, 120_000);

afterAll(() => shared?.close());

test("with twelve terminals in one tab and two in another, typing and listing go on", { timeout: 300_000 }, async () => {
  const { first, context, url } = shared;
  const id = await first.createSandbox();
  for (let number = 1; number <= TERMINALS; number += 1) {
    await first.terminal(number);
    await first.page.keyboard.type(`echo $((${number}*1000+7)) && cat\n`);
    await first.terminalHas(`\n${number * 1000 + 7}`);
  }

  const second = await ConsolePage.open(context, url);
  await second.page.bringToFront();
  await second.click("console-sandboxes >>> .item", id);
  for (const number of [1, 2]) {
    await second.terminal(number);
    await second.page.keyboard.type(`echo second $((${number}*100+5))\n`);
    await second.terminalHas(`second ${number * 100 + 5}`);
  }
  expect(await second.run("touch made-in-second-tab")).toBe("exit 0");
  await second.find("sandbox-tree >>> .row", "made-in-second-tab");

  await first.page.bringToFront();
  await first.click('button[aria-label="More for this folder"]');
  await first.click("sandbox-tree >>> [role=menuitem]", "Refresh");
  await first.find("sandbox-tree >>> .row", "made-in-second-tab");
  for (const number of [1, 7, TERMINALS]) {
    await first.terminal(number);
    await first.page.keyboard.type(`typed into ${number}\n`);
    // Once by the terminal's echo, once by `cat`.
    await first.terminalHas(`typed into ${number}\ntyped into ${number}`);
  }
  expect(await first.run("ls")).toBe("exit 0");
  expect([...first.problems, ...second.problems]).toEqual([]);
});
