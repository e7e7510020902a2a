import type { Files } from "agent-sandbox-web";
import { joinPath } from "./names.js";

/** An upload that is under way or has failed. */
export interface Upload {
  readonly file: File;
  readonly path: string;
  error?: unknown;
}

// Each upload takes one of the six connections that a browser opens to a host, and listing must go on beside them.
const AT_ONCE = 2;

/** Uploads files a few at a time. `changed` is called whenever an upload begins, ends or fails. */
export class Uploads {
  private readonly waiting: Upload[] = [];
  private readonly all = new Set<Upload>();
  private active = 0;

  constructor(private readonly changed: (finished?: Upload) => void) {}

  /** Those that are not done. */
  get list(): readonly Upload[] {
    return [...this.all];
  }

  /** Puts files into a folder. */
  add(files: Files, folder: string, chosen: readonly File[]): void {
    for (const file of chosen) {
      const upload: Upload = { file, path: joinPath(folder, file.name) };
      this.all.add(upload);
      this.waiting.push(upload);
    }
    this.changed();
    this.next(files);
  }

  /** Tries an upload again that has failed. */
  retry(files: Files, upload: Upload): void {
    delete upload.error;
    this.waiting.push(upload);
    this.changed();
    this.next(files);
  }

  /** Forgets an upload that has failed. */
  dismiss(upload: Upload): void {
    this.all.delete(upload);
    this.changed();
  }

  private next(files: Files): void {
    while (this.active < AT_ONCE) {
      const upload = this.waiting.shift();
      if (!upload) return;
      this.active += 1;
      void this.send(files, upload);
    }
  }

  private async send(files: Files, upload: Upload): Promise<void> {
    try {
      await files.write(upload.path, upload.file);
      this.all.delete(upload);
      this.changed(upload);
    } catch (error) {
      upload.error = error;
      this.changed();
    } finally {
      this.active -= 1;
      this.next(files);
    }
  }
}

/** Hands a file of the sandbox to the browser's downloads. */
export async function download(files: Files, path: string, name: string): Promise<void> {
  save(await files.read(path, { format: "blob" }), name);
}

/** Hands data to the browser's downloads. */
export function save(data: Blob, name: string): void {
  const url = URL.createObjectURL(data);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has its own hold on the data once the click was handled.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** The files of a drop. `folders` counts what was left out: browsers give a folder as an empty file. */
export function droppedFiles(data: DataTransfer): { files: File[]; folders: number } {
  const files: File[] = [];
  let folders = 0;
  for (const item of data.items) {
    if (item.kind !== "file") continue;
    const file = item.getAsFile();
    if (item.webkitGetAsEntry()?.isDirectory) folders += 1;
    else if (file) files.push(file);
  }
  return { files, folders };
}
