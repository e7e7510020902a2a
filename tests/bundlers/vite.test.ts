// Vite, without any configuration: an app that was built, and one in development.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { build, createServer } from "vite";
import { expect, test } from "vitest";
import { appProject, expectFolderToShow, expectToShow, IN_PAGE_AND_WORKER } from "./building.ts";

test("a built app streams in its page and its worker, and has the module once", async () => {
  const project = await appProject("plain");
  await build({ root: project.folder, configFile: false, logLevel: "error" });
  const built = join(project.folder, "dist");
  expect((await readdir(join(built, "assets"))).filter((name) => name.endsWith(".wasm"))).toHaveLength(1);
  await expectFolderToShow(built, IN_PAGE_AND_WORKER);
});

test("an app in development does", async () => {
  const project = await appProject("plain");
  const server = await createServer({ root: project.folder, configFile: false, logLevel: "error", server: { port: 0 } });
  await server.listen();
  try {
    await expectToShow(server.resolvedUrls?.local[0] ?? "", IN_PAGE_AND_WORKER);
  } finally {
    await server.close();
  }
});
