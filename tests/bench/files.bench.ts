/** What the client costs over a plain fetch: large files, small calls, keys. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BundlePage, openBundle } from "../support/bundle.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import type { Settings } from "./readers/settings.d.mts";
import { calls, keys, transfer, type Way } from "./readers/transfer.mjs";
import { holdBudget, printTable, rounds, series, spread } from "./report.ts";
import { sandboxFor } from "./sandbox.ts";

const BYTES = 256 << 20;
const RUNS = 5;
const CALLS = 300;
const KEYS = 1_000;

let platform: Platform;
let settings: Settings;
let chromium: BundlePage;

beforeAll(async () => {
  platform = await startPlatform();
  settings = await sandboxFor(platform.info);
  chromium = await openBundle(new URL("readers/transfer-page.mjs", import.meta.url).pathname);
});

afterAll(async () => {
  await chromium?.close();
  await platform?.stop();
});

/** Holds ours against theirs, within the bound or within the spread that theirs has in this run. Both are times; they are told in `show`'s unit. */
function within(what: string, ours: number[], theirs: number[], bound: number, show: (times: number[]) => string): void {
  const allowed = Math.max(series(theirs).median * bound, series(theirs).highest);
  const ratio = series(ours).median / series(theirs).median;
  const measured = `${ratio.toFixed(2)}x the time: ${show(ours)} to ${show(theirs)}`;
  holdBudget({ what, measured, bound: `${bound}x, or within the spread` }, series(ours).median <= allowed);
}

/** Megabytes a second of transfers that took so many seconds each. */
const rate = (seconds: number[]) => spread(seconds.map((each) => BYTES / 1e6 / each));

const inPage = () => ({ ...settings, sandboxUrl: platform.info.sandboxHostUrl });

const places = [
  {
    place: `Node ${process.version}`,
    move: (how: Way) => transfer(how, settings, "/tmp/file", BYTES),
    call: (how: "plain" | "client") => calls(how, settings, CALLS),
    type: () => keys(settings, KEYS),
  },
  {
    place: "Chromium",
    move: (how: Way) => chromium.call<number>("transfer", how, inPage(), "/tmp/file", BYTES),
    call: (how: "plain" | "client") => chromium.call<number[]>("calls", how, inPage(), CALLS),
    type: () => chromium.call<{ took: number[]; inOrder: boolean }>("keys", inPage(), KEYS),
  },
];

describe.each(places)("$place", ({ place, move, call, type }) => {
  test("a file of 256 MiB goes up and down as fast as with a plain fetch", async () => {
    const ways: Way[] = ["plain upload", "client upload", "plain download", "client download"];
    const took = new Map(ways.map((way) => [way, [] as number[]]));
    // The first round warms up what there is to warm, and is not counted.
    for (const way of ways) await move(way);
    for (const _ of rounds(RUNS)) {
      for (const way of ways) {
        const seconds = await move(way);
        took.get(way)?.push(seconds);
      }
    }
    const of = (way: Way) => took.get(way) ?? [];
    printTable(
      `${place}: 256 MiB, ${of("plain upload").length} runs`,
      ["what", "MB/s, median (spread)"],
      ways.map((way) => [way, rate(of(way))]),
    );
    const against = "of 256 MiB, against a plain fetch";
    within(`${place}: upload ${against}`, of("client upload"), of("plain upload"), 1.05, (times) => `${rate(times)} MB/s`);
    within(`${place}: download ${against}`, of("client download"), of("plain download"), 1.05, (times) => `${rate(times)} MB/s`);
  });

  test("a small call takes as long as a plain fetch, and a key's echo hardly longer", async () => {
    await call("client");
    // In turns, so that what else the machine does meets both.
    const [plain, client] = [[] as number[], [] as number[]];
    for (const _ of rounds(RUNS)) {
      plain.push(series(await call("plain")).median);
      client.push(series(await call("client")).median);
    }
    const { took, inOrder } = await type();
    printTable(
      `${place}: medians of ${CALLS} calls, ${plain.length} runs; ${KEYS} keys`,
      ["what", "ms, median (spread)"],
      [
        ["plain fetch", spread(plain, 2)],
        ["files.exists", spread(client, 2)],
        ["a key's echo", spread(took, 2)],
      ],
    );
    within(`${place}: files.exists against a plain fetch`, client, plain, 1.1, (times) => `${spread(times, 2)} ms`);
    const bound = series(plain).median + 2;
    const what = `${place}: a key's echo`;
    holdBudget(
      { what, measured: `${spread(took, 2)} ms`, bound: `at most ${bound.toFixed(2)} ms: a plain request and 2` },
      series(took).median <= bound,
    );
    expect(inOrder, "keys come back in order").toBe(true);
  });
});
