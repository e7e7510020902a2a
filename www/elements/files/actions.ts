import type { EntryInfo, Files, Sandbox } from "agent-sandbox-web";
import { baseName, joinPath, nameProblem, parentOf, plainName, resolvePath } from "../names.js";
import { confirm, prompt } from "../sandbox-dialog.js";
import { downloadingFile, downloadingFolder } from "./download.js";
import { folderProblem } from "./folder-problem.js";
import { type LocalEntry, sizeOf } from "./local-entries.js";
import type { Transfers } from "./transfers.js";
import { checkReachable } from "./unreachable.js";
import { freeName, uploading } from "./upload.js";

/** Where actions on files are shown. */
export interface FilesView {
  readonly transfers: Transfers;
  /** Does something and shows what went wrong, with the offer to try it again. */
  attempt(doing: string, act: (sandbox: Sandbox) => Promise<void>): Promise<void>;
  /** Whether there is an entry at `path`, as far as has been read. */
  has(path: string): boolean;
  /** Shows what is in `folder` now, and selects `path`. */
  reveal(folder: string, path: string): Promise<void>;
  open(path: string): Promise<void>;
  moved(from: string, to: string): void;
  removed(path: string): void;
  /** Tells something that is worth reading and no error. */
  say(notice: string): void;
}

/** What a person does with files, each with the questions that belong to it. */
export class FileActions {
  constructor(private readonly view: FilesView) {}

  async make(kind: "file" | "folder", folder: string): Promise<void> {
    const name = await prompt({
      title: kind === "file" ? "New file" : "New folder",
      action: "Create",
      input: { label: `Name, in ${plainName(folder)}`, problem: (text) => nameProblem(text) ?? this.taken(folder, text) },
    });
    if (name === undefined) return;
    const path = joinPath(folder, name);
    await this.view.attempt(kind === "file" ? "Making the file" : "Making the folder", async ({ files }) => {
      if (kind === "folder") await files.makeDir(path);
      // What the tree has not read may be there all the same, and writing would empty it.
      else if (!(await isThere(files, path))) await files.write(path, "");
      await this.view.reveal(folder, path);
      if (kind === "file") await this.view.open(path);
    });
  }

  async rename(entry: EntryInfo): Promise<void> {
    const folder = parentOf(entry.path);
    await this.view.attempt("Renaming", async (sandbox) => {
      await checkReachable(sandbox.files, entry.path);
      const name = await prompt({
        title: `Rename ${plainName(entry.name)}`,
        action: "Rename",
        input: {
          label: "New name",
          value: entry.name,
          selectStem: entry.type !== "directory",
          problem: (text) => nameProblem(text) ?? (text === entry.name ? undefined : this.taken(folder, text)),
        },
      });
      if (name !== undefined && name !== entry.name) await this.put(sandbox, entry.path, joinPath(folder, name));
    });
  }

  /** Copies an entry beside itself, with all that is in it. */
  async duplicate({ path, name }: EntryInfo): Promise<void> {
    const folder = parentOf(path);
    await this.view.attempt("Duplicating", async ({ files, commands }) => {
      await checkReachable(files, path);
      const taken = new Set((await files.list(folder)).map((entry) => entry.name));
      const copy = joinPath(folder, freeName(name, taken));
      // No shell reads the names; modes, times and links stay what they are.
      await commands.run(["cp", "-a", "--", path, copy], { check: true, timeoutMs: 0 });
      await this.view.reveal(folder, copy);
    });
  }

  async copyPath({ path }: EntryInfo): Promise<void> {
    await navigator.clipboard.writeText(path);
    this.view.say("The path is copied.");
  }

  /** Asks where to move an entry to, and moves it. */
  async moveByPath(entry: EntryInfo): Promise<void> {
    const from = parentOf(entry.path);
    await this.view.attempt("Moving", async (sandbox) => {
      await checkReachable(sandbox.files, entry.path);
      const folder = await prompt({
        title: `Move ${plainName(entry.name)}`,
        text: "A path without a slash at its beginning goes on from the folder it is in.",
        action: "Move",
        input: {
          label: "Folder to move it into",
          value: from,
          problem: (text) => (text === "" ? "Name a folder." : inItself(entry.path, resolvePath(from, text))),
          settle: (text) => folderProblem(sandbox.files, resolvePath(from, text)),
        },
      });
      if (folder !== undefined) await this.move(sandbox, entry.path, resolvePath(from, folder));
    });
  }

  /** Moves an entry that was dragged, after asking: a hand slips. */
  async moveByHand(path: string, folder: string): Promise<void> {
    if (parentOf(path) === folder || inItself(path, folder) !== undefined) return;
    const agreed = await confirm({
      title: `Move ${plainName(baseName(path))}?`,
      text: "It goes into this folder:",
      detail: plainName(folder),
      action: "Move",
    });
    if (agreed) await this.view.attempt("Moving", (sandbox) => this.move(sandbox, path, folder));
  }

  async delete(entry: EntryInfo): Promise<void> {
    const folder = entry.type === "directory";
    await this.view.attempt("Deleting", async ({ files }) => {
      // Removing what is not there is no error, and would look as if it had been done.
      await checkReachable(files, entry.path);
      const agreed = await confirm({
        title: `Delete ${folder ? "the folder" : "the file"} ${plainName(entry.name)}?`,
        text: folder ? "Everything in it is deleted too. This cannot be undone." : "This cannot be undone.",
        detail: plainName(entry.path),
        action: "Delete",
        danger: true,
      });
      if (!agreed) return;
      await files.remove(entry.path);
      this.view.removed(entry.path);
      await this.view.reveal(parentOf(entry.path), parentOf(entry.path));
    });
  }

  async download(path: string, folder: boolean): Promise<void> {
    await this.view.attempt("Downloading", async (sandbox) => {
      await checkReachable(sandbox.files, path);
      const work = folder ? downloadingFolder(sandbox, path, (why) => this.view.say(why)) : downloadingFile(sandbox, path);
      this.view.transfers.add(`Downloading ${plainName(baseName(path))}`, undefined, work);
    });
  }

  /** Uploads into a folder, after asking what becomes of what is there. */
  async upload(folder: string, entries: () => LocalEntry[] | Promise<LocalEntry[]>): Promise<void> {
    await this.view.attempt("Uploading", async (sandbox) => {
      const chosen = await entries();
      const named = await this.settle(folder, chosen, await sandbox.files.list(folder));
      let left = named.length;
      for (const { name, entry } of named) {
        const path = joinPath(folder, name);
        const work = uploading(sandbox.files, path, entry);
        this.view.transfers.add(`Uploading ${plainName(name)}`, sizeOf(entry), async (signal, tell) => {
          await work(signal, tell);
          left -= 1;
          if (left === 0) await this.view.reveal(folder, path);
        });
      }
    });
  }

  /** Under which names entries are uploaded. None when the person does not want to. */
  private async settle(
    folder: string,
    entries: readonly LocalEntry[],
    there: readonly EntryInfo[],
  ): Promise<readonly { name: string; entry: LocalEntry }[]> {
    const taken = new Set(there.map(({ name }) => name));
    const folders = new Set(there.filter(({ type }) => type === "directory").map(({ name }) => name));
    const named = entries.map((entry) => ({ name: entry.name, entry }));
    const twice = named.filter(({ name }) => taken.has(name));
    if (twice.length === 0) return named;
    // A folder takes no file's place, and no file a folder's: that would be more than was asked.
    const differs = ({ name, entry }: (typeof named)[number]) => taken.has(name) && folders.has(name) !== (entry.kind === "folder");
    const notes = [
      ...(twice.some((one) => one.entry.kind === "folder" && !differs(one))
        ? ["Replacing a folder puts its files over those of the same name; the others stay."]
        : []),
      ...(twice.some(differs) ? ["What is a folder on one side and a file on the other is kept beside it."] : []),
    ];
    const answer = await prompt({
      title: twice.length === 1 ? `Replace ${plainName(twice[0]?.name ?? "")}?` : `Replace ${twice.length} of these?`,
      text: `${plainName(folder)} holds already:${notes.length > 0 ? ` (${notes.join(" ")})` : ""}`,
      detail: twice.map(({ name }) => plainName(name)).join(", "),
      action: "Replace",
      danger: true,
      others: [
        { value: "both", label: "Keep both" },
        ...(twice.length < named.length ? [{ value: "skip", label: "Only the others" }] : []),
      ],
    });
    if (answer === undefined) return [];
    if (answer === "skip") return named.filter(({ name }) => !taken.has(name));
    const names = new Set([...taken, ...named.map(({ name }) => name)]);
    return named.map((one) => {
      const { name, entry } = one;
      if (answer === "both" ? !taken.has(name) : !differs(one)) return one;
      const free = freeName(name, names);
      names.add(free);
      return { name: free, entry };
    });
  }

  private async move(sandbox: Sandbox, path: string, folder: string): Promise<void> {
    const to = joinPath(folder, baseName(path));
    if (to === path) return;
    const agreed =
      !(await isThere(sandbox.files, to)) ||
      (await confirm({
        title: `Replace ${plainName(baseName(path))}?`,
        text: "Something of this name is there already. It goes away.",
        detail: plainName(to),
        action: "Replace",
        danger: true,
      }));
    if (agreed) await this.put(sandbox, path, to);
  }

  private async put({ files }: Sandbox, from: string, to: string): Promise<void> {
    await files.move(from, to);
    this.view.moved(from, to);
    await this.view.reveal(parentOf(from), parentOf(from));
    await this.view.reveal(parentOf(to), to);
  }

  private taken(folder: string, name: string): string | undefined {
    return this.view.has(joinPath(folder, name)) ? "Something of this name is there already." : undefined;
  }
}

/** Whether something stands at a path in a folder that is there. Asking for what is not there would be an error in the browser's console. */
async function isThere(files: Files, path: string): Promise<boolean> {
  return (await files.list(parentOf(path))).some(({ name }) => name === baseName(path));
}

/** Why an entry cannot go into a folder that is itself or in it. */
function inItself(path: string, folder: string): string | undefined {
  return folder === path || folder.startsWith(`${path}/`) ? "A folder cannot be moved into itself." : undefined;
}
