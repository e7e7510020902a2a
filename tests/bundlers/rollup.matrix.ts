// Rollup, by the command that the package's README shows.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { appProject, expectFolderToShow, IN_PAGE_AND_WORKER, runReadme } from "./building.ts";

test("modules, with the .wasm copied beside them, stream in a page and its worker", async () => {
  const { folder } = await appProject("plain");
  await runReadme("rollup", folder);
  await copyFile(join(folder, "index.html"), join(folder, "dist/index.html"));
  await expectFolderToShow(join(folder, "dist"), IN_PAGE_AND_WORKER);
});
