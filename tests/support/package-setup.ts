/** The npm package as it is published, packed and installed once for the whole run; see `packageProject`. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

const run = promisify(execFile);
const pkg = fileURLToPath(new URL("../../pkg", import.meta.url));

declare module "vitest" {
  export interface ProvidedContext {
    /** The package's tarball, and a folder into whose node_modules npm has installed it. */
    packed: { tarball: string; installed: string };
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const installed = await mkdtemp(join(tmpdir(), "packed-"));
  await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", installed], { cwd: pkg });
  const name = (await readdir(installed)).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new Error("npm pack made no tarball");
  const tarball = join(installed, name);
  await writeFile(join(installed, "package.json"), '{"private":true,"type":"module"}');
  await run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--offline", tarball], { cwd: installed });
  project.provide("packed", { tarball, installed });
  return () => rm(installed, { recursive: true, force: true });
}
