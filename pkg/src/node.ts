// Node and Bun: fetch does not read file URLs in Node, so the file is read.
import { readFile } from "node:fs/promises";
import setDefaultSource from "./core.js";

setDefaultSource(async () => await readFile(new URL("./agent_sandbox_web_bg.wasm", import.meta.url)));

export * from "./core.js";
