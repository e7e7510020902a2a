import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { element } from "./element.js";
import { bytes } from "./format.js";
import { icon } from "./icons.js";
import { plainName } from "./names.js";
import { bytesOf, type Form, formsOf } from "./notebook/forms.js";
import type { MimeBundle } from "./notebook/outputs.js";
import { save } from "./save.js";
import { base } from "./styles.js";
import "./sandbox-json.js";
import "./sandbox-result-frame.js";
import "./sandbox-table.js";

/** How many characters of a text are shown at first, and how many can be. */
const SHOWN_TEXT = 50_000;
const MOST_TEXT = 2_000_000;

/** A result of a code cell in the best of its forms; the person can choose another. Nothing in it is ever markup of this page. */
@element("sandbox-result")
export class SandboxResult extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: block;
      }
      .result {
        display: flex;
        align-items: flex-start;
        gap: 8px;
      }
      .body {
        flex: 1;
        min-width: 0;
      }
      /* A chart has the whole width, and room for the choice in its first line. */
      .drawn {
        position: relative;
      }
      .drawn > select {
        position: absolute;
        inset: 0 0 auto auto;
      }
      select {
        flex: none;
        max-width: 110px;
        padding: 1px 2px;
        border: 1px solid transparent;
        border-radius: 4px;
        background: none;
        color: var(--sb-muted);
        font-size: 11px;
      }
      select:hover {
        border-color: var(--sb-border-strong);
      }
      img {
        display: block;
        max-width: 100%;
        height: auto;
      }
      .explore {
        margin-top: 6px;
      }
      img.paper {
        background: #fff;
      }
      pre {
        margin: 0;
        font: 12px / 1.5 var(--sb-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      .formula {
        overflow: auto hidden;
        padding: 2px 0;
      }
      .formula .katex-display {
        margin: 4px 0;
        text-align: left;
      }
      .formula .katex-display > .katex {
        text-align: left;
      }
      .file {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px 10px;
      }
      .hint {
        margin: 4px 0;
        color: var(--sb-muted);
        font-size: 12px;
      }
      .markdown > :first-child {
        margin-top: 0;
      }
      .markdown > :last-child {
        margin-bottom: 0;
      }
      .markdown :is(h3, h4, h5, h6) {
        margin: 12px 0 6px;
        font-weight: 600;
        line-height: 1.3;
      }
      .markdown h3 {
        font-size: 20px;
      }
      .markdown h4 {
        font-size: 16px;
      }
      .markdown :is(p, ul, ol, blockquote, table) {
        margin: 6px 0;
      }
      .markdown a {
        color: var(--sb-accent);
      }
      .markdown blockquote {
        padding-inline-start: 10px;
        border-inline-start: 3px solid var(--sb-border-strong);
        color: var(--sb-muted);
      }
      .markdown :is(code, pre) {
        border-radius: 4px;
        background: var(--sb-hover);
        font: 12px / 1.5 var(--sb-mono);
      }
      .markdown code {
        padding: 0 4px;
      }
      .markdown pre {
        padding: 8px 10px;
      }
      .markdown table {
        border-collapse: collapse;
      }
      .markdown :is(th, td) {
        padding: 3px 10px;
        border: 1px solid var(--sb-border);
        text-align: start;
      }
    `,
  ];

  /** The result in all its forms. */
  @property({ attribute: false }) data: MimeBundle = {};
  /** The page of another origin in which HTML is shown; without it HTML is shown as source. */
  @property({ attribute: "frame-url" }) frameUrl = "";
  @state() private forms: readonly Form[] = [];
  @state() private form: Form | undefined;
  /** Whether a long text is shown to its end. */
  @state() private whole = false;

  protected override willUpdate(changed: PropertyValues<this>) {
    if (!changed.has("data")) return;
    this.forms = formsOf(this.data);
    this.form = this.forms[0];
    this.whole = false;
  }

  override render() {
    const { forms, form } = this;
    if (!form) return html`<p class="hint">A result without content</p>`;
    return html`<div class="result ${form.kind === "chart" ? "drawn" : ""}">
      <div class="body">${this.renderForm(form)}</div>
      ${
        forms.length > 1
          ? html`<select aria-label="Shown as" @change=${this.choose}>
              ${forms.map((other, at) => html`<option value=${at} ?selected=${other === form}>${plainName(other.name)}</option>`)}
            </select>`
          : nothing
      }
    </div>`;
  }

  private renderForm(form: Form) {
    switch (form.kind) {
      case "chart":
        void import("./sandbox-chart.js");
        return form.charts.map((chart) => html`<sandbox-chart .chart=${chart}></sandbox-chart>`);
      case "table":
        return form.tables.map((table) => html`<sandbox-table .table=${table}></sandbox-table>`);
      case "html":
        return this.frameUrl === ""
          ? html`<p class="hint">HTML is shown as it is written: this page has no frame of another origin to show it in (frame-url).</p>
              ${this.renderText(form.text)}`
          : html`<sandbox-result-frame frame-url=${this.frameUrl} .content=${form.text}></sandbox-result-frame>`;
      case "image":
        return html`<img class=${form.paper ? "paper" : ""} src=${form.url} alt=${this.alternative(form.name)} />${this.renderExplore()}`;
      case "formula":
        return html`<div class="formula"></div>`;
      case "markdown":
        return html`<div class="markdown"></div>`;
      case "json":
        return html`<sandbox-json .value=${form.value}></sandbox-json>`;
      case "source":
        return html`<p class="hint">Scripts of results are not run here.</p>${this.renderText(form.text)}`;
      case "text":
        return this.renderText(form.text);
      case "file":
        return html`<div class="file">
          <span><span class="mono">${plainName(form.mime)}</span> <span class="muted">${bytes(bytesOf(form.mime, form.data).length)}</span></span>
          <button class="button" @click=${() => this.download(form)}>${icon("download")}Download</button>
        </div>`;
    }
  }

  /** A text from its beginning; the rest is a click away. */
  private renderText(text: string) {
    if (this.whole || text.length <= SHOWN_TEXT) return html`<pre>${text}</pre>`;
    const count = `${text.length.toLocaleString("en")} characters`;
    const more =
      text.length <= MOST_TEXT
        ? html`<button class="button" @click=${this.showWhole}>Show all ${count}</button>`
        : html`<button class="button" @click=${() => save(new Blob([text], { type: "application/octet-stream" }), "result.txt")}>${icon("download")}Download all ${count}</button>`;
    return html`<pre>${text.slice(0, SHOWN_TEXT)}…</pre><p class="hint">${more}</p>`;
  }

  private readonly showWhole = () => {
    this.whole = true;
  };

  /** What the picture shows, with values to point at. The picture comes first: it is what the code drew. */
  private renderExplore() {
    const chart = this.forms.find(({ kind }) => kind === "chart");
    return chart
      ? html`<button class="button explore" @click=${() => this.show(chart)}>${icon("search")}Explore the chart</button>`
      : nothing;
  }

  private show(form: Form) {
    this.form = form;
  }

  protected override updated(changed: PropertyValues) {
    if (!changed.has("form")) return;
    if (this.form?.kind === "formula") void this.drawFormula(this.form.text);
    if (this.form?.kind === "markdown") void this.drawMarkdown(this.form.text);
  }

  private async drawFormula(text: string): Promise<void> {
    const into = this.renderRoot.querySelector<HTMLElement>(".formula");
    if (!into) return;
    try {
      const { drawFormula, mathSheet } = await import("./notebook/math.js");
      this.adopt(mathSheet);
      drawFormula(text, into);
    } catch {
      // Not every LaTeX is a formula that can be drawn: then it is read as it is written.
      into.replaceChildren(Object.assign(document.createElement("pre"), { textContent: text }));
    }
  }

  private async drawMarkdown(text: string): Promise<void> {
    const into = this.renderRoot.querySelector<HTMLElement>(".markdown");
    const math = text.includes("$") ? import("./notebook/math.js") : undefined;
    const [{ drawMarkdown }, formulas] = await Promise.all([import("./notebook/markdown.js"), math]);
    if (formulas) this.adopt(formulas.mathSheet);
    into?.replaceChildren(drawMarkdown(text, formulas?.drawFormula));
  }

  private adopt(sheet: CSSStyleSheet) {
    const root = this.renderRoot as ShadowRoot;
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }

  /** The words for who does not see an image: what the result is in text, when that says anything. */
  private alternative(name: string): string {
    const text = this.data["text/plain"];
    return typeof text === "string" && text.length <= 200 ? plainName(text) : `${name} image`;
  }

  private choose(event: Event) {
    this.form = this.forms[Number((event.target as HTMLSelectElement).value)];
  }

  private download({ mime, data }: Extract<Form, { kind: "file" }>) {
    const ending = /^[\w.-]+\/(?:[\w.-]*\+)?([\w-]{1,12})$/.exec(mime)?.[1] ?? "bin";
    // Never a type that a browser would open as a page of this origin.
    save(new Blob([bytesOf(mime, data)], { type: "application/octet-stream" }), `result.${ending}`);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-result": SandboxResult;
  }
}
