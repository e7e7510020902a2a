import { type ConnectionOptions, Sandbox, type SandboxCreateOptions } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { live } from "lit/directives/live.js";
import { ExplainedError } from "../elements/describe-error.js";
import { icon } from "../elements/icons.js";
import { plainName } from "../elements/names.js";
import { base, dialogBox } from "../elements/styles.js";
import { type CodeCellsStatus, codeCellsStatus, progressOf } from "./code-cells.js";
import "../elements/sandbox-error.js";

const MINUTE_MS = 60_000;
const LONGEST_MINUTES = 24 * 60;
const CODE_CELLS = "code-interpreter-v1";
const OTHER = "other";
const POLL_MS = 1000;

/** A name and a value, while they are written. */
interface Pair {
  key: string;
  value: string;
}

/**
 * The dialog that starts a sandbox.
 *
 * @fires sandbox-created - `detail` is the sandbox
 */
@customElement("console-new-sandbox")
export class ConsoleNewSandbox extends LitElement {
  static override styles = [
    base,
    dialogBox,
    css`
      dialog {
        --dialog-width: 480px;
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
        grid-template-columns: minmax(0, 1fr);
        gap: 5px;
      }
      .hint {
        margin: 0;
        color: var(--sb-muted);
        font-size: 12px;
      }
      .setup {
        display: grid;
        gap: 4px;
      }
      .setup progress {
        width: 100%;
        accent-color: var(--sb-accent-fill);
      }
      .setup .detail {
        overflow-wrap: anywhere;
        min-height: 1.45em;
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
      details .part {
        margin-top: 6px;
      }
      summary {
        color: var(--sb-accent);
        cursor: pointer;
      }
      textarea {
        resize: vertical;
      }
      .link {
        justify-self: start;
        padding: 2px 0;
        border: 0;
        background: none;
        color: var(--sb-accent);
        cursor: pointer;
      }
    `,
  ];

  /** Where to start it. */
  @property({ attribute: false }) connection: ConnectionOptions = {};
  @state() private template = "base";
  /** The name or id of a template that is not in the choice. */
  @state() private other = "";
  @state() private labels: readonly Pair[] = [];
  @state() private envs: readonly Pair[] = [];
  @state() private busy = false;
  /** How far the platform's runtime of code cells is, as far as it was asked. */
  @state() private codeCells: CodeCellsStatus | undefined;
  @state() private error: unknown;
  @query("dialog") private dialog!: HTMLDialogElement;
  @query("form") private form!: HTMLFormElement;

  private attempt = new AbortController();

  /**
   * Opens the dialog.
   * @param template the template or snapshot to begin with; the one chosen last without it
   */
  open(template = this.template): void {
    this.error = undefined;
    const named = template !== "base" && template !== CODE_CELLS && template !== OTHER;
    if (named) this.other = template;
    this.choose(named ? OTHER : template);
    this.dialog.showModal();
  }

  override render() {
    return html`
      <dialog aria-labelledby="title" @close=${() => this.attempt.abort()}>
        <h2 id="title">New sandbox</h2>
        <form @submit=${this.submit}>
          <div class="part">
            <label for="template">Template</label>
            <select id="template" class="field" name="template" .value=${live(this.template)}
              @change=${(event: Event) => this.choose((event.target as HTMLSelectElement).value)}>
              <option value="base" ?selected=${this.template === "base"}>base: a shell and files</option>
              <option value=${CODE_CELLS} ?selected=${this.template === CODE_CELLS}>${CODE_CELLS}: code cells too</option>
              <option value=${OTHER} ?selected=${this.template === OTHER}>Another template or a snapshot</option>
            </select>
            ${
              this.template === OTHER
                ? html`<input class="field mono" name="other" required aria-label="Name or id" placeholder="Name or id" spellcheck="false"
                    .value=${this.other} @input=${(event: Event) => {
                      this.other = (event.target as HTMLInputElement).value;
                    }} />`
                : nothing
            }
            ${this.template === CODE_CELLS ? this.renderCodeCells() : nothing}
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
            <p id="timeout-hint" class="hint">At most 24 hours. It can be extended at any time.</p>
          </div>
          <div class="part">
            <label for="end">Then it</label>
            <select id="end" class="field" name="end">
              <option value="kill">ends, and its files are gone</option>
              <option value="pause">is paused, and can be resumed</option>
            </select>
          </div>
          ${this.renderPairs("Labels", "label", this.labels, (labels) => {
            this.labels = labels;
          })}
          ${this.renderPairs("Environment variables", "variable", this.envs, (envs) => {
            this.envs = envs;
          })}
          <fieldset>
            <legend>Network</legend>
            <label class="check">
              <input type="checkbox" name="internet" checked />
              <span>Internet access<br /><span class="hint">Without it, nothing in the sandbox reaches the network.</span></span>
            </label>
            <label class="check">
              <input type="checkbox" name="public" checked />
              <span>Open ports are public<br /><span class="hint">To whoever knows the sandbox's id; else requests need a token.</span></span>
            </label>
            <details>
              <summary>Only some addresses</summary>
              <div class="part">
                <label for="allow">May be reached</label>
                <textarea id="allow" class="field mono" name="allow" rows="2" spellcheck="false" placeholder="api.example.com"
                  aria-describedby="network-hint"></textarea>
                <label for="deny">May not be reached</label>
                <textarea id="deny" class="field mono" name="deny" rows="2" spellcheck="false" placeholder="0.0.0.0/0"
                  aria-describedby="network-hint"></textarea>
                <p id="network-hint" class="hint">One host, address or range a line; what may be reached counts over what may not. Platforms differ
                  in what they can do.</p>
              </div>
            </details>
          </fieldset>
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

  /** What the first sandbox with code cells on a machine must be told beforehand, and while it waits. */
  private renderCodeCells() {
    const status = this.codeCells;
    if (!status || status.state === "ready") return nothing;
    if (status.state !== "making") {
      return html`<p class="hint">The first sandbox with code cells installs ${status.packages} Python packages (numpy, pandas,
        matplotlib and others) on this machine: about ${status.megabytes} MB, usually ${status.minutes} minutes, once.</p>`;
    }
    const done = progressOf(status);
    return html`<div class="setup">
      <progress aria-label="Setting up code cells" max="1" value=${done ?? nothing}></progress>
      <p class="hint" role="status">Setting up code cells: ${status.packages} Python packages, about ${status.megabytes} MB, usually
        ${status.minutes} minutes, once.</p>
      <p class="hint detail">${plainName(status.detail ?? "")}</p>
    </div>`;
  }

  private renderPairs(title: string, what: string, pairs: readonly Pair[], set: (pairs: readonly Pair[]) => void) {
    const field = (
      pair: Pair,
      part: keyof Pair,
      at: number,
    ) => html`<input class="field" aria-label=${`${part === "key" ? "Name" : "Value"} of ${what} ${at + 1}`}
      placeholder=${part === "key" ? "name" : "value"} spellcheck="false" ?required=${part === "key" && pair.value !== ""} .value=${pair[part]}
      @input=${(event: Event) => {
        pair[part] = (event.target as HTMLInputElement).value;
        this.requestUpdate();
      }} />`;
    return html`<fieldset>
      <legend>${title}</legend>
      ${pairs.map(
        (pair, at) => html`<div class="row">
          ${field(pair, "key", at)}${field(pair, "value", at)}
          <button type="button" class="icon-button" aria-label=${`Remove ${what} ${at + 1}`}
            @click=${() => set(pairs.filter((other) => other !== pair))}>${icon("close")}</button>
        </div>`,
      )}
      <button type="button" class="link" @click=${() => set([...pairs, { key: "", value: "" }])}>Add a ${what}</button>
    </fieldset>`;
  }

  private choose(template: string) {
    this.template = template;
    if (template === CODE_CELLS) void this.ask();
  }

  private async ask(): Promise<void> {
    this.codeCells = await codeCellsStatus(this.connection);
  }

  private async submit(event: Event) {
    event.preventDefault();
    if (this.busy) return;
    const data = new FormData(this.form);
    const text = (name: string) => String(data.get(name) ?? "").trim();
    this.busy = true;
    this.error = undefined;
    this.attempt = new AbortController();
    const { signal } = this.attempt;
    try {
      const sandbox = await this.create({
        ...this.connection,
        template: this.template === OTHER ? text("other") : this.template,
        timeoutMs: Number(text("timeout")) * Number(text("unit")) * MINUTE_MS,
        metadata: object(filled(this.labels)),
        ...(filled(this.envs).length > 0 ? { envs: object(filled(this.envs)) } : {}),
        allowInternetAccess: data.has("internet"),
        ...network(lines(text("allow")), lines(text("deny")), data.has("public")),
        ...(text("end") === "pause" ? { lifecycle: { onTimeout: "pause" } } : {}),
        signal,
      });
      this.dialog.close();
      this.labels = [];
      this.envs = [];
      this.dispatchEvent(new CustomEvent("sandbox-created", { detail: sandbox }));
    } catch (error) {
      if (!signal.aborted) this.error = error;
    } finally {
      this.busy = false;
    }
  }

  /** Starts it. With code cells that can take minutes the first time, longer than the platform lets a caller wait: then it is asked again. */
  private async create(options: SandboxCreateOptions): Promise<Sandbox> {
    if (options.template !== CODE_CELLS || this.codeCells?.state === "ready") return Sandbox.create(options);
    const watch = setInterval(() => void this.ask(), POLL_MS);
    try {
      for (;;) {
        try {
          return await Sandbox.create(options);
        } catch (error) {
          await this.ask();
          const { state, detail = "" } = this.codeCells ?? {};
          if (state === "failed") {
            throw new ExplainedError("Code cells could not be set up", plainName(detail), "The platform's log has more.", {
              cause: error,
            });
          }
          if (state !== "making") throw error;
        }
        await this.setUp(options.signal);
      }
    } finally {
      clearInterval(watch);
    }
  }

  /** Waits until the platform has made the runtime of code cells, or could not. */
  private async setUp(signal: AbortSignal | undefined): Promise<void> {
    while (this.codeCells?.state === "making") {
      signal?.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** Those with a name: an empty row is none. */
function filled(pairs: readonly Pair[]): readonly Pair[] {
  return pairs.filter(({ key }) => key.trim() !== "");
}

function object(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key.trim(), value]));
}

function lines(text: string): string[] {
  return text.split(/\s+/).filter((line) => line !== "");
}

/** Only what was asked for: not every platform takes all of it. */
function network(allowOut: string[], denyOut: string[], allowPublicTraffic: boolean): Pick<SandboxCreateOptions, "network"> {
  const options = {
    ...(allowOut.length > 0 ? { allowOut } : {}),
    ...(denyOut.length > 0 ? { denyOut } : {}),
    ...(allowPublicTraffic ? {} : { allowPublicTraffic }),
  };
  return Object.keys(options).length > 0 ? { network: options } : {};
}

declare global {
  interface HTMLElementTagNameMap {
    "console-new-sandbox": ConsoleNewSandbox;
  }
}
