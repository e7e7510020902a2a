// The package's declarations: one file for every entry, made of those beside the Rust sources. The documentation's site is made of it, too.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const SOURCES = ["types.d.ts", "code.d.ts", "server/types.d.ts", "server/groups.d.ts"];

/** Writes dist/index.d.ts; gives its path, and where in it each source begins. */
export function writeDeclarations() {
  // The reference is for consumers with a `lib` older than Symbol.asyncDispose.
  let text = '/// <reference lib="esnext.disposable" />\n';
  const sources = SOURCES.map((source) => {
    const firstLine = text.split("\n").length;
    text += `${readFileSync(new URL(`../src/${source}`, import.meta.url), "utf8")}\n`;
    return { source, firstLine };
  });
  const file = new URL("dist/index.d.ts", import.meta.url);
  mkdirSync(new URL(".", file), { recursive: true });
  writeFileSync(file, text);
  return { file: file.pathname, sources };
}
