// Minifies JavaScript modules: node minify.mjs FROM TO [FROM TO …].
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { minifySync } from "vite";

const files = process.argv.slice(2);
for (let i = 0; i < files.length; i += 2) {
  const [from, to] = [files[i], files[i + 1]];
  const { code, errors } = minifySync(from, readFileSync(from, "utf8"), { module: true });
  if (errors.length > 0) throw new Error(`${from}: ${errors.map((error) => error.message).join("; ")}`);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, code);
}
