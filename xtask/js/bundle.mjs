// Makes one small module of several: node bundle.mjs ENTRY OUT.
import { rolldown } from "rolldown";

const [input, file] = process.argv.slice(2);

/** What users would meet of the generated classes: freeing is left to the collector, an object of none of them gets a typed
 * error, and pointers into the module are no properties that anybody lists. */
const settled = {
  name: "settle-generated-classes",
  transform(code, id) {
    if (!id.endsWith("/agent_sandbox_web.js")) return;
    return code
      .replace(/^if \(Symbol\.dispose\) .*\n/gm, "")
      .replace(/^ {4}free\(\) \{\n.*\n.*\n {4}\}\n/gm, "")
      .replace("throw new Error(getStringFromWasm0(arg0, arg1))", "throw refused(getStringFromWasm0(arg0, arg1))")
      .replace(/^( +)(obj|this)\.__wbg_ptr = (ptr|ret(?:\[0\])?);$/gm, '$1hidden($2, "__wbg_ptr", $3);')
      .replace(/^/, 'import { hidden, refused } from "./snippets/src/js/errors.js";\n');
  },
};

// What imports itself for its effects is written by us, and has none that anybody waits for.
const bundle = await rolldown({
  input,
  platform: "neutral",
  plugins: [settled],
  treeshake: { moduleSideEffects: true },
  onLog(level, log) {
    if (level === "warn") throw new Error(log.message);
  },
});
// Errors show the names of their classes.
const names = { class: true, function: false };
const minify = { mangle: { keepNames: names }, compress: { keepNames: names } };
await bundle.write({ file, format: "esm", minify, comments: false });
await bundle.close();
