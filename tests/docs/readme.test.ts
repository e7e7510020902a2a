// What the README shows a newcomer really runs.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";

const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");

/** The code block under `<!-- example: name -->`. */
function example(name: string): string {
  const found = new RegExp(`<!-- example: ${name} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`the README has no example ${name}`);
  return found;
}

test("the README's example runs as it stands, but for the port", async () => {
  const platform = inject("platform");
  const code = example("hello");
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(16);
  const here = code.replaceAll("http://127.0.0.1:7300", platform.apiUrl);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", here], {
    cwd: import.meta.dirname,
    env: { ...process.env, AGENT_SANDBOX_API_KEY: platform.apiKey },
  });
  expect(stdout).toBe("Hello from a file\n1\n2\n3\n");
  expect(stderr).toBe("");
});

test("every file the README links to exists", async () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? "");
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) await expect(readFile(new URL(`../../${link}`, import.meta.url)), link).resolves.toBeDefined();
});
