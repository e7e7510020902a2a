import type { Sandbox } from "agent-sandbox-web";
import { isPaused } from "../describe-error.js";
import { DrawPacer } from "../next-frame.js";
import { CUT_OFF } from "../resuming.js";
import type { Cell } from "./cell.js";
import { Kernel } from "./kernel.js";
import { bundleOf } from "./outputs.js";

// The clouds' interpreters lose a cell that comes right after an interrupted one.
const AFTER_STOP_MS = 500;
const NOT_RUN = "not run because of the pause";

/** What a runner tells. */
export interface RunnerHooks {
  /** A cell, or what stands around it, has changed. */
  changed(cell: Cell): void;
  /** Only a cell's printed text has grown. */
  printed(cell: Cell): void;
  /** A cell has ended. */
  ended(cell: Cell): void;
}

/** A cell and the language it is run in. */
interface Run {
  readonly cell: Cell;
  readonly language: string;
}

/** Runs the cells of a notebook: those of a language one after the other, since they share a context; languages beside each other. */
export class Runner {
  readonly kernel: Kernel;
  private queue: Run[] = [];
  /** What runs, by language. */
  private readonly running = new Map<
    string,
    { readonly cell: Cell; readonly stop: AbortController; readonly pause: AbortController }
  >();

  constructor(
    sandbox: Sandbox,
    contexts: Readonly<Record<string, string>>,
    private readonly hooks: RunnerHooks,
  ) {
    this.kernel = new Kernel(sandbox, contexts);
  }

  /** Whether a cell runs or waits. */
  get busy(): boolean {
    return this.running.size > 0;
  }

  /** Puts cells into the queue; those that are in it already stay where they are. */
  run(cells: readonly Cell[], language: string): void {
    for (const cell of cells) {
      if (cell.busy) continue;
      cell.wait();
      this.queue.push({ cell, language });
      this.hooks.changed(cell);
    }
    void this.work(language);
  }

  /** Interrupts what runs and forgets what waits; or does so for one cell alone. */
  stop(only?: Cell): void {
    this.drop(({ cell }) => only === undefined || cell === only);
    for (const { cell, stop } of this.running.values()) {
      if (only !== undefined && cell !== only) continue;
      cell.state = "stopping";
      stop.abort();
      this.hooks.changed(cell);
    }
  }

  /** Gives the language's context a new kernel. Its running cell ends, those that wait for it are forgotten. */
  async restart(language: string): Promise<void> {
    this.drop((run) => run.language === language);
    await this.kernel.restart(language);
  }

  /** Ends what runs here, since the sandbox is paused. Nothing is asked of that: it would wake, or not answer. */
  pause(): void {
    this.drop(() => true, NOT_RUN);
    for (const { pause } of this.running.values()) pause.abort();
  }

  /** The sandbox goes on, perhaps without its contexts. */
  resume(): void {
    this.kernel.recheck();
  }

  private async work(language: string): Promise<void> {
    if (this.running.has(language)) return;
    for (let cell = this.next(language); cell; cell = this.next(language)) {
      const stop = new AbortController();
      const pause = new AbortController();
      this.running.set(language, { cell, stop, pause });
      await this.execute(cell, language, stop.signal, pause.signal);
      this.running.delete(language);
      cell.end();
      if (cell.note === CUT_OFF) this.drop(() => true, NOT_RUN);
      else if (cell.failed) this.drop((run) => run.language === language);
      this.hooks.changed(cell);
      this.hooks.ended(cell);
    }
  }

  /** Takes the next cell of a language out of the queue. */
  private next(language: string): Cell | undefined {
    const run = this.queue.find((run) => run.language === language);
    this.queue = this.queue.filter((other) => other !== run);
    return run?.cell;
  }

  private async execute(cell: Cell, language: string, stop: AbortSignal, pause: AbortSignal): Promise<void> {
    cell.begin();
    this.hooks.changed(cell);
    const pacer = new DrawPacer(() => this.hooks.printed(cell));
    try {
      const running = this.kernel.run(
        language,
        cell.source,
        {
          printed: (channel, text) => {
            if (pause.aborted) return undefined;
            if (cell.print(channel, text)) this.hooks.changed(cell);
            return pacer.wrote(text.length);
          },
          shown: (result) => {
            if (pause.aborted) return;
            cell.add({ kind: "result", data: bundleOf(result), main: result.isMainResult });
            this.hooks.changed(cell);
          },
          raised: ({ name, value, traceback }) => {
            if (pause.aborted) return;
            cell.add({ kind: "error", name, value, traceback });
            this.hooks.changed(cell);
          },
        },
        stop,
      );
      cell.count = await unless(pause, running);
    } catch (error) {
      if (pause.aborted || isPaused(error)) cell.note = CUT_OFF;
      else if (stop.aborted) {
        cell.note = "stopped";
        await new Promise((resolve) => setTimeout(resolve, AFTER_STOP_MS));
      } else cell.failure = error;
    }
    this.hooks.printed(cell);
  }

  private drop(which: (run: Run) => boolean, note = ""): void {
    const dropped = this.queue.filter(which);
    this.queue = this.queue.filter((run) => !dropped.includes(run));
    for (const { cell } of dropped) {
      cell.end();
      cell.note = note;
      this.hooks.changed(cell);
    }
  }
}

/** What `work` gives, unless the signal is aborted before: nobody waits for it then. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
