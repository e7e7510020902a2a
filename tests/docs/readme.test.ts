// What the README shows a newcomer really runs.
import { readFile } from "node:fs/promises";
import { expect, inject, test } from "vitest";
import { example, runExample } from "../support/examples.ts";

const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");

test("the README's example runs as it stands, but for the port", async () => {
  const code = example("README.md", "hello");
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(16);
  const { stdout, stderr } = await runExample(code, inject("platform"));
  expect(stdout).toBe("Hello from a file\n1\n2\n3\n");
  expect(stderr).toBe("");
});

test("every file the README links to exists", async () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? "");
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) await expect(readFile(new URL(`../../${link}`, import.meta.url)), link).resolves.toBeDefined();
});
