// Deno: a module imported by source needs no permission to read files. (TypeScript has no such import, hence JavaScript.)
import source module from "./agent_sandbox_web_bg.wasm";
import setDefaultSource from "./core.js";

setDefaultSource(() => module);

export * from "./core.js";
