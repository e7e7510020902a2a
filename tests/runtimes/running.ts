/** Running the calls of calls.ts in a runtime, and judging how they went. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, inject } from "vitest";
import { toolsOf } from "../support/package-project.ts";
import { COUNT, type Given, type Outcome } from "./calls.ts";

/** The calls as one module without imports, which any runtime can load. */
export async function callsModule(): Promise<string> {
  const bundle = await rolldown({ input: new URL("calls.ts", import.meta.url).pathname, platform: "neutral" });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  return output[0].code;
}

/** What a program of a runtime imports: the calls, and where the platform is. `form` is how the runtime reaches sandboxes. */
export async function callsFiles(form: "path" | "host" = "path"): Promise<Record<string, string>> {
  return { "calls.js": await callsModule(), "given.js": `export default ${JSON.stringify(given(form))};\n` };
}

/** Where the platform is; pages reach sandboxes by host, runtimes that do not resolve such names by path. */
export function given(form: "path" | "host"): Given {
  const { apiUrl, apiKey, sandboxUrl, sandboxHostUrl } = inject("platform");
  return { platform: { apiUrl, apiKey, sandboxUrl: form === "host" ? sandboxHostUrl : sandboxUrl } };
}

/** A program in the form of a module: imports the package by its name, runs the calls and prints how they went. */
export const PROGRAM = `import * as sdk from "agent-sandbox-web";
import { runCalls } from "./calls.js";
import given from "./given.js";

console.log(JSON.stringify(await runCalls(sdk, given)));
`;

/** Deno's program. */
export const DENO = new URL("../../node_modules/.bin/deno", import.meta.url).pathname;

/** Loads a tool that only these tests have. */
export const requireTool = createRequire(join(toolsOf("runtimes"), "package.json"));

/** Fails with every call that failed, and when calls are missing. */
export function expectAllWell(outcomes: Outcome[]): void {
  expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(outcomes).toHaveLength(COUNT);
}
