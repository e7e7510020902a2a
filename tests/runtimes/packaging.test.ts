// The tarball itself: what is in it, and whether tools that judge packages find fault with it.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, inject, test } from "vitest";
import { toolsOf } from "../support/package-project.ts";
import { printed, startProgram } from "../support/programs.ts";

const tool = (name: string) => join(toolsOf("runtimes"), "node_modules/.bin", name);
const { tarball, installed } = inject("packed");

test("it holds every file that its exports name and what users read, and nothing else", async () => {
  const files = (await printed("tar", ["-tzf", tarball], dirname(tarball)))
    .trim()
    .split("\n")
    .map((name) => name.replace(/^package\//, "./"));
  const manifest = await readFile(join(installed, "node_modules/agent-sandbox-web/package.json"), "utf8");
  const { exports } = JSON.parse(manifest) as { exports: Record<string, unknown> };
  const named = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target as object),
  );
  expect(files).toEqual(expect.arrayContaining([...named, "./LICENSE", "./README.md", "./CHANGELOG.md"]));
  expect(files.filter((name) => !/^\.\/((dist|relay)\/.+|[A-Z]+(\.md)?|package\.json)$/.test(name))).toEqual([]);
});

test("publint finds nothing", async () => {
  expect(await printed(tool("publint"), ["run", tarball, "--strict", "--level", "warning"], installed)).toContain("All good!");
});

test("npm would publish it as it is", async () => {
  const args = ["publish", "--dry-run", "--offline", "--ignore-scripts", tarball];
  const npm = await startProgram("npm", args, installed, /^\+ agent-sandbox-web@.*$/m);
  const warnings = npm.log().match(/^npm warn .*$/gm) ?? [];
  // Whoever publishes logs in before.
  expect(warnings.filter((line) => !line.includes("logged in"))).toEqual([]);
});
