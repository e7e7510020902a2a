// What the README shows a newcomer really runs.
import { beforeAll, expect, inject, test } from "vitest";
import { example, runExample } from "../support/examples.ts";
import { FIRST_USE_MS, prepareRuntime } from "../support/runtime.ts";

beforeAll(prepareRuntime, FIRST_USE_MS);

/** Runs a program and gives what it printed. */
async function run(program: string): Promise<string> {
  const { stdout, stderr } = await runExample(program, inject("platform"));
  expect(stderr).toBe("");
  return stdout;
}

test("the README's example runs as it stands, but for the port", async () => {
  const code = example("README.md", "hello");
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(16);
  expect(await run(code)).toBe("Hello from a file\n1\n2\n3\n");
});

test("the README's example of code cells runs", async () => {
  const { apiUrl, sandboxUrl, apiKey } = inject("platform");
  const stdout = await run(`import { Sandbox } from "agent-sandbox-web";
const connection = ${JSON.stringify({ apiUrl, sandboxUrl, apiKey })};
${example("README.md", "cells")}
console.log(String.fromCharCode(...picture.slice(1, 4)));
await sandbox.kill();`);
  expect(stdout).toBe("drawn\ntext html data\ntext png chart\nPNG\n");
});
