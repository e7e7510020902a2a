// Rollup, by the command that the package's README shows.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { printed } from "../support/programs.ts";
import { appProject, expectFolderToShow, IN_PAGE_AND_WORKER, toolProgram } from "./building.ts";

test("modules, with the .wasm copied beside them, stream in a page and its worker", async () => {
  const { folder, packageFolder } = await appProject("plain");
  const resolve = "node-resolve={browser:true}";
  await printed(toolProgram("rollup"), ["main.js", "worker.js", "--plugin", resolve, "--dir", "dist"], folder);
  await copyFile(join(packageFolder, "dist/agent_sandbox_web_bg.wasm"), join(folder, "dist/agent_sandbox_web_bg.wasm"));
  await copyFile(join(folder, "index.html"), join(folder, "dist/index.html"));
  await expectFolderToShow(join(folder, "dist"), IN_PAGE_AND_WORKER);
});
