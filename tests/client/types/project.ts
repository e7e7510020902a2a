import { readFile } from "node:fs/promises";
import { packageProject } from "../../support/package-project.ts";

/** Makes a project with the packed package and the samples beside this file, and gives its folder. `web.ts` needs the web's types. */
export async function sampleProject(): Promise<string> {
  const read = (name: string) => readFile(new URL(name, import.meta.url), "utf8");
  const { folder } = await packageProject({ "overloads.ts": await read("overloads.ts"), "web.ts": await read("web.ts") });
  return folder;
}
