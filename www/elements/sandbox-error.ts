import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { describeError } from "./describe-error.js";
import { element } from "./element.js";
import { icon } from "./icons.js";
import { base } from "./styles.js";

/**
 * An error as a panel: what went wrong, its code, its message, what to do about it, and a way forward.
 *
 * @slot - further ways forward, as buttons
 * @fires retry - the person wants to try again
 * @fires dismiss - the person has read it
 */
@element("sandbox-error")
export class SandboxErrorPanel extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: block;
      }
      .panel {
        display: grid;
        grid-template-columns: auto 1fr auto;
        gap: 2px 10px;
        padding: 10px 12px;
        border: 1px solid color-mix(in srgb, var(--sb-danger) 35%, transparent);
        border-radius: var(--sb-radius);
        background: var(--sb-danger-bg);
        text-align: start;
      }
      .panel > svg {
        color: var(--sb-danger);
        margin-top: 1px;
      }
      .calm {
        border-color: var(--sb-border-strong);
        background: var(--sb-raised);
      }
      .calm > svg {
        color: var(--sb-muted);
      }
      .text {
        min-width: 0;
        overflow-wrap: anywhere;
      }
      .title {
        font-weight: 600;
      }
      .code {
        margin-inline-start: 6px;
        padding: 0 5px;
        border: 1px solid currentcolor;
        border-radius: 4px;
        color: var(--sb-danger);
        font: 11px / 1.5 var(--sb-mono);
      }
      p {
        margin: 2px 0 0;
      }
      .actions {
        display: flex;
        flex-wrap: wrap;
        gap: 6px;
      }
      .actions .button,
      ::slotted(*) {
        /* What is slotted has rules of its own tree, which would win. */
        margin-top: 8px !important;
      }
    `,
  ];

  /** What was thrown. */
  @property({ attribute: false }) error: unknown;
  /** What was being done, such as `Renaming notes.txt`; shown before the title. */
  @property() doing = "";
  /** The label of the button that fires `retry`; without one there is no button. */
  @property({ attribute: "retry-label" }) retryLabel = "";
  /** Whether the panel can be closed. */
  @property({ type: Boolean }) dismissible = false;

  /** Whether it is no surprise, as after a person's own doing: it is then told quietly. */
  @property({ type: Boolean }) calm = false;

  override render() {
    if (this.error === undefined) return nothing;
    const { title, code, message, suggestion } = describeError(this.error);
    return html`
      <div class="panel ${this.calm ? "calm" : ""}" role=${this.calm ? "status" : "alert"}>
        ${icon(this.calm ? "power" : "error")}
        <div class="text">
          <span class="title">${this.doing ? `${this.doing}: ` : ""}${title}</span>${code ? html`<span class="code">${code}</span>` : nothing}
          <p>${message}</p>
          ${suggestion ? html`<p class="muted">${suggestion}</p>` : nothing}
          <div class="actions">
            ${this.retryLabel ? html`<button class="button" @click=${() => this.tell("retry")}>${this.retryLabel}</button>` : nothing}
            <slot></slot>
          </div>
        </div>
        ${
          this.dismissible
            ? html`<button class="icon-button" aria-label="Dismiss" @click=${() => this.tell("dismiss")}>${icon("close")}</button>`
            : nothing
        }
      </div>
    `;
  }

  private tell(type: string) {
    this.dispatchEvent(new CustomEvent(type));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-error": SandboxErrorPanel;
  }
}
