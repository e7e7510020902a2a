import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

// `npm run dev` serves the page itself and hands everything else to a platform, which then sees a call of its own console.
const platform = process.env.AGENT_SANDBOX_PLATFORM ?? "http://localhost:7300";
const toPlatform = { target: platform, changeOrigin: true, headers: { origin: platform } };

/** Every browser that can show the console reads WOFF2: the other forms of KaTeX's fonts are left out. */
export const onlyWoff2: Plugin = {
  name: "only-woff2",
  enforce: "pre",
  transform(code, id) {
    return /katex[^/]*\.css/.test(id) ? code.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("[^"]*"\)/g, "") : undefined;
  },
};

/** Lays a .br and a .gz beside each file that is no picture or font, which are small already: the platform sends them instead to whoever reads them. */
const precompressed: Plugin = {
  name: "precompressed",
  apply: "build",
  writeBundle({ dir = "dist" }) {
    for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
      if (!/\.(?:js|css|html|svg|wasm)$/.test(name)) continue;
      const path = join(dir, name);
      const content = readFileSync(path);
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
      writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
      writeFileSync(`${path}.gz`, gzipSync(content));
    }
  },
};

export default defineConfig({
  plugins: [onlyWoff2, precompressed],
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
