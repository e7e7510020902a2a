// Rendering on a server imports the package and may never use it: that must load, compile and read nothing.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const dist = new URL("../../pkg/dist/", import.meta.url).href;

/**
 * Bundlers and edge runtimes make a module of a `.wasm` file that is imported, once, before any code runs. Here it is but a name, which
 * `init` takes for a URL. */
const LOADER = `export const resolve = (name, context, next) =>
  /\\.wasm(\\?module)?$/.test(name) ? { url: "data:text/javascript,export default 'module'", shortCircuit: true } : next(name, context);`;

/** Imports an entry, and tells what of the package touched WebAssembly, the network or its file: by the import, then by a first call. */
const PROGRAM = `
  import fs from "node:fs";
  import { register, syncBuiltinESMExports } from "node:module";
  register("data:text/javascript," + encodeURIComponent(${JSON.stringify(LOADER)}));
  const seen = [];
  const watch = (of, name, counts) => {
    const real = of[name];
    of[name] = new Proxy(real, {
      apply(_, self, args) { if (counts(args)) seen.push(name); return Reflect.apply(real, self, args); },
      construct(_, args) { if (counts(args)) seen.push(name); return Reflect.construct(real, args); },
    });
  };
  // Node makes modules of its own.
  const isOurs = () => new Error().stack.includes("/pkg/dist/");
  for (const name of ["compile", "instantiate", "compileStreaming", "instantiateStreaming", "validate", "Module", "Instance"]) {
    watch(WebAssembly, name, isOurs);
  }
  watch(globalThis, "fetch", () => true);
  const isModule = ([path]) => String(path).includes(".wasm");
  for (const name of ["readFile", "readFileSync", "open", "openSync", "createReadStream"]) watch(fs, name, isModule);
  for (const name of ["readFile", "open"]) watch(fs.promises, name, isModule);
  syncBuiltinESMExports();
  const sdk = await import(process.argv[1]);
  const imported = [...seen];
  await sdk.Sandbox?.attach({ sandboxId: "i1", sandboxUrl: "https://sandbox.test" }).catch(() => {});
  console.log(JSON.stringify({ imported, used: seen }));`;

test.each([
  ["node", ["readFile", "instantiate"]],
  ["workerd", ["fetch"]],
  ["edge-light", ["fetch"]],
  ["browser", ["fetch", "instantiate"]],
  ["manual", []],
  ["relay/index", []],
  ["relay/node", []],
])("importing the entry %s loads nothing, and the first call does", async (entry, uses) => {
  const args = ["--input-type=module", "--eval", PROGRAM, `${dist}${entry}.js`];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { imported, used } = JSON.parse(stdout) as { imported: string[]; used: string[] };
  expect(imported).toEqual([]);
  expect(used.filter((name) => uses.includes(name)).length > 0, used.join()).toBe(uses.length > 0);
});
