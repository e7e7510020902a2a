import type { EntryInfo, Files } from "agent-sandbox-web";
import { codeOf, ExplainedError } from "../describe-error.js";
import { parentOf } from "../names.js";

/** One row of the tree as it is drawn. */
export type TreeRow =
  | {
      readonly kind: "entry";
      readonly depth: number;
      readonly entry: EntryInfo;
      readonly expanded: boolean;
      readonly loading: boolean;
    }
  | { readonly kind: "error"; readonly depth: number; readonly path: string; readonly error: unknown }
  | { readonly kind: "more"; readonly depth: number; readonly path: string; readonly hidden: number };

interface Folder {
  entries?: EntryInfo[];
  error?: unknown;
  loading?: Promise<void>;
  /** Whether it has changed since it was read. */
  outdated?: boolean;
  /** How many entries are drawn: a folder of a hundred thousand must not hold up the page. */
  shown: number;
}

const STEP = 300;
const order = new Intl.Collator(undefined, { numeric: true });

/** A tree of folders that are read when they are opened. */
export class FileTree {
  /** Whether the sandbox is paused: it is not asked then, since a request might wake it. */
  paused = false;
  private readonly folders = new Map<string, Folder>();
  private readonly open = new Set<string>();

  /**
   * @param files where to read
   * @param root the absolute path of the top folder, which is always open
   * @param changed called when the rows have changed
   */
  constructor(
    private readonly files: Files,
    readonly root: string,
    private readonly changed: () => void,
  ) {}

  /** The rows from top to bottom. */
  rows(): TreeRow[] {
    const rows: TreeRow[] = [];
    this.collect(this.root, 0, rows);
    return rows;
  }

  /** Whether the top folder has been read, or could not be. */
  get ready(): boolean {
    const top = this.folders.get(this.root);
    return top?.entries !== undefined || top?.error !== undefined;
  }

  /** What is known of the entry at `path`. */
  entry(path: string): EntryInfo | undefined {
    return this.folders.get(parentOf(path))?.entries?.find((entry) => entry.path === path);
  }

  /** Opens a folder, reading what it shows and has not been read, or has changed since. */
  async expand(path: string): Promise<void> {
    this.open.add(path);
    this.changed();
    const shown = [path, ...[...this.open].filter((open) => open !== path && this.isShown(open))];
    const unread = shown
      .map((path) => [path, this.folders.get(path)] as const)
      .filter(([, folder]) => !folder?.entries || folder.outdated);
    await Promise.all(unread.map(([path]) => this.read(path)));
  }

  /** Says that a folder has changed: it is read anew, now if it is shown, else when it is opened. */
  async outdated(path: string): Promise<void> {
    const folder = this.folders.get(path);
    if (!folder) return;
    if (this.isShown(path)) await this.read(path);
    else folder.outdated = true;
  }

  /** The folders that are open, each after the one that holds it. */
  get openFolders(): string[] {
    return [...this.open].sort((a, b) => a.length - b.length);
  }

  /** Opens folders that were open before, as far as they are there. */
  async restore(folders: readonly string[]): Promise<void> {
    await this.folders.get(this.root)?.loading;
    for (const path of folders) {
      if (this.entry(path)?.type === "directory") await this.expand(path);
    }
  }

  collapse(path: string): void {
    this.open.delete(path);
    this.changed();
  }

  /** Draws more entries of a long folder. */
  showMore(path: string): void {
    const folder = this.folders.get(path);
    if (folder) folder.shown += STEP * 4;
    this.changed();
  }

  /** Reads one folder anew. */
  async read(path: string): Promise<void> {
    const folder = this.folders.get(path) ?? { shown: STEP };
    this.folders.set(path, folder);
    // Two readings at once would end in either order.
    await folder.loading;
    folder.loading = this.load(path, folder);
    this.changed();
    await folder.loading;
    delete folder.loading;
    this.changed();
  }

  /** Reads every open folder anew. */
  async refresh(): Promise<void> {
    const shown = [this.root, ...this.open].filter((path) => this.isShown(path));
    await Promise.all(shown.map((path) => this.read(path)));
  }

  private async load(path: string, folder: Folder): Promise<void> {
    if (this.paused) {
      folder.error = new ExplainedError("This sandbox is paused", "The folder cannot be read while it stands still.", "Resume it.");
      return;
    }
    delete folder.outdated;
    try {
      const entries = await this.files.list(path);
      folder.entries = [...entries].sort(
        (a, b) => Number(b.type === "directory") - Number(a.type === "directory") || order.compare(a.name, b.name),
      );
      delete folder.error;
    } catch (error) {
      folder.error = error;
      // What was read of a folder stays, unless it is the folder that cannot be read: as while the sandbox does not answer, or is gone.
      if (codeOf(error).startsWith("E4")) delete folder.entries;
    }
  }

  private isShown(path: string): boolean {
    for (let at = path; at !== this.root; at = parentOf(at)) if (!this.open.has(at) || !this.entry(at)) return false;
    return true;
  }

  private collect(path: string, depth: number, rows: TreeRow[]): void {
    const folder = this.folders.get(path);
    if (!folder) return;
    if (folder.error !== undefined) rows.push({ kind: "error", depth, path, error: folder.error });
    if (!folder.entries) return;
    for (const entry of folder.entries.slice(0, folder.shown)) {
      const expanded = entry.type === "directory" && this.open.has(entry.path);
      const inside = this.folders.get(entry.path);
      // A folder that is read anew goes on showing what it had.
      const loading = expanded && inside?.loading !== undefined && inside.entries === undefined;
      rows.push({ kind: "entry", depth, entry, expanded, loading });
      if (expanded) this.collect(entry.path, depth + 1, rows);
    }
    const hidden = folder.entries.length - folder.shown;
    if (hidden > 0) rows.push({ kind: "more", depth, path, hidden });
  }
}
