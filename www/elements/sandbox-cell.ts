import { CapabilityNotSupportedError } from "agent-sandbox-web";
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { OutputLines } from "./ansi.js";
import { cellStyles, TALL, TALL_WITH_RESULTS } from "./cell-styles.js";
import { ExplainedError } from "./describe-error.js";
import { element } from "./element.js";
import { duration } from "./format.js";
import { icon } from "./icons.js";
import { languageOf } from "./language.js";
import type { Cell } from "./notebook/cell.js";
import type { CellEditor, CellEditorHooks } from "./notebook/cell-engine.js";
import type { CellOutput, ErrorOutput } from "./notebook/outputs.js";
import { readableTraceback } from "./notebook/traceback.js";
import type { SandboxOutput } from "./sandbox-output.js";
import { base } from "./styles.js";
import "./sandbox-error.js";
import "./sandbox-output.js";
import "./sandbox-result.js";

/** Where to go after a cell was run. */
export type NextCell = Parameters<CellEditorHooks["run"]>[0];

/** By what a file of the language would be called its highlighting is found. */
const FILE_NAMES: Readonly<Record<string, string>> = { python: "x.py", javascript: "x.js", typescript: "x.ts", bash: "x.sh" };

const KEPT_TRACEBACK_LINES = 2000;
/** How far from the end, in CSS pixels, still is the end. */
const NEAR_END = 24;
const tracebacks = new WeakMap<ErrorOutput, OutputLines>();

/**
 * A cell of a notebook: its code, and what it gave.
 *
 * @fires cell-run - the person wants it run; `detail` says where to go then
 * @fires cell-stop - the person wants it stopped
 * @fires cell-edit - its text has changed
 * @fires cell-move - the person wants it moved by `detail` places
 * @fires cell-delete - the person wants it deleted
 * @fires cell-leave - the cursor goes to the cell before (-1) or after (1)
 * @fires need-template - the sandbox has no code interpreter, and the person wants one of the template `detail` that has; composed
 */
@element("sandbox-cell")
export class SandboxCell extends LitElement {
  static override styles = [base, cellStyles];

  /** The cell. Call {@link requestUpdate} when it has changed, {@link draw} when only its printed text has grown. */
  @property({ attribute: false }) cell!: Cell;
  /** Its place, from 1. */
  @property({ type: Number }) place = 1;
  /** Whether it is the last one. */
  @property({ type: Boolean }) last = false;
  /** The language of its code. */
  @property() language = "python";
  /** Whether it cannot be run now. */
  @property({ type: Boolean }) disabled = false;
  /** See `<sandbox-result>`. */
  @property({ attribute: "frame-url" }) frameUrl = "";
  @state() private all = false;
  @state() private tall = false;
  @state() private editor: CellEditor | undefined;
  @query(".code") private code!: HTMLElement;
  @query(".scroll") private scroller!: HTMLElement | null;
  private loading: Promise<void> | undefined;
  /** Whether the end of what was printed is in view, or was until more came. */
  private atEnd = true;
  private clock: ReturnType<typeof setInterval> | undefined;
  private readonly sizes = new ResizeObserver(() => this.measure());
  private observed: Element | null = null;

  override disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.clock);
    this.clock = undefined;
    this.sizes.disconnect();
    this.observed = null;
  }

  /** Puts the cursor into the cell. */
  focusAt(at?: "start" | "end") {
    if (this.reading) this.renderRoot.querySelector<HTMLElement>(".read")?.focus();
    else void this.load().then(() => this.editor?.focus(at));
  }

  /** Draws printed text that has come since. */
  draw(): void {
    for (const output of this.renderRoot.querySelectorAll<SandboxOutput>("sandbox-output")) output.draw();
    this.followEnd();
  }

  override render() {
    const { cell } = this;
    return html`
      <section class="cell" aria-label=${this.label}>
        <div class="head">
          ${this.renderAction()}
          ${cell.kind === "code" ? html`<span class="count" title="Its number in the context">[${cell.busy ? "*" : (cell.count ?? " ")}]</span>` : nothing}
          <span class="state ${cell.failed || cell.note ? "failed" : ""}">${this.renderState()}</span>
          <button class="icon-button" aria-label=${`Move ${this.label} up`} title="Move up" ?disabled=${this.place === 1}
            @click=${() => this.tell("cell-move", -1)}>${icon("up")}</button>
          <button class="icon-button" aria-label=${`Move ${this.label} down`} title="Move down" ?disabled=${this.last}
            @click=${() => this.tell("cell-move", 1)}>${icon("down")}</button>
          <button class="icon-button" aria-label=${`Delete ${this.label}`} title="Delete"
            @click=${() => this.tell("cell-delete")}>${icon("trash")}</button>
        </div>
        ${
          this.reading
            ? html`<div class="read" tabindex="0" role="group" aria-label=${`${this.label}, press Enter to edit`} @dblclick=${this.edit}
                @keydown=${(event: KeyboardEvent) => event.key === "Enter" && this.edit(event)}>
                <sandbox-result .data=${{ "text/markdown": cell.source }}></sandbox-result>
              </div>`
            : nothing
        }
        <div class="code" ?hidden=${this.reading || !this.editor}></div>
        ${this.reading || this.editor ? nothing : html`<pre class="plain">${cell.source}</pre>`}
        ${cell.failure === undefined ? nothing : this.renderFailure()}
        ${cell.outputs.length > 0 ? this.renderOutputs() : nothing}
      </section>
    `;
  }

  private renderAction() {
    const { cell } = this;
    if (this.reading) {
      return html`<button class="icon-button" aria-label=${`Edit ${this.label}`} title="Edit" @click=${this.edit}>${icon("rename")}</button>`;
    }
    if (cell.busy) {
      return html`<button class="icon-button run" aria-label=${`Stop ${this.label}`} title="Stop" ?disabled=${cell.state === "stopping"}
        @click=${() => this.tell("cell-stop")}>${icon("stop")}</button>`;
    }
    return html`<button class="icon-button run" aria-label=${`Run ${this.label}`} title="Run (Ctrl-Enter; Shift-Enter goes on to the next)"
      ?disabled=${this.disabled && cell.kind === "code"} @click=${() => this.tell("cell-run", "stay")}>${icon("run")}</button>`;
  }

  private renderState() {
    const { cell } = this;
    if (cell.kind === "markdown") return "Markdown";
    if (cell.state === "waiting") return "waiting";
    const time = cell.startedAt === undefined ? "" : duration(cell.took ?? performance.now() - cell.startedAt);
    if (cell.busy) return html`<span class="spinner"></span>${cell.state} ${time}`;
    return html`${cell.note || (cell.failed ? "failed" : "")} ${time}`;
  }

  private renderFailure() {
    const { failure } = this.cell;
    const unsupported = failure instanceof CapabilityNotSupportedError;
    return html`<sandbox-error .error=${unsupported ? noInterpreter(failure) : failure}>
      ${
        unsupported
          ? html`<button class="button" @click=${() => this.tell("need-template", "code-interpreter-v1", true)}>New sandbox with code cells</button>`
          : nothing
      }
    </sandbox-error>`;
  }

  private renderOutputs() {
    return html`<div class="outputs ${this.hasResults ? "results" : ""} ${this.all ? "all" : ""}" role="group" aria-label=${`Output of ${this.label}`}>
      <div class="scroll" tabindex=${this.tall && !this.all ? "0" : nothing} @scroll=${this.scrolled} @wheel=${{ handleEvent: this.wheeled, passive: true }}>
        <div class="content">
          ${repeat(
            this.cell.outputs,
            (output) => output,
            (output) => this.renderOutput(output),
          )}
        </div>
      </div>
      ${this.tall ? html`<button class="toggle" @click=${this.toggle}>${this.all ? "Show less" : "Show all"}</button>` : nothing}
    </div>`;
  }

  private renderOutput(output: CellOutput) {
    switch (output.kind) {
      case "stream":
        return html`<sandbox-output .lines=${output.text.lines}></sandbox-output>`;
      case "error":
        return html`<div class="raised"><sandbox-output .lines=${traceback(output)}></sandbox-output></div>`;
      case "result":
        return html`<sandbox-result .data=${output.data} frame-url=${this.frameUrl}></sandbox-result>`;
    }
  }

  protected override firstUpdated() {
    if (!this.reading) void this.load();
  }

  protected override updated(changed: PropertyValues<this>) {
    const content = this.renderRoot.querySelector(".content");
    if (content !== this.observed) {
      this.sizes.disconnect();
      this.observed = content;
      if (content) this.sizes.observe(content);
      else this.tall = false;
    }
    this.keepTime();
    this.editor?.setLabel(`${this.cell.kind === "code" ? "Code" : "Text"} of cell ${this.place}`);
    if (changed.has("language")) void this.highlight();
  }

  private get hasResults(): boolean {
    return this.cell.outputs.some(({ kind }) => kind === "result");
  }

  private get reading(): boolean {
    return this.cell.kind === "markdown" && !this.cell.editing;
  }

  private get label(): string {
    return `cell ${this.place}`;
  }

  private load(): Promise<void> {
    this.loading ??= this.createEditor();
    return this.loading;
  }

  private async createEditor(): Promise<void> {
    const { CellEditor } = await import("./notebook/cell-engine.js");
    await this.updateComplete;
    this.editor = new CellEditor(this.code, this.renderRoot as ShadowRoot, this.cell.source, {
      edited: (text) => {
        this.cell.source = text;
        this.tell("cell-edit");
      },
      run: (next) => this.tell("cell-run", next),
      leave: (direction) => this.tell("cell-leave", direction),
    });
    await this.updateComplete;
    void this.highlight();
  }

  private async highlight(): Promise<void> {
    const { editor, language, cell } = this;
    const found = languageOf(cell.kind === "markdown" ? "x.md" : (FILE_NAMES[language] ?? ""));
    if (!editor || !found) return;
    try {
      const extension = await found.load();
      if (language === this.language) editor.setLanguage(extension);
    } catch {
      // Without its colours code is code all the same.
    }
  }

  private readonly edit = (event: Event) => {
    event.preventDefault();
    this.cell.editing = true;
    this.requestUpdate();
    void this.updateComplete.then(() => this.focusAt("end"));
  };

  private keepTime() {
    const running = this.cell.state === "running" || this.cell.state === "stopping";
    if (running) this.clock ??= setInterval(() => this.requestUpdate(), 500);
    else {
      clearInterval(this.clock);
      this.clock = undefined;
    }
  }

  private measure() {
    const { scroller } = this;
    if (!scroller) return;
    this.tall = (this.observed?.clientHeight ?? 0) > (this.hasResults ? TALL_WITH_RESULTS : TALL);
    this.followEnd();
  }

  /** Keeps the newest line of what is being printed in view, unless the person has scrolled up. A result is read from its beginning. */
  private followEnd() {
    const { scroller, cell } = this;
    if (!scroller || this.all || cell.state !== "running" || !this.atEnd || cell.outputs.at(-1)?.kind !== "stream") return;
    scroller.scrollTop = scroller.scrollHeight;
  }

  private scrolled() {
    const { scroller } = this;
    if (scroller) this.atEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - NEAR_END;
  }

  /** Up is away from the end, whatever is printed meanwhile. */
  private readonly wheeled = (event: WheelEvent) => {
    if (event.deltaY < 0) this.atEnd = false;
  };

  private toggle() {
    this.all = !this.all;
  }

  private tell(type: string, detail?: unknown, composed = false) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed }));
  }
}

/** In words for who does not program the client. */
function noInterpreter(cause: unknown): ExplainedError {
  return new ExplainedError(
    "This sandbox has no code interpreter",
    "Its template runs commands, but no code cells.",
    "Start a sandbox whose template has one.",
    { cause },
  );
}

function traceback(error: ErrorOutput): OutputLines {
  let lines = tracebacks.get(error);
  if (!lines) {
    lines = new OutputLines(KEPT_TRACEBACK_LINES);
    lines.write(readableTraceback(error));
    tracebacks.set(error, lines);
  }
  return lines;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-cell": SandboxCell;
  }
}
