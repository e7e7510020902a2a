import type { CallOptions, SandboxInfo, SnapshotInfo, Paginator as WasmPaginator } from "./agent_sandbox_web.js";
import { checkOptions } from "./agent_sandbox_web.js";

/**
 * Pages. What opens them is synchronous and may be called before the module is loaded, so the paginator of the module is made with the
 * first page; a bad option is reported there too, whether the module was loaded or not.
 */
class Paginator<T> implements AsyncIterable<T> {
  readonly #open: () => Promise<WasmPaginator>;
  readonly #options: { nextToken?: string | undefined } | undefined;
  #opening: Promise<WasmPaginator> | undefined;
  #pages: WasmPaginator | undefined;

  constructor(open: () => Promise<WasmPaginator>, options: { nextToken?: string | undefined } | undefined) {
    this.#open = open;
    this.#options = options;
  }

  get hasNext(): boolean {
    return this.#pages?.hasNext ?? true;
  }

  get nextToken(): string | undefined {
    return this.#pages ? this.#pages.nextToken : this.#options?.nextToken;
  }

  async nextItems(options?: CallOptions): Promise<T[]> {
    checkOptions(options);
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    this.#pages = await this.#opening;
    return this.#pages.nextItems(options);
  }

  async toArray(options?: CallOptions): Promise<T[]> {
    const all: T[] = [];
    while (this.hasNext) all.push(...(await this.nextItems(options)));
    return all;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    while (this.hasNext) yield* await this.nextItems();
  }
}

/** Pages of sandboxes. */
export class SandboxPaginator extends Paginator<SandboxInfo> {}

/** Pages of snapshots. */
export class SnapshotPaginator extends Paginator<SnapshotInfo> {}
