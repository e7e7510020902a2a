import type { Sandbox } from "agent-sandbox-web";
import { ExplainedError } from "../describe-error.js";
import { baseName, parentOf, plainName } from "../names.js";
import { save } from "../save.js";
import type { Work } from "./transfers.js";

// Pieces are handed to the browser, which may keep them on disk, before they fill the page's memory.
const PIECE_BYTES = 8 * 1024 * 1024;

/** The work of handing a file to the browser's downloads. */
export function downloadingFile({ files }: Sandbox, path: string): Work {
  return async (signal, tell) => {
    const data = await files.download(path, undefined, { signal, onProgress: ({ loaded, total }) => tell({ loaded, total }) });
    save(data, baseName(path));
  };
}

/**
 * The work of handing a folder to the browser's downloads, as a .tar.gz that `tar` packs in the sandbox: modes and links stay what they are.
 * @param partly called when something could not be read; the rest is in the archive
 */
export function downloadingFolder({ commands }: Sandbox, path: string, partly: (why: string) => void): Work {
  return async (signal, tell) => {
    const name = path === "/" ? "root" : baseName(path);
    const packed = new Pieces();
    const decoder = new TextDecoder();
    let complaint = "";
    let exitCode = 0;
    // No shell reads the name, and "./" keeps it from being an option.
    const tar = ["tar", "-czf", "-", "-C", parentOf(path), "--", path === "/" ? "." : `./${baseName(path)}`] as const;
    for await (const chunk of commands.stream(tar, { output: "bytes", timeoutMs: 0, signal })) {
      if (chunk.type === "exit") exitCode = chunk.exitCode;
      else if (chunk.type === "stderr") complaint = (complaint + decoder.decode(chunk.data, { stream: true })).slice(0, 2000);
      else {
        packed.add(chunk.data);
        tell({ loaded: packed.size });
      }
    }
    signal.throwIfAborted();
    const why = plainName(complaint.split("\n")[0] ?? "");
    if (exitCode !== 0 && (exitCode > 2 || packed.size === 0)) {
      throw new ExplainedError(
        "The folder could not be packed",
        `tar ended with exit code ${exitCode}. ${why}`.trim(),
        "Look in a terminal whether the sandbox has tar and may read the folder, or download its files one by one.",
      );
    }
    save(packed.blob(), `${name}.tar.gz`);
    if (exitCode !== 0) partly(`Not everything of ${plainName(name)} is in its archive. ${why}`);
  };
}

/** Bytes that are collected without holding them all in the page's memory. */
class Pieces {
  size = 0;
  private readonly blobs: Blob[] = [];
  private loose: Uint8Array<ArrayBuffer>[] = [];
  private looseBytes = 0;

  add(data: Uint8Array): void {
    this.loose.push(data as Uint8Array<ArrayBuffer>);
    this.size += data.length;
    this.looseBytes += data.length;
    if (this.looseBytes >= PIECE_BYTES) this.gather();
  }

  blob(): Blob {
    this.gather();
    return new Blob(this.blobs, { type: "application/gzip" });
  }

  private gather(): void {
    this.blobs.push(new Blob(this.loose));
    this.loose = [];
    this.looseBytes = 0;
  }
}
