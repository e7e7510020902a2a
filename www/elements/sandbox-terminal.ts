import { type Sandbox, SandboxError, type TerminalEnd, type TerminalSession } from "agent-sandbox-web";
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { Appearance } from "./appearance.js";
import { Attention } from "./attention.js";
import { isGone } from "./describe-error.js";
import { element } from "./element.js";
import { icon } from "./icons.js";
import { plainName } from "./names.js";
import { openLink } from "./open-link.js";
import { RELOADED } from "./reloaded.js";
import { confirm } from "./sandbox-dialog.js";
import { base } from "./styles.js";
import type { KeptTerminal } from "./terminal/keep.js";
import { holdShell } from "./terminal/shells.js";
import type { Found, TerminalEngine } from "./terminal/terminal-engine.js";
import type { TouchKey } from "./terminal/touch-keys.js";
import { terminalStyles } from "./terminal-styles.js";
import "./sandbox-error.js";

/** The code of a call about a process that is not there. */
const MISSING = "E3000";

/** The ends after which the shell may still run. */
const ATTACHABLE: readonly (TerminalEnd["reason"] | undefined)[] = ["lost", "detached", "paused"];

/** How the terminal is doing. */
export type TerminalPhase = "starting" | "open" | "ended" | "failed";

/**
 * A shell in a terminal. It starts one when it is first shown, and ends it when it leaves the page; a reload leaves it running, and the
 * next page reads on at once.
 *
 * @fires terminal-change - its {@link SandboxTerminal.phase} has changed
 * @fires terminal-control - Ctrl, held for one character, is let go of
 * @fires terminal-leave - the person wants to leave it by keyboard (F6)
 */
@element("sandbox-terminal")
export class SandboxTerminal extends LitElement {
  static override styles = [base, terminalStyles];

  /** The sandbox to open the shell in. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** Whether the sandbox is gone: no other shell is offered then. */
  @property({ type: Boolean }) ended = false;
  /** Whether the terminal is the one shown. A hidden one keeps its size and goes on reading. */
  @property({ type: Boolean }) active = false;
  /** Whether the sandbox is paused: a shell that was interrupted by that is attached again afterwards, and a new one starts only then. */
  @property({ type: Boolean }) paused = false;
  /** What screen readers call it. */
  @property() label = "Terminal";
  /** A shell of an earlier page to go on with, in place of a new one. */
  @property({ attribute: false }) kept: KeptTerminal | undefined;
  /** Whether the shell belongs to somebody else: it is then only let go of at the end. */
  @property({ type: Boolean }) borrowed = false;
  @state() private current: TerminalPhase = "starting";
  @state() private end: TerminalEnd | undefined;
  @state() private error: unknown;
  @state() private finding = false;
  @state() private found: Found = { at: 0, count: 0 };
  @query(".screen") private screen!: HTMLElement;
  @query(".find input") private findField!: HTMLInputElement | null;

  private readonly appearance = new Appearance(this);
  private readonly attention = new Attention(this);
  // Without a size nothing can be measured: a terminal in a hidden part of the page begins when that is shown.
  private readonly sizes = new ResizeObserver(() => (this.engine ? this.engine.fit() : this.requestUpdate()));
  private engine: TerminalEngine | undefined;
  private session: TerminalSession | undefined;
  private begun = false;
  private release: (() => void) | undefined;

  /** How the terminal is doing. */
  get phase(): TerminalPhase {
    return this.current;
  }

  /** The process id of the shell, once it runs. */
  get pid(): number | undefined {
    return this.session?.pid;
  }

  /** What is on the screen and above it, as text. */
  text(): string {
    return this.engine?.text() ?? "";
  }

  /** What a later page needs to go on with it; `undefined` without a shell that runs. */
  keep(): KeptTerminal | undefined {
    const { pid } = this;
    if (this.current === "ended") return undefined;
    if (pid !== undefined && this.engine)
      return { pid, text: this.engine.serialize(), borrowed: this.borrowed, ...this.engine.size };
    // One that has not been attached to again goes on being what it was.
    return this.kept;
  }

  /** Opens the search in what was printed. */
  search(): void {
    this.finding = true;
    void this.updateComplete.then(() => {
      this.findField?.focus();
      this.findField?.select();
    });
  }

  /** Gives it the keys; one that is still opening gets them then. */
  override focus() {
    this.attention.begin();
    this.engine?.focus();
  }

  /** Types a key that keyboards of phones do not have. */
  press(key: TouchKey): void {
    this.engine?.press(key);
  }

  /** Holds Ctrl for the next character, or lets go of it. */
  holdControl(held: boolean): void {
    if (this.engine) this.engine.control = held;
  }

  protected override firstUpdated() {
    this.sizes.observe(this.screen);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes.disconnect();
    this.engine?.dispose();
    this.engine = undefined;
    this.release?.();
    // The sandbox may be gone already: then there is nothing left to end.
    void (this.borrowed ? this.session?.detach() : this.session?.kill())?.catch(() => {});
  }

  override render() {
    return html`
      ${this.finding ? this.renderFind() : nothing}
      <div class="screen" role="group" aria-label=${this.label}></div>
      ${
        this.current === "starting"
          ? html`<div class="starting" role="status">${this.paused ? "A shell starts once the sandbox is resumed" : html`<span class="spinner"></span>Starting a shell`}</div>`
          : nothing
      }
      ${this.current === "failed" ? this.renderFailure() : nothing} ${this.current === "ended" ? this.renderEnd() : nothing}
    `;
  }

  private renderFind() {
    const { at, count } = this.found;
    return html`<form class="find" role="search" @submit=${(event: Event) => {
      event.preventDefault();
      this.find("next");
    }} @keydown=${this.findKey}>
      <input class="field" aria-label="Text to find in the terminal" placeholder="Find" autocomplete="off" spellcheck="false"
        @input=${() => this.find("next", true)} />
      <span class="count" role="status">${count === 0 ? (this.findField?.value ? "none" : "") : `${at || "?"} of ${count}`}</span>
      <button type="button" class="icon-button" aria-label="Find before" title="Before (Shift-Enter)" @click=${() => this.find("previous")}>${icon("up")}</button>
      <button class="icon-button" aria-label="Find after" title="After (Enter)">${icon("down")}</button>
      <button type="button" class="icon-button" aria-label="Close the search" @click=${() => this.endFind()}>${icon("close")}</button>
    </form>`;
  }

  private renderFailure() {
    const retry = this.gone || this.paused ? "" : "Start a new one";
    return html`<sandbox-error .error=${this.error} ?calm=${this.ended} doing="Terminal" retry-label=${retry} @retry=${() => this.open()}>
      ${this.attachButton()}
    </sandbox-error>`;
  }

  private renderEnd() {
    return html`<div class="ended" role="status">
      <span>${endInWords(this.end)}</span>
      ${this.attachButton()}
      ${this.gone || this.paused ? nothing : html`<button class="button" @click=${() => this.open()}>Start a new one</button>`}
    </div>`;
  }

  private get gone(): boolean {
    return this.ended || isGone(this.error);
  }

  /** A shell that was only lost from sight may still run. */
  private attachButton() {
    const pid = this.session?.pid;
    if (this.gone || this.paused || pid === undefined || !ATTACHABLE.includes(this.end?.reason)) return nothing;
    return html`<button class="button" @click=${() => this.open(pid)}>Attach again</button>`;
  }

  protected override updated(changed: PropertyValues<this>) {
    if (this.engine) {
      this.engine.dark = this.appearance.dark;
      this.engine.shown = this.active;
    }
    if (changed.get("paused") === true && !this.paused && this.end?.reason === "paused") void this.open(this.session?.pid, false);
    if (!this.sandbox || this.begun || this.paused) return;
    // A new shell is started when it is looked at; of one that runs nothing more may be missed.
    if (!this.kept && (!this.active || this.screen.clientWidth === 0)) return;
    this.begun = true;
    this.attention.begin();
    void this.begin();
  }

  private async begin(): Promise<void> {
    let module: typeof import("./terminal/terminal-engine.js");
    try {
      module = await import("./terminal/terminal-engine.js");
    } catch (error) {
      this.begun = false;
      this.fail(error);
      return;
    }
    if (!this.isConnected) return;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(module.stylesheet);
    this.shadowRoot?.adoptedStyleSheets.push(sheet);
    this.engine = new module.TerminalEngine(this.screen, this.appearance.dark, {
      // What becomes of the session is told by its `closed`; a keystroke that came too late has no news of its own.
      input: (data) => void this.session?.send(data).catch(() => {}),
      size: (cols, rows) => void this.session?.resize(cols, rows).catch(() => {}),
      link: (address) => void openLink(address, this),
      controlled: () => this.dispatchEvent(new CustomEvent("terminal-control")),
      search: () => this.search(),
      leave: () => this.dispatchEvent(new CustomEvent("terminal-leave")),
      found: (found) => {
        this.found = found;
      },
      mayPaste: askToPaste,
    });
    this.engine.shown = this.active;
    const { kept } = this;
    if (kept) await this.engine.restore(kept.text === "" || this.ended ? kept.text : `${kept.text}\r\n${RELOADED}\r\n`, kept);
    if (kept && this.ended) this.stopTyping("ended");
    else await this.connect(kept?.pid, true);
  }

  /** Opens a shell, or attaches to one; `asked` says whether the person wants to go on in it. */
  private async open(pid?: number, asked = true): Promise<void> {
    this.attention.begin();
    if (this.engine) await this.connect(pid, asked);
    else if (!this.begun) await this.begin();
  }

  private async connect(pid: number | undefined, asked: boolean): Promise<void> {
    const { sandbox, engine } = this;
    if (!engine) return;
    if (!sandbox) return;
    this.enter("starting");
    this.end = undefined;
    this.error = undefined;
    try {
      const size = engine.size;
      const session = await sandbox.getTerminal(pid === undefined ? size : { ...size, pid });
      if (!this.isConnected) {
        await session.close();
        return;
      }
      if (pid === undefined) engine.reset();
      this.session = session;
      this.release?.();
      this.release = holdShell(sandbox, session.pid);
      engine.takesInput = true;
      this.enter("open");
      // The window may have changed while the shell was starting; an attached shell also redraws itself on this.
      if (pid !== undefined || engine.size.cols !== size.cols || engine.size.rows !== size.rows) {
        void session.resize(engine.size.cols, engine.size.rows).catch(() => {});
      }
      if (this.active && asked && this.attention.stayed) engine.focus();
      for await (const data of session.outputStream()) await engine.write(data);
      this.finish(await session.closed);
    } catch (error) {
      // A shell of an earlier page may have ended since.
      if (
        pid !== undefined &&
        pid === this.kept?.pid &&
        !isGone(error) &&
        error instanceof SandboxError &&
        error.code === MISSING
      ) {
        this.stopTyping("ended");
      } else this.fail(error);
    }
  }

  private finish(end: TerminalEnd): void {
    this.end = end;
    if (end.reason === "lost") this.fail(end.error ?? new Error("The connection to the shell was lost."));
    else this.stopTyping("ended");
  }

  private fail(error: unknown): void {
    this.error = error;
    this.stopTyping("failed");
  }

  private stopTyping(phase: TerminalPhase): void {
    if (this.engine) this.engine.takesInput = false;
    this.enter(phase);
  }

  private find(direction: "next" | "previous", incremental = false): void {
    this.engine?.find(this.findField?.value ?? "", direction, incremental);
  }

  private endFind(): void {
    this.finding = false;
    this.found = { at: 0, count: 0 };
    this.engine?.endSearch();
    this.focus();
  }

  private findKey(event: KeyboardEvent): void {
    if (event.key === "Escape") this.endFind();
    else if (event.key === "Enter" && event.shiftKey) this.find("previous");
    else return;
    event.preventDefault();
  }

  private enter(phase: TerminalPhase): void {
    this.current = phase;
    this.dispatchEvent(new CustomEvent("terminal-change"));
  }
}

async function askToPaste(text: string): Promise<boolean> {
  return confirm({
    title: "Paste several lines?",
    text: "The program in the terminal may run each line as it comes.",
    detail: plainName(text.slice(0, 600)).replaceAll("\\n", "\n"),
    action: "Paste",
  });
}

function endInWords(end: TerminalEnd | undefined): string {
  if (end?.reason === "paused") return "The sandbox is paused; the shell goes on when it is resumed.";
  if (end?.reason === "killed") return "The shell was killed.";
  if (end?.reason === "detached") return "The terminal let go of the shell, which goes on.";
  return end?.exitCode === undefined ? "The shell has ended." : `The shell has ended with exit code ${end.exitCode}.`;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-terminal": SandboxTerminal;
  }
}
