import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    globalSetup: ["support/global-setup.ts", "support/package-setup.ts"],
    // Sandboxes, browsers and other vendors' SDKs on a machine of any speed: a test that hangs still ends.
    testTimeout: 150_000,
    hookTimeout: 180_000,
    // The tool's own second is not enough for what another process must do first.
    expect: { poll: { timeout: 60_000 } },
    // Each worker may hold a browser or a platform of its own.
    maxWorkers: 2,
  },
});
