import type { CommandHandle, Sandbox } from "agent-sandbox-web";
import { html, LitElement, nothing } from "lit";
import { property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { OutputLines } from "./ansi.js";
import { keepRuns, restoreRuns } from "./command/keep.js";
import { commandStyles } from "./command-styles.js";
import { codeOf, isPaused } from "./describe-error.js";
import { element } from "./element.js";
import { duration } from "./format.js";
import { icon } from "./icons.js";
import { DrawPacer } from "./next-frame.js";
import { RELOADED, RESUMED } from "./reloaded.js";
import { CUT_OFF, mayResume } from "./resuming.js";
import type { SandboxOutput } from "./sandbox-output.js";
import { base, emptyState } from "./styles.js";
import "./sandbox-error.js";
import "./sandbox-output.js";

const KEPT_LINES = 3000;
const KEPT_RUNS = 20;
// After a stop, how long the end may take to arrive: a grandchild can hold the output open for ever.
const STOP_PATIENCE_MS = 1500;

/** The code of a call about a process that is not there. */
const MISSING = "E3000";

interface Run {
  readonly id: number;
  readonly command: string;
  readonly startedAt: number;
  readonly output: OutputLines;
  endedAt?: number;
  exitCode?: number;
  /** The end in words, such as `signal: killed`. */
  note?: string;
  error?: unknown;
  stopping?: boolean;
  handle?: CommandHandle;
  /** Its process, when it is to be followed from here on: an earlier page has started it, or a pause has cut it off. */
  pid?: number;
}

/**
 * A box to run commands in, with their output as it comes.
 *
 * @fires command-end - a command has ended
 * @fires need-resume - the sandbox is paused, and the person wants it to go on
 */
@element("sandbox-command")
export class SandboxCommand extends LitElement {
  static override styles = [base, emptyState, commandStyles];

  /** The sandbox to run in. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** Whether the sandbox is gone: nothing can be run then. */
  @property({ type: Boolean }) ended = false;
  /** Whether the sandbox is paused: what is to run waits for its resuming. */
  @property({ type: Boolean }) paused = false;
  /** Keeps the commands in the tab's sessionStorage under this name and the sandbox's id; without it a reload begins anew. */
  @property({ attribute: "storage-key" }) storageKey = "";
  @state() private runs: readonly Run[] = [];
  @state() private running: Run | undefined;
  @query("textarea") private field!: HTMLTextAreaElement;
  @query(".runs") private scroller!: HTMLElement;
  private readonly history: string[] = [];
  private historyAt = 0;
  private draft = "";
  private counter = 0;
  private clock: ReturnType<typeof setInterval> | undefined;
  /** Whether the end of the output is kept in view. */
  private following = true;
  private scrolledTo = 0;
  /** What the person wants to run once the sandbox goes on. */
  private wanted: string | undefined;
  private readonly sizes = new ResizeObserver(() => this.followEnd());

  override connectedCallback() {
    super.connectedCallback();
    window.addEventListener("pagehide", this.keep);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("pagehide", this.keep);
    clearInterval(this.clock);
    this.sizes.disconnect();
    void this.stop();
    this.keep();
  }

  override willUpdate(changed: Map<PropertyKey, unknown>) {
    if (changed.has("sandbox")) this.begin();
    if (!changed.has("paused") || this.ended) return;
    if (this.paused) this.cutOff(this.running);
    else if (changed.get("paused") === true) void this.goOn();
  }

  override firstUpdated() {
    this.sizes.observe(this.scroller);
  }

  /** Puts the cursor into the box. */
  override focus() {
    this.field?.focus();
  }

  override render() {
    const { running } = this;
    return html`
      <div class="runs" tabindex="0" role="region" aria-label="Commands and their output" @scroll=${this.scrolled}>
        ${
          this.runs.length === 0
            ? html`<div class="empty">
                ${icon("command")}
                <h2>Run a command</h2>
                <p>It runs in <span class="mono">bash</span> in the home folder. Output appears here as it comes.</p>
              </div>`
            : repeat(
                this.runs,
                (run) => run.id,
                (run) => this.renderRun(run),
              )
        }
      </div>
      <form @submit=${this.submit}>
        <textarea class="field" rows="1" aria-label="Command" placeholder="Command, such as  ls -la" spellcheck="false"
          autocapitalize="off" autocomplete="off" @keydown=${this.key}></textarea>
        ${
          running
            ? html`<button type="button" class="button" ?disabled=${running.stopping} @click=${() => this.stop()}>
                ${icon("stop")}Stop
              </button>`
            : html`<button class="button primary" ?disabled=${this.off}>${icon("run")}Run</button>`
        }
      </form>
    `;
  }

  private renderRun(run: Run) {
    return html`
      <section class="run">
        <div class="head">
          <span class="mono prompt" aria-hidden="true">$</span>
          <h3 class="text">${run.command}</h3>
          <span class="end" role="status">${this.renderEnd(run)}</span>
        </div>
        <sandbox-output data-run=${run.id} .lines=${run.output}></sandbox-output>
        ${
          run.error === undefined
            ? nothing
            : html`<sandbox-error .error=${run.error}>
          <button class="button" @click=${() => this.want(run.command)} ?disabled=${this.off || this.running !== undefined}>Run again</button>
        </sandbox-error>`
        }
      </section>
    `;
  }

  private renderEnd(run: Run) {
    const time = html`<span>${duration((run.endedAt ?? performance.now()) - run.startedAt)}</span>`;
    if (run.endedAt === undefined) return html`<span class="spinner"></span>${run.stopping ? "stopping" : "running"} ${time}`;
    if (run.exitCode === undefined) return html`<span class="badge failed">${run.note ?? "failed"}</span>${time}`;
    const ok = run.exitCode === 0;
    // A signal has no exit code: its words say it all.
    const words = run.exitCode < 0 && run.note ? run.note : `exit ${run.exitCode}`;
    return html`<span class="badge ${ok ? "ok" : "failed"}">${words}</span>${time}`;
  }

  private key(event: KeyboardEvent) {
    if (event.isComposing) return;
    const { field } = this;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.submit(event);
    } else if (event.key === "ArrowUp" && !field.value.slice(0, field.selectionStart).includes("\n")) {
      this.recall(event, -1);
    } else if (event.key === "ArrowDown" && !field.value.slice(field.selectionEnd).includes("\n")) {
      this.recall(event, 1);
    }
  }

  private recall(event: KeyboardEvent, step: number) {
    const at = this.historyAt + step;
    if (at < 0 || at > this.history.length) return;
    event.preventDefault();
    if (this.historyAt === this.history.length) this.draft = this.field.value;
    this.historyAt = at;
    this.field.value = this.history[at] ?? this.draft;
    this.field.setSelectionRange(this.field.value.length, this.field.value.length);
  }

  /** Whether nothing can be run. */
  private get off(): boolean {
    return this.ended || !this.sandbox;
  }

  private submit(event: Event) {
    event.preventDefault();
    const command = this.field.value;
    if (command.trim() === "" || this.running || this.off) return;
    this.field.value = "";
    if (this.history.at(-1) !== command) this.history.push(command);
    this.historyAt = this.history.length;
    void this.want(command);
  }

  /** Runs a command, in a paused sandbox once it was resumed. */
  private async want(command: string): Promise<void> {
    if (this.paused) {
      if (!(await mayResume("The command runs"))) {
        this.field.value ||= command;
        return;
      }
      this.wanted = command;
      // Somebody may have resumed it meanwhile.
      if (this.paused) this.dispatchEvent(new CustomEvent("need-resume", { composed: true }));
      else await this.goOn();
    } else await this.start(command);
  }

  /** The sandbox goes on: so does the command that its pause has cut off, or else the one that waits for it. */
  private async goOn(): Promise<void> {
    const { sandbox, wanted } = this;
    this.wanted = undefined;
    const cut = this.runs.at(-1);
    if (wanted !== undefined) await this.start(wanted);
    else if (sandbox && cut && isCutOff(cut)) {
      const { id, command, startedAt, output, pid } = cut;
      const run: Run = { id, command, startedAt, output, pid };
      this.runs = [...this.runs.slice(0, -1), run];
      output.write(`${RESUMED}\n`);
      await this.follow(run, () => sandbox.commands.connect(pid));
    }
  }

  /** Lets go of a command, since the sandbox is paused. Nothing is asked of that: it would wake, or not answer. */
  private cutOff(run: Run | undefined): void {
    if (!run || run.endedAt !== undefined) return;
    const { handle } = run;
    if (handle) run.pid = handle.pid;
    run.note = CUT_OFF;
    this.finish(run);
    void handle?.disconnect().catch(() => {});
  }

  private async start(command: string): Promise<void> {
    const { sandbox } = this;
    if (!sandbox || this.running) return;
    this.counter += 1;
    const run: Run = { id: this.counter, command, startedAt: performance.now(), output: new OutputLines(KEPT_LINES) };
    this.runs = [...this.runs, run].slice(-KEPT_RUNS);
    await this.follow(run, () => sandbox.commands.start(command, { timeoutMs: 0 }));
  }

  /** Reads a command to its end. */
  private async follow(run: Run, begin: () => Promise<CommandHandle>): Promise<void> {
    this.running = run;
    clearInterval(this.clock);
    this.clock = setInterval(() => this.requestUpdate(), 500);
    await this.updateComplete;
    this.following = true;
    this.followEnd();
    try {
      const handle = await begin();
      run.handle = handle;
      if (run.stopping) void this.stop();
      await this.read(run, handle);
    } catch (error) {
      if (run.endedAt !== undefined) return;
      // A command that an earlier page has started, or that a pause has cut off, may have ended meanwhile.
      if (run.pid !== undefined && codeOf(error) === MISSING) run.note = "ended unseen";
      else if (isPaused(error)) this.cutOff(run);
      else run.error = error;
    } finally {
      this.finish(run);
    }
  }

  private begin() {
    void this.stop();
    this.runs = [];
    this.restore();
  }

  /** Shows what an earlier page has kept, and goes on with the command that ran. */
  private restore() {
    const { sandbox, storage } = this;
    if (!sandbox || storage === undefined) return;
    this.runs = restoreRuns(storage).map(({ command, began, took, exitCode, note, pid, ...output }) => {
      this.counter += 1;
      const startedAt = performance.now() - (Date.now() - began);
      const run: Run = { id: this.counter, command, startedAt, output: new OutputLines(KEPT_LINES, output) };
      const runs = took === undefined && pid !== undefined && !this.ended;
      if (runs) run.pid = pid;
      else run.endedAt = startedAt + (took ?? Date.now() - began);
      if (exitCode !== undefined) run.exitCode = exitCode;
      if (note !== undefined) run.note = note;
      else if (took === undefined && !runs) run.note = this.ended ? "ended with the sandbox" : "lost by the reload";
      return run;
    });
    this.history.splice(0, this.history.length, ...this.runs.map((run) => run.command));
    this.historyAt = this.history.length;
    const run = this.runs.find(({ endedAt }) => endedAt === undefined);
    const { pid } = run ?? {};
    if (!run || pid === undefined) return;
    run.output.write(`${RELOADED}\n`);
    void this.follow(run, () => sandbox.commands.connect(pid));
  }

  private readonly keep = () => {
    const { storage } = this;
    // A sandbox that is gone has nothing to go on with, and what was kept of it may be forgotten already.
    if (storage === undefined || this.ended) return;
    const runs = this.runs.map((run, at) =>
      at === this.runs.length - 1 && isCutOff(run) ? { ...run, note: undefined, endedAt: undefined } : run,
    );
    const kept = runs.map(({ command, startedAt, endedAt, exitCode, note, error, handle, pid, output }) => ({
      command,
      began: Date.now() - (performance.now() - startedAt),
      ...(endedAt === undefined ? {} : { took: endedAt - startedAt }),
      ...(endedAt === undefined && (handle ?? pid) !== undefined ? { pid: handle?.pid ?? pid } : {}),
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(note === undefined && error === undefined ? {} : { note: note ?? "failed" }),
      lines: output.lines.slice(0, output.lines.at(-1)?.length === 0 ? -1 : undefined),
      dropped: output.dropped,
    }));
    keepRuns(storage, kept);
  };

  private get storage(): string | undefined {
    return this.storageKey !== "" && this.sandbox ? `${this.storageKey}.commands.${this.sandbox.sandboxId}` : undefined;
  }

  private async read(run: Run, handle: CommandHandle): Promise<void> {
    const pacer = new DrawPacer(() => this.draw(run));
    for await (const chunk of handle) {
      if (run.endedAt !== undefined) return;
      if (chunk.type === "exit") {
        run.exitCode = chunk.exitCode;
        if (chunk.error !== undefined) run.note = chunk.error;
        continue;
      }
      run.output.write(chunk.data, chunk.type);
      await pacer.wrote(chunk.data.length);
    }
  }

  /** Ends the running command. */
  private async stop(): Promise<void> {
    const run = this.running;
    if (!run) return;
    run.stopping = true;
    this.requestUpdate();
    const { handle } = run;
    // Not started yet: `start` stops it as soon as there is something to stop.
    if (!handle) return;
    try {
      await handle.kill();
    } catch (error) {
      run.error ??= error;
    }
    setTimeout(() => {
      if (run.endedAt !== undefined) return;
      run.note = "stopped";
      this.finish(run);
      void handle.disconnect().catch(() => {});
    }, STOP_PATIENCE_MS);
  }

  private finish(run: Run): void {
    if (run.endedAt !== undefined) return;
    run.endedAt = performance.now();
    if (run.exitCode === undefined && run.stopping) run.note = "stopped";
    delete run.handle;
    if (this.running === run) {
      this.running = undefined;
      clearInterval(this.clock);
    }
    this.draw(run);
    this.requestUpdate();
    if (run.note !== CUT_OFF) this.dispatchEvent(new CustomEvent("command-end"));
  }

  private draw(run: Run): void {
    this.renderRoot.querySelector<SandboxOutput>(`sandbox-output[data-run="${run.id}"]`)?.draw();
    this.followEnd();
  }

  private followEnd(): void {
    if (this.following && this.scroller) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    // Only going up lets go of the end: news of an earlier scroll can arrive when the output has grown again.
    if (scrollHeight - scrollTop - clientHeight < 40) this.following = true;
    else if (scrollTop < this.scrolledTo) this.following = false;
    this.scrolledTo = scrollTop;
  }
}

/** Whether a command may go on once the sandbox does. */
function isCutOff(run: Run): run is Run & { readonly pid: number } {
  return run.note === CUT_OFF && run.pid !== undefined;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-command": SandboxCommand;
  }
}
