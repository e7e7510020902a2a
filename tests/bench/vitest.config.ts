/** Benchmarks: `cargo xtask bench`. One at a time, since each wants the whole machine. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.bench.ts"],
    globalSetup: ["summary.ts"],
    fileParallelism: false,
    // A benchmark that hangs is a row that says so; the others go on.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
