// Members of the class of files that are made here and not in WebAssembly.
import { download } from "./download.js";
import { makeError } from "./errors.js";
import { upload, writeAll, writeOne } from "./upload.js";

/** Gives the class what is made here. */
export function bindFiles({ prototype }) {
  const methods = {
    async remove(path, options) {
      // Removing what is not there succeeds, and by this name the entry that was listed is not there.
      if (typeof path === "string" && path.includes("\ufffd") && !(await this.exists(path, options))) {
        throw makeError(
          "FileNotFoundError",
          `There is no ${path}. A name whose bytes are not UTF-8 is listed with U+FFFD, and cannot be asked for.`,
          "Name it by a pattern in a command, as in rm begin*.",
          {},
        );
      }
      return this.__remove(path, options);
    },
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
