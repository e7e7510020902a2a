/** Starting and stopping `agent-sandbox-local`, and finding what a stopped one left behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { descendants, isAlive, type ProcessId } from "./processes.ts";

/** The platform's own JSON line. */
export interface PlatformInfo {
  /** Base of the control plane. */
  readonly apiUrl: string;
  /** Path form with placeholders, for runtimes. */
  readonly sandboxUrl: string;
  /** Host form with placeholders, for pages. */
  readonly sandboxHostUrl: string;
  /** The console with a single-use code in its fragment. */
  readonly consoleUrl: string;
  readonly apiKey: string;
  readonly isolation: string;
  readonly pid: number;
}

export interface PlatformOptions {
  /** Where sandboxes are kept. Without it a temporary folder, gone after `stop`. */
  dataDir?: string;
  /** The port; a free one without it. */
  port?: number;
  /** More arguments for `serve`. */
  args?: string[];
  /** More environment variables. */
  env?: Record<string, string>;
}

export interface Platform {
  readonly info: PlatformInfo;
  readonly dataDir: string;
  /** What it wrote to stderr so far. */
  log(): string;
  /** Ends it with the signal (SIGTERM) and throws when it leaves a process, a mount or a temporary file. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const repository = new URL("../../", import.meta.url).pathname;

/** The binary under test: the release build, or what AGENT_SANDBOX_LOCAL names. */
export function platformBinary(): string {
  const binary = process.env.AGENT_SANDBOX_LOCAL ?? join(repository, "target/release/agent-sandbox-local");
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run \`cargo xtask build platform\``);
  return binary;
}

/** Starts a platform on a free port and resolves when it serves. */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const scratch = mkdtempSync(join(tmpdir(), "platform-test-"));
  const temporary = join(scratch, "tmp");
  const dataDir = options.dataDir ?? join(scratch, "data");
  mkdirs(temporary, dataDir);
  const console = join(repository, "www/dist");
  const child = spawn(
    platformBinary(),
    [
      "serve",
      "--json",
      "--listen",
      `127.0.0.1:${options.port ?? 0}`,
      "--data-dir",
      dataDir,
      ...(existsSync(console) ? ["--console", console] : []),
      ...(options.args ?? []),
    ],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, TMPDIR: temporary, ...options.env } },
  );
  // Should the run be torn down without `stop`, the platform is told to clean up all the same.
  const endWithUs = () => child.kill("SIGTERM");
  process.once("exit", endWithUs);
  const log: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => log.push(text));

  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    process.off("exit", endWithUs);
    const started = child.pid === undefined ? [] : descendants(child.pid);
    await end(child, signal);
    const leftovers = [
      ...(await outlivers(started)),
      ...mountsBelow(scratch, dataDir),
      ...readdirSync(temporary).map((name) => `temporary file ${name}`),
    ];
    rmSync(scratch, { recursive: true, force: true });
    if (leftovers.length > 0) throw new Error(`the platform left behind:\n${leftovers.join("\n")}\n\nIts log:\n${log.join("")}`);
  };

  try {
    const info = await readInfo(child, log);
    return { info, dataDir, log: () => log.join(""), stop };
  } catch (error) {
    process.off("exit", endWithUs);
    await end(child, "SIGTERM");
    rmSync(scratch, { recursive: true, force: true });
    throw error;
  }
}

async function readInfo(child: ChildProcess, log: string[]): Promise<PlatformInfo> {
  if (child.stdout === null) throw new Error("the platform has no stdout");
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    // What it may say later must not fill the pipe.
    child.stdout.resume();
    return JSON.parse(line) as PlatformInfo;
  }
  throw new Error(`the platform ended before it was ready:\n${log.join("")}`);
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, "exit");
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  await exited;
  clearTimeout(timer);
}

/** Processes that still run a while after their platform ended; the kernel needs a moment to reap a PID namespace. */
async function outlivers(started: ProcessId[]): Promise<string[]> {
  const deadline = Date.now() + 60_000;
  let left = started.filter(isAlive);
  while (left.length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    left = left.filter(isAlive);
  }
  return left.map((process) => `process ${process.pid}: ${process.command}`);
}

function mountsBelow(...folders: string[]): string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return mounts.filter((line) => folders.some((folder) => line.split(" ")[4]?.startsWith(folder))).map((line) => `mount ${line}`);
}

function mkdirs(...folders: string[]): void {
  for (const folder of folders) mkdirSync(folder, { recursive: true });
}
