import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { element } from "./element.js";
import { base } from "./styles.js";

const OPEN_DEPTH = 1;
const PART = 100;
const LONGEST_TEXT = 2000;

/** A JSON value as a tree that is opened level by level. */
@element("sandbox-json")
export class SandboxJson extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: block;
        font: 12px / 1.55 var(--sb-mono);
        overflow-wrap: anywhere;
      }
      details > div,
      .leaf {
        padding-inline-start: 16px;
      }
      summary {
        cursor: pointer;
      }
      summary:hover {
        background: var(--sb-hover);
      }
      .key {
        color: var(--sb-syntax-property);
      }
      .text {
        color: var(--sb-syntax-string);
        white-space: pre-wrap;
      }
      .other {
        color: var(--sb-syntax-number);
      }
    `,
  ];

  /** The value. */
  @property({ attribute: false }) value: unknown;
  /** The parts that were opened or closed by hand, and how many of their members are shown, by path. */
  private readonly open = new Map<string, boolean>();
  private readonly limits = new Map<string, number>();

  override render() {
    return this.renderValue("", this.value, "", 0);
  }

  private renderValue(key: string, value: unknown, path: string, depth: number): TemplateResult {
    const name = key === "" ? nothing : html`<span class="key">${key}</span>: `;
    if (typeof value !== "object" || value === null)
      return html`<div class=${depth === 0 ? "" : "leaf"}>${name}${leaf(value)}</div>`;
    const members = Object.entries(value);
    const size = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
    const open = this.open.get(path) ?? (depth < OPEN_DEPTH && members.length <= PART);
    const limit = this.limits.get(path) ?? PART;
    return html`<details ?open=${open} @toggle=${(event: Event) => this.toggled(path, (event.target as HTMLDetailsElement).open)}>
      <summary>${name}<span class="muted">${size}</span></summary>
      ${
        open
          ? html`<div>${members.slice(0, limit).map(([key, value]) => this.renderValue(key, value, `${path}/${key}`, depth + 1))}
              ${
                members.length > limit
                  ? html`<button class="button" @click=${() => this.more(path, limit)}>${members.length - limit} more</button>`
                  : nothing
              }</div>`
          : nothing
      }
    </details>`;
  }

  private toggled(path: string, open: boolean) {
    this.open.set(path, open);
    this.requestUpdate();
  }

  private more(path: string, limit: number) {
    this.limits.set(path, limit + 10 * PART);
    this.requestUpdate();
  }
}

function leaf(value: unknown): TemplateResult {
  if (typeof value !== "string") return html`<span class="other">${String(value)}</span>`;
  const text = value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}… (${value.length} characters)` : value;
  return html`<span class="text">${JSON.stringify(text)}</span>`;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-json": SandboxJson;
  }
}
