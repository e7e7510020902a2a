import type { ProcessInfo, Sandbox } from "agent-sandbox-web";
import { css, html, LitElement } from "lit";
import { property, query, state } from "lit/decorators.js";
import { element } from "./element.js";
import { plainName } from "./names.js";
import { base } from "./styles.js";
import { changeTerminalSettings, FONT_SIZES, onTerminalSettings, SCROLLBACKS, terminalSettings } from "./terminal/settings.js";
import { looseShells } from "./terminal/shells.js";
import "./sandbox-error.js";

/**
 * What can be set of terminals, and the shells that run without one, as a small panel.
 *
 * @fires shell-attach - the person wants a terminal for the running shell `detail`
 */
@element("sandbox-terminal-settings")
export class SandboxTerminalSettings extends LitElement {
  static override styles = [
    base,
    css`
      .panel {
        position: fixed;
        inset: auto;
        width: 290px;
        max-height: 60vh;
        margin: 0;
        padding: 12px;
        overflow: auto;
        border: 1px solid var(--sb-border);
        border-radius: 8px;
        background: var(--sb-raised);
        color: var(--sb-text);
        box-shadow: var(--sb-shadow);
      }
      .line {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 8px;
        min-height: 34px;
      }
      .size {
        display: flex;
        align-items: center;
        gap: 4px;
      }
      output {
        min-width: 3ch;
        text-align: center;
      }
      .field {
        width: auto;
      }
      h3 {
        margin: 10px 0 4px;
        font-size: 12px;
        font-weight: 600;
      }
      p {
        margin: 0;
        color: var(--sb-muted);
        font-size: 12px;
      }
      .shell {
        display: block;
        width: 100%;
        padding: 6px 8px;
        border: 0;
        border-radius: 5px;
        background: none;
        text-align: start;
        cursor: pointer;
      }
      .shell:hover {
        background: var(--sb-hover);
      }
    `,
  ];

  /** The sandbox whose shells are offered. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  @state() private shells: readonly ProcessInfo[] | undefined;
  @state() private error: unknown;
  @query(".panel") private panel!: HTMLElement;
  private forget: (() => void) | undefined;

  override connectedCallback() {
    super.connectedCallback();
    this.forget = onTerminalSettings(() => this.requestUpdate());
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.forget?.();
  }

  /** Opens it below the button that asked for it, or closes it. */
  toggle(event: Event): void {
    const from = (event.currentTarget as HTMLElement).getBoundingClientRect();
    this.panel.togglePopover();
    if (!this.panel.matches(":popover-open")) return;
    const { offsetWidth } = this.panel;
    this.panel.style.left = `${Math.max(4, Math.min(from.right - offsetWidth, innerWidth - offsetWidth - 4))}px`;
    // Above the button when there is more room: terminals are at the bottom of the page.
    const below = innerHeight - from.bottom;
    this.panel.style.top = below >= from.top ? `${from.bottom + 2}px` : "auto";
    this.panel.style.bottom = below >= from.top ? "auto" : `${innerHeight - from.top + 2}px`;
    this.panel.querySelector<HTMLElement>("button")?.focus();
    void this.look();
  }

  override render() {
    const { fontSize, scrollback, screenReader } = terminalSettings();
    return html`<div class="panel" popover role="dialog" aria-label="Settings of terminals">
      <div class="line">
        <span id="size">Text size</span>
        <span class="size" role="group" aria-labelledby="size">
          <button class="button" aria-label="Smaller" ?disabled=${fontSize <= FONT_SIZES.least} @click=${() => changeTerminalSettings({ fontSize: fontSize - 1 })}>−</button>
          <output>${fontSize}</output>
          <button class="button" aria-label="Larger" ?disabled=${fontSize >= FONT_SIZES.most} @click=${() => changeTerminalSettings({ fontSize: fontSize + 1 })}>+</button>
        </span>
      </div>
      <label class="line">Lines kept above the screen
        <select class="field" @change=${(event: Event) => changeTerminalSettings({ scrollback: Number((event.target as HTMLSelectElement).value) })}>
          ${SCROLLBACKS.map((lines) => html`<option value=${lines} ?selected=${lines === scrollback}>${lines.toLocaleString("en")}</option>`)}
        </select>
      </label>
      <label class="line">Tell the text to screen readers
        <input type="checkbox" .checked=${screenReader}
          @change=${(event: Event) => changeTerminalSettings({ screenReader: (event.target as HTMLInputElement).checked })} />
      </label>
      <p>F6 leaves a terminal by keyboard. Ctrl-C copies what is selected; Ctrl-Shift-V pastes.</p>
      <h3>Shells without a terminal here</h3>
      ${this.renderShells()}
    </div>`;
  }

  private renderShells() {
    if (this.error !== undefined) {
      return html`<sandbox-error .error=${this.error} doing="Looking for shells" retry-label="Try again" @retry=${() => this.look()}></sandbox-error>`;
    }
    if (!this.shells) return html`<p role="status">Looking</p>`;
    if (this.shells.length === 0) return html`<p>There is none.</p>`;
    return this.shells.map(
      (shell) => html`<button class="shell" @click=${() => this.attach(shell)}>
        <span class="mono">${plainName(shell.command)}</span> <span class="muted">${shell.pid}${shell.cwd ? `, ${plainName(shell.cwd)}` : ""}</span></button>`,
    );
  }

  private async look(): Promise<void> {
    const { sandbox } = this;
    this.error = undefined;
    this.shells = sandbox ? undefined : [];
    if (!sandbox) return;
    try {
      this.shells = await looseShells(sandbox);
    } catch (error) {
      this.error = error;
    }
  }

  private attach(detail: ProcessInfo) {
    this.panel.hidePopover();
    this.dispatchEvent(new CustomEvent("shell-attach", { detail }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-terminal-settings": SandboxTerminalSettings;
  }
}
