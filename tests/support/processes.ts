/** Looking at the machine's processes through /proc. */
import { readdirSync, readFileSync } from "node:fs";

/** A process that is told apart from a later one with the same number by the time it started. */
export interface ProcessId {
  readonly pid: number;
  /** Clock ticks after boot. */
  readonly startTime: string;
  readonly command: string;
}

interface Entry extends ProcessId {
  readonly parent: number;
  readonly state: string;
}

/** The process's children, their children, and so on. */
export function descendants(pid: number): ProcessId[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => read(Number(name)) ?? []);
  const found: Entry[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const children = all.filter((entry) => parents.has(entry.parent));
    found.push(...children);
    parents = new Set(children.map((child) => child.pid));
  }
  return found;
}

/** Whether that very process still runs; one that only waits to be reaped does not. */
export function isAlive(process: ProcessId): boolean {
  const now = read(process.pid);
  return now !== undefined && now.startTime === process.startTime && now.state !== "Z" && now.state !== "X";
}

function read(pid: number): Entry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name stands in parentheses and may hold any character; the numbered fields start behind the last one.
    const close = stat.lastIndexOf(")");
    const fields = stat.slice(close + 2).split(" ");
    const command =
      readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim() || stat.slice(stat.indexOf("(") + 1, close);
    const [state, parent, startTime] = [fields[0], fields[1], fields[19]];
    if (state === undefined || parent === undefined || startTime === undefined) return undefined;
    return { pid, startTime, command, parent: Number(parent), state };
  } catch {
    return undefined;
  }
}
