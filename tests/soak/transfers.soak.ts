/** Large files go up and down in a page without filling it. */
import { Sandbox } from "agent-sandbox-web";
import { expect, test } from "vitest";
import { printTable } from "../bench/report.ts";
import { openBundle } from "../support/bundle.ts";
import { startPlatform } from "../support/platform.ts";
import { memoryBelow, most } from "./memory.ts";
import { MEBIBYTES } from "./size.ts";

const MIB = 1 << 20;

/** How much more the browser may hold while all goes by than while a quarter of it does, in MiB. */
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
    const peak = (call: string, mebibytes: number) =>
      most(held, async () => {
        expect(await chromium.call<number>(call, where, `${mebibytes}`, mebibytes)).toBe(mebibytes * MIB);
      });
    // What collectors leave lying is memory too, up to where they begin to work: a quarter gets there, and from then on it must not rise.
    const row = async (name: string, call: string) => {
      await chromium.call(call, where, "16", 16);
      const before = held();
      const quarter = await peak(call, Math.ceil(MEBIBYTES / 4));
      const started = performance.now();
      const whole = await peak(call, MEBIBYTES);
      const rate = MEBIBYTES / ((performance.now() - started) / 1000);
      return { name, quarter: (quarter - before) / MIB, whole: (whole - before) / MIB, growth: (whole - quarter) / MIB, rate };
    };
    const rows = [];
    for (const [name, call] of kinds) rows.push(await row(name, call));
    printTable(
      `Chromium, all its processes: the most that is held beyond the start, in MiB, while a quarter and all of ${MEBIBYTES} MiB go by`,
      ["what", "a quarter", "all", `growth (at most ${ROOM})`, "MiB/s"],
      rows.map(({ name, quarter, whole, growth, rate }) => [
        name,
        ...[quarter, whole, growth].map((each) => each.toFixed(1)),
        rate.toFixed(0),
      ]),
    );
    expect((await sandbox.files.getInfo(`${MEBIBYTES}`)).size).toBe(MEBIBYTES * MIB);
    for (const { name, growth } of rows) expect(growth, name).toBeLessThan(ROOM);
    await sandbox.kill();
  } finally {
    await chromium.close();
    await platform.stop();
  }
});
