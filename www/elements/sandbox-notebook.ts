import { CapabilityNotSupportedError, type Sandbox } from "agent-sandbox-web";
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { element } from "./element.js";
import { icon } from "./icons.js";
import { baseName, plainName, visibleName } from "./names.js";
import { Cell } from "./notebook/cell.js";
import { fromFile, type NotebookContent, toFile } from "./notebook/file.js";
import { Runner } from "./notebook/runner.js";
import { readNotebook, saveNotebook } from "./notebook/sandbox-file.js";
import { keep, type NotebookFile, restore } from "./notebook/store.js";
import { notebookStyles } from "./notebook-styles.js";
import { mayResume } from "./resuming.js";
import type { NextCell, SandboxCell } from "./sandbox-cell.js";
import { confirm } from "./sandbox-dialog.js";
import { save } from "./save.js";
import { base } from "./styles.js";
import "./sandbox-cell.js";
import "./sandbox-error.js";

/** The template whose sandboxes have a code interpreter. */
const CODE_CELLS = "code-interpreter-v1";
/** The template whose sandboxes have none. */
const PLAIN = "base";
const LANGUAGES: Readonly<Record<string, string>> = {
  python: "Python",
  javascript: "JavaScript",
  typescript: "TypeScript",
  bash: "Bash",
};
const KEEP_AFTER_MS = 400;

/**
 * A notebook: cells of code that run in a context of the sandbox, with their rich results, and cells of Markdown.
 *
 * @fires need-resume - the sandbox is paused, and the person wants it to go on
 * @fires need-template - the sandbox has no code interpreter, and the person wants one of the template `detail` that has
 */
@element("sandbox-notebook")
export class SandboxNotebook extends LitElement {
  static override styles = [base, notebookStyles];

  /** The sandbox to run in. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** Whether the sandbox is gone: nothing can be run then. */
  @property({ type: Boolean }) ended = false;
  /** Whether the sandbox is paused: what is to run waits for its resuming. */
  @property({ type: Boolean }) paused = false;
  /**
   * The address of a page of another origin in which HTML results are shown: the `resultsUrl` of agent-sandbox-local, or a copy of that
   * page elsewhere. Without it HTML is shown as source.
   */
  @property({ attribute: "frame-url" }) frameUrl = "";
  /** Keeps the notebook in the tab's sessionStorage under this name and the sandbox's id; without it a reload loses it. */
  @property({ attribute: "storage-key" }) storageKey = "";
  @state() private cells: readonly Cell[] = [];
  @state() private language = "python";
  @state() private failure: { doing: string; error: unknown } | undefined;
  /** What has just happened, in words. */
  @state() private news = "";
  @state() private restarting = false;
  @query("input[type=file]") private chooser!: HTMLInputElement;
  /** The file in the sandbox that it was opened from or saved to last. */
  @state() private file: NotebookFile | undefined;
  /** The sandbox that was asked whether it has an interpreter. */
  private asked: Sandbox | undefined;
  /** The sandbox that said it has none. */
  @state() private without: Sandbox | undefined;
  private runner: Runner | undefined;
  /** What its file says of it beside the language. */
  private metadata: NonNullable<NotebookContent["metadata"]> = {};
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** What the person wants to run once the sandbox goes on. */
  private wanted: readonly Cell[] = [];

  override connectedCallback() {
    super.connectedCallback();
    window.addEventListener("pagehide", this.keepNow);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("pagehide", this.keepNow);
    this.runner?.stop();
    this.keepNow();
  }

  protected override willUpdate(changed: PropertyValues<this>) {
    if (changed.has("sandbox")) this.begin();
    void this.askForInterpreter();
    if (!changed.has("paused")) return;
    if (this.paused) this.runner?.pause();
    else if (changed.get("paused") === true) this.goOn();
  }

  override render() {
    return html`
      ${this.renderToolbar()}
      <div class="cells" @cell-run=${this.runCell} @cell-stop=${this.stopCell} @cell-edit=${this.keepSoon} @cell-move=${this.moveCell}
        @cell-delete=${this.deleteCell} @cell-leave=${this.leaveCell}>
        <div class="column">
          ${this.unable ? this.renderUnable() : nothing}
          ${
            this.failure
              ? html`<sandbox-error dismissible .error=${this.failure.error} doing=${this.failure.doing}
                  @dismiss=${() => this.explain(undefined)}></sandbox-error>`
              : nothing
          }
          ${repeat(
            this.cells,
            (cell) => cell.id,
            (
              cell,
              at,
            ) => html`<sandbox-cell data-cell=${cell.id} .cell=${cell} place=${at + 1} ?last=${at === this.cells.length - 1}
              language=${this.language} frame-url=${this.frameUrl} ?disabled=${this.ended || !this.sandbox}></sandbox-cell>`,
          )}
          <div class="add">
            <button class="button" @click=${() => this.insert("code")}>${icon("add")}Code</button>
            <button class="button" @click=${() => this.insert("markdown")}>${icon("add")}Markdown</button>
          </div>
        </div>
      </div>
      <input type="file" hidden accept=".ipynb,application/x-ipynb+json,application/json" aria-label="Notebook to open" @change=${this.chosen} />
    `;
  }

  /** Whether the sandbox is known to run no code. */
  private get unable(): boolean {
    return this.sandbox !== undefined && this.sandbox === this.without && !this.ended && !this.sandbox.capabilities.has("code");
  }

  /** Asks a sandbox whose template says nothing of an interpreter, such as one from a snapshot, whether it has one. Once, and none that stands still. */
  private async askForInterpreter(): Promise<void> {
    const { sandbox } = this;
    if (!sandbox || sandbox === this.asked || this.paused || this.ended || sandbox.capabilities.has("code")) return;
    this.asked = sandbox;
    if (sandbox.toJSON().template === PLAIN) {
      this.without = sandbox;
      return;
    }
    try {
      await sandbox.code.listContexts();
    } catch (error) {
      // What else may have gone wrong says nothing of the interpreter.
      if (error instanceof CapabilityNotSupportedError) this.without = sandbox;
    }
  }

  private renderUnable() {
    return html`<div class="unable" role="status">
      <span><b>Code cells do not run in this sandbox.</b> They need a code interpreter, which its template does not have.</span>
      <button class="button" @click=${() => this.dispatchEvent(new CustomEvent("need-template", { detail: CODE_CELLS, composed: true }))}>New sandbox with code cells</button>
    </div>`;
  }

  private renderToolbar() {
    const busy = this.runner?.busy ?? false;
    const ended = this.ended || !this.sandbox;
    const off = ended || this.paused;
    return html`<div class="toolbar" role="toolbar" aria-label="Notebook">
      <button class="button" aria-label="Run all cells" title="Run all cells" ?disabled=${ended} @click=${this.runAll}>${icon("runAll")}<span class="label">Run all</span></button>
      <button class="button" aria-label="Stop" title="Interrupt the running cell" ?disabled=${!busy} @click=${() => this.runner?.stop()}>${icon("stop")}<span
        class="label">Stop</span></button>
      <button class="button" aria-label="Restart kernel" title="Restart the kernel: its variables go away" ?disabled=${off || this.restarting}
        @click=${this.restart}>${icon("refresh")}<span class="label">Restart kernel</span></button>
      <select class="field" aria-label="Language of the code" .value=${this.language} @change=${this.chooseLanguage}>
        ${Object.entries({ ...LANGUAGES, [this.language]: LANGUAGES[this.language] ?? this.language }).map(
          ([language, name]) => html`<option value=${language} ?selected=${language === this.language}>${name}</option>`,
        )}
      </select>
      <span class="state" role="status">${this.toldState}</span>
      ${this.file ? html`<span class="file" title=${plainName(this.file.path)}>${visibleName(baseName(this.file.path))}</span>` : nothing}
      <button class="icon-button" aria-label="Save in the sandbox" title="Save in the sandbox" ?disabled=${off} @click=${this.saveInside}>${icon("save")}</button>
      <button class="icon-button" aria-label="Open a notebook file" title="Open a .ipynb file of your machine" @click=${() => this.chooser.click()}>${icon("upload")}</button>
      <button class="icon-button" aria-label="Download as a notebook file" title="Download as a .ipynb file" @click=${this.export}>${icon("download")}</button>
    </div>`;
  }

  private get toldState(): string {
    if (this.paused && !this.ended) return "Paused";
    return this.restarting ? "Restarting" : this.news;
  }

  /** Takes up what an earlier page has kept, or begins with an empty cell. */
  private begin() {
    this.runner?.stop();
    const { sandbox } = this;
    const kept = this.key === undefined ? undefined : restore(this.key);
    this.runner =
      sandbox &&
      new Runner(sandbox, kept?.contexts ?? {}, {
        changed: (cell) => this.cellChanged(cell),
        printed: (cell) => this.elementOf(cell)?.draw(),
        ended: (cell) => this.cellEnded(cell),
      });
    this.take(kept?.content ?? { cells: [], language: "python" }, kept?.file);
    this.news = "";
    this.failure = undefined;
  }

  private take({ cells, language, metadata = {} }: NotebookContent, file?: NotebookFile) {
    this.file = file;
    this.metadata = metadata;
    this.cells = cells.length > 0 ? cells : [new Cell("code")];
    this.language = language;
  }

  private readonly runCell = (event: CustomEvent<NextCell>) => {
    const cell = cellOf(event);
    if (cell.kind === "markdown") {
      if (cell.source.trim() !== "") cell.editing = false;
      this.elementOf(cell)?.requestUpdate();
    } else this.run([cell]);
    const at = this.cells.indexOf(cell);
    if (event.detail === "insert" || (event.detail === "advance" && at === this.cells.length - 1)) this.insert("code", cell);
    else if (event.detail === "advance") this.focusCell(this.cells[at + 1], "start");
    this.keepSoon();
  };

  private readonly runAll = () => {
    this.run(this.cells.filter((cell) => cell.kind === "code" && cell.source.trim() !== ""));
  };

  private run(cells: readonly Cell[]) {
    this.news = "";
    if (this.paused && !this.ended) void this.runResumed(cells);
    else if (!this.ended) this.runner?.run(cells, this.language);
  }

  /** Runs cells after the sandbox was resumed, which costs something: so it is asked. */
  private async runResumed(cells: readonly Cell[]): Promise<void> {
    if (!(await mayResume(cells.length === 1 ? "The cell runs" : "The cells run"))) return;
    this.wanted = cells;
    // Somebody may have resumed it meanwhile.
    if (this.paused) this.resume();
    else this.goOn();
  }

  private goOn() {
    this.runner?.resume();
    const { wanted } = this;
    this.wanted = [];
    this.run(wanted.filter((cell) => this.cells.includes(cell)));
  }

  private readonly resume = () => {
    this.dispatchEvent(new CustomEvent("need-resume", { composed: true }));
  };

  private readonly stopCell = (event: Event) => this.runner?.stop(cellOf(event));

  private readonly restart = async () => {
    this.explain(undefined);
    this.restarting = true;
    try {
      await this.runner?.restart(this.language);
      this.news = "The kernel is restarted: its variables are gone";
    } catch (error) {
      this.explain({ doing: "Restarting the kernel", error });
    } finally {
      this.restarting = false;
    }
  };

  private readonly moveCell = (event: CustomEvent<-1 | 1>) => {
    const cell = cellOf(event);
    const from = this.cells.indexOf(cell);
    const cells = this.cells.filter((other) => other !== cell);
    cells.splice(Math.max(0, from + event.detail), 0, cell);
    this.cells = cells;
    this.keepSoon();
  };

  private readonly deleteCell = async (event: Event) => {
    const cell = cellOf(event);
    const sure =
      cell.source.trim() === "" ||
      (await confirm({
        title: "Delete this cell?",
        text: "Its text and what it gave go away.",
        detail: cell.source.trim().split("\n").slice(0, 4).join("\n"),
        action: "Delete",
        danger: true,
      }));
    if (!sure) return;
    this.runner?.stop(cell);
    const at = this.cells.indexOf(cell);
    const cells = this.cells.filter((other) => other !== cell);
    this.cells = cells.length > 0 ? cells : [new Cell("code")];
    this.focusCell(this.cells[Math.min(at, this.cells.length - 1)]);
    this.keepSoon();
  };

  private readonly leaveCell = (event: CustomEvent<-1 | 1>) => {
    const next = this.cells[this.cells.indexOf(cellOf(event)) + event.detail];
    if (next) this.focusCell(next, event.detail === 1 ? "start" : "end");
  };

  /** Adds an empty cell after another; after the last one without it. */
  private insert(kind: Cell["kind"], after: Cell | undefined = this.cells.at(-1)) {
    const cell = new Cell(kind);
    const at = after ? this.cells.indexOf(after) + 1 : 0;
    this.cells = [...this.cells.slice(0, at), cell, ...this.cells.slice(at)];
    this.focusCell(cell);
    this.keepSoon();
  }

  private focusCell(cell: Cell | undefined, at?: "start" | "end") {
    if (cell) void this.updateComplete.then(() => this.elementOf(cell)?.focusAt(at));
  }

  private readonly chooseLanguage = (event: Event) => {
    this.language = (event.target as HTMLSelectElement).value;
    this.keepSoon();
  };

  private readonly chosen = async () => {
    const file = this.chooser.files?.[0];
    this.chooser.value = "";
    if (file) await this.open(async () => ({ content: fromFile(await file.text()) }));
  };

  /** Opens a notebook file of the sandbox, after asking when there are cells already. */
  async openFile(path: string): Promise<void> {
    const { sandbox } = this;
    if (sandbox) await this.open(() => readNotebook(sandbox.files, path));
  }

  private async open(read: () => Promise<{ content: NotebookContent; file?: NotebookFile }>): Promise<void> {
    this.explain(undefined);
    try {
      const { content, file } = await read();
      const sure =
        this.cells.every((cell) => cell.source.trim() === "") ||
        (await confirm({
          title: "Replace this notebook?",
          text: "Its cells go away. Save it first to keep them.",
          action: "Replace",
          danger: true,
        }));
      if (!sure) return;
      this.runner?.stop();
      this.take(content, file);
      this.keepSoon();
    } catch (error) {
      this.explain({ doing: "Opening the notebook", error });
    }
  }

  private readonly saveInside = async () => {
    if (!this.sandbox) return;
    this.explain(undefined);
    try {
      const file = await saveNotebook(this.sandbox.files, this.file, this.content);
      if (!file) return;
      this.file = file;
      this.news = `Saved as ${plainName(file.path)}`;
      this.keepSoon();
    } catch (error) {
      this.explain({ doing: "Saving the notebook", error });
    }
  };

  private readonly export = () => {
    save(new Blob([toFile(this.content)], { type: "application/x-ipynb+json" }), "notebook.ipynb");
  };

  private cellChanged(cell: Cell) {
    this.elementOf(cell)?.requestUpdate();
    this.requestUpdate();
  }

  private cellEnded(cell: Cell) {
    const place = this.cells.indexOf(cell) + 1;
    this.news = `Cell ${place} ${cell.note || (cell.failed ? "failed" : "finished")}`;
    this.keepSoon();
  }

  private elementOf(cell: Cell): SandboxCell | null {
    return this.renderRoot.querySelector<SandboxCell>(`[data-cell="${cell.id}"]`);
  }

  private explain(failure: { doing: string; error: unknown } | undefined) {
    this.failure = failure;
  }

  private get content(): NotebookContent {
    return { cells: this.cells, language: this.language, metadata: this.metadata };
  }

  private get key(): string | undefined {
    return this.storageKey !== "" && this.sandbox ? `${this.storageKey}.${this.sandbox.sandboxId}` : undefined;
  }

  private readonly keepSoon = () => {
    this.timer ??= setTimeout(this.keepNow, KEEP_AFTER_MS);
  };

  private readonly keepNow = () => {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.key === undefined || !this.runner || this.ended) return;
    if (this.cells.every((cell) => cell.source === "")) sessionStorage.removeItem(this.key);
    else if (!keep(this.key, this.content, this.runner.kernel.ids, this.file)) this.news = "Too large to be kept across a reload";
  };
}

function cellOf(event: Event): Cell {
  return (event.target as SandboxCell).cell;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-notebook": SandboxNotebook;
  }
}
