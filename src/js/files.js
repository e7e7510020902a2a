// Members of the class of files that are made here and not in WebAssembly.
import { download } from "./download.js";
import { upload, writeAll, writeOne } from "./upload.js";

/** Gives the class what is made here. */
export function bindFiles({ prototype }) {
  const methods = {
    async write(path, data, options) {
      return Array.isArray(path) ? writeAll(this, path, data) : writeOne(this, path, data, options);
    },
    async upload(source, path, options) {
      return upload(this, source, path, options);
    },
    async download(path, target, options) {
      return download(this, path, target, options);
    },
  };
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  }
}
