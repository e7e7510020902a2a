import { defineConfig } from "vite";

export default defineConfig({
  // The platform decides under which path it serves the console.
  base: "./",
  build: {
    target: "es2022",
    // A data: URL for a small asset would need more from the Content-Security-Policy than the page may have.
    assetsInlineLimit: 0,
  },
});
