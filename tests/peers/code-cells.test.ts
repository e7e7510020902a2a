/** The code interpreter SDKs of others judge the platform's code cells: both run the same scenario, and must see the same. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Platform, startPlatform } from "../support/platform.ts";
import { FIRST_USE_MS, prepareRuntime, runtimeDir } from "../support/runtime.ts";
import { runCodeCells } from "./code-cells.ts";
import type { Results } from "./expectations.ts";

const target = new URL("../../target/", import.meta.url).pathname;
const environments = process.env.PEER_ENVIRONMENTS ?? join(target, "peers");
const scenario = new URL("python/code_cells.py", import.meta.url).pathname;

/** What every SDK must see. */
const expectations: Results = {
  state: "2",
  streams: { stdout: "é😀\n", stderr: "oops\n", results: ["last"] },
  figure: { png: true, chart: "bar", labels: ["a", "b"] },
  table: { data: { a: [1, null] }, html: true },
  formula: true,
  progressBar: true,
  error: { name: "ZeroDivisionError", value: "division by zero", traceback: true },
  unknownType: true,
  timeout: { raised: "Timeout", next: "2" },
  contexts: { cwd: "/tmp", listed: true, restarted: "NameError", removed: true },
  parallel: ["0", "1"],
  variables: { inside: 'it\'s "odd"\\n', outside: "None" },
  javascript: "6",
  typescript: "9",
  bash: "hi\n",
  unknownLanguage: true,
  longCode: "5",
  deadKernel: { error: "ContextRestarting", next: "7" },
  manyBytes: 2_000_000,
};

async function runPython(platform: Platform): Promise<Results> {
  const python = join(environments, "e2b/bin/python");
  const { stdout } = await promisify(execFile)(python, [scenario, platform.info.apiUrl, platform.info.apiKey], {
    maxBuffer: 1 << 24,
  });
  return JSON.parse(stdout) as Results;
}

let platform: Platform;
beforeAll(async () => {
  await prepareRuntime();
  platform = await startPlatform({ args: ["--runtime-dir", runtimeDir] });
}, FIRST_USE_MS);
afterAll(() => platform.stop());

describe.each([
  { name: "E2B's code interpreter for JavaScript", run: () => runCodeCells(platform.info) },
  { name: "E2B's code interpreter for Python", run: () => runPython(platform) },
])("$name", ({ run }) => {
  let results: Results;
  beforeAll(async () => {
    results = await run();
  }, 300_000);

  test.each(Object.keys(expectations))("%s", (step) => {
    expect(results[step]).toEqual(expectations[step]);
  });
});
