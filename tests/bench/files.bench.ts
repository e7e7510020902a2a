/** What the client costs over a plain fetch: large files, small calls, keys. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BundlePage, openBundle } from "../support/bundle.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import type { Settings } from "./readers/settings.d.mts";
import { calls, keys, transfer, type Way } from "./readers/transfer.mjs";
import { printTable, series, spread } from "./report.ts";
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

/** Fails unless ours is within the bound of theirs, or within the spread that theirs has in this run. Both are times. */
function within(ours: number[], theirs: number[], bound: number): void {
  const allowed = Math.max(series(theirs).median * bound, series(theirs).highest);
  expect(series(ours).median).toBeLessThanOrEqual(allowed);
}

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
    for (let run = 0; run <= RUNS; run++) {
      for (const way of ways) {
        const seconds = await move(way);
        if (run > 0) took.get(way)?.push(seconds);
      }
    }
    const of = (way: Way) => took.get(way) ?? [];
    printTable(
      `${place}: 256 MiB, ${RUNS} runs`,
      ["what", "MB/s, median (spread)"],
      ways.map((way) => [way, spread(of(way).map((seconds) => BYTES / 1e6 / seconds))]),
    );
    within(of("client upload"), of("plain upload"), 1.05);
    within(of("client download"), of("plain download"), 1.05);
  });

  test("a small call takes as long as a plain fetch, and a key's echo hardly longer", async () => {
    await call("client");
    // In turns, so that what else the machine does meets both.
    const [plain, client] = [[] as number[], [] as number[]];
    for (let run = 0; run < RUNS; run++) {
      plain.push(series(await call("plain")).median);
      client.push(series(await call("client")).median);
    }
    const { took, inOrder } = await type();
    printTable(
      `${place}: medians of ${CALLS} calls, ${RUNS} runs; ${KEYS} keys`,
      ["what", "ms, median (spread)"],
      [
        ["plain fetch", spread(plain, 2)],
        ["files.exists", spread(client, 2)],
        ["a key's echo", spread(took, 2)],
      ],
    );
    within(client, plain, 1.1);
    expect(series(took).median).toBeLessThanOrEqual(series(plain).median + 2);
    expect(inOrder, "keys come back in order").toBe(true);
  });
});
