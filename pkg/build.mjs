// Makes the package's entries and types in dist, beside the glue and the .wasm, which `cargo xtask build wasm` must have put there.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { writeDeclarations } from "./declarations.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

for (const file of ["agent_sandbox_web.js", "agent_sandbox_web_bg.wasm"]) {
  if (!existsSync(here(`dist/${file}`))) throw new Error(`pkg/dist/${file} is missing: run "cargo xtask build wasm" first`);
}

const { options } = ts.getParsedCommandLineOfConfigFile(
  here("tsconfig.json"),
  {},
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail },
);
mkdirSync(here("dist/relay"), { recursive: true });
const sources = ["", "relay/"].flatMap((folder) =>
  readdirSync(here(`src/${folder}`), { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".d.ts"))
    .map((entry) => folder + entry.name),
);
for (const name of sources) {
  const [from, to] = [here(`src/${name}`), here(`dist/${name.replace(/\.ts$/, ".js")}`)];
  if (!name.endsWith(".ts")) {
    copyFileSync(from, to);
    continue;
  }
  const text = readFileSync(from, "utf8");
  const { outputText, diagnostics } = ts.transpileModule(text, {
    // What bundlers are told stands in comments.
    compilerOptions: { ...options, removeComments: !text.includes("Ignore: true") },
    fileName: from,
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0) fail(diagnostics[0]);
  writeFileSync(to, outputText);
}

writeDeclarations();
copyFileSync(here("src/relay/types.d.ts"), here("dist/relay/index.d.ts"));
writeFileSync(
  here("dist/agent_sandbox_web_bg.wasm.d.ts"),
  '/// <reference path="./globals.d.ts" />\ndeclare const module: WebAssembly.Module;\nexport default module;\n',
);
copyFileSync(here("../LICENSE"), here("LICENSE"));

function fail(diagnostic) {
  throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
}
