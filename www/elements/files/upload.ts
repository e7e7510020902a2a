import type { Files } from "agent-sandbox-web";
import { joinPath } from "../names.js";
import type { LocalEntry, LocalFolder } from "./local-entries.js";
import type { Work } from "./transfers.js";

/** The work of putting a file or a folder at `path`. A folder that is tried again goes on where it failed. */
export function uploading(files: Files, path: string, entry: LocalEntry): Work {
  return entry.kind === "folder"
    ? uploadingFolder(files, path, entry)
    : (signal, tell) => put(files, path, entry.file, signal, (loaded) => tell({ loaded }));
}

function uploadingFolder(files: Files, path: string, folder: LocalFolder): Work {
  let at = 0;
  let before = 0;
  return async (signal, tell) => {
    const told = () => tell({ loaded: before, detail: `${at} of ${folder.files.length} files` });
    told();
    await files.makeDir(path, { signal });
    for (const inside of folder.folders) await files.makeDir(joinPath(path, inside), { signal });
    for (; at < folder.files.length; at += 1) {
      const next = folder.files[at];
      if (!next) return;
      await put(files, joinPath(path, next.path), next.file, signal, (loaded) => tell({ loaded: before + loaded }));
      before += next.file.size;
      told();
    }
  };
}

/** A cancelled upload leaves what was there before: nobody wants half a file. */
async function put(files: Files, path: string, file: File, signal: AbortSignal, tell: (loaded: number) => void): Promise<void> {
  await files.upload(file, path, { atomic: true, signal, onProgress: ({ loaded }) => tell(loaded) });
}

/** A name beside those that are taken: `notes.txt` becomes `notes (1).txt`. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  for (let number = 1; ; number += 1) {
    const free = `${stem} (${number})${ending}`;
    if (!taken.has(free)) return free;
  }
}
