import { css, html, LitElement, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { type Action, rank } from "../elements/actions.js";
import { icon } from "../elements/icons.js";
import { base, dialogBox } from "../elements/styles.js";

/** The dialog in which everything that can be done is found by its name. */
@customElement("console-palette")
export class ConsolePalette extends LitElement {
  static override styles = [
    base,
    dialogBox,
    css`
      dialog {
        --dialog-width: 560px;
        top: 60px;
        margin-top: 0;
        padding: 0;
        overflow: hidden;
      }
      .search {
        display: flex;
        align-items: center;
        gap: 9px;
        padding: 0 14px;
        border-bottom: 1px solid var(--sb-border);
        color: var(--sb-muted);
      }
      input {
        flex: 1;
        min-width: 0;
        height: 44px;
        padding: 0;
        border: 0;
        background: none;
        color: var(--sb-text);
        font-size: 14px;
      }
      input:focus-visible {
        outline: none;
      }
      .search:focus-within {
        box-shadow: inset 0 -2px 0 var(--sb-accent);
      }
      ul {
        max-height: min(380px, 60vh);
        margin: 0;
        padding: 6px;
        overflow: auto;
        list-style: none;
      }
      li {
        display: flex;
        align-items: center;
        gap: 9px;
        padding: 7px 9px;
        border-radius: 6px;
        cursor: pointer;
      }
      li[aria-selected="true"] {
        background: var(--sb-selected);
      }
      .label {
        flex: 1;
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .group {
        color: var(--sb-muted);
      }
      kbd {
        flex: none;
        padding: 1px 6px;
        border: 1px solid var(--sb-border-strong);
        border-radius: 4px;
        background: var(--sb-surface);
        color: var(--sb-muted);
        font: 11px / 1.5 var(--sb-font);
      }
      .none {
        margin: 0;
        padding: 16px;
        color: var(--sb-muted);
      }
      @media (pointer: coarse) {
        input {
          font-size: 16px;
        }
        li {
          padding-block: 10px;
        }
      }
    `,
  ];

  @state() private actions: readonly Action[] = [];
  @state() private typed = "";
  @state() private at = 0;
  @query("dialog") private dialog!: HTMLDialogElement;
  @query("input") private input!: HTMLInputElement;

  /** Opens the dialog with these actions; closes it when it is open. */
  toggle(actions: readonly Action[]): void {
    if (this.dialog.open) {
      this.dialog.close();
      return;
    }
    this.actions = actions;
    this.typed = "";
    this.at = 0;
    this.input.value = "";
    this.dialog.showModal();
    this.input.focus();
  }

  override render() {
    const found = this.found;
    return html`
      <dialog aria-label="Commands" @click=${this.outside}>
        <div class="search">
          ${icon("search")}
          <input role="combobox" aria-label="What to do" aria-expanded="true" aria-controls="list" aria-autocomplete="list"
            aria-activedescendant=${found.length > 0 ? `action-${this.at}` : nothing} placeholder="What would you like to do?"
            autocomplete="off" spellcheck="false" @input=${this.search} @keydown=${this.key} />
        </div>
        <ul id="list" role="listbox" aria-label="Commands" ?hidden=${found.length === 0}>
          ${found.map((action, at) => this.renderAction(action, at))}
        </ul>
        ${found.length === 0 ? html`<p class="none" role="status">Nothing of that name can be done now.</p>` : nothing}
      </dialog>
    `;
  }

  private renderAction(action: Action, at: number) {
    return html`<li id=${`action-${at}`} role="option" aria-selected=${at === this.at} @click=${() => this.choose(action)}
      @pointermove=${() => this.point(at)}>
      ${icon(action.icon ?? "chevron")}
      <span class="label"><span class="group">${action.group}:</span> ${action.label}</span>
      ${action.keys ? html`<kbd>${action.keys}</kbd>` : nothing}
    </li>`;
  }

  private get found(): readonly Action[] {
    const ranked = this.actions.map((action) => ({ action, rank: rank(action, this.typed) }));
    return ranked
      .filter((one): one is { action: Action; rank: number } => one.rank !== undefined)
      .sort((a, b) => a.rank - b.rank)
      .map(({ action }) => action);
  }

  private search() {
    this.typed = this.input.value;
    this.at = 0;
  }

  private key(event: KeyboardEvent) {
    if (event.isComposing) return;
    const { found } = this;
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + 8, PageUp: this.at - 8 }[event.key];
    if (event.key === "Enter") {
      event.preventDefault();
      const action = found[this.at];
      if (action) this.choose(action);
    }
    if (to === undefined || found.length === 0) return;
    event.preventDefault();
    const one = event.key.startsWith("Arrow");
    this.at = one ? (to + found.length) % found.length : Math.max(0, Math.min(to, found.length - 1));
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }),
    );
  }

  private point(at: number) {
    this.at = at;
  }

  private choose(action: Action) {
    // Closing gives the focus back first, so that the action may take it.
    this.dialog.close();
    action.run();
  }

  private outside(event: MouseEvent) {
    if (event.target === this.dialog) this.dialog.close();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-palette": ConsolePalette;
  }
}
