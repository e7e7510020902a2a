// What the README shows a newcomer really runs.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { beforeAll, expect, inject, test } from "vitest";
import { FIRST_USE_MS, prepareRuntime } from "../support/runtime.ts";

const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");

/** The code block under `<!-- example: name -->`. */
function example(name: string): string {
  const found = new RegExp(`<!-- example: ${name} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`the README has no example ${name}`);
  return found;
}

beforeAll(prepareRuntime, FIRST_USE_MS);

/** Runs a program and gives what it printed. */
async function run(program: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    env: { ...process.env, AGENT_SANDBOX_API_KEY: inject("platform").apiKey },
  });
  expect(stderr).toBe("");
  return stdout;
}

test("the README's example runs as it stands, but for the port", async () => {
  const code = example("hello");
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(16);
  const stdout = await run(code.replaceAll("http://127.0.0.1:7300", inject("platform").apiUrl));
  expect(stdout).toBe("Hello from a file\n1\n2\n3\n");
});

test("the README's example of code cells runs", async () => {
  const { apiUrl, sandboxUrl, apiKey } = inject("platform");
  const stdout = await run(`import { Sandbox } from "agent-sandbox-web";
const connection = ${JSON.stringify({ apiUrl, sandboxUrl, apiKey })};
${example("cells")}
console.log(String.fromCharCode(...picture.slice(1, 4)));
await sandbox.kill();`);
  expect(stdout).toBe("drawn\ntext html data\ntext png chart\nPNG\n");
});

test("every file the README links to exists", async () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? "");
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) await expect(readFile(new URL(`../../${link}`, import.meta.url)), link).resolves.toBeDefined();
});
