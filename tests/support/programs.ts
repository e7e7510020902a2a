/** Programs of users: they get nothing of our environment that the client would read. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** Runs a program to its end and gives what it printed; anything but success throws with all that it said. */
export async function printed(file: string, args: string[], cwd: string): Promise<string> {
  const { child, log, output } = start(file, args, cwd);
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${status}\n${log()}`);
  return output();
}

/** A program that goes on. */
export interface Started {
  /** What it said that was waited for. */
  readonly found: string;
  /** Everything it said so far. */
  log(): string;
}

/** Starts a program and waits until it says something. It ends with the test. */
export async function startProgram(file: string, args: string[], cwd: string, wanted: RegExp): Promise<Started> {
  const { child, log } = start(file, args, cwd);
  const closed = once(child, "close");
  onTestFinished(async () => {
    // It leads a process group of its own.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, "SIGTERM");
    await closed;
  });
  const found = new Promise<string>((resolve, reject) => {
    const look = () => {
      const match = wanted.exec(log());
      if (match) resolve(match[0]);
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    void closed.then(() => reject(new Error(`${file} ended early:\n${log()}`)), reject);
  });
  return { found: await found, log };
}

function start(file: string, args: string[], cwd: string): { child: ChildProcess; log: () => string; output: () => string } {
  const { PATH, HOME, TMPDIR } = process.env;
  // Tools that report home are told not to; they could reach nobody here.
  const quiet = { NEXT_TELEMETRY_DISABLED: "1", NO_COLOR: "1" };
  const child = spawn(file, args, {
    cwd,
    env: { PATH, HOME, TMPDIR, ...quiet },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const said: [from: "stdout" | "stderr", text: string][] = [];
  for (const from of ["stdout", "stderr"] as const) {
    child[from].setEncoding("utf8").on("data", (text: string) => said.push([from, text]));
  }
  const log = () => said.map(([, text]) => text).join("");
  const output = () => said.map(([from, text]) => (from === "stdout" ? text : "")).join("");
  return { child, log, output };
}
