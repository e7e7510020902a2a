// webpack, without any configuration but where the source is and the output goes.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { appProject, expectFolderToShow, IN_PAGE_AND_WORKER, requireTool } from "./building.ts";

/** The part of webpack's answer that is needed. */
interface Stats {
  hasErrors(): boolean;
  toString(): string;
}

test("a built app streams in its page and its worker", async () => {
  const { folder } = await appProject("plain");
  const stats = await new Promise<Stats>((resolve, reject) => {
    const webpack = requireTool("webpack");
    webpack(
      { context: folder, entry: "./main.js", output: { path: join(folder, "dist") }, mode: "production" },
      (error: Error | null, stats: Stats) => (error ? reject(error) : resolve(stats)),
    );
  });
  if (stats.hasErrors()) throw new Error(stats.toString());
  await copyFile(join(folder, "index.html"), join(folder, "dist/index.html"));
  await expectFolderToShow(join(folder, "dist"), IN_PAGE_AND_WORKER);
});
