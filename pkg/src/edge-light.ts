// Vercel's and Next's edge runtime: as in Workers, but only `?module` gives a module there.
import module from "./agent_sandbox_web_bg.wasm?module";
import setDefaultSource from "./core.js";

setDefaultSource(() => module);

export * from "./core.js";
