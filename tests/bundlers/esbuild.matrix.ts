// esbuild, by the commands that the package's README shows.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { toolsOf } from "../support/package-project.ts";
import { printed } from "../support/programs.ts";
import { appProject, expectFolderToShow, IN_PAGE, IN_PAGE_AND_WORKER, runReadme } from "./building.ts";

test("modules, with the .wasm copied beside them, stream in a page and its worker", async () => {
  const { folder } = await appProject("plain");
  await runReadme("esbuild", folder);
  await copyFile(join(folder, "index.html"), join(folder, "dist/index.html"));
  await expectFolderToShow(join(folder, "dist"), IN_PAGE_AND_WORKER);
});

test("a classic script that is given the file's URL streams in a page", async () => {
  const { folder } = await appProject("classic");
  await runReadme("esbuild-classic", folder);
  await copyFile(join(folder, "index.html"), join(folder, "dist/index.html"));
  await expectFolderToShow(join(folder, "dist"), IN_PAGE);
});

test("a classic script that holds the bytes does, too", async () => {
  const { folder } = await appProject("classic");
  const esbuild = join(toolsOf("runtimes"), "node_modules/.bin/esbuild");
  await printed(esbuild, ["main.js", "--bundle", "--format=iife", "--loader:.wasm=binary", "--outdir=dist"], folder);
  await copyFile(join(folder, "index.html"), join(folder, "dist/index.html"));
  await expectFolderToShow(join(folder, "dist"), IN_PAGE);
});
