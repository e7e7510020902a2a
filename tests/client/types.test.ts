// The package's declarations, compiled as consumers compile them.
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const sample = fileURLToPath(new URL("types/overloads.ts", import.meta.url));

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

test.each<[string, ts.CompilerOptions]>([
  [
    "a bundler's project with lib es2022 and dom",
    { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"] },
  ],
  [
    "a Node project with lib es2022 and dom",
    {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    },
  ],
  [
    "a worker's project",
    {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ["lib.es2022.d.ts", "lib.webworker.d.ts", "lib.webworker.asynciterable.d.ts"],
    },
  ],
])("they compile in %s", (_, options) => {
  const program = ts.createProgram([sample], { ...strict, ...options });
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1}: ` : "";
    return line + ts.flattenDiagnosticMessageText(messageText, "\n");
  });
  expect(problems).toEqual([]);
});
