/** What processes take of the machine's memory. */
import { readFileSync } from "node:fs";
import { descendants } from "../support/processes.ts";

/** Bytes that a process and all below it hold for themselves: a page that several share counts once, in parts. */
export function memoryBelow(pid: number): number {
  let kibibytes = 0;
  for (const process of [{ pid }, ...descendants(pid)]) {
    try {
      const rollup = readFileSync(`/proc/${process.pid}/smaps_rollup`, "utf8");
      kibibytes += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0);
    } catch {
      // It has ended meanwhile.
    }
  }
  return kibibytes * 1024;
}

/** Runs something and gives the most that was held meanwhile. */
export async function most(held: () => number, run: () => Promise<void>): Promise<number> {
  let highest = held();
  const timer = setInterval(() => {
    highest = Math.max(highest, held());
  }, 250);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  return Math.max(highest, held());
}
