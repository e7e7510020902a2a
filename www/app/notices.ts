import { css, html, LitElement, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { icon } from "../elements/icons.js";
import { base } from "../elements/styles.js";

/** Long enough to be read twice, and short enough not to be in the way. */
const STAYS_MS = 8000;

/** Something to tell the person while they do something else. */
export interface Notice {
  /** One of the same key takes its place. */
  readonly key: string;
  readonly text: string;
  /** Whether it may not wait: it stays until it is closed or taken back, and interrupts a screen reader. */
  readonly urgent?: boolean;
  /** Whether it stays until something takes its place, as while work is under way. */
  readonly stays?: boolean;
  /** What can be done about it. The notice is gone then. */
  readonly actions?: readonly { readonly label: string; readonly run: () => void }[];
}

/** Notices at the edge of the page; on a phone above what is worked in, so that they cover nothing. */
@customElement("console-notices")
export class ConsoleNotices extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        position: absolute;
        z-index: 5;
        inset: auto auto 12px 12px;
        width: 268px;
      }
      .live {
        display: grid;
      }
      .notice {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        align-items: start;
        gap: 6px 10px;
        margin-top: 8px;
        padding: 7px 8px 7px 14px;
        border: 1px solid var(--sb-border-strong);
        border-radius: 8px;
        background: var(--sb-raised);
        box-shadow: var(--sb-shadow);
        overflow-wrap: anywhere;
      }
      .urgent {
        border-color: var(--sb-warn);
        background: var(--sb-warn-bg);
      }
      .text {
        padding-block: 3px;
        white-space: pre-line;
      }
      .actions {
        display: flex;
        flex-wrap: wrap;
        grid-column: 1 / -1;
        gap: 6px;
      }
      @media (max-width: 760px) {
        :host {
          position: static;
          flex: none;
          order: -1;
          width: auto;
        }
        .notice {
          margin: 6px;
        }
      }
    `,
  ];

  @state() private list: readonly Notice[] = [];
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();

  /** Shows one, in place of that of the same key. */
  show(notice: Notice): void {
    this.list = [...this.list.filter(({ key }) => key !== notice.key), notice];
    this.await(notice);
  }

  /** Takes one back. */
  close(key: string): void {
    this.stop(key);
    if (this.list.some((notice) => notice.key === key)) this.list = this.list.filter((notice) => notice.key !== key);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    for (const key of [...this.timers.keys()]) this.stop(key);
  }

  override render() {
    // Screen readers tell what is added to a region that was there before.
    const region = (urgent: boolean) => html`<div class="live" aria-live=${urgent ? "assertive" : "polite"}>
      ${repeat(
        this.list.filter((notice) => (notice.urgent ?? false) === urgent),
        ({ key }) => key,
        (notice) => this.renderNotice(notice),
      )}
    </div>`;
    return html`${region(true)}${region(false)}`;
  }

  private renderNotice(notice: Notice) {
    const { key, text, urgent, actions = [] } = notice;
    return html`<div class="notice ${urgent ? "urgent" : ""}" data-key=${key}>
      <span class="text">${text}</span>
      <button class="icon-button" aria-label="Dismiss" title="Dismiss" @click=${() => this.close(key)}>${icon("close")}</button>
      ${
        actions.length > 0
          ? html`<span class="actions">${actions.map(
              ({ label, run }) =>
                html`<button class="button" @click=${() => {
                  this.close(key);
                  run();
                }}>${label}</button>`,
            )}</span>`
          : nothing
      }
    </div>`;
  }

  /** Lets it leave by itself in a while, but not while somebody points at it or is in it. */
  private await(notice: Notice) {
    const { key, urgent, stays } = notice;
    this.stop(key);
    if (urgent || stays) return;
    this.timers.set(
      key,
      setTimeout(() => {
        if (this.renderRoot.querySelector(`[data-key="${CSS.escape(key)}"]`)?.matches(":hover, :focus-within")) this.await(notice);
        else this.close(key);
      }, STAYS_MS),
    );
  }

  private stop(key: string) {
    clearTimeout(this.timers.get(key));
    this.timers.delete(key);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-notices": ConsoleNotices;
  }
}
