// A program that says in its first line where it serves.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/**
 * Starts a program; gives its first line, and what ends it.
 * @param {string} program
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} [options]
 * @returns {Promise<{ line: string, stop(): Promise<void> }>}
 */
export async function startProgram(program, args, options = {}) {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  await once(child, "spawn");
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return { line, stop };
  }
  throw new Error(`${program} ended before it served.`);
}
