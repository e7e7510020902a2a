/** What the client costs over a plain fetch: large files, small calls, keys. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { type BundlePage, openBundle } from "../support/bundle.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import { inProcess } from "./process.ts";
import type { Settings } from "./readers/settings.d.mts";
import { type Calls, type Keys, transfer, type Way } from "./readers/transfer.mjs";
import { bounded, holdBudget, measuring, rounds, series, spread } from "./report.ts";
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
  const ratio = `${(series(ours).median / series(theirs).median).toFixed(2)}x the time`;
  const told = { what, ours: show(ours), theirs: show(theirs), ratio, bound: `${bound}x, or within the spread` };
  holdBudget(told, series(ours).median <= allowed);
}

/** Megabytes a second of transfers that took so many seconds each. */
const rate = (seconds: number[]) => `${spread(seconds.map((each) => BYTES / 1e6 / each))} MB/s`;

/** Small calls or keys in a process of their own. */
const small = <T>(what: "calls" | "keys", times: number) =>
  inProcess<T>("small.mjs", [what, String(times), JSON.stringify(settings)]);

const inPage = () => ({ ...settings, sandboxUrl: platform.info.sandboxHostUrl });

const places = [
  {
    place: `Node ${process.versions.node.split(".")[0]}`,
    move: (how: Way) => transfer(how, settings, "/tmp/file", BYTES),
    call: () => small<Calls>("calls", CALLS),
    type: () => small<Keys>("keys", KEYS),
  },
  {
    place: "Chromium",
    move: (how: Way) => chromium.call<number>("transfer", how, inPage(), "/tmp/file", BYTES),
    call: () => chromium.call<Calls>("calls", inPage(), CALLS),
    type: () => chromium.call<Keys>("keys", inPage(), KEYS),
  },
];

const milliseconds = (times: number[]) => `${spread(times, 2)} ms`;

describe.each(places)("$place", ({ place, move, call, type }) => {
  test("a file of 256 MiB goes up and down as fast as with a plain fetch", () =>
    measuring(`${place}: 256 MiB up and down, against a plain fetch`, async () => {
      const ways: Way[] = ["plain upload", "client upload", "plain download", "client download"];
      const took = new Map(ways.map((way) => [way, [] as number[]]));
      const step = (way: Way) => bounded(`${place}: ${way}`, move(way));
      // The first round warms up what there is to warm, and is not counted.
      for (const way of ways) await step(way);
      for (const _ of rounds(RUNS)) {
        for (const way of ways) took.get(way)?.push(await step(way));
        // What a file leaves for the disk to write is in the way of the next one: each is the next one in turn.
        ways.reverse();
      }
      const of = (way: Way) => took.get(way) ?? [];
      for (const way of ["upload", "download"] as const) {
        within(`${place}: ${way} of 256 MiB, against a plain fetch`, of(`client ${way}`), of(`plain ${way}`), 1.05, rate);
      }
    }));

  const PLAIN: number[] = [];

  test("a small call takes as long as a plain fetch", () =>
    measuring(`${place}: files.exists against a plain fetch`, async () => {
      const step = () => bounded(`${place}: ${CALLS} small calls each`, call());
      await step();
      const client: number[] = [];
      for (const _ of rounds(RUNS)) {
        const took = await step();
        PLAIN.push(series(took.plain).median);
        client.push(series(took.client).median);
      }
      within(`${place}: files.exists against a plain fetch`, client, PLAIN, 1.1, milliseconds);
    }));

  test("a key's echo takes hardly longer than a plain fetch, and keys come back in order", () =>
    measuring(`${place}: a key's echo, and ${KEYS} keys in order`, async () => {
      const { took, inOrder } = await bounded(`${place}: ${KEYS} keys`, type());
      const [key, plain] = [series(took).median, series(PLAIN).median];
      holdBudget(
        {
          what: `${place}: a key's echo, and ${KEYS} keys in order`,
          ours: `${milliseconds(took)}${inOrder ? "" : ", not in order"}`,
          theirs: `${milliseconds(PLAIN)}: a plain fetch`,
          ratio: `${(key - plain).toFixed(2)} ms more`,
          bound: "at most 2 ms more",
        },
        inOrder && key <= plain + 2,
      );
    }));
});
