/** Long runs that look for growth: `cargo xtask soak`. One at a time, since each watches the whole machine. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.soak.ts"],
    fileParallelism: false,
    testTimeout: 24 * 3_600_000,
    hookTimeout: 300_000,
  },
});
