import type { Sandbox } from "agent-sandbox-web";
import { DrawPacer } from "../next-frame.js";
import type { Cell } from "./cell.js";
import { Kernel } from "./kernel.js";
import { bundleOf } from "./outputs.js";

// The clouds' interpreters lose a cell that comes right after an interrupted one.
const AFTER_STOP_MS = 500;

/** What a runner tells. */
export interface RunnerHooks {
  /** A cell, or what stands around it, has changed. */
  changed(cell: Cell): void;
  /** Only a cell's printed text has grown. */
  printed(cell: Cell): void;
  /** A cell has ended. */
  ended(cell: Cell): void;
}

/** Runs the cells of a notebook one after the other. */
export class Runner {
  readonly kernel: Kernel;
  private queue: { readonly cell: Cell; readonly language: string }[] = [];
  private running: { readonly cell: Cell; readonly stop: AbortController } | undefined;

  constructor(
    sandbox: Sandbox,
    contexts: Readonly<Record<string, string>>,
    private readonly hooks: RunnerHooks,
  ) {
    this.kernel = new Kernel(sandbox, contexts);
  }

  /** Whether a cell runs or waits. */
  get busy(): boolean {
    return this.running !== undefined;
  }

  /** Puts cells into the queue; those that are in it already stay where they are. */
  run(cells: readonly Cell[], language: string): void {
    for (const cell of cells) {
      if (cell.busy) continue;
      cell.wait();
      this.queue.push({ cell, language });
      this.hooks.changed(cell);
    }
    void this.work();
  }

  /** Interrupts the running cell and forgets those that wait; or does so for one cell alone. */
  stop(only?: Cell): void {
    this.drop((cell) => only === undefined || cell === only);
    const { running } = this;
    if (!running || (only !== undefined && running.cell !== only)) return;
    running.cell.state = "stopping";
    running.stop.abort();
    this.hooks.changed(running.cell);
  }

  /** Gives the language's context a new kernel. The running cell ends, those that wait are forgotten. */
  async restart(language: string): Promise<void> {
    this.drop(() => true);
    await this.kernel.restart(language);
  }

  private async work(): Promise<void> {
    if (this.running) return;
    for (let next = this.queue.shift(); next; next = this.queue.shift()) {
      const { cell, language } = next;
      const stop = new AbortController();
      this.running = { cell, stop };
      await this.execute(cell, language, stop.signal);
      this.running = undefined;
      cell.end();
      if (cell.failed) this.drop(() => true);
      this.hooks.changed(cell);
      this.hooks.ended(cell);
    }
  }

  private async execute(cell: Cell, language: string, signal: AbortSignal): Promise<void> {
    cell.begin();
    this.hooks.changed(cell);
    const pacer = new DrawPacer(() => this.hooks.printed(cell));
    try {
      cell.count = await this.kernel.run(
        language,
        cell.source,
        {
          printed: (channel, text) => {
            if (cell.print(channel, text)) this.hooks.changed(cell);
            return pacer.wrote(text.length);
          },
          shown: (result) => {
            cell.add({ kind: "result", data: bundleOf(result), main: result.isMainResult });
            this.hooks.changed(cell);
          },
          raised: ({ name, value, traceback }) => {
            cell.add({ kind: "error", name, value, traceback });
            this.hooks.changed(cell);
          },
        },
        signal,
      );
    } catch (error) {
      if (signal.aborted) {
        cell.note = "stopped";
        await new Promise((resolve) => setTimeout(resolve, AFTER_STOP_MS));
      } else cell.failure = error;
    }
    this.hooks.printed(cell);
  }

  private drop(which: (cell: Cell) => boolean): void {
    const dropped = this.queue.filter(({ cell }) => which(cell));
    this.queue = this.queue.filter((entry) => !dropped.includes(entry));
    for (const { cell } of dropped) {
      cell.end();
      this.hooks.changed(cell);
    }
  }
}
