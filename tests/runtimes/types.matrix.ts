// The packed package's declarations, by other judges than TypeScript's own compiler.
import { join } from "node:path";
import { inject, test } from "vitest";
import { sampleProject } from "../client/types/project.ts";
import { toolsOf } from "../support/package-project.ts";
import { printed } from "../support/programs.ts";
import { DENO } from "./running.ts";

test("they compile in a Deno project", async () => {
  await printed(DENO, ["check", "--quiet", "--cached-only", "overloads.ts", "web.ts"], await sampleProject());
});

test("they are right in every resolution that modules have", async () => {
  const { tarball, installed } = inject("packed");
  const attw = join(toolsOf("runtimes"), "node_modules/.bin/attw");
  // A style sheet has no types, and is no module.
  const args = ["--profile", "esm-only", "--exclude-entrypoints", "./elements/theme.css", "--no-color", "--format", "ascii"];
  await printed(attw, [tarball, ...args], installed);
});
