// Pages, workers and bundlers. The `new URL` is written so that bundlers find the file and put it beside their output.
import setDefaultSource from "./core.js";

setDefaultSource(() => new URL("./agent_sandbox_web_bg.wasm", import.meta.url));

export * from "./core.js";
