import { css, html, LitElement, nothing } from "lit";
import { property, query, state } from "lit/decorators.js";
import { element } from "./element.js";
import { base, dialogBox } from "./styles.js";

/** A question to the person. All texts are shown as text. */
export interface Question {
  title: string;
  /** What will happen. */
  text?: string;
  /** Something to look at closely, such as an address or a path; shown in full, in a fixed-width font. */
  detail?: string;
  /** The label of the button that says yes. */
  action: string;
  /** Whether saying yes destroys something. The focus is then on the button that says no. */
  danger?: boolean;
  /** Further answers, each with what {@link prompt} then gives. */
  others?: readonly { readonly value: string; readonly label: string }[];
  /** Asks for a text. */
  input?: {
    label: string;
    value?: string;
    /** Whether the part before the last dot is selected, as for renaming a file. */
    selectStem?: boolean;
    /** Why a text cannot be taken; `undefined` when it can. */
    problem?: (text: string) => string | undefined;
    /** Looks at a text where that takes time, before the dialog closes: the same as `problem`. */
    settle?: (text: string) => Promise<string | undefined>;
    /** What there is to choose from, in place of a text: each with what {@link prompt} then gives. */
    choices?: readonly { readonly value: string; readonly label: string }[];
  };
}

/** The dialog behind {@link confirm} and {@link prompt}. */
@element("sandbox-dialog")
export class SandboxDialog extends LitElement {
  static override styles = [
    base,
    dialogBox,
    css`
      p {
        margin: 0 0 8px;
        color: var(--sb-muted);
        overflow-wrap: anywhere;
      }
      .detail {
        max-height: 30vh;
        margin: 0 0 8px;
        padding: 8px 10px;
        overflow: auto;
        border-radius: var(--sb-radius);
        background: var(--sb-bg);
        color: var(--sb-text);
        overflow-wrap: anywhere;
      }
      label {
        display: block;
        margin-bottom: 4px;
        font-weight: 500;
      }
      .problem {
        min-height: 1.45em;
        margin: 4px 0 0;
        color: var(--sb-danger);
      }
    `,
  ];

  @property({ attribute: false }) question: Question = { title: "", action: "" };
  /** Receives the text (`""` where none was asked for), or `undefined` when the person said no. */
  answered: (text: string | undefined) => void = () => {};
  @state() private problem = "";
  @state() private settling = false;
  @query("dialog") private dialog!: HTMLDialogElement;
  @query("#input") private input!: HTMLInputElement | HTMLSelectElement | null;

  override render() {
    const { title, text, detail, action, danger, input, others = [] } = this.question;
    return html`
      <dialog aria-labelledby="title" @close=${() => this.finish(undefined)}>
        <form @submit=${this.submit} novalidate>
          <h2 id="title">${title}</h2>
          ${text ? html`<p>${text}</p>` : nothing}
          ${detail ? html`<p class="detail mono">${detail}</p>` : nothing}
          ${
            input
              ? html`<label for="input">${input.label}</label>
                  ${
                    input.choices
                      ? html`<select id="input" class="field">${input.choices.map(({ value, label }) => html`<option value=${value}>${label}</option>`)}</select>`
                      : html`<input id="input" class="field" autocomplete="off" spellcheck="false" .value=${input.value ?? ""}
                          aria-describedby="problem" @input=${this.check} />`
                  }
                  <p id="problem" class="problem" role="status">${this.problem}</p>`
              : nothing
          }
          <div class="buttons">
            <button type="button" class="button" ?autofocus=${danger && !input} @click=${() => this.finish(undefined)}>Cancel</button>
            ${others.map(({ value, label }) => html`<button type="button" class="button" @click=${() => this.finish(value)}>${label}</button>`)}
            <button class="button ${danger ? "danger" : "primary"}" ?autofocus=${!danger && !input} ?disabled=${this.settling}>${action}</button>
          </div>
        </form>
      </dialog>
    `;
  }

  override firstUpdated() {
    this.dialog.showModal();
    const { input } = this.question;
    if (!this.input || !input) return;
    this.input.focus();
    if (!(this.input instanceof HTMLInputElement)) return;
    const dot = (input.value ?? "").lastIndexOf(".");
    this.input.setSelectionRange(0, input.selectStem && dot > 0 ? dot : this.input.value.length);
  }

  private check() {
    this.problem = this.question.input?.problem?.(this.input?.value ?? "") ?? "";
  }

  private async submit(event: Event) {
    event.preventDefault();
    this.check();
    const text = this.input?.value ?? "";
    if (this.problem !== "" || this.settling) return;
    const { settle } = this.question.input ?? {};
    if (settle) {
      this.settling = true;
      const problem = (await settle(text)) ?? "";
      this.settling = false;
      // What has been typed meanwhile is to be looked at first.
      if (text !== this.input?.value) return;
      this.problem = problem;
      if (problem !== "") return;
    }
    this.finish(text);
  }

  private finish(text: string | undefined) {
    this.remove();
    this.answered(text);
    // Closing the dialog asks again; the first answer counts.
    this.answered = () => {};
  }
}

/** Asks a question that may hold a text field or further answers. Gives the text or the answer's value (`""` for a plain yes), or `undefined` for no. */
export function prompt(question: Question): Promise<string | undefined> {
  const before = deepActiveElement();
  return new Promise((resolve) => {
    const dialog = document.createElement("sandbox-dialog");
    dialog.question = question;
    dialog.answered = (text) => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      resolve(text);
    };
    document.body.append(dialog);
  });
}

/** Asks a yes-or-no question. */
export async function confirm(question: Question): Promise<boolean> {
  return (await prompt(question)) !== undefined;
}

/** Where the focus is, looked for in shadow trees too: a removed dialog does not give the focus back. */
function deepActiveElement(): Element | null {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-dialog": SandboxDialog;
  }
}
