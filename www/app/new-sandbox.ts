import { type ConnectionOptions, Sandbox } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { icon } from "../elements/icons.js";
import { base } from "../elements/styles.js";
import "../elements/sandbox-error.js";

const MINUTE_MS = 60_000;
const LONGEST_MINUTES = 24 * 60;
const OTHER = "other";

/**
 * The dialog that starts a sandbox.
 *
 * @fires sandbox-created - `detail` is the sandbox
 */
@customElement("console-new-sandbox")
export class ConsoleNewSandbox extends LitElement {
  static override styles = [
    base,
    css`
      dialog {
        width: min(480px, calc(100vw - 24px));
        max-height: calc(100vh - 24px);
        padding: 20px;
        overflow: auto;
        border: 1px solid var(--sb-border);
        border-radius: 12px;
        background: var(--sb-raised);
        color: inherit;
        box-shadow: var(--sb-shadow);
      }
      dialog::backdrop {
        background: rgb(8 10 16 / 45%);
      }
      h2 {
        margin: 0 0 14px;
        font-size: 16px;
        font-weight: 600;
      }
      form {
        display: grid;
        gap: 14px;
      }
      fieldset {
        display: grid;
        gap: 6px;
        min-width: 0;
        margin: 0;
        padding: 0;
        border: 0;
      }
      label,
      legend {
        padding: 0;
        font-weight: 500;
      }
      .part {
        display: grid;
        gap: 5px;
      }
      .hint {
        margin: 0;
        color: var(--sb-muted);
        font-size: 12px;
      }
      .row {
        display: flex;
        gap: 8px;
      }
      .row > .field {
        flex: 1;
        min-width: 0;
      }
      .row > select.field {
        flex: 0 0 110px;
      }
      legend {
        margin-bottom: 6px;
      }
      .check {
        display: flex;
        align-items: flex-start;
        gap: 8px;
      }
      .check input {
        width: 16px;
        height: 16px;
        margin: 1px 0 0;
        accent-color: var(--sb-accent-fill);
      }
      .link {
        justify-self: start;
        padding: 2px 0;
        border: 0;
        background: none;
        color: var(--sb-accent);
        cursor: pointer;
      }
      .buttons {
        display: flex;
        justify-content: flex-end;
        gap: 8px;
      }
    `,
  ];

  /** Where to start it. */
  @property({ attribute: false }) connection: ConnectionOptions = {};
  @state() private template = "base";
  @state() private labels: readonly { key: string; value: string }[] = [];
  @state() private busy = false;
  @state() private error: unknown;
  @query("dialog") private dialog!: HTMLDialogElement;
  @query("form") private form!: HTMLFormElement;

  /** Opens the dialog. */
  open(): void {
    this.error = undefined;
    this.dialog.showModal();
  }

  override render() {
    return html`
      <dialog aria-labelledby="title">
        <h2 id="title">New sandbox</h2>
        <form @submit=${this.submit}>
          <div class="part">
            <label for="template">Template</label>
            <select id="template" class="field" name="template" .value=${this.template} @change=${this.choose}>
              <option value="base">base: a shell and files</option>
              <option value="code-interpreter-v1">code-interpreter-v1: code cells too</option>
              <option value=${OTHER}>Another template or a snapshot</option>
            </select>
            ${
              this.template === OTHER
                ? html`<input class="field mono" name="other" required aria-label="Name or id" placeholder="Name or id" spellcheck="false" />`
                : nothing
            }
          </div>
          <div class="part">
            <label for="timeout">Lives for</label>
            <div class="row">
              <input id="timeout" class="field" name="timeout" type="number" min="1" max=${LONGEST_MINUTES} step="1" value="15" required
                aria-describedby="timeout-hint" />
              <select class="field" name="unit" aria-label="Unit">
                <option value="1">minutes</option>
                <option value="60">hours</option>
              </select>
            </div>
            <p id="timeout-hint" class="hint">Then it ends by itself, at most after 24 hours. It can be extended at any time.</p>
          </div>
          <fieldset>
            <legend>Labels</legend>
            ${this.labels.map((label, at) => this.renderLabel(label, at))}
            <button type="button" class="link" @click=${() => this.setLabels([...this.labels, { key: "", value: "" }])}>Add a label</button>
          </fieldset>
          <label class="check">
            <input type="checkbox" name="internet" checked />
            <span>Internet access<br /><span class="hint">Without it, nothing in the sandbox reaches the network.</span></span>
          </label>
          ${this.error === undefined ? nothing : html`<sandbox-error .error=${this.error}></sandbox-error>`}
          <div class="buttons">
            <button type="button" class="button" @click=${() => this.dialog.close()}>Cancel</button>
            <button class="button primary" ?disabled=${this.busy}>
              ${this.busy ? html`<span class="spinner"></span>Starting` : "Start"}
            </button>
          </div>
        </form>
      </dialog>
    `;
  }

  private renderLabel(label: { key: string; value: string }, at: number) {
    return html`<div class="row">
      <input class="field" aria-label="Name of the label" placeholder="name" required .value=${label.key}
        @input=${(event: Event) => {
          label.key = (event.target as HTMLInputElement).value;
        }} />
      <input class="field" aria-label="Value of the label" placeholder="value" .value=${label.value}
        @input=${(event: Event) => {
          label.value = (event.target as HTMLInputElement).value;
        }} />
      <button type="button" class="icon-button" aria-label="Remove the label"
        @click=${() => this.setLabels(this.labels.filter((_, other) => other !== at))}>${icon("close")}</button>
    </div>`;
  }

  private choose(event: Event) {
    this.template = (event.target as HTMLSelectElement).value;
  }

  private setLabels(labels: readonly { key: string; value: string }[]) {
    this.labels = labels;
  }

  private async submit(event: Event) {
    event.preventDefault();
    if (this.busy) return;
    const data = new FormData(this.form);
    const text = (name: string) => String(data.get(name) ?? "").trim();
    this.busy = true;
    this.error = undefined;
    try {
      const sandbox = await Sandbox.create({
        ...this.connection,
        template: this.template === OTHER ? text("other") : this.template,
        timeoutMs: Number(text("timeout")) * Number(text("unit")) * MINUTE_MS,
        metadata: Object.fromEntries(this.labels.map(({ key, value }) => [key, value])),
        allowInternetAccess: data.has("internet"),
      });
      this.dialog.close();
      this.labels = [];
      this.dispatchEvent(new CustomEvent("sandbox-created", { detail: sandbox }));
    } catch (error) {
      this.error = error;
    } finally {
      this.busy = false;
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-new-sandbox": ConsoleNewSandbox;
  }
}
