/** The packed package in every runtime and with every bundler, and the panels of the console: `cargo xtask matrix`. */
import { defineConfig } from "vitest/config";
import tests from "./vitest.config.ts";

export default defineConfig({
  test: { ...tests.test, include: ["{runtimes,bundlers}/*.{test,matrix}.ts", "console/*.matrix.ts"], testTimeout: 600_000 },
});
