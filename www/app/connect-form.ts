import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { icon } from "../elements/icons.js";
import { base } from "../elements/styles.js";
import type { Target } from "./platform.js";
import "../elements/sandbox-error.js";

/** Where a person wants to connect. Without a target it is the platform that serves the page, by a key or by the token that there is. */
export interface Choice {
  readonly target?: Target;
  /** Whether the target and the key may outlive a reload. */
  readonly keep?: boolean;
  readonly key?: string;
}

/** What the form connects to: a cloud, `custom` for a platform by its address, `own` for the one that serves the page. */
export type Provider = Target["provider"] | "own";

/** What there is to choose from, with its name for people. */
export const PROVIDERS: readonly (readonly [Provider, string])[] = [
  ["own", "The platform that serves this page"],
  ["e2b", "E2B"],
  ["agentbox", "AgentBox"],
  ["alibaba", "Alibaba Agent Sandbox"],
  ["custom", "Another address"],
];

/**
 * The way in for a tab that has no token, and to other platforms.
 *
 * @fires connect-to - `detail` is a {@link Choice}
 */
@customElement("console-connect")
export class ConsoleConnect extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: grid;
        place-items: center;
        padding: 24px 16px;
        overflow: auto;
      }
      section {
        display: grid;
        gap: 14px;
        width: min(420px, 100%);
      }
      h2 {
        margin: 0;
        font-size: 20px;
        font-weight: 600;
        letter-spacing: -0.01em;
      }
      p {
        margin: 0;
        color: var(--sb-muted);
      }
      code {
        padding: 1px 5px;
        border-radius: 4px;
        background: var(--sb-hover);
        color: var(--sb-text);
        font-family: var(--sb-mono);
        font-size: 12px;
      }
      form {
        display: grid;
        gap: 6px;
        padding: 16px;
        border: 1px solid var(--sb-border);
        border-radius: 10px;
        background: var(--sb-surface);
      }
      label {
        font-weight: 500;
      }
      .hint {
        font-size: 12px;
      }
      .check {
        display: flex;
        align-items: center;
        gap: 8px;
        margin-top: 4px;
        font-weight: 400;
      }
      .check input {
        width: 16px;
        height: 16px;
        accent-color: var(--sb-accent-fill);
      }
      .submit {
        justify-self: end;
        margin-top: 6px;
      }
    `,
  ];

  /** Why the person stands here, when something went wrong. */
  @property({ attribute: false }) error: unknown;
  /** Where else this page may connect. */
  @property({ attribute: false }) elsewhere: readonly string[] = [];
  /** Whether a connection is being tried. */
  @property({ type: Boolean }) busy = false;
  /** Whether this tab has a key or a token of the platform that serves it, so that it needs none. */
  @property({ type: Boolean }) known = false;
  @state() private provider: Provider = "own";
  @query("form") private form!: HTMLFormElement;

  protected override updated(changed: PropertyValues<this>) {
    // At first, and when the field that had the focus is not there any more.
    if (changed.has("known") && !this.shadowRoot?.activeElement) this.focusNext();
  }

  /** Shows the fields of a provider, with the focus in the first that has to be filled in. */
  choose(provider: Provider): void {
    this.provider = provider;
    void this.updateComplete.then(() => this.focusNext());
  }

  override render() {
    const { provider } = this;
    const own = provider === "own";
    return html`
      <section>
        <h2>Connect to a platform</h2>
        ${this.error === undefined ? nothing : html`<sandbox-error .error=${this.error}></sandbox-error>`}
        ${
          own && !this.known
            ? html`<p>
                The address that the platform prints at its start opens the console already connected, once. After a restart it prints a new
                one: <code>cargo xtask dev</code> or <code>agent-sandbox-local serve</code>. In another browser, or once that address is used
                up, give the <code>apiKey</code> that is printed below it.
              </p>`
            : nothing
        }
        <form @submit=${this.submit}>
          <label for="provider">Platform</label>
          <select id="provider" class="field" @change=${this.chosen}>
            ${PROVIDERS.map(([value, label]) => html`<option value=${value} ?selected=${value === provider}>${label}</option>`)}
          </select>
          ${provider === "custom" ? this.renderAddress() : nothing}
          ${own && this.known ? html`<p class="hint">This tab needs no key for it.</p>` : this.renderKey()}
          ${own ? nothing : this.renderElsewhere()}
          <button class="button primary submit" ?disabled=${this.busy}>
            ${this.busy ? html`<span class="spinner"></span>` : icon("power")}Connect
          </button>
        </form>
      </section>
    `;
  }

  private renderKey() {
    return html`<label for="key">API key</label>
      <input id="key" class="field mono" name="key" type="password" autocomplete="off" spellcheck="false" required aria-describedby="hint" />
      <label class="check"><input type="checkbox" name="keep" />Remember it for this tab</label>
      <p id="hint" class="hint">Remembered, it is in the tab's session storage, and a reload does not ask again; else it is in this page's memory
        alone. Closing the tab forgets it, and other tabs ask for it.</p>`;
  }

  private renderAddress() {
    return html`<label for="api">Address of its control plane</label>
      <input id="api" class="field mono" name="api" type="url" placeholder="https://api.example.com" required />
      <label for="sandboxes">Where its sandboxes are</label>
      <input id="sandboxes" class="field mono" name="sandboxes" placeholder="https://{port}-{sandboxId}.example.com" spellcheck="false" />
      <label for="like">It speaks like</label>
      <select id="like" class="field" name="like">
        <option value="e2b">E2B</option>
        <option value="agentbox">AgentBox</option>
        <option value="alibaba">Alibaba</option>
      </select>`;
  }

  private renderElsewhere() {
    return html`<p class="hint">${
      this.elsewhere.length > 0
        ? html`This page may connect to ${this.elsewhere.map((source) => html`<code>${source}</code> `)}`
        : html`This page's policy lets it connect to its own platform alone. Start that with <code>--console-connect URL</code> to allow others.`
    }</p>`;
  }

  private chosen(event: Event) {
    this.provider = (event.target as HTMLSelectElement).value as Provider;
  }

  private focusNext() {
    this.form.querySelector<HTMLElement>("input[required], button")?.focus();
  }

  private submit(event: Event) {
    event.preventDefault();
    const data = new FormData(this.form);
    const text = (name: string) => String(data.get(name) ?? "").trim();
    const { provider } = this;
    const key = text("key");
    const keep = data.has("keep");
    const detail: Choice =
      provider === "own"
        ? { key, keep }
        : {
            target: {
              provider,
              like: (text("like") || "e2b") as Target["like"],
              apiUrl: text("api").replace(/\/+$/, ""),
              sandboxUrl: text("sandboxes"),
              apiKey: key,
            },
            keep,
          };
    this.dispatchEvent(new CustomEvent("connect-to", { detail }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-connect": ConsoleConnect;
  }
}
