/** Running the examples of the documentation as they stand. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { PlatformInfo } from "./platform.ts";

/** The code block under `<!-- example: name -->` of a file of the repository. */
export function example(file: string, name: string): string {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  const found = new RegExp(`<!-- example: ${name} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
  if (found === undefined) throw new Error(`${file} has no example ${name}`);
  return found;
}

/** An example with a platform's address in place of the usual one. */
export function forPlatform(code: string, { apiUrl }: PlatformInfo): string {
  return code.replaceAll("http://127.0.0.1:7300", apiUrl).replaceAll(".localhost:7300", `.localhost:${new URL(apiUrl).port}`);
}

/** Runs an example in Node on a platform. */
export function runExample(code: string, platform: PlatformInfo): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, ["--input-type=module", "--eval", forPlatform(code, platform)], {
    cwd: import.meta.dirname,
    env: { ...process.env, AGENT_SANDBOX_API_KEY: platform.apiKey },
  });
}
