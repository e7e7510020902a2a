// Makes one small module of several: node bundle.mjs ENTRY OUT.
import { rolldown } from "rolldown";
import { settle } from "./settle.mjs";

const [input, file] = process.argv.slice(2);

// What imports itself for its effects is written by us, and has none that anybody waits for.
const bundle = await rolldown({
  input,
  platform: "neutral",
  plugins: [settle("agent_sandbox_web.js")],
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
