/** The table at the end of a run: every budget that was looked at, in Markdown, for people and for the README. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** A number that the project promises, and what was measured of it. */
export interface Budget {
  readonly what: string;
  /** What this project's client does: the median, and in brackets the lowest and the highest, with a unit. */
  readonly ours: string;
  /** The same of what it is held against, where that was measured beside it. */
  readonly theirs?: string;
  readonly ratio?: string;
  readonly bound: string;
  readonly verdict: "kept" | "**missed**" | "**not measured**";
}

const folder = new URL("../../target/bench/", import.meta.url).pathname;

/** Budgets of this run, one JSON object a line: benchmarks run in processes of their own. */
export const BUDGETS = `${folder}budgets.jsonl`;

/** Runs before all benchmarks; what it gives runs after them. */
export default function begin(): () => void {
  mkdirSync(folder, { recursive: true });
  rmSync(BUDGETS, { force: true });
  return () => {
    const lines = existsSync(BUDGETS) ? readFileSync(BUDGETS, "utf8").trim().split("\n") : [];
    const budgets = lines.map((line) => JSON.parse(line) as Budget);
    if (budgets.length === 0) return;
    const rows = budgets.map(({ what, ours, theirs = "", ratio = "", bound, verdict }) => [
      what,
      ours,
      theirs,
      ratio,
      bound,
      verdict,
    ]);
    const header = ["what", "ours, median (spread)", "beside it", "ratio", "budget", "verdict"];
    const table = [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
    writeFileSync(`${folder}budgets.md`, `${table}\n`);
    process.stdout.write(`\n${table}\n\nThe same in target/bench/budgets.md\n`);
  };
}
