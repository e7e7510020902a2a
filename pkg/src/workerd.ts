// Cloudflare Workers: code may not be compiled at run time, so the module is imported.
import module from "./agent_sandbox_web_bg.wasm";
import setDefaultSource from "./core.js";

setDefaultSource(() => module);

export * from "./core.js";
