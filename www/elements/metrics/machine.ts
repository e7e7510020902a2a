/** What runs in a sandbox and which ports are open, read from its `/proc`: no template lacks that, whatever tools it has. */

import type { Sandbox } from "agent-sandbox-web";
import { ReadingShell } from "./reading-shell.js";

/** A process. */
export interface Process {
  readonly pid: number;
  /** The program with its arguments, cut after 300 characters; of kernel threads and zombies the name alone. */
  readonly command: string;
  /** The kernel's letter for its state, such as `R` or `S`. */
  readonly state: string;
  /** Of one CPU, in per cent, since the reading before; `undefined` at the first. */
  readonly cpu: number | undefined;
  /** Resident memory in bytes. */
  readonly memory: number;
  /** When it was started, in clock ticks since the machine's start: with the pid it names a process for good. */
  readonly started: number;
  /** Whether it is what keeps the sandbox itself going. */
  readonly system: boolean;
}

/** A port on which something listens. */
export interface OpenPort {
  readonly port: number;
  /** Whether it listens on loopback addresses alone. */
  readonly loopback: boolean;
  /** The process that listens, where it can be seen. */
  readonly process?: Process | undefined;
}

/** What was read at one moment. */
export interface Machine {
  readonly processes: readonly Process[];
  readonly ports: readonly OpenPort[];
}

/** What the reading's own command lines hold, so that logs can leave them out. */
export const READING = "agent-sandbox-web reads what runs";

const BEFORE = `: ${READING}
page=$(getconf PAGESIZE 2>/dev/null || echo 4096)`;

/** What can be asked: everything, or only what listens, which costs next to nothing. */
type Question = "all" | "ports";

// Only what bash has built in, but for cat and find: starting a program for each process would show up in what is measured.
const READ = `if [ "$question" = ports ]; then
  own=
  { read -r own < /proc/sys/net/ipv4/ip_local_port_range; } 2>/dev/null
  printf '%s\\0' "$own"
  for f in /proc/net/tcp /proc/net/tcp6; do
    a=()
    { mapfile -t a < "$f"; } 2>/dev/null
    for l in "\${a[@]}"; do [[ $l = *" 0A "* ]] && printf '%s\\n' "$l"; done
  done
else
read -r up _ < /proc/uptime
printf '%s\\0%s\\0%s\\0' "$$" "$page" "$up"
for d in /proc/[0-9]*; do
  a=() s=
  { IFS= read -r -d '' s < "$d/stat"; mapfile -d '' -t a < "$d/cmdline"; } 2>/dev/null
  c="\${a[*]}"
  if [[ $s ]]; then printf '%s\\0%s\\0' "$s" "\${c:0:300}"; fi
done
printf '\\0'
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null
printf '\\0'
find /proc/[0-9]*/fd -lname 'socket:*' -printf '%p %l\\n' 2>/dev/null
fi`;

// The pid may be another process's by now: the time of its start tells.
const END = `
IFS= read -r -d '' s < "/proc/$1/stat"
rest=(\${s##*) })
[ "\${rest[19]}" = "$2" ] && kill -s "$3" "$1"`;

/** What Linux gives where nobody has changed it. */
const GIVEN = [32_768, 60_999] as const;
const PATIENCE_MS = 10_000;
const TICKS_A_SECOND = 100;
const LISTENING = "0A";

/** The shells that read, by the sandbox they are in. */
const shells = new WeakMap<Sandbox, Promise<ReadingShell>>();

/** Asks the sandbox's shell, or a new one where that has ended: it may have done so unseen, as by a pause. */
async function ask(sandbox: Sandbox, question: Question, signal: AbortSignal): Promise<string> {
  const known = shells.get(sandbox);
  try {
    const shell = await known;
    if (shell && !shell.ended) return await shell.ask(question, signal);
  } catch {
    signal.throwIfAborted();
  }
  // Who asked at the same time may have started another by now.
  if (shells.get(sandbox) === known) shells.set(sandbox, ReadingShell.start(sandbox, BEFORE, READ));
  return (await shells.get(sandbox))?.ask(question, signal) ?? "";
}

/** Whether a shell reads in the sandbox now. One that has ended may have ended with its sandbox. */
export async function isRead(sandbox: Sandbox): Promise<boolean> {
  const shell = await shells.get(sandbox)?.catch(() => undefined);
  return shell !== undefined && !shell.ended;
}

/** What listens in a sandbox, without the processes that do. */
export interface Listening {
  readonly ports: readonly OpenPort[];
  /** The first and the last of those that the kernel gives to who asks for any port. */
  readonly given: readonly [first: number, last: number];
}

/** Reads what listens now. */
export async function readPorts(sandbox: Sandbox, signal: AbortSignal): Promise<Listening> {
  const [range = "", tables = ""] = (await ask(sandbox, "ports", signal)).split("\0");
  const [first = GIVEN[0], last = GIVEN[1]] = range === "" ? [] : range.trim().split(/\s+/).map(Number);
  return { ports: openPorts(tables, "", []), given: [first, last] };
}

/** Reads again and again; what it read before tells how busy processes are. */
export class MachineReader {
  private before: { readonly uptime: number; readonly ticks: ReadonlyMap<string, number> } | undefined;

  /** Reads what there is now. */
  async read(sandbox: Sandbox, signal: AbortSignal): Promise<Machine> {
    const { machine, uptime, ticks } = parseMachine(await ask(sandbox, "all", signal), this.before);
    this.before = { uptime, ticks };
    return machine;
  }
}

/**
 * Ends a process, if it is still that one.
 * @returns what the sandbox's shell says when it could not; `""` when it did
 */
export async function endProcess(sandbox: Sandbox, process: Process, signal: "TERM" | "KILL"): Promise<string> {
  const command = ["/bin/bash", "-c", END, "end", String(process.pid), String(process.started), signal] as const;
  const { success, stderr } = await sandbox.commands.run(command, { timeoutMs: PATIENCE_MS });
  return success ? "" : (/([^:]+)\s*$/.exec(stderr)?.[1]?.trim() ?? "It has ended already.");
}

/** Understands what the sandbox wrote. */
export function parseMachine(
  text: string,
  before?: { readonly uptime: number; readonly ticks: ReadonlyMap<string, number> },
): { machine: Machine; uptime: number; ticks: Map<string, number> } {
  const [own = "", pageSize = "", up = "", ...fields] = text.split("\0");
  const uptime = Number(up);
  const ticks = new Map<string, number>();
  const parents = new Map<number, number>();
  const found: Process[] = [];
  let at = 0;
  for (; at + 1 < fields.length && fields[at] !== ""; at += 2) {
    const stat = fields[at] ?? "";
    // The name in brackets may hold anything, brackets too.
    const close = stat.lastIndexOf(")");
    const pid = Number.parseInt(stat, 10);
    const name = stat.slice(stat.indexOf("(") + 1, close);
    const rest = stat.slice(close + 2).split(" ");
    const number = (index: number) => Number(rest[index] ?? 0);
    const started = number(19);
    const used = number(11) + number(12);
    const key = `${pid} ${started}`;
    ticks.set(key, used);
    parents.set(pid, number(1));
    const last = before?.ticks.get(key);
    const seconds = before ? uptime - before.uptime : 0;
    const cpu = last !== undefined && seconds > 0 ? ((used - last) / TICKS_A_SECOND / seconds) * 100 : undefined;
    const command = fields[at + 1]?.trim() || name;
    found.push({ pid, command, state: rest[0] ?? "", cpu, memory: number(21) * Number(pageSize), started, system: false });
  }
  const system = new Set<number>([1]);
  for (let pid = parents.get(Number(own)); pid; pid = parents.get(pid)) system.add(pid);
  const processes = found
    .filter(({ pid }) => pid !== Number(own))
    .map((process) => (system.has(process.pid) ? { ...process, system: true } : process));
  const ports = openPorts(fields[at + 1] ?? "", fields[at + 2] ?? "", processes);
  return { machine: { processes, ports }, uptime, ticks };
}

/** The listening ones of the kernel's tables of TCP sockets. */
function openPorts(tables: string, descriptors: string, processes: readonly Process[]): OpenPort[] {
  const owners = new Map<string, number>();
  for (const entry of descriptors.split("\n")) {
    const [, pid, inode] = /^\/proc\/(\d+)\/fd\/\d+ socket:\[(\d+)\]$/.exec(entry) ?? [];
    if (pid !== undefined && inode !== undefined) owners.set(inode, Number(pid));
  }
  const open = new Map<number, OpenPort>();
  for (const row of tables.split("\n")) {
    const columns = row.trim().split(/\s+/);
    const [address = "", hex = ""] = (columns[1] ?? "").split(":");
    if (columns[3] !== LISTENING || hex === "") continue;
    const port = Number.parseInt(hex, 16);
    const known = open.get(port);
    const loopback = /^(?:0{16}FFFF0000)?[0-9A-F]{6}7F$/.test(address) || address === "00000000000000000000000001000000";
    const pid = owners.get(columns[9] ?? "");
    const process = known?.process ?? processes.find((one) => one.pid === pid);
    open.set(port, { port, loopback: loopback && (known?.loopback ?? true), process });
  }
  return [...open.values()].sort((a, b) => a.port - b.port);
}
