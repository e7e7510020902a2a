import { defineConfig } from "vite";

// `npm run dev` serves the page itself and hands everything else to a platform, which then sees a call of its own console.
const platform = process.env.AGENT_SANDBOX_PLATFORM ?? "http://localhost:7300";
const toPlatform = { target: platform, changeOrigin: true, headers: { origin: platform } };

export default defineConfig({
  // The platform decides under which path it serves the console.
  base: "./",
  server: { proxy: { "/console": toPlatform, "/sandboxes": toPlatform, "/v2": toPlatform } },
  build: {
    target: "es2022",
    // The first with light-dark(): its replacement for older ones would not follow colours that are switched by hand.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // A data: URL for a small asset would need more from the Content-Security-Policy than the page may have.
    assetsInlineLimit: 0,
  },
});
