import { css, html, LitElement, nothing } from "lit";
import { customElement, property, query } from "lit/decorators.js";
import { icon } from "../elements/icons.js";
import { base } from "../elements/styles.js";
import "../elements/sandbox-error.js";

/**
 * The way in for a tab that has no token.
 *
 * @fires use-key - `detail` is the API key
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
      .row {
        display: flex;
        gap: 8px;
      }
      .hint {
        font-size: 12px;
      }
    `,
  ];

  /** Why the person stands here, when something went wrong. */
  @property({ attribute: false }) error: unknown;
  /** Whether a key is being tried. */
  @property({ type: Boolean }) busy = false;
  @query("input") private input!: HTMLInputElement;

  override render() {
    return html`
      <section>
        <h2>Connect to the platform</h2>
        ${this.error === undefined ? nothing : html`<sandbox-error .error=${this.error}></sandbox-error>`}
        <p>
          The address that the platform prints at its start opens the console already connected, once. After a restart it prints a new
          one: <code>cargo xtask dev</code> or <code>agent-sandbox-local serve</code>.
        </p>
        <form @submit=${this.submit}>
          <label for="key">API key</label>
          <div class="row">
            <input id="key" class="field mono" type="password" autocomplete="off" spellcheck="false" required aria-describedby="hint" />
            <button class="button primary" ?disabled=${this.busy}>
              ${this.busy ? html`<span class="spinner"></span>` : icon("power")}Connect
            </button>
          </div>
          <p id="hint" class="hint">The key stays in this page's memory. It is not stored, and a reload asks for it again.</p>
        </form>
      </section>
    `;
  }

  private submit(event: Event) {
    event.preventDefault();
    const key = this.input.value.trim();
    if (key) this.dispatchEvent(new CustomEvent("use-key", { detail: key }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-connect": ConsoleConnect;
  }
}
