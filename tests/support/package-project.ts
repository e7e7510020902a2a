/** Projects as users have them: the packed package in node_modules, and a few files. */
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject, onTestFinished } from "vitest";

/** Where the tools of `tests/NAME/package.json` are installed: what only some tests need is no part of the repository's own packages. */
export function toolsOf(name: "runtimes" | "bundlers"): string {
  return fileURLToPath(new URL(`../../target/tools/${name}`, import.meta.url));
}

export interface Project {
  readonly folder: string;
  /** The installed package. */
  readonly packageFolder: string;
}

/** Makes a project of files by their paths below `parent`, by default among the temporary files. It goes with the test. */
export async function packageProject(files: Record<string, string>, parent = tmpdir()): Promise<Project> {
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "project-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(join(inject("packed").installed, "node_modules"), join(folder, "node_modules"), { recursive: true });
  for (const [name, content] of Object.entries({ "package.json": '{"private":true,"type":"module"}', ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return { folder, packageFolder: join(folder, "node_modules/agent-sandbox-web") };
}
