/** Numbers for people: medians, spreads, tables, and the budgets that they are held against. */
import { appendFileSync } from "node:fs";
import { expect } from "vitest";
import { BUDGETS, type Budget } from "./summary.ts";

export interface Series {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

export function series(values: readonly number[]): Series {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return { median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, lowest: at(0), highest: at(sorted.length - 1) };
}

/** `median (lowest to highest)`. */
export function spread(values: readonly number[], digits = 0): string {
  const { median, lowest, highest } = series(values);
  return `${median.toFixed(digits)} (${lowest.toFixed(digits)} to ${highest.toFixed(digits)})`;
}

/** Counts rounds: two at least, `most` at most, none begun after so many ms, so that a slow machine comes to an end too. */
export function* rounds(most: number, ms = 75_000): Generator<number> {
  const end = performance.now() + ms;
  for (let round = 0; round < most && (round < 2 || performance.now() < end); round++) yield round;
}

/** Prints a table with its columns aligned. */
export function printTable(title: string, header: string[], rows: string[][]): void {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]) => `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ")}`.trimEnd();
  const rule = `  ${widths.map((width) => "-".repeat(width)).join("   ")}`;
  process.stdout.write(`\n${[title, line(header), rule, ...rows.map(line)].join("\n")}\n`);
}

/** Holds a number against its budget: a row of the table at the end of the run, and a failure when it is missed. */
export function holdBudget(budget: Omit<Budget, "verdict">, kept: boolean): void {
  row({ ...budget, verdict: kept ? "kept" : "**missed**" });
  const { what, ours, theirs, ratio, bound } = budget;
  expect.soft(kept, `${[what, ours, theirs, ratio].filter(Boolean).join("; ")}; the budget is ${bound}`).toBe(true);
}

/** Measures what a row tells. If it cannot be measured, the row says so, and the benchmarks after it run all the same. */
export async function measuring(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const [reason = ""] = String(error).split("\n");
    row({ what, ours: reason.replaceAll("|", "/").slice(0, 120), bound: "", verdict: "**not measured**" });
    throw error;
  }
}

/** How long one step of a benchmark may take, in ms: what hangs must not hold up all that comes after it. */
export const STEP_MS = 120_000;

/** Waits for a step. */
export async function bounded<T>(what: string, step: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${STEP_MS / 1000} s`)), STEP_MS);
  });
  return Promise.race([step, late]).finally(() => clearTimeout(timer));
}

function row(budget: Budget): void {
  appendFileSync(BUDGETS, `${JSON.stringify(budget)}\n`);
}
