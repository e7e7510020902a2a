import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { onlyWoff2 } from "./vite.config.js";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const { dependencies } = JSON.parse(readFileSync(here("package.json"), "utf8")) as { dependencies: Record<string, string> };
const packages = Object.keys(dependencies);

/** The colours, for pages that set none of their own. */
const theme: Plugin = {
  name: "theme",
  generateBundle() {
    this.emitFile({ type: "asset", fileName: "theme.css", source: readFileSync(here("elements/theme.css")) });
    // TypeScript asks for types also where an import is for its effect alone.
    this.emitFile({ type: "asset", fileName: "theme.css.d.ts", source: "export {};\n" });
  },
};

/** The elements as part of the npm package: one file for each module, so that a page loads what it uses, and no other package inside. */
export default defineConfig({
  plugins: [onlyWoff2, theme],
  publicDir: false,
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    outDir: here("../pkg/dist/elements"),
    emptyOutDir: true,
    // Whoever uses them minifies their own page.
    minify: false,
    lib: { entry: here("elements/index.ts"), formats: ["es"], fileName: "index" },
    rollupOptions: {
      // Style sheets of packages come as text, with KaTeX's fonts inside: no bundler finds them by an address in a text.
      external: (id) => !id.includes("?") && packages.some((name) => id === name || id.startsWith(`${name}/`)),
      output: {
        preserveModules: true,
        preserveModulesRoot: here("elements"),
        // npm leaves out every folder called node_modules.
        entryFileNames: ({ name }) => `${name.replace(/^.*node_modules\//, "styles/")}.js`,
      },
    },
  },
});
