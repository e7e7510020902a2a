import type { Sandbox, TerminalEnd, TerminalSession } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { Appearance } from "./appearance.js";
import { isGone } from "./describe-error.js";
import { openLink } from "./open-link.js";
import { base } from "./styles.js";
import type { TerminalEngine } from "./terminal/terminal-engine.js";
import "./sandbox-error.js";

/** How the terminal is doing. */
export type TerminalPhase = "starting" | "open" | "ended" | "failed";

/**
 * A shell in a terminal. It starts one when it is first shown, and ends it when it leaves the page.
 *
 * @fires terminal-change - its {@link SandboxTerminal.phase} has changed
 */
@customElement("sandbox-terminal")
export class SandboxTerminal extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex-direction: column;
        position: relative;
        min-height: 0;
        min-width: 0;
        background: var(--sb-surface);
      }
      .screen {
        flex: 1;
        min-height: 0;
        margin: 6px 4px 4px 10px;
        overflow: hidden;
      }
      .starting {
        position: absolute;
        inset: 12px auto auto 14px;
        display: flex;
        align-items: center;
        gap: 8px;
        color: var(--sb-muted);
      }
      .ended {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px 12px;
        padding: 8px 12px;
        border-top: 1px solid var(--sb-border);
        background: var(--sb-bg);
      }
      .ended span {
        flex: 1;
        min-width: 12ch;
      }
      sandbox-error {
        margin: 8px 12px;
      }
    `,
  ];

  /** The sandbox to open the shell in. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** Whether the sandbox is gone: no other shell is offered then. */
  @property({ type: Boolean }) ended = false;
  /** Whether the terminal is the one shown. A hidden one keeps its size and goes on reading. */
  @property({ type: Boolean }) active = false;
  /** What screen readers call it. */
  @property() label = "Terminal";
  @state() private current: TerminalPhase = "starting";
  @state() private end: TerminalEnd | undefined;
  @state() private error: unknown;
  @query(".screen") private screen!: HTMLElement;

  private readonly appearance = new Appearance(this);
  private readonly sizes = new ResizeObserver(() => this.engine?.fit());
  private engine: TerminalEngine | undefined;
  private session: TerminalSession | undefined;
  private begun = false;

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

  override focus() {
    this.engine?.focus();
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes.disconnect();
    this.engine?.dispose();
    this.engine = undefined;
    // The sandbox may be gone already: then there is nothing left to end.
    void this.session?.close().catch(() => {});
  }

  override render() {
    return html`
      <div class="screen" role="group" aria-label=${this.label}></div>
      ${
        this.current === "starting"
          ? html`<div class="starting" role="status"><span class="spinner"></span>Starting a shell</div>`
          : nothing
      }
      ${this.current === "failed" ? this.renderFailure() : nothing} ${this.current === "ended" ? this.renderEnd() : nothing}
    `;
  }

  private renderFailure() {
    const retry = this.gone ? "" : "Start a new one";
    return html`<sandbox-error .error=${this.error} doing="Terminal" retry-label=${retry} @retry=${() => this.open()}>
      ${this.attachButton()}
    </sandbox-error>`;
  }

  private renderEnd() {
    return html`<div class="ended" role="status">
      <span>${endInWords(this.end)}</span>
      ${this.attachButton()}
      ${this.gone ? nothing : html`<button class="button" @click=${() => this.open()}>Start a new one</button>`}
    </div>`;
  }

  private get gone(): boolean {
    return this.ended || isGone(this.error);
  }

  /** A shell that was only lost from sight may still run. */
  private attachButton() {
    const pid = this.session?.pid;
    if (this.gone || pid === undefined || (this.end?.reason !== "lost" && this.end?.reason !== "detached")) return nothing;
    return html`<button class="button" @click=${() => this.open(pid)}>Attach again</button>`;
  }

  protected override updated() {
    if (this.engine) this.engine.dark = this.appearance.dark;
    if (!this.active || !this.sandbox || this.begun) return;
    this.begun = true;
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
      link: (address) => void openLink(address),
    });
    this.sizes.observe(this.screen);
    await this.open();
  }

  private async open(pid?: number): Promise<void> {
    const { sandbox, engine } = this;
    if (!engine) return this.begun ? undefined : this.begin();
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
      engine.takesInput = true;
      this.enter("open");
      // The window may have changed while the shell was starting; an attached shell also redraws itself on this.
      if (pid !== undefined || engine.size.cols !== size.cols || engine.size.rows !== size.rows) {
        void session.resize(engine.size.cols, engine.size.rows).catch(() => {});
      }
      if (this.active) engine.focus();
      for await (const data of session.outputStream()) await engine.write(data);
      this.finish(await session.closed);
    } catch (error) {
      this.fail(error);
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

  private enter(phase: TerminalPhase): void {
    this.current = phase;
    this.dispatchEvent(new CustomEvent("terminal-change"));
  }
}

function endInWords(end: TerminalEnd | undefined): string {
  if (end?.reason === "killed") return "The shell was killed.";
  if (end?.reason === "detached") return "The terminal let go of the shell, which goes on.";
  return end?.exitCode === undefined ? "The shell has ended." : `The shell has ended with exit code ${end.exitCode}.`;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-terminal": SandboxTerminal;
  }
}
