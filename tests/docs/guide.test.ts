// What the guides show compiles as strictly as a reader's project may be set, and runs as it stands.
import { readdir } from "node:fs/promises";
import { beforeAll, expect, inject, test } from "vitest";
import { compile, type Example, examples, isRun, promisedOutput, type Ran, runInOneProcess } from "../support/guide-examples.ts";
import { FIRST_USE_MS, prepareRuntime } from "../support/runtime.ts";

const GUIDE = new URL("../../docs/guide/", import.meta.url);
const pages = (await readdir(GUIDE)).filter((name) => name.endsWith(".md")).sort();
const files = [
  ...pages.map((page) => `docs/guide/${page}`),
  "docs/sandbox-server.md",
  "docs/site/index.md",
  "README.md",
  "pkg/README.md",
];
const all = files.flatMap(examples);
const run = all.filter(isRun);

let ran: Map<Example, Ran>;

beforeAll(async () => {
  await prepareRuntime();
  ran = await runInOneProcess(run, inject("platform"));
}, FIRST_USE_MS);

test("there are examples of every kind", () => {
  expect(run.length).toBeGreaterThan(20);
  expect(all.length).toBeGreaterThan(run.length);
  expect(new Set(all.map(({ language }) => language))).toEqual(new Set(["ts", "tsx", "html"]));
});

test("every example compiles, TypeScript under strict", () => {
  expect(compile(all)).toEqual([]);
});

for (const example of run) {
  test(`${example.place} runs and prints what it says`, () => {
    const { error, lines } = ran.get(example) ?? { error: "did not run", lines: [] };
    expect(error).toBeUndefined();
    const promised = promisedOutput(example.code);
    if (promised.length > 0) expect(lines).toEqual(promised);
  });
}
