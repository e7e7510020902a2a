/** What a page downloads to use the client. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { test } from "vitest";
import { holdBudget, printTable } from "./report.ts";

/** Bytes of .wasm and glue, brotli 11. The client of comparison, e2b with @e2b/code-interpreter, costs 83.6 KB. */
const BUDGET = 75_000;
const COMPARED = 83_600;

const dist = new URL("../../pkg/dist/", import.meta.url).pathname;

test("the whole client stays within its budget", () => {
  const parts = ["agent_sandbox_web_bg.wasm", "agent_sandbox_web.js"];
  const sizes = parts.map((name) => {
    const bytes = readFileSync(join(dist, name));
    const brotli = brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    });
    return { name, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotli.length };
  });
  const total = { name: "together", raw: 0, gzip: 0, brotli: 0 };
  for (const size of sizes) {
    total.raw += size.raw;
    total.gzip += size.gzip;
    total.brotli += size.brotli;
  }
  printTable(
    `Size in bytes; at most ${BUDGET} of brotli`,
    ["part", "raw", "gzip -9", "brotli 11"],
    [...sizes, total].map((size) => [size.name, String(size.raw), String(size.gzip), String(size.brotli)]),
  );
  const ratio = `${(total.brotli / COMPARED).toFixed(2)}x the bytes`;
  const theirs = `${COMPARED} bytes: e2b and @e2b/code-interpreter`;
  const bound = `at most ${BUDGET} bytes`;
  holdBudget(
    { what: "whole client, .wasm and glue, brotli 11", ours: `${total.brotli} bytes`, theirs, ratio, bound },
    total.brotli <= BUDGET,
  );
});
