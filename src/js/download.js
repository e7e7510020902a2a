// Downloading: to a blob, a stream, a file of the person's, or where a browser saves files to.
import { makeError } from "./errors.js";
import { callback, collect, inner, invalid, telling, unable } from "./file-data.js";
import { Guard } from "./guard.js";
import { kind, madeAs } from "./shape.js";

/** Hands a file to the browser's downloads. */
function save(blob, path) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = path.slice(path.lastIndexOf("/") + 1);
  link.click();
  // When the browser has taken it nobody says; a minute is long enough to begin.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The stream, if it is one that can be written to. */
function checkSink(target) {
  // A file handle's own stream extends the plain one.
  if (!/^(FileSystemWritableFile|Writable)Stream$/.test(madeAs(target))) {
    throw invalid(`target must be a FileSystemFileHandle, a WritableStream, "save" or absent, not ${kind(target)}.`);
  }
  if (target.locked) throw invalid("target is a stream that somebody else writes to.");
  return target;
}

/** The size of what a path leads to; a link's own size is that of its name. */
async function sizeOf(files, path, options) {
  const info = await files.getInfo(path, options);
  return info.symlinkTarget === undefined || info.symlinkTarget === info.path
    ? info.size
    : sizeOf(files, info.symlinkTarget, options);
}

export async function download(files, path, target, options) {
  files.__check(path, options);
  const onProgress = callback(options, "onProgress");
  const isHandle = typeof target?.createWritable === "function";
  if (!(target === undefined || target === "save" || isHandle)) checkSink(target);
  if (target === "save" && !globalThis.document) {
    throw unable(
      "Only a page has downloads to save a file to.",
      'Give a WritableStream as target, or use files.readBytes or files.read with { format: "stream" }.',
    );
  }
  return telling(inner(options), onProgress, undefined, async (limits, report) => {
    const total = onProgress && (await sizeOf(files, path, limits));
    report(0, total);
    let body = await files.read(path, { ...limits, format: "stream" });
    let loaded = 0;
    // A packed answer has no length: one of a file that became shorter meanwhile may end like any other.
    const complete = async () => {
      if (!(loaded < total)) return;
      const now = await sizeOf(files, path, limits);
      // Some of the kernel's files hold less than their size says, and a file may be replaced before it is opened.
      if (now !== total && now !== loaded) {
        throw makeError(
          "FileOperationError",
          `The file became shorter while it was downloaded: ${loaded} of ${total} bytes came.`,
          "Download it again.",
          {},
        );
      }
    };
    if (onProgress) {
      const transform = (chunk, controller) => {
        loaded += chunk.length;
        report(loaded, total);
        controller.enqueue(chunk);
      };
      body = body.pipeThrough(new TransformStream({ transform }));
    }
    if (target === undefined || target === "save") {
      const blob = await collect(body);
      await complete();
      return target ? save(blob, path) : blob;
    }
    let writable = target;
    if (isHandle) {
      try {
        writable = checkSink(await target.createWritable());
      } catch (error) {
        await body.cancel(error);
        throw error;
      }
    }
    const end = new Guard();
    if (limits.signal) end.follow(limits.signal);
    try {
      // A write that is under way would be waited for before the signal counts.
      await end.race(body.pipeTo(writable, { signal: limits.signal }));
    } finally {
      end.release();
    }
    await complete();
  });
}
