// esbuild, by the commands that the package's README shows.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { toolsOf } from "../support/package-project.ts";
import { printed } from "../support/programs.ts";
import { appProject, expectFolderToShow, IN_PAGE, IN_PAGE_AND_WORKER } from "./building.ts";

const esbuild = join(toolsOf("runtimes"), "node_modules/.bin/esbuild");

test("modules, with the .wasm copied beside them, stream in a page and its worker", async () => {
  const { folder, packageFolder } = await appProject("plain");
  await printed(esbuild, ["main.js", "worker.js", "--bundle", "--splitting", "--format=esm", "--outdir=dist"], folder);
  await copyFile(join(packageFolder, "dist/agent_sandbox_web_bg.wasm"), join(folder, "dist/agent_sandbox_web_bg.wasm"));
  await copyFile(join(folder, "index.html"), join(folder, "dist/index.html"));
  await expectFolderToShow(join(folder, "dist"), IN_PAGE_AND_WORKER);
});

test.each(["file", "binary"])("a classic script with the loader %s streams in a page", async (loader) => {
  const { folder } = await appProject("classic");
  await printed(esbuild, ["main.js", "--bundle", "--format=iife", `--loader:.wasm=${loader}`, "--outdir=dist"], folder);
  await copyFile(join(folder, "index.html"), join(folder, "dist/index.html"));
  await expectFolderToShow(join(folder, "dist"), IN_PAGE);
});
