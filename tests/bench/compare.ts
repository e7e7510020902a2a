/** This project's client beside the e2b SDK as readers of one command's output: each in a process of its own, or in a page. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import { openBundle } from "../support/bundle.ts";
import type { Settings } from "./readers/settings.d.mts";
import { holdBudget, printTable, rounds, series, spread } from "./report.ts";

export const READERS = ["agent-sandbox-web", "e2b"] as const;
export type ReaderName = (typeof READERS)[number];

/** One reading of a command's output. */
export interface Measurement {
  readonly characters: number;
  readonly seconds: number;
  /** Bytes of reachable memory beyond the start, at the most; 0 where it was not looked at. */
  readonly growth: number;
}

/** What is read, and by how much ours must be the faster. */
export interface Comparison {
  /** For example `134 MB of stdout in 32 KiB frames`. */
  readonly what: string;
  readonly command: string;
  readonly characters: number;
  readonly runs: number;
  readonly bound: number;
}

type Measure = (reader: ReaderName) => Promise<Measurement>;

/** So many readings, one after another in one new process. */
export async function inNode(
  reader: ReaderName,
  command: string,
  settings: Settings,
  runs: number,
  memory = false,
): Promise<Measurement[]> {
  const program = new URL("readers/node.mjs", import.meta.url).pathname;
  const args = ["--expose-gc", program, reader, command, String(runs), String(memory), JSON.stringify(settings)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 });
  return JSON.parse(stdout) as Measurement[];
}

/** In Node, each reading in a process of its own whose first reading warms it up. */
export async function compareInNode(comparison: Comparison, settings: Settings): Promise<void> {
  await compare(`Node ${process.version}`, comparison, async (reader) => {
    const [, measurement] = await inNode(reader, comparison.command, settings, 2);
    if (!measurement) throw new Error("the reader did not measure twice");
    return measurement;
  });
}

/** In one page of Chromium, which a first reading of each has warmed up. */
export async function compareInChromium(comparison: Comparison, settings: Settings): Promise<void> {
  const chromium = await openBundle(new URL("readers/page.mjs", import.meta.url).pathname);
  try {
    const measure: Measure = (reader) => chromium.call<Measurement>("measureIn", reader, comparison.command, settings);
    for (const reader of READERS) await measure(reader);
    await compare((await chromium.browser.version()).replace(/^Headless|\.\d.*/g, ""), comparison, measure);
    expect(chromium.problems).toEqual([]);
  } finally {
    await chromium.close();
  }
}

/** Measures both in turns, so that what else the machine does meets both, and holds the ratio of their medians against the bound. */
async function compare(place: string, { what, characters, runs, bound }: Comparison, measure: Measure): Promise<void> {
  const rates: Record<ReaderName, number[]> = { "agent-sandbox-web": [], e2b: [] };
  for (const _ of rounds(runs)) {
    for (const reader of READERS) {
      const measurement = await measure(reader);
      expect(measurement.characters).toBe(characters);
      rates[reader].push(characters / 1e6 / measurement.seconds);
    }
  }
  const ratio = series(rates["agent-sandbox-web"]).median / series(rates.e2b).median;
  const [ours, theirs] = READERS.map((reader) => spread(rates[reader], 1));
  printTable(
    `${place}: ${what}, ${rates.e2b.length} runs`,
    ["reader", "MB/s, median (spread)"],
    [...READERS.map((reader) => [reader, spread(rates[reader], 1)]), ["ratio", `${ratio.toFixed(1)} (at least ${bound})`]],
  );
  const measured = `${ratio.toFixed(1)}x: ${ours} to ${theirs} MB/s`;
  holdBudget({ what: `${place}: ${what}, against the e2b SDK`, measured, bound: `at least ${bound}x` }, ratio >= bound);
}
