import type { SandboxInfo } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { span } from "../elements/format.js";
import { icon } from "../elements/icons.js";
import { plainName } from "../elements/names.js";
import { base } from "../elements/styles.js";
import { Clock } from "./clock.js";
import { statusDot, timeLeft } from "./status.js";

/**
 * What there is to know of the open sandbox, and what can be done with it as a whole.
 *
 * @fires show-list - the person wants back to the list
 * @fires extend-sandbox - the person wants it to live longer
 * @fires kill-sandbox - the person wants to end it
 */
@customElement("console-sandbox-bar")
export class ConsoleSandboxBar extends LitElement {
  static override styles = [
    base,
    statusDot,
    css`
      :host {
        display: flex;
        align-items: center;
        gap: 8px;
        flex: none;
        height: 48px;
        padding-inline: 14px 10px;
        border-bottom: 1px solid var(--sb-border);
        background: var(--sb-surface);
      }
      .back {
        display: none;
        margin-inline-start: -8px;
      }
      h2 {
        min-width: 0;
        margin: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        font: 600 13px / 1.4 var(--sb-mono);
      }
      .facts {
        display: flex;
        flex: 1;
        gap: 14px;
        min-width: 0;
        overflow: hidden;
        color: var(--sb-muted);
        white-space: nowrap;
        font-variant-numeric: tabular-nums;
      }
      .soon {
        color: var(--sb-warn);
      }
      @media (max-width: 760px) {
        .back {
          display: inline-grid;
        }
        .optional,
        .label {
          display: none;
        }
        h2 {
          flex: 1;
        }
        .facts {
          flex: none;
        }
      }
    `,
  ];

  @property() sandboxId = "";
  /** What the platform last said of it; `undefined` when it has not said anything yet. */
  @property({ attribute: false }) info: SandboxInfo | undefined;
  /** Whether the sandbox is gone. */
  @property({ type: Boolean }) ended = false;
  @state() private copied = false;

  constructor() {
    super();
    new Clock(this);
  }

  override render() {
    const { info, sandboxId, ended } = this;
    const status = ended ? "ended" : (info?.status ?? "");
    const left = ended || info?.status !== "running" ? undefined : timeLeft(info.endAt);
    return html`
      <button class="icon-button back" aria-label="Back to the sandboxes" @click=${() => this.tell("show-list")}>${icon("back")}</button>
      <span class="dot ${status}"></span>
      <h2 title=${sandboxId}>${sandboxId}</h2>
      <button class="icon-button optional" title=${this.copied ? "Copied" : "Copy the id"} aria-label="Copy the id" @click=${this.copy}>
        ${icon("copy")}
      </button>
      <span class="facts">
        <span class="optional">${status}</span>
        ${info ? html`<span class="optional">${plainName(info.alias ?? info.template)}</span>` : nothing}
        ${
          left === undefined
            ? nothing
            : html`<span class=${left < 60_000 ? "soon" : ""} title="Until it ends by itself">${span(left)} left</span>`
        }
      </span>
      <button class="button" title="Let it live 15 minutes longer" aria-label="+15 min of life" ?disabled=${left === undefined}
        @click=${() => this.tell("extend-sandbox")}>${icon("time")}<span class="label">+15 min</span></button>
      <button class="button" ?disabled=${ended} @click=${() => this.tell("kill-sandbox")} aria-label="Kill">
        ${icon("power")}<span class="label">Kill</span>
      </button>
    `;
  }

  private async copy() {
    await navigator.clipboard.writeText(this.sandboxId);
    this.copied = true;
  }

  private tell(type: string) {
    this.dispatchEvent(new CustomEvent(type));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-sandbox-bar": ConsoleSandboxBar;
  }
}
