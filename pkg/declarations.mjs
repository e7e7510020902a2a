// The package's declarations: one file for every entry, made of those beside the Rust sources. The documentation's site is made of it, too.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const ROOMS = ["connection", "creation", "sandbox", "network", "commands", "files", "terminal", "errors", "loading", "code"];
const SOURCES = [...ROOMS.map((room) => `types/${room}.d.ts`), "server/types.d.ts", "server/groups.d.ts"];

/** Writes dist/index.d.ts and what it refers to; gives its path, and where in it each source begins. */
export function writeDeclarations() {
  // The references are for consumers with a `lib` older than Symbol.asyncDispose, or without the web's types.
  let text = '/// <reference lib="esnext.disposable" />\n/// <reference path="./globals.d.ts" />\n';
  const sources = SOURCES.map((source) => {
    const firstLine = text.split("\n").length;
    text += `${readFileSync(new URL(`../src/${source}`, import.meta.url), "utf8")}\n`;
    return { source, firstLine };
  });
  const file = new URL("dist/index.d.ts", import.meta.url);
  mkdirSync(new URL(".", file), { recursive: true });
  writeFileSync(file, text);
  copyFileSync(new URL("../src/globals.d.ts", import.meta.url), new URL("globals.d.ts", file));
  return { file: file.pathname, sources };
}
