import { css, html, LitElement } from "lit";
import { customElement, query } from "lit/decorators.js";
import { base, dialogBox } from "../elements/styles.js";

/** Whether the machine's own key for shortcuts is Command. */
export const MAC = /^(Mac|iP)/.test(navigator.platform);
const MOD = MAC ? "⌘" : "Ctrl";

/** How the palette is opened. */
export const PALETTE_KEYS = `${MOD}+K`;

const ALL: readonly (readonly [where: string, rows: readonly (readonly [keys: string, what: string])[]])[] = [
  [
    "Everywhere",
    [
      [`${PALETTE_KEYS}, ${MOD}+Shift+P or F1`, "find a command by its name"],
      ["Tab, Shift+Tab", "go on to the next part, or back"],
      ["Escape", "close a menu or a dialog"],
    ],
  ],
  [
    "Tabs and lists",
    [
      ["Arrows, Home, End", "go to another tab, file or menu entry"],
      ["Enter", "open it"],
      ["Delete", "close a terminal's tab, delete a file (asks first)"],
    ],
  ],
  [
    "Editor",
    [
      [`${MOD}+S`, "save"],
      [`${MOD}+F`, "search in the file"],
      ["Escape, then Tab", "leave the editor"],
    ],
  ],
  [
    "Terminal",
    [
      ["F6", "leave the terminal: Tab is the shell's"],
      ["Ctrl+Shift+F", "search"],
      ["Ctrl+Shift+V", "paste"],
    ],
  ],
  [
    "Command box",
    [
      ["Enter", "run"],
      ["Shift+Enter", "another line"],
      ["Up, Down", "earlier commands"],
    ],
  ],
  [
    "Notebook",
    [
      ["Shift+Enter", "run the cell and go on"],
      [`${MOD}+Enter`, "run the cell"],
      ["Alt+Enter", "run it and add one below"],
      ["Escape, then Tab", "leave the cell"],
    ],
  ],
];

/** The dialog with all keyboard shortcuts. */
@customElement("console-shortcuts")
export class ConsoleShortcuts extends LitElement {
  static override styles = [
    base,
    dialogBox,
    css`
      dialog {
        --dialog-width: 520px;
      }
      h3 {
        margin: 12px 0 4px;
        font-size: 12px;
        font-weight: 600;
        color: var(--sb-muted);
      }
      dl {
        display: grid;
        grid-template-columns: minmax(130px, 42%) 1fr;
        gap: 5px 14px;
        margin: 0;
      }
      dt {
        font-weight: 500;
      }
      dd {
        margin: 0;
      }
    `,
  ];

  @query("dialog") private dialog!: HTMLDialogElement;

  /** Opens the dialog. */
  open(): void {
    this.dialog.showModal();
  }

  override render() {
    return html`<dialog aria-labelledby="title">
      <h2 id="title">Keyboard shortcuts</h2>
      ${ALL.map(
        ([where, rows]) => html`<h3>${where}</h3>
          <dl>${rows.map(([keys, what]) => html`<dt>${keys}</dt><dd>${what}</dd>`)}</dl>`,
      )}
      <div class="buttons"><button class="button" autofocus @click=${() => this.dialog.close()}>Close</button></div>
    </dialog>`;
  }
}

/**
 * Whether a key opens the palette. In terminals and editors Ctrl+K is theirs; F1 is free there too.
 */
export function opensPalette(event: KeyboardEvent): boolean {
  if (event.key === "F1") return true;
  if (!(MAC ? event.metaKey : event.ctrlKey) || event.altKey) return false;
  if (event.shiftKey) return event.key.toLowerCase() === "p";
  const typing = event
    .composedPath()
    .some((node) => node instanceof Element && (node.localName === "sandbox-terminal" || node.classList.contains("cm-editor")));
  return event.key.toLowerCase() === "k" && !(typing && !MAC);
}

declare global {
  interface HTMLElementTagNameMap {
    "console-shortcuts": ConsoleShortcuts;
  }
}
