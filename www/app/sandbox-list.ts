import type { SandboxInfo } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { roughly } from "../elements/format.js";
import { icon } from "../elements/icons.js";
import { plainName } from "../elements/names.js";
import { base, emptyState } from "../elements/styles.js";
import { Clock } from "./clock.js";
import { sourceOf } from "./forks.js";
import { stateOf, statusDot, timeLeft } from "./status.js";

/**
 * The list of sandboxes.
 *
 * @fires new-sandbox - the person wants to start one
 * @fires open-sandbox - `detail` is the id of the chosen one
 * @fires show-snapshots - the person wants to see the snapshots
 * @fires kill-sandbox - `detail` is the id of the one to end
 */
@customElement("console-sandboxes")
export class ConsoleSandboxes extends LitElement {
  static override styles = [
    base,
    emptyState,
    statusDot,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
        background: var(--sb-bg);
      }
      .head {
        display: flex;
        align-items: center;
        gap: 8px;
        flex: none;
        height: 48px;
        padding-inline: 14px 10px;
        border-bottom: 1px solid var(--sb-border);
      }
      h2 {
        flex: 1;
        margin: 0;
        font-size: 13px;
        font-weight: 600;
        white-space: nowrap;
      }
      .count {
        color: var(--sb-muted);
        font-weight: 400;
      }
      .list {
        flex: 1;
        min-height: 0;
        margin: 0;
        padding: 6px;
        overflow: auto;
        list-style: none;
      }
      li {
        position: relative;
        margin-bottom: 2px;
      }
      .item {
        display: grid;
        gap: 3px;
        width: 100%;
        padding: 8px 38px 8px 10px;
        border: 0;
        border-radius: 7px;
        background: none;
        text-align: start;
        cursor: pointer;
      }
      .item:hover {
        background: var(--sb-hover);
      }
      .item[aria-current="true"] {
        background: var(--sb-selected);
      }
      .first {
        display: flex;
        align-items: center;
        gap: 8px;
        min-width: 0;
      }
      .id {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        font-weight: 600;
      }
      .second,
      .labels {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 10px;
        padding-inline-start: 16px;
        color: var(--sb-muted);
        font-size: 12px;
        font-variant-numeric: tabular-nums;
      }
      .labels {
        gap: 4px;
      }
      .chip {
        max-width: 100%;
        padding: 0 6px;
        overflow: hidden;
        border: 1px solid var(--sb-border-strong);
        border-radius: 4px;
        text-overflow: ellipsis;
        white-space: nowrap;
        font-size: 11px;
      }
      .template {
        border-color: transparent;
        background: var(--sb-hover);
      }
      .item[aria-current="true"] .template {
        background: var(--sb-surface);
      }
      .soon {
        color: var(--sb-warn);
      }
      .kill {
        position: absolute;
        inset: 6px 6px auto auto;
      }
      .kill:hover:enabled {
        color: var(--sb-danger);
      }
      .ghost {
        height: 44px;
        margin: 8px;
        border-radius: 7px;
        background: var(--sb-hover);
      }
    `,
  ];

  /** The sandboxes; `undefined` until they are known. */
  @property({ attribute: false }) sandboxes: readonly SandboxInfo[] | undefined;
  /** The id of the open one. */
  @property() current = "";
  /** Whether the platform does not answer. */
  @property({ type: Boolean }) unreachable = false;

  constructor() {
    super();
    new Clock(this);
  }

  override render() {
    const { sandboxes } = this;
    return html`
      <div class="head">
        <h2>Sandboxes ${sandboxes?.length ? html`<span class="count">${sandboxes.length}</span>` : nothing}</h2>
        <button class="icon-button" title="Snapshots" aria-label="Snapshots" @click=${() => this.tell("show-snapshots")}>${icon("snapshot")}</button>
        <button class="button primary" @click=${() => this.tell("new-sandbox")}>New sandbox</button>
      </div>
      ${sandboxes === undefined ? html`<div class="ghost"></div><div class="ghost"></div>` : this.renderList(sandboxes)}
    `;
  }

  private renderList(sandboxes: readonly SandboxInfo[]) {
    if (sandboxes.length === 0) {
      return html`<div class="empty">
        ${icon("other")}
        <h2>No sandboxes yet</h2>
        <p>A sandbox is a small Linux machine of its own: start one and run something in it.</p>
      </div>`;
    }
    return html`<ul class="list">
      ${repeat(
        sandboxes,
        (info) => info.sandboxId,
        (info) => this.renderItem(info),
      )}
    </ul>`;
  }

  private renderItem(info: SandboxInfo) {
    const { sandboxId, metadata, startedAt, endAt } = info;
    const status = stateOf(info, { unreachable: this.unreachable });
    // Platforms count anew when a sandbox is resumed: it is no age.
    const running = status === "running" && startedAt ? ` for ${roughly(Date.now() - startedAt.getTime())}` : "";
    const left = timeLeft(endAt);
    const labels = Object.entries(metadata);
    const source = sourceOf(sandboxId);
    return html`<li>
      <button class="item" aria-current=${sandboxId === this.current} @click=${() => this.tell("open-sandbox", sandboxId)}>
        <span class="first"><span class="dot ${status}"></span><span class="id mono">${sandboxId}</span></span>
        <span class="second">
          <span title=${running === "" ? "" : `It runs since ${startedAt?.toLocaleString()}`}>${status}${running}</span>
          ${
            status === "running" && left !== undefined
              ? html`<span class=${left < 60_000 ? "soon" : ""} title=${endAt?.toLocaleString() ?? ""}>${roughly(left)} left</span>`
              : nothing
          }
        </span>
        <span class="labels">
          <span class="chip template">${plainName(info.alias ?? info.template)}</span>
          ${source === undefined ? nothing : html`<span class="chip" title=${`A copy of ${source}`}>fork of ${source}</span>`}
          ${labels.map(([key, value]) => html`<span class="chip">${plainName(key)}: ${plainName(value)}</span>`)}
        </span>
      </button>
      <button class="icon-button kill" title="Kill" aria-label=${`Kill ${sandboxId}`} @click=${() => this.tell("kill-sandbox", sandboxId)}>
        ${icon("power")}
      </button>
    </li>`;
  }

  private tell(type: string, detail?: string) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-sandboxes": ConsoleSandboxes;
  }
}
