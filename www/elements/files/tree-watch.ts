import type { ChunkStream, Files, WatchEvent } from "agent-sandbox-web";
import { parentOf } from "../names.js";
import { nextFrame } from "../next-frame.js";
import type { FileTree } from "./file-tree.js";

// After folders were read, how long until they are read again at the soonest: a file that is being written changes all the time.
const LEAST_REST_MS = 150;

/**
 * Keeps a tree up to date with its sandbox, until it is stopped or the sandbox ends. Where watching is not possible nothing happens:
 * the tree is then as new as its last reading.
 */
export class TreeWatch {
  private stream: ChunkStream<WatchEvent> | undefined;
  private readonly stopper = new AbortController();
  private readonly changed = new Set<string>();
  private updating = false;
  private ended = false;

  /**
   * @param files where to watch
   * @param tree what to keep up to date
   * @param told called with the path of each change and whether what was there is gone, and with `""` when changes may have been missed
   */
  constructor(
    private readonly files: Files,
    private readonly tree: FileTree,
    private readonly told: (path: string, gone: boolean) => void,
  ) {
    void this.follow();
  }

  /** Whether changes are being told, or the sandbox has been asked to. */
  get live(): boolean {
    return !this.ended;
  }

  /** Stops watching. */
  stop(): void {
    this.ended = true;
    this.stopper.abort();
    void this.stream?.cancel().catch(() => {});
  }

  private async follow(): Promise<void> {
    const { root } = this.tree;
    try {
      // Below "/" are folders without end, such as /proc.
      this.stream = await this.files.watch(root, { recursive: root !== "/", signal: this.stopper.signal });
      // What has changed between the first reading and now was not told.
      this.missed(root);
      for await (const { type, path } of this.stream) {
        if (type === "gap") this.missed(root);
        else {
          this.told(path, type === "deleted" || type === "renamed");
          this.note(parentOf(path));
        }
      }
    } catch {
      // Reading the folders tells the person what is wrong, if anything is.
    } finally {
      this.ended = true;
    }
  }

  private missed(root: string): void {
    this.told("", false);
    this.note(root);
    for (const folder of this.tree.openFolders) this.note(folder);
  }

  private note(folder: string): void {
    this.changed.add(folder);
    if (!this.updating) void this.update();
  }

  /** Reads the folders that have changed, one after the other, until nothing has changed meanwhile. */
  private async update(): Promise<void> {
    this.updating = true;
    let rest = 0;
    while (this.changed.size > 0 && !this.ended) {
      await nextFrame(rest);
      if (this.ended) break;
      const begun = performance.now();
      // The folders above come first: what is gone from them is not read.
      const folders = [...this.changed].sort((a, b) => a.length - b.length);
      this.changed.clear();
      for (const folder of folders) await this.tree.outdated(folder);
      rest = Math.max(LEAST_REST_MS, 2 * (performance.now() - begun));
    }
    this.updating = false;
  }
}
