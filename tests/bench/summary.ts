/** The table at the end of a run: every budget that was looked at, in Markdown, for people and for the README. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** A number that the project promises, and what was measured of it. */
export interface Budget {
  readonly what: string;
  /** Median, and spread where there is one, with units. */
  readonly measured: string;
  readonly bound: string;
  readonly kept: boolean;
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
    const rows = budgets.map(({ what, measured, bound, kept }) => [what, measured, bound, kept ? "kept" : "**missed**"]);
    const header = ["what", "measured", "budget", ""];
    const table = [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
    writeFileSync(`${folder}budgets.md`, `${table}\n`);
    process.stdout.write(`\n${table}\n\nThe same in target/bench/budgets.md\n`);
  };
}
