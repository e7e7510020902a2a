// Bun.
import { join } from "node:path";
import { test } from "vitest";
import { packageProject, toolsOf } from "../support/package-project.ts";
import { printed } from "../support/programs.ts";
import { callsFiles, expectAllWell, PROGRAM } from "./running.ts";

test("a module that imports the package makes every call", async () => {
  const project = await packageProject({ "main.js": PROGRAM, ...(await callsFiles()) });
  expectAllWell(JSON.parse(await printed(join(toolsOf("runtimes"), "node_modules/.bin/bun"), ["main.js"], project.folder)));
});
