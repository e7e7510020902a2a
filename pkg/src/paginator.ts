import type { CallOptions, SandboxInfo, SandboxListOptions } from "../../src/types.d.ts";
import type { SandboxPaginator as WasmPaginator } from "./agent_sandbox_web.js";

/**
 * Pages of sandboxes. `Sandbox.list` is synchronous and may be called before the module is loaded, so the paginator of the module is
 * made with the first page; a bad option is reported there too, whether the module was loaded or not.
 */
export class SandboxPaginator implements AsyncIterable<SandboxInfo> {
  readonly #open: () => Promise<WasmPaginator>;
  readonly #firstToken: string | undefined;
  #opening: Promise<WasmPaginator> | undefined;
  #pages: WasmPaginator | undefined;

  constructor(open: () => Promise<WasmPaginator>, options: SandboxListOptions | undefined) {
    this.#open = open;
    this.#firstToken = options?.nextToken;
  }

  get hasNext(): boolean {
    return this.#pages?.hasNext ?? true;
  }

  get nextToken(): string | undefined {
    return this.#pages ? this.#pages.nextToken : this.#firstToken;
  }

  async nextItems(options?: CallOptions): Promise<SandboxInfo[]> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    this.#pages = await this.#opening;
    return this.#pages.nextItems(options);
  }

  async toArray(options?: CallOptions): Promise<SandboxInfo[]> {
    const all: SandboxInfo[] = [];
    while (this.hasNext) all.push(...(await this.nextItems(options)));
    return all;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SandboxInfo, void, void> {
    while (this.hasNext) yield* await this.nextItems();
  }
}
