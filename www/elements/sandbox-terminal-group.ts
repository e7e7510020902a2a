import type { ProcessInfo, Sandbox } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { element } from "./element.js";
import { icon } from "./icons.js";
import type { SandboxTerminal } from "./sandbox-terminal.js";
import type { SandboxTerminalSettings } from "./sandbox-terminal-settings.js";
import { base } from "./styles.js";
import type { KeptTerminal } from "./terminal/keep.js";
import { TOUCH_KEYS } from "./terminal/touch-keys.js";
import "./sandbox-terminal.js";
import "./sandbox-terminal-settings.js";

interface Pane {
  readonly key: number;
  readonly kept?: KeptTerminal | undefined;
}

// More than that nobody can read.
const MOST = 4;

/** Terminals side by side, or one above the other where there is little room, with their tools. */
@element("sandbox-terminal-group")
export class SandboxTerminalGroup extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-width: 0;
        min-height: 0;
        container-type: inline-size;
      }
      .bar {
        display: flex;
        justify-content: flex-end;
        gap: 2px;
        flex: none;
        padding: 2px 6px;
        border-bottom: 1px solid var(--sb-border);
        background: var(--sb-surface);
      }
      .panes {
        display: flex;
        flex: 1;
        min-height: 0;
      }
      .pane {
        position: relative;
        display: flex;
        flex: 1 1 0;
        min-width: 0;
        min-height: 0;
      }
      .pane + .pane {
        border-inline-start: 1px solid var(--sb-border);
      }
      .several .pane::before {
        content: "";
        position: absolute;
        z-index: 1;
        inset: 0 0 auto;
        height: 2px;
      }
      .several .pane:focus-within::before {
        background: var(--sb-accent);
      }
      sandbox-terminal {
        flex: 1;
      }
      .keys {
        display: none;
        flex: none;
        gap: 4px;
        padding: 4px 6px;
        overflow-x: auto;
        border-top: 1px solid var(--sb-border);
        background: var(--sb-bg);
      }
      .keys button {
        flex: 1 0 auto;
        min-width: 30px;
        min-height: 36px;
        padding: 0 4px;
        border: 1px solid var(--sb-border-strong);
        border-radius: 6px;
        background: var(--sb-raised);
        font: 13px var(--sb-mono);
      }
      .keys [aria-pressed="true"] {
        border-color: var(--sb-accent);
        background: var(--sb-accent-fill);
        color: var(--sb-on-fill);
      }
      @media (pointer: coarse) {
        .keys {
          display: flex;
        }
      }
      @container (max-width: 640px) {
        .panes {
          flex-direction: column;
        }
        .pane + .pane {
          border-block-start: 1px solid var(--sb-border);
          border-inline-start: 0;
        }
      }
    `,
  ];

  /** The sandbox to open shells in. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** See `<sandbox-terminal>`. */
  @property({ type: Boolean }) ended = false;
  /** See `<sandbox-terminal>`. */
  @property({ type: Boolean }) paused = false;
  /** See `<sandbox-terminal>`. */
  @property({ type: Boolean }) active = false;
  /** What screen readers call it. */
  @property() label = "Terminal";
  /** Terminals of an earlier page to go on with; read once. */
  @property({ attribute: false }) kept: readonly KeptTerminal[] = [];
  @state() private panes: readonly Pane[] = [];
  /** The terminal that was used last. */
  @state() private used = 0;
  @query("sandbox-terminal-settings") private settings!: SandboxTerminalSettings;
  /** Whether Ctrl is held for the next key, by the bar of keys. */
  @state() private control = false;
  private counter = 0;

  /** What a later page needs to go on with its terminals. */
  keep(): KeptTerminal[] {
    return this.terminals.map((terminal) => terminal.keep()).filter((kept) => kept !== undefined);
  }

  override focus() {
    this.terminal?.focus();
  }

  protected override willUpdate() {
    if (this.panes.length > 0) return;
    const kept = this.kept.slice(0, MOST);
    this.panes = kept.length > 0 ? kept.map((one) => this.pane(one)) : [this.pane()];
    this.used = this.panes[0]?.key ?? 0;
  }

  override render() {
    const { panes } = this;
    const several = panes.length > 1;
    const off = this.ended || !this.sandbox;
    return html`
      <div class="bar" role="toolbar" aria-label=${`${this.label}, tools`}>
        ${this.renderTool("Find in the terminal", "Find (Ctrl-Shift-F)", "search", () => this.terminal?.search())}
        ${this.renderTool("Split the terminal", "Split", "split", () => this.add(), off || panes.length >= MOST)}
        ${this.renderTool("Settings of terminals", "Text size, lines kept, shells without a terminal", "settings", (event) => this.settings.toggle(event))}
        ${several ? this.renderTool("Close this part", "Close this part and end its shell", "close", () => this.closeUsed()) : nothing}
      </div>
      <div class="panes ${several ? "several" : ""}">
        ${repeat(
          panes,
          (pane) => pane.key,
          (pane, at) => html`<div class="pane" @focusin=${() => this.use(pane.key)}>
            <sandbox-terminal data-key=${pane.key} label=${several ? `${this.label}, part ${at + 1}` : this.label} .sandbox=${this.sandbox}
              .kept=${pane.kept} ?borrowed=${pane.kept?.borrowed} ?ended=${this.ended} ?paused=${this.paused} ?active=${this.active}
              @terminal-leave=${() => this.leave()} @terminal-control=${() => this.setControl(false)}></sandbox-terminal>
          </div>`,
        )}
      </div>
      ${this.renderKeys()}
      <sandbox-terminal-settings .sandbox=${this.ended ? undefined : this.sandbox}
        @shell-attach=${(event: CustomEvent<ProcessInfo>) => this.add({ pid: event.detail.pid, text: "", borrowed: true })}></sandbox-terminal-settings>
    `;
  }

  /** Keys for who has none. Pressing one leaves the focus, and with it the keyboard of a phone, where it is. */
  private renderKeys() {
    const button = (text: string, label: string, act: () => void, pressed: boolean | typeof nothing = nothing) =>
      html`<button aria-label=${label} aria-pressed=${pressed} @pointerdown=${(event: Event) => event.preventDefault()} @click=${act}>${text}</button>`;
    return html`<div class="keys" role="toolbar" aria-label=${`${this.label}, keys`}>
      ${button("Ctrl", "Ctrl for the next key", () => this.setControl(!this.control), this.control)}
      ${TOUCH_KEYS.map((key) => button(key.text, key.label, () => this.terminal?.press(key)))}
    </div>`;
  }

  private setControl(held: boolean) {
    this.control = held;
    this.terminal?.holdControl(held);
  }

  private renderTool(
    label: string,
    title: string,
    name: Parameters<typeof icon>[0],
    act: (event: Event) => void,
    disabled = false,
  ) {
    return html`<button class="icon-button" aria-label=${label} title=${title} ?disabled=${disabled} @click=${act}>${icon(name)}</button>`;
  }

  private get terminals(): SandboxTerminal[] {
    return [...this.renderRoot.querySelectorAll("sandbox-terminal")];
  }

  private get terminal(): SandboxTerminal | null {
    return this.renderRoot.querySelector(`sandbox-terminal[data-key="${this.used}"]`);
  }

  private pane(kept?: KeptTerminal): Pane {
    this.counter += 1;
    return { key: this.counter, kept };
  }

  private add(kept?: KeptTerminal) {
    const pane = this.pane(kept);
    const at = this.panes.findIndex(({ key }) => key === this.used) + 1;
    this.panes = [...this.panes.slice(0, at), pane, ...this.panes.slice(at)];
    this.used = pane.key;
  }

  private use(key: number) {
    if (key !== this.used) this.setControl(false);
    this.used = key;
  }

  private closeUsed() {
    const at = this.panes.findIndex(({ key }) => key === this.used);
    this.panes = this.panes.filter(({ key }) => key !== this.used);
    this.used = this.panes[Math.max(0, at - 1)]?.key ?? 0;
    void this.updateComplete.then(() => this.focus());
  }

  /** To the tools: from there Tab goes on through the page, which in a terminal is the shell's. */
  private leave() {
    this.renderRoot.querySelector<HTMLElement>(".bar button")?.focus();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-terminal-group": SandboxTerminalGroup;
  }
}
