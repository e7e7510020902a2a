/** Files and folders of the person's own machine, as they come by a drop or a file dialog. */

import { ExplainedError } from "../describe-error.js";

/** A file of the person's. */
export interface LocalFile {
  readonly kind: "file";
  readonly name: string;
  readonly file: File;
}

/** A folder of the person's with everything in it. Paths are relative to it. */
export interface LocalFolder {
  readonly kind: "folder";
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly file: File }[];
  /** The folders in it, each after the one that holds it. */
  readonly folders: readonly string[];
}

export type LocalEntry = LocalFile | LocalFolder;

/** A folder with more than this is better packed first. */
const MOST_FILES = 20_000;

/** What was dropped. Call it while the drop is being handled: later the browser has forgotten it. */
export function droppedEntries(data: DataTransfer): Promise<LocalEntry[]> {
  const items = [...data.items].filter((item) => item.kind === "file");
  const found = items.map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  return Promise.all(
    found.map(({ entry, file }) => {
      if (entry?.isDirectory) return walk(entry as FileSystemDirectoryEntry);
      return file ? [{ kind: "file", name: file.name, file } as const] : [];
    }),
  ).then((entries) => entries.flat());
}

/** What was chosen in a file dialog, of files or of folders. */
export function chosenEntries(files: Iterable<File>): LocalEntry[] {
  const folders = new Map<string, { path: string; file: File }[]>();
  const entries: LocalEntry[] = [];
  for (const file of files) {
    const path = file.webkitRelativePath;
    const slash = path.indexOf("/");
    if (slash === -1) {
      entries.push({ kind: "file", name: file.name, file });
      continue;
    }
    const name = path.slice(0, slash);
    const inside = folders.get(name) ?? [];
    folders.set(name, inside);
    inside.push({ path: path.slice(slash + 1), file });
  }
  for (const [name, inside] of folders) {
    if (inside.length > MOST_FILES) throw tooMany(name);
    entries.push({ kind: "folder", name, files: inside, folders: foldersOf(inside) });
  }
  return entries;
}

/** How many bytes it holds. */
export function sizeOf(entry: LocalEntry): number {
  return entry.kind === "file" ? entry.file.size : entry.files.reduce((sum, { file }) => sum + file.size, 0);
}

function foldersOf(files: readonly { readonly path: string }[]): string[] {
  const folders = new Set<string>();
  for (const { path } of files) {
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) folders.add(path.slice(0, end));
  }
  return [...folders].sort((a, b) => a.length - b.length);
}

async function walk(top: FileSystemDirectoryEntry): Promise<LocalFolder> {
  const files: { path: string; file: File }[] = [];
  const folders: string[] = [];
  const waiting: [path: string, folder: FileSystemDirectoryEntry][] = [["", top]];
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [above, folder] = next;
    for (const entry of await entriesOf(folder)) {
      const path = above === "" ? entry.name : `${above}/${entry.name}`;
      if (entry.isDirectory) {
        folders.push(path);
        waiting.push([path, entry as FileSystemDirectoryEntry]);
      } else files.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
      if (files.length + folders.length > MOST_FILES) throw tooMany(top.name);
    }
  }
  return { kind: "folder", name: top.name, files, folders };
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  // It gives at most a hundred at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

function tooMany(name: string): ExplainedError {
  return new ExplainedError(
    "This folder holds too much",
    `${name} holds more than ${MOST_FILES.toLocaleString("en")} files.`,
    "Pack it into one archive, upload that, and unpack it in a terminal.",
  );
}
