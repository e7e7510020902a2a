import type { SandboxInfo } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { customElement, property, query } from "lit/decorators.js";
import { span } from "../elements/format.js";
import { icon } from "../elements/icons.js";
import { plainName } from "../elements/names.js";
import { base } from "../elements/styles.js";
import { Clock } from "./clock.js";
import { actionsIn, type OfferedAction, type SandboxAction } from "./sandbox-actions.js";
import { type Known, stateOf, statusDot, timeLeft } from "./status.js";

/** What stands in the bar itself where there is room; the rest is in its menu, and there all of it. */
const IN_BAR: ReadonlySet<SandboxAction> = new Set(["extend", "pause", "kill"]);

/**
 * What there is to know of the open sandbox, and what can be done with it as a whole.
 *
 * @fires show-list - the person wants back to the list
 * @fires sandbox-action - `detail` is what the person wants done, a {@link SandboxAction}
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
      .more {
        color: var(--sb-text);
      }
      .more svg.icon {
        stroke-width: 3;
      }
      .soon {
        color: var(--sb-warn);
      }
      [popover] {
        position: fixed;
        inset: auto;
        min-width: 190px;
        margin: 0;
        padding: 4px;
        border: 1px solid var(--sb-border);
        border-radius: 8px;
        background: var(--sb-raised);
        color: inherit;
        box-shadow: var(--sb-shadow);
      }
      [role="menuitem"] {
        display: flex;
        align-items: center;
        gap: 9px;
        width: 100%;
        padding: 6px 10px;
        border: 0;
        border-radius: 5px;
        background: none;
        text-align: start;
        cursor: pointer;
      }
      [role="menuitem"]:hover,
      [role="menuitem"]:focus {
        background: var(--sb-hover);
        outline: none;
      }
      .danger {
        color: var(--sb-danger);
      }
      @media (pointer: coarse) {
        [role="menuitem"] {
          padding-block: 10px;
        }
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
  /** What this page knows of it besides. */
  @property({ attribute: false }) known: Known = {};
  @query("[popover]") private menu!: HTMLElement;
  @query(".more") private opener!: HTMLButtonElement;

  constructor() {
    super();
    new Clock(this);
  }

  override render() {
    const { info, sandboxId, known } = this;
    const state = stateOf(info, known);
    const left = state === "running" ? timeLeft(info?.endAt) : undefined;
    const actions = known.doing ? [] : actionsIn(state, info);
    return html`
      <button class="icon-button back" aria-label="Back to the sandboxes" @click=${() => this.tell("show-list")}>${icon("back")}</button>
      <span class="dot ${state}"></span>
      <h2 title=${sandboxId}>${sandboxId}</h2>
      <span class="facts">
        <span class="${state === "running" ? "optional" : ""} state" role="status">${state}</span>
        ${info ? html`<span class="optional">${plainName(info.alias ?? info.template)}</span>` : nothing}
        ${
          left === undefined
            ? nothing
            : html`<span class=${left < 60_000 ? "soon" : ""} title=${`It ${info?.lifecycle?.onTimeout === "pause" ? "is paused" : "ends"} by itself at ${info?.endAt?.toLocaleTimeString()}`}>${span(left)} left</span>`
        }
      </span>
      ${actions.filter(({ action }) => IN_BAR.has(action)).map((offered) => this.renderButton(offered))}
      <button class="icon-button more" aria-label="More actions" title="More actions" aria-haspopup="menu" popovertarget="menu"
        ?disabled=${actions.length === 0}>${icon("more")}</button>
      <div id="menu" popover role="menu" aria-label="Actions on the sandbox" @beforetoggle=${this.place} @toggle=${this.toggled} @keydown=${this.key}>
        ${actions.map(
          (
            offered,
          ) => html`<button role="menuitem" tabindex="-1" class=${offered.danger ? "danger" : ""} @click=${() => this.choose(offered.action)}>
            ${icon(offered.icon)}${offered.label}
          </button>`,
        )}
      </div>
    `;
  }

  private renderButton({ action, label, icon: name }: OfferedAction) {
    const title = action === "extend" ? "Let it live 15 minutes longer" : label;
    return html`<button class="button optional" title=${title} aria-label=${action === "extend" ? "+15 min of life" : label}
      @click=${() => this.act(action)}>${icon(name)}<span class="label">${label}</span></button>`;
  }

  private choose(action: SandboxAction) {
    this.menu.hidePopover();
    // A dialog of the action gives the focus back to where it was: an item of the closed menu could not take it.
    this.opener.focus();
    this.act(action);
  }

  private act(action: SandboxAction) {
    this.dispatchEvent(new CustomEvent("sandbox-action", { detail: action }));
  }

  private tell(type: string) {
    this.dispatchEvent(new CustomEvent(type));
  }

  private place(event: ToggleEvent) {
    if (event.newState !== "open") return;
    const { bottom, right } = this.opener.getBoundingClientRect();
    this.menu.style.top = `${bottom + 4}px`;
    this.menu.style.right = `${innerWidth - right}px`;
  }

  private toggled(event: ToggleEvent) {
    if (event.newState === "open") this.menu.querySelector("button")?.focus();
  }

  private key(event: KeyboardEvent) {
    const items = [...this.menu.querySelectorAll("button")];
    const at = items.indexOf(this.shadowRoot?.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") this.menu.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    items.at(to % items.length)?.focus();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-sandbox-bar": ConsoleSandboxBar;
  }
}
