// The declarations of the packed package, compiled as consumers compile them.
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { toolsOf } from "../support/package-project.ts";
import { sampleProject } from "./types/project.ts";

/** Types that only these tests have. */
const typesOf = (name: string) => join(toolsOf("runtimes"), "node_modules", name);

const NODE_TYPES = new URL("../../node_modules/@types/node", import.meta.url).pathname;

const bundler = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
const node = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };

const strict: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  strict: true,
  noEmit: true,
  // The package's own declarations are checked too, as in a consumer that does not skip libraries.
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: [],
};

/** Nothing but the language's own types. */
const BARE = ["lib.es2022.d.ts"];

test.each<[string, ts.CompilerOptions]>([
  ["a bundler's project with lib es2022 and dom", { ...bundler, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"] }],
  ["a Node project with lib es2022 and dom", { ...node, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"] }],
  ["a worker's project", { ...bundler, lib: ["lib.es2022.d.ts", "lib.webworker.d.ts", "lib.webworker.asynciterable.d.ts"] }],
  ["a bundler's project with nothing but lib es2022", { ...bundler, lib: BARE }],
  ["a Node project with nothing but lib es2022", { ...node, lib: BARE }],
  ["a Node project with Node's types", { ...node, lib: ["lib.es2022.d.ts"], types: [NODE_TYPES] }],
  ["a Cloudflare Worker's project", { ...bundler, lib: ["lib.es2024.d.ts"], types: [typesOf("@cloudflare/workers-types")] }],
  ["a Bun project", { ...bundler, lib: ["lib.esnext.d.ts"], types: [typesOf("@types/bun")] }],
])("they compile in %s", async (_, options) => {
  const folder = await sampleProject();
  const samples = options.lib === BARE ? ["overloads.ts"] : ["overloads.ts", "web.ts"];
  const program = ts.createProgram(
    samples.map((name) => join(folder, name)),
    { ...strict, ...options },
  );
  const problems = ts.getPreEmitDiagnostics(program).flatMap(({ file, start, messageText }) => {
    // What Node's and Bun's types find wrong with each other is not ours.
    if (file && !file.fileName.startsWith(folder)) return [];
    const line = file && start !== undefined ? `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1}: ` : "";
    return [line + ts.flattenDiagnosticMessageText(messageText, "\n")];
  });
  expect(problems).toEqual([]);
});
