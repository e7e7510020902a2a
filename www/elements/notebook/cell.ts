import type { Channel } from "../ansi.js";
import { type CellOutput, PrintedText } from "./outputs.js";

/** Where a cell stands. */
export type CellState = "idle" | "waiting" | "running" | "stopping";

let counter = 0;

/** A cell of a notebook. */
export class Cell {
  readonly id = ++counter;
  state: CellState = "idle";
  outputs: readonly CellOutput[] = [];
  /** Its number in its context: how many cells ran there before it, and itself. */
  count: number | undefined;
  /** Why it could not be run to its end; what the code itself raised is an output. */
  failure: unknown;
  /** How it ended otherwise, such as `stopped`. */
  note = "";
  /** When it began, by the page's clock in ms; `undefined` before its first run. */
  startedAt: number | undefined;
  /** How long it took, in ms; `undefined` while it runs. */
  took: number | undefined;
  /** What the file that it came from says of it beside this, such as tags: it goes back as it came. */
  origin: Readonly<Record<string, unknown>> = { id: `cell-${this.id}` };

  constructor(
    readonly kind: "code" | "markdown",
    public source = "",
    /** Whether a Markdown cell is being written, not read. */
    public editing = true,
  ) {}

  /** Whether it is about to run, or runs. */
  get busy(): boolean {
    return this.state !== "idle";
  }

  /** Whether its last run failed. */
  get failed(): boolean {
    return this.failure !== undefined || this.outputs.some((output) => output.kind === "error");
  }

  /** Puts it into the queue: what it gave before goes away. */
  wait(): void {
    this.state = "waiting";
    this.clear();
  }

  begin(): void {
    this.state = "running";
    this.startedAt = performance.now();
    this.took = undefined;
  }

  end(): void {
    if (this.startedAt !== undefined && this.state !== "waiting") this.took = performance.now() - this.startedAt;
    this.state = "idle";
  }

  clear(): void {
    this.outputs = [];
    this.count = undefined;
    this.failure = undefined;
    this.note = "";
    this.startedAt = undefined;
    this.took = undefined;
  }

  /** Adds printed text. Gives whether an output came to be by it. */
  print(channel: Channel, text: string): boolean {
    const found = this.printing(channel);
    found?.write(text);
    if (found) return false;
    const printed = new PrintedText(channel);
    printed.write(text);
    this.add({ kind: "stream", text: printed });
    return true;
  }

  /**
   * Where text of a channel goes on: what was printed last, or what was printed before text of the other channel and still has an open
   * line. A progress bar on one channel and lines on the other do not get into each other's way then.
   */
  private printing(channel: Channel): PrintedText | undefined {
    const [last, before] = [this.outputs.at(-1), this.outputs.at(-2)];
    if (last?.kind !== "stream") return undefined;
    if (last.text.channel === channel) return last.text;
    return before?.kind === "stream" && before.text.channel === channel && before.text.open ? before.text : undefined;
  }

  add(output: CellOutput): void {
    this.outputs = [...this.outputs, output];
  }
}
