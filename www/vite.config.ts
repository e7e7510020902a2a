import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
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

/** The least size in bytes for which a compressed form saves more than its own header costs. */
const WORTH_COMPRESSING = 1024;

/** Lays compressed forms beside the files, as the platform serves them: fonts are compressed already. */
const compressed: Plugin = {
  name: "compressed",
  async writeBundle({ dir = "" }, bundle) {
    const forms = [
      ["br", promisify(brotliCompress)],
      ["gz", promisify(gzip)],
    ] as const;
    const compressFile = async (file: string) => {
      const content = await readFile(file);
      if (content.length < WORTH_COMPRESSING) return;
      await Promise.all(forms.map(async ([ending, compress]) => writeFile(`${file}.${ending}`, await compress(content))));
    };
    const names = Object.keys(bundle).filter((name) => /\.(?:js|css|wasm)$/.test(name));
    await Promise.all(names.map((name) => compressFile(join(dir, name))));
  },
};

export default defineConfig({
  plugins: [onlyWoff2, compressed],
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
