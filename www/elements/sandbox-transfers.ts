import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { element } from "./element.js";
import type { Transfer, Transfers } from "./files/transfers.js";
import { bytes } from "./format.js";
import { icon } from "./icons.js";
import { base } from "./styles.js";
import "./sandbox-error.js";

/** Uploads and downloads that are under way or have failed. Call `requestUpdate` when they have changed. */
@element("sandbox-transfers")
export class SandboxTransfers extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: block;
        max-height: 40%;
        overflow: auto;
        border-top: 1px solid var(--sb-border);
      }
      .transfer {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        align-items: center;
        gap: 0 4px;
        padding: 4px 4px 6px 10px;
        font-size: 12px;
      }
      .name {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: pre;
      }
      .far {
        grid-column: 1;
        color: var(--sb-muted);
        font-size: 11px;
        font-variant-numeric: tabular-nums;
      }
      .icon-button {
        grid-row: 1 / span 2;
        grid-column: 2;
      }
      progress {
        grid-column: 1 / -1;
        width: 100%;
        height: 4px;
        margin-top: 3px;
        border: 0;
        border-radius: 2px;
        overflow: hidden;
        background: var(--sb-border);
        accent-color: var(--sb-accent);
        appearance: none;
      }
      progress::-webkit-progress-bar {
        background: var(--sb-border);
      }
      progress::-webkit-progress-value {
        background: var(--sb-accent);
      }
      progress::-moz-progress-bar {
        background: var(--sb-accent);
      }
      progress:indeterminate {
        background: linear-gradient(90deg, var(--sb-border), var(--sb-accent), var(--sb-border)) 0 / 200% 100%;
        animation: flow 1.4s linear infinite;
      }
      progress:indeterminate::-webkit-progress-bar {
        background: none;
      }
      progress:indeterminate::-moz-progress-bar {
        background: none;
      }
      @keyframes flow {
        to {
          background-position: -200% 0;
        }
      }
      @media (prefers-reduced-motion: reduce) {
        progress:indeterminate {
          animation: none;
        }
      }
      sandbox-error {
        margin: 6px 8px;
      }
    `,
  ];

  @property({ attribute: false }) transfers: Transfers | undefined;

  override render() {
    const list = this.transfers?.list ?? [];
    return html`<div role="group" aria-label="Uploads and downloads">
      ${repeat(
        list,
        (transfer) => transfer,
        (transfer) => this.renderTransfer(transfer),
      )}
    </div>`;
  }

  private renderTransfer(transfer: Transfer) {
    const { label, state, error } = transfer;
    if (state === "failed") {
      return html`<sandbox-error dismissible .error=${error} doing=${label} retry-label="Try again"
        @retry=${() => this.transfers?.retry(transfer)} @dismiss=${() => this.transfers?.cancel(transfer)}></sandbox-error>`;
    }
    const { loaded, total } = transfer.progress;
    return html`<div class="transfer">
      <span class="name" title=${label}>${label}</span>
      <span class="far">${state === "waiting" ? "waiting" : far(transfer)}</span>
      <button class="icon-button" aria-label=${`Cancel: ${label}`} title="Cancel" @click=${() => this.transfers?.cancel(transfer)}>${icon("close")}</button>
      <progress aria-label=${label} max=${total || 1} value=${state === "waiting" ? 0 : total ? loaded : nothing}></progress>
    </div>`;
  }
}

function far({ progress: { loaded, total, detail } }: Transfer): string {
  const size = total === undefined ? bytes(loaded) : `${bytes(loaded)} of ${bytes(total)}`;
  return detail === "" ? size : `${detail}, ${size}`;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-transfers": SandboxTransfers;
  }
}
