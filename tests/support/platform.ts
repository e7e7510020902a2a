// Starts the local platform for a test and ends it with everything in it.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The line the platform prints when it is ready. */
export interface Ready {
  apiUrl: string;
  sandboxUrl: string;
  sandboxHostUrl: string;
  consoleUrl: string;
  apiKey: string;
  isolation: string;
  pid: number;
}

/** A platform that runs. */
export interface RunningPlatform extends Ready {
  /** Everything it wrote to stderr so far. */
  log(): string;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** The platform's binary: the one that was named, else the newest kind that was built. */
export function platformBinary(): string {
  const named = process.env.AGENT_SANDBOX_LOCAL;
  const built = ["release", "debug"].map((profile) =>
    fileURLToPath(new URL(`../../target/${profile}/agent-sandbox-local`, import.meta.url)),
  );
  const found = [...(named ? [named] : []), ...built].find(existsSync);
  if (!found) throw new Error('agent-sandbox-local is not built: run "cargo xtask build platform"');
  return found;
}

/** Starts a platform on a free port, with a data folder of its own, and waits until it is ready. */
export async function startPlatform(args: string[] = []): Promise<RunningPlatform> {
  const data = await mkdtemp(join(tmpdir(), "agent-sandbox-test-"));
  const child = spawn(platformBinary(), ["serve", "--listen", "127.0.0.1:0", "--data-dir", data, "--json", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-200_000);
  });
  const ended = new Promise<void>((end) => child.on("close", () => end()));
  const stop = async () => {
    await stopProcess(child, ended);
    await rm(data, { recursive: true, force: true });
  };
  const lines = createInterface({ input: child.stdout });
  try {
    const ready = await Promise.race([
      new Promise<Ready>((found, failed) => lines.once("line", (line) => parse(line, found, failed))),
      ended.then(() => {
        throw new Error(`the platform ended before it was ready:\n${log}`);
      }),
    ]);
    return { ...ready, log: () => log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function parse(line: string, found: (ready: Ready) => void, failed: (error: Error) => void): void {
  try {
    found(JSON.parse(line) as Ready);
  } catch {
    failed(new Error(`the platform's first line is no JSON: ${line}`));
  }
}

async function stopProcess(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(force);
}
