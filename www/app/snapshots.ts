import { type ConnectionOptions, Sandbox, type SnapshotInfo } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { icon } from "../elements/icons.js";
import { plainName } from "../elements/names.js";
import { confirm } from "../elements/sandbox-dialog.js";
import { base, dialogBox } from "../elements/styles.js";
import "../elements/sandbox-error.js";

/**
 * The dialog with the snapshots that were kept.
 *
 * @fires use-snapshot - `detail` is the id of the one to start a sandbox from
 */
@customElement("console-snapshots")
export class ConsoleSnapshots extends LitElement {
  static override styles = [
    base,
    dialogBox,
    css`
      dialog {
        --dialog-width: 520px;
      }
      ul {
        margin: 0;
        padding: 0;
        list-style: none;
        border: 1px solid var(--sb-border);
        border-radius: var(--sb-radius);
      }
      li {
        display: flex;
        align-items: center;
        gap: 8px;
        padding: 6px 6px 6px 12px;
      }
      li + li {
        border-top: 1px solid var(--sb-border);
      }
      .name {
        flex: 1;
        min-width: 0;
        overflow-wrap: anywhere;
      }
      .name span {
        display: block;
      }
      p {
        margin: 0 0 8px;
        color: var(--sb-muted);
      }
      sandbox-error {
        margin-bottom: 8px;
      }
      .delete:hover:enabled {
        color: var(--sb-danger);
      }
    `,
  ];

  /** Where they are. */
  @property({ attribute: false }) connection: ConnectionOptions = {};
  @state() private list: readonly SnapshotInfo[] | undefined;
  @state() private failure: { doing: string; error: unknown } | undefined;
  @query("dialog") private dialog!: HTMLDialogElement;

  /** Opens the dialog and reads the snapshots. */
  open(): void {
    this.list = undefined;
    this.dialog.showModal();
    void this.read();
  }

  override render() {
    const { list, failure } = this;
    return html`
      <dialog aria-labelledby="title">
        <h2 id="title">Snapshots</h2>
        <p>A snapshot is a sandbox as it was at one moment; others start from it.</p>
        ${
          failure
            ? html`<sandbox-error .error=${failure.error} doing=${failure.doing} retry-label="Read them again" @retry=${this.read}></sandbox-error>`
            : nothing
        }
        ${list === undefined && !failure ? html`<p role="status"><span class="spinner" style="display: inline-block"></span> Reading</p>` : nothing}
        ${list?.length === 0 ? html`<p role="status"><b>There are none yet.</b> “Keep a snapshot” in the menu of a running sandbox makes one.</p>` : nothing}
        ${list?.length ? html`<ul>${list.map((snapshot) => this.renderSnapshot(snapshot))}</ul>` : nothing}
        <div class="buttons"><button class="button" autofocus @click=${() => this.dialog.close()}>Close</button></div>
      </dialog>
    `;
  }

  private renderSnapshot({ snapshotId, names, contents }: SnapshotInfo) {
    return html`<li>
      <div class="name">
        ${names.length > 0 ? html`<b>${plainName(names.join(", "))}</b>` : nothing}
        <span class="mono">${snapshotId}</span>
        ${contents ? html`<span class="muted">${plainName(contents)}</span>` : nothing}
      </div>
      <button class="button" aria-label=${`Start a sandbox from ${snapshotId}`} @click=${() => this.use(snapshotId)}>${icon("run")}Start</button>
      <button class="icon-button delete" title="Delete" aria-label=${`Delete ${snapshotId}`} @click=${() => this.discard(snapshotId)}>
        ${icon("trash")}
      </button>
    </li>`;
  }

  private async read(): Promise<void> {
    await this.attempt("Reading the snapshots", async () => {
      this.list = await Sandbox.listSnapshots(this.connection).toArray();
    });
  }

  private use(id: string) {
    this.dialog.close();
    this.dispatchEvent(new CustomEvent("use-snapshot", { detail: id }));
  }

  private async discard(id: string): Promise<void> {
    const agreed = await confirm({
      title: "Delete this snapshot?",
      text: "No sandbox can be started from it then. Those that were must have ended on some platforms.",
      detail: id,
      action: "Delete",
      danger: true,
    });
    if (!agreed) return;
    await this.attempt("Deleting the snapshot", async () => {
      await Sandbox.deleteSnapshot(id, this.connection);
      this.list = await Sandbox.listSnapshots(this.connection).toArray();
    });
  }

  private async attempt(doing: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.failure = undefined;
    } catch (error) {
      this.failure = { doing, error };
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-snapshots": ConsoleSnapshots;
  }
}
