/** Large files go up and down in a page without filling it. */
import { Sandbox } from "agent-sandbox-web";
import { expect, test } from "vitest";
import { printTable } from "../bench/report.ts";
import { openBundle } from "../support/bundle.ts";
import { startPlatform } from "../support/platform.ts";
import { memoryBelow, most } from "./memory.ts";
import { MEBIBYTES } from "./size.ts";

const MIB = 1 << 20;

/** How much the browser may hold beyond what it held before, in MiB. */
const ROOM = 64;

test(`${MEBIBYTES} MiB up and down in Chromium leave memory flat`, async () => {
  const platform = await startPlatform();
  const chromium = await openBundle(new URL("page.mjs", import.meta.url).pathname);
  try {
    const { apiUrl, apiKey, sandboxUrl, sandboxHostUrl } = platform.info;
    const sandbox = await Sandbox.create({ apiUrl, apiKey, sandboxUrl, timeoutMs: 6 * 3_600_000 });
    const where = { handoff: sandbox.handoff(), sandboxUrl: sandboxHostUrl };
    const pid = chromium.browser.process()?.pid ?? 0;
    const held = () => memoryBelow(pid);
    const kinds = [
      ["a stream up, in parts", "up"],
      ["a file up", "upFile"],
      ["down into a stream", "down"],
    ] as const;
    const row = async (name: string, call: string) => {
      const before = held();
      const started = performance.now();
      const highest = await most(held, async () => {
        expect(await chromium.call<number>(call, where, "file", MEBIBYTES)).toBe(MEBIBYTES * MIB);
      });
      const seconds = (performance.now() - started) / 1000;
      return { name, growth: (highest - before) / MIB, rate: MEBIBYTES / seconds };
    };
    // The first transfers load code, and let heaps grow to where their collectors begin to work.
    const warm = Math.ceil(MEBIBYTES / 4);
    for (const [, call] of kinds) await chromium.call(call, where, "warm", warm);
    const rows = [];
    for (const [name, call] of kinds) rows.push(await row(name, call));
    printTable(
      `Chromium, all its processes: memory beyond the start while ${MEBIBYTES} MiB go by`,
      ["what", `MiB (at most ${ROOM})`, "MiB/s"],
      rows.map(({ name, growth, rate }) => [name, growth.toFixed(1), rate.toFixed(0)]),
    );
    expect((await sandbox.files.getInfo("file")).size).toBe(MEBIBYTES * MIB);
    for (const { name, growth } of rows) expect(growth, name).toBeLessThan(ROOM);
    await sandbox.kill();
  } finally {
    await chromium.close();
    await platform.stop();
  }
});
