/** Programs that measure in a Node process of their own: the test runner's own hooks into errors and modules would be measured with them. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { STEP_MS } from "./report.ts";

/** What one of `readers/` prints as JSON. */
export async function inProcess<T>(program: string, args: string[], flags: string[] = []): Promise<T> {
  const path = new URL(`readers/${program}`, import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, path, ...args], {
    maxBuffer: 1 << 24,
    timeout: STEP_MS,
  });
  return JSON.parse(stdout) as T;
}
