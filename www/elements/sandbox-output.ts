import { css, LitElement } from "lit";
import type { Channel, OutputLines, Span, TextStyle } from "./ansi.js";
import { element } from "./element.js";
import { base } from "./styles.js";

/**
 * Shows {@link OutputLines} as they grow. Drawing happens once a frame and touches only what changed, so that output that comes faster
 * than it can be drawn does not hold up the page.
 */
@element("sandbox-output")
export class SandboxOutput extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: block;
        font: 12px / 1.5 var(--sb-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        tab-size: 8;
      }
      .line {
        min-height: 1.5em;
      }
      .stderr {
        color: var(--sb-danger);
      }
      .dropped {
        color: var(--sb-muted);
        font-style: italic;
      }
    `,
  ];

  private shown: OutputLines | undefined;
  private readonly list = document.createElement("div");
  private readonly note = document.createElement("div");
  private first = 0;
  private next = 0;

  /** The lines to show. Call {@link draw} when they have grown. */
  set lines(lines: OutputLines) {
    if (lines === this.shown) return;
    this.shown = lines;
    this.list.replaceChildren();
    this.first = lines.dropped;
    this.next = lines.dropped;
    this.draw();
  }

  override render() {
    this.note.className = "dropped";
    this.note.hidden = true;
    return [this.note, this.list];
  }

  /** Brings the view up to date. */
  draw(): void {
    const lines = this.shown;
    if (!lines) return;
    const { dropped } = lines;
    // Lines are counted from the start of the output, so that those that fell away can be told from those to come.
    const end = dropped + lines.lines.length;
    while (this.first < dropped && this.list.firstChild) {
      this.list.firstChild.remove();
      this.first += 1;
    }
    this.first = dropped;
    this.next = Math.max(this.next, dropped);
    if (this.next > dropped) {
      // The last line drawn may have grown since.
      this.list.lastChild?.remove();
      this.next -= 1;
    }
    const fresh = document.createDocumentFragment();
    for (; this.next < end; this.next += 1) fresh.append(drawLine(lines.lines[this.next - dropped] ?? [], this.next === end - 1));
    this.list.append(fresh);
    this.note.hidden = dropped === 0;
    this.note.textContent = `${dropped.toLocaleString("en")} earlier lines are not kept`;
  }
}

function drawLine(spans: readonly Span[], last: boolean): HTMLElement {
  const line = document.createElement("div");
  line.className = "line";
  // Output that ends with a newline has an empty line after it, which nobody needs to see.
  line.hidden = last && spans.length === 0;
  for (const { text, style, channel } of spans) {
    const span = document.createElement("span");
    span.textContent = text;
    if (channel === "stderr") span.className = "stderr";
    const { color, background } = colors(style, channel);
    if (color !== undefined) span.style.color = color;
    if (background !== undefined) span.style.backgroundColor = background;
    if (style.bold) span.style.fontWeight = "600";
    if (style.dim) span.style.opacity = "0.7";
    if (style.italic) span.style.fontStyle = "italic";
    if (style.underline) span.style.textDecoration = "underline";
    line.append(span);
  }
  return line;
}

/** The CSS colours of a span; `undefined` for the usual ones. */
function colors(style: Readonly<TextStyle>, channel: Channel): { color?: string | undefined; background?: string | undefined } {
  const color = cssColor(style.color);
  const background = cssColor(style.background);
  if (!style.inverse) return { color, background };
  const usual = channel === "stderr" ? "var(--sb-danger)" : "var(--sb-text)";
  return { color: background ?? "var(--sb-surface)", background: color ?? usual };
}

function cssColor(color: number | string | undefined): string | undefined {
  return typeof color === "number" ? `var(--sb-ansi-${color})` : color;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-output": SandboxOutput;
  }
}
