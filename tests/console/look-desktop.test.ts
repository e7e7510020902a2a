// On a desk there is also a switch of the colours, and a keyboard.
import { expect, test } from "vitest";
import { DESKTOP } from "./console-page.ts";
import { looksSound } from "./look.ts";

const used = looksSound("desktop", DESKTOP);

test("the colours can be switched by hand", async () => {
  const { page } = used;
  await page.page.bringToFront();
  const background = () => page.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await background();
  await page.click('button[aria-label="Use dark colours"]');
  expect(await background()).not.toBe(before);
  await page.click('button[aria-label="Use light colours"]');
  expect(await background()).toBe(before);
});

test("files are opened, and commands run, by keyboard alone", { timeout: 120_000 }, async () => {
  const { page } = used;
  await page.page.bringToFront();
  await (await page.find("sandbox-tree >>> [role=treeitem][tabindex='0']")).focus();
  await page.page.keyboard.press("End");
  await page.page.keyboard.press("Home");
  while (!(await page.page.evaluate(() => window.deepQuery("sandbox-tree >>> .row:focus", "main.py").length))) {
    await page.page.keyboard.press("ArrowDown");
  }
  await page.page.keyboard.press("Enter");
  await page.find("sandbox-editor >>> .cm-focused");
  // Escape, then Tab, leaves the editor; from there on Tab goes on to the lower part.
  await page.page.keyboard.press("Escape");
  for (let step = 0; step < 30; step += 1) {
    await page.page.keyboard.press("Tab");
    if (await page.count("sandbox-command >>> textarea:focus")) break;
  }
  await page.page.keyboard.type("echo by keyboard\n");
  await page.outputHas("by keyboard");
});
