/** This project's client beside the e2b SDK as readers of one command's output: each in a process of its own, or in a page. */
import { expect } from "vitest";
import { openBundle } from "../support/bundle.ts";
import { inProcess } from "./process.ts";
import type { Settings } from "./readers/settings.d.mts";
import { bounded, holdBudget, measuring, rounds, series, spread } from "./report.ts";

const READERS = ["agent-sandbox-web", "e2b"] as const;
type ReaderName = (typeof READERS)[number];

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
export function inNode(
  reader: ReaderName | "download" | "upload",
  command: string,
  settings: Settings,
  runs: number,
  memory = false,
): Promise<Measurement[]> {
  return inProcess("node.mjs", [reader, command, String(runs), String(memory), JSON.stringify(settings)], ["--expose-gc"]);
}

/** In Node, each reading in a process of its own whose first reading warms it up. */
export async function compareInNode(comparison: Comparison, settings: Settings): Promise<void> {
  await compare(`Node ${process.versions.node.split(".")[0]}`, comparison, async (reader) => {
    const [, measurement] = await inNode(reader, comparison.command, settings, 2);
    if (!measurement) throw new Error("the reader did not measure twice");
    return measurement;
  });
}

/** In one page of Chromium, which a first reading of each has warmed up. */
export async function compareInChromium(comparison: Comparison, settings: Settings): Promise<void> {
  const chromium = await openBundle(new URL("readers/page.mjs", import.meta.url).pathname);
  try {
    const measure: Measure = (reader) =>
      bounded(`a reading by ${reader}`, chromium.call<Measurement>("measureIn", reader, comparison.command, settings));
    await compare("Chromium", comparison, measure, true);
    expect(chromium.problems).toEqual([]);
  } finally {
    await chromium.close();
  }
}

/** Measures both in turns, so that what else the machine does meets both, and holds the ratio of their medians against the bound. */
async function compare(place: string, comparison: Comparison, measure: Measure, warmUp = false): Promise<void> {
  const { characters, runs, bound } = comparison;
  const what = `${place}: ${comparison.what}, against the e2b SDK`;
  await measuring(what, async () => {
    if (warmUp) for (const reader of READERS) await measure(reader);
    const rates: Record<ReaderName, number[]> = { "agent-sandbox-web": [], e2b: [] };
    for (const _ of rounds(runs)) {
      for (const reader of READERS) {
        const measurement = await measure(reader);
        expect(measurement.characters).toBe(characters);
        rates[reader].push(characters / 1e6 / measurement.seconds);
      }
    }
    const ratio = series(rates["agent-sandbox-web"]).median / series(rates.e2b).median;
    const [ours = "", theirs = ""] = READERS.map((reader) => `${spread(rates[reader], 1)} MB/s`);
    holdBudget({ what, ours, theirs, ratio: `${ratio.toFixed(1)}x the rate`, bound: `at least ${bound}x` }, ratio >= bound);
  });
}
