/** The commands of the command box in the tab's own storage, so that a reload shows them again and goes on with the one that runs. */

import type { Span } from "../ansi.js";

/** A command as it is kept. */
export interface KeptRun {
  readonly command: string;
  /** When it began, in ms since 1970. */
  readonly began: number;
  /** How long it took, in ms; absent while it runs. */
  readonly took?: number;
  /** The process that runs; absent when it has ended or is not known yet. */
  readonly pid?: number;
  readonly exitCode?: number;
  /** Its end in words. */
  readonly note?: string;
  /** The end of what it printed. */
  readonly lines: readonly (readonly Span[])[];
  /** How many lines came before those. */
  readonly dropped: number;
}

// Storage holds about 5 million characters for everything, and a styled piece of text takes about twice its length.
const MOST_TEXT = 400_000;
const MOST_LINES = 500;

/** Reads them; empty when there are none that can be read. */
export function restoreRuns(key: string): readonly KeptRun[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** Keeps them: all commands, and of what they printed the newest that fits. */
export function keepRuns(key: string, runs: readonly KeptRun[]): void {
  let left = MOST_TEXT;
  const kept = [...runs].reverse().map((run) => {
    const lines: (readonly Span[])[] = [];
    for (const line of run.lines.slice(-MOST_LINES).reverse()) {
      left -= line.reduce((sum, { text }) => sum + text.length + 40, 10);
      if (left < 0) break;
      lines.unshift(line);
    }
    return { ...run, lines, dropped: run.dropped + run.lines.length - lines.length };
  });
  const without = runs.map((run) => ({ ...run, lines: [], dropped: run.dropped + run.lines.length }));
  for (const some of [kept.reverse(), without]) {
    try {
      if (some.length === 0) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, JSON.stringify(some));
      return;
    } catch {
      sessionStorage.removeItem(key);
    }
  }
}
