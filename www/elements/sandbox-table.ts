import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { element } from "./element.js";
import { compare, isNumeric, type Table } from "./notebook/tables.js";
import { base } from "./styles.js";

const SHOWN_ROWS = 50;
const MORE_ROWS = 1000;

/** A table of values with sorting by its columns. Long ones are shown from their beginning. */
@element("sandbox-table")
export class SandboxTable extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: block;
      }
      .scroll {
        max-width: 100%;
        overflow: auto;
      }
      table {
        border-collapse: collapse;
        font-size: 12px;
        font-variant-numeric: tabular-nums;
      }
      caption {
        padding: 2px 0 4px;
        color: var(--sb-muted);
        text-align: start;
      }
      th,
      td {
        padding: 2px 10px;
        text-align: end;
        white-space: pre;
        font-weight: 400;
      }
      td {
        max-width: 48ch;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      thead th {
        padding: 0;
        white-space: nowrap;
        border-bottom: 1px solid var(--sb-border-strong);
      }
      thead button {
        width: 100%;
        padding: 3px 10px;
        border: 0;
        background: none;
        font-weight: 600;
        text-align: end;
        cursor: pointer;
      }
      thead button:hover {
        background: var(--sb-hover);
      }
      .text,
      .text button {
        text-align: start;
      }
      .arrow {
        display: inline-block;
        width: 1em;
        margin-inline-end: -0.4em;
        color: var(--sb-accent);
      }
      tbody th {
        color: var(--sb-muted);
      }
      tbody tr:nth-child(even) {
        background: var(--sb-bg);
      }
      tbody tr:hover {
        background: var(--sb-hover);
      }
      .more {
        margin-top: 6px;
      }
    `,
  ];

  /** The table. */
  @property({ attribute: false }) table: Table = { caption: "", columns: [], rows: [], indexed: false };
  @state() private by: { column: number; down: boolean } | undefined;
  @state() private limit = SHOWN_ROWS;
  /** For each column its class: numbers are read from their end, words from their beginning. */
  private classes: readonly string[] = [];

  protected override willUpdate(changed: PropertyValues<this>) {
    if (!changed.has("table")) return;
    this.by = undefined;
    this.limit = SHOWN_ROWS;
    const { columns, rows } = this.table;
    this.classes = columns.map((_, at) => (isNumeric(rows.map((row) => row[at])) ? "" : "text"));
  }

  override render() {
    const { caption, columns, rows, indexed } = this.table;
    const sorted = this.sorted();
    const hidden = rows.length - Math.min(rows.length, this.limit);
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label=${caption || "Table"}>
        <table>
          ${caption ? html`<caption>${caption}</caption>` : nothing}
          <thead>
            <tr>${columns.map((name, at) => this.renderHead(name, at))}</tr>
          </thead>
          <tbody>
            ${sorted
              .slice(0, this.limit)
              .map(
                (row) =>
                  html`<tr>${row.map((value, at) => (indexed && at === 0 ? html`<th scope="row" class=${this.classes[at] ?? ""}>${shown(value)}</th>` : html`<td class=${this.classes[at] ?? ""}>${shown(value)}</td>`))}</tr>`,
              )}
          </tbody>
        </table>
      </div>
      ${
        hidden > 0
          ? html`<button class="button more" @click=${this.showMore}>Show ${Math.min(hidden, MORE_ROWS).toLocaleString("en")} more of ${rows.length.toLocaleString("en")} rows</button>`
          : nothing
      }
    `;
  }

  private renderHead(name: string, at: number) {
    const order = this.by?.column === at ? (this.by.down ? "descending" : "ascending") : "none";
    return html`<th scope="col" class=${this.classes[at] ?? ""} aria-sort=${order}>
      <button title="Sort by this column" @click=${() => this.sort(at)}>${name || html`<span class="visually-hidden">Row</span>#`}<span
        class="arrow" aria-hidden="true">${{ none: "", ascending: "↑", descending: "↓" }[order]}</span></button>
    </th>`;
  }

  private sorted(): Table["rows"] {
    const { by } = this;
    if (!by) return this.table.rows;
    const sign = by.down ? -1 : 1;
    return [...this.table.rows].sort((a, b) => sign * compare(a[by.column], b[by.column]));
  }

  /** Up, then down, then as it came. */
  private sort(column: number) {
    if (this.by?.column !== column) this.by = { column, down: false };
    else this.by = this.by.down ? undefined : { column, down: true };
  }

  private showMore() {
    this.limit += MORE_ROWS;
  }
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "—";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-table": SandboxTable;
  }
}
