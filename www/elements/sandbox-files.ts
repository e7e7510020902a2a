import type { EntryInfo, Sandbox } from "agent-sandbox-web";
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { isGone } from "./describe-error.js";
import { keepDrafts, restoreDrafts } from "./editor/drafts.js";
import { element } from "./element.js";
import { FileActions } from "./files/actions.js";
import { keepShown, restoreShown } from "./files/keep.js";
import { chosenEntries, droppedEntries, type LocalEntry } from "./files/local-entries.js";
import { Transfers } from "./files/transfers.js";
import { filesStyles } from "./files-styles.js";
import { icon } from "./icons.js";
import { parentOf, plainName, visibleName } from "./names.js";
import { prompt } from "./sandbox-dialog.js";
import type { SandboxEditor } from "./sandbox-editor.js";
import type { FoundPlace, SandboxSearch } from "./sandbox-search.js";
import type { SandboxTransfers } from "./sandbox-transfers.js";
import type { SandboxTree, TreeAction } from "./sandbox-tree.js";
import { base } from "./styles.js";
import "./sandbox-editor.js";
import "./sandbox-error.js";
import "./sandbox-search.js";
import "./sandbox-transfers.js";
import "./sandbox-tree.js";

const KEEP_AFTER_MS = 500;

/**
 * The files of a sandbox: a tree beside an editor, or one at a time where there is little room.
 *
 * @fires need-resume - see `<sandbox-editor>`
 * @fires need-sandbox - see `<sandbox-editor>`
 * @fires notebook-open - the person wants the notebook file of the path `detail`; prevent the default to open it elsewhere than as text
 */
@element("sandbox-files")
export class SandboxFiles extends LitElement {
  static override styles = [base, filesStyles];

  /** The sandbox whose files are shown. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** Whether the sandbox is gone. */
  @property({ type: Boolean }) ended = false;
  /** Whether the sandbox is paused: its files are not watched then, and read anew when it goes on. */
  @property({ type: Boolean }) paused = false;
  /**
   * Keeps which folders and files are open, and text that is not saved, in the tab's sessionStorage under this name and the sandbox's
   * id; without it a reload begins anew.
   */
  @property({ attribute: "storage-key" }) storageKey = "";
  @state() private root = "";
  @state() private error: { doing: string; error: unknown; retry: () => void } | undefined;
  @state() private editing = false;
  @state() private narrow = false;
  @state() private notice = "";
  @state() private searching = false;
  /** Whether the search is for names of files. */
  @state() private naming = false;
  @state() private transferring = false;
  @query("sandbox-tree") private tree!: SandboxTree;
  @query("sandbox-editor") private editor!: SandboxEditor;
  @query("sandbox-search") private search!: SandboxSearch | null;
  @query("sandbox-transfers") private list!: SandboxTransfers | null;
  private chosenFolder = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly widths = new ResizeObserver(([entry]) => {
    this.narrow = (entry?.contentRect.width ?? 0) <= 560;
  });
  private readonly transfers = new Transfers(() => {
    this.transferring = this.transfers.list.length > 0;
    this.list?.requestUpdate();
  });
  private readonly actions = new FileActions({
    transfers: this.transfers,
    attempt: (doing, act) => this.attempt(doing, act),
    has: (path) => this.tree.has(path),
    reveal: (folder, path) => this.tree.reveal(folder, path),
    open: (path) => this.open(path),
    moved: (from, to) => this.editor.moved(from, to),
    removed: (path) => this.editor.removed(path),
    say: (notice) => this.say(notice),
  });

  /** Reads what is shown of the tree anew. */
  async refresh(): Promise<void> {
    await this.tree?.refresh();
  }

  /** Opens the search for files by their names. */
  async findFile(): Promise<void> {
    this.searching = true;
    this.naming = true;
    this.editing &&= !this.narrow;
    await this.updateComplete;
    await this.search?.updateComplete;
    this.search?.focus();
  }

  /** Whether a file has changes that are not saved. */
  get dirty(): boolean {
    return this.editor?.dirty ?? false;
  }

  override connectedCallback() {
    super.connectedCallback();
    this.widths.observe(this);
    window.addEventListener("pagehide", this.keep);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.widths.disconnect();
    window.removeEventListener("pagehide", this.keep);
    this.keep();
    this.transfers.stop();
  }

  protected override willUpdate(changed: PropertyValues<this>) {
    if (!changed.has("sandbox")) return;
    this.transfers.stop();
    this.root = "";
    this.editing = false;
    this.searching = false;
    this.error = undefined;
    void this.begin();
  }

  override render() {
    const { sandbox, root } = this;
    return html`
      <div class="layout ${this.editing ? "editing" : ""}">
        <div class="side">
          <div class="bar" role="toolbar" aria-label="Files">
            <button class="root" title=${`${plainName(root)}: open another folder`} @click=${this.chooseRoot} ?disabled=${!root}>${root ? visibleName(root) : "Files"}</button>
            ${this.renderTool("Folder above", "up", () => this.setRoot(parentOf(root)), root === "/")}
            <button class="icon-button" aria-label="Find in files" title="Find in files" aria-pressed=${this.searching} ?disabled=${!root || (this.ended && !this.searching)}
              @click=${() => this.toggleSearch()}>${icon("search")}</button>
            ${this.renderTool("New file", "newFile", () => this.actions.make("file", this.tree.folder))}
            ${this.renderTool("New folder", "newFolder", () => this.actions.make("folder", this.tree.folder))}
            ${this.renderTool("Upload files", "upload", () => this.choose(this.tree.folder, "files"))}
            <button class="icon-button" aria-label="More for this folder" title="More" ?disabled=${!root} aria-haspopup="menu"
              @click=${(event: Event) => this.tree.openFolderMenu(event)}>${icon("moreActions")}</button>
          </div>
          ${
            this.error
              ? html`<sandbox-error dismissible .error=${this.error.error} doing=${this.error.doing} retry-label=${this.ended || isGone(this.error.error) ? "" : "Try again"}
                  @retry=${() => this.retry()} @dismiss=${() => this.dismiss()}></sandbox-error>`
              : nothing
          }
          ${
            this.searching
              ? html`<sandbox-search .commands=${sandbox?.commands} root=${root} ?names=${this.naming} @search-close=${() => this.toggleSearch()}
                  @search-open=${(event: CustomEvent<FoundPlace>) => this.open(event.detail.path, event.detail.line)}></sandbox-search>`
              : nothing
          }
          <sandbox-tree .files=${sandbox?.files} .root=${root} ?ended=${this.ended} ?paused=${this.paused} ?hidden=${this.searching} @tree-action=${this.act}
            @tree-drop=${this.drop} @tree-move=${this.move}
            @tree-change=${(event: CustomEvent<{ path: string; gone: boolean }>) => this.editor.changedOutside(event.detail.path, event.detail.gone)}></sandbox-tree>
          ${
            this.notice
              ? html`<div class="notice" role="status"><span>${this.notice}</span>
                  <button class="icon-button" aria-label="Dismiss" @click=${() => this.say("")}>${icon("close")}</button></div>`
              : nothing
          }
          ${this.transferring ? html`<sandbox-transfers .transfers=${this.transfers}></sandbox-transfers>` : nothing}
        </div>
        <sandbox-editor .sandbox=${sandbox} ?ended=${this.ended} ?paused=${this.paused} .covering=${this.narrow} @editor-back=${() => this.back()} @drafts-change=${this.keepSoon} @file-saved=${() => this.refresh()}
          @file-download=${(event: CustomEvent<{ path: string }>) => this.download(event.detail.path, false)}></sandbox-editor>
      </div>
      <input class="files" type="file" multiple hidden aria-label="Files to upload" @change=${this.chosen} />
      <input class="folder" type="file" webkitdirectory hidden aria-label="Folder to upload" @change=${this.chosen} />
    `;
  }

  private renderTool(label: string, name: Parameters<typeof icon>[0], act: () => void, disabled = false) {
    return html`<button class="icon-button" aria-label=${label} title=${label} ?disabled=${disabled || this.ended || !this.root} @click=${act}>
      ${icon(name)}
    </button>`;
  }

  /** Takes up what an earlier page has kept, or begins in the home folder. */
  private async begin(): Promise<void> {
    const { sandbox, key } = this;
    if (!sandbox) return;
    await this.attempt("Opening the home folder", async () => {
      const kept = key === undefined ? undefined : restoreShown(key);
      // Of a sandbox that is gone, there is nothing but what was kept.
      if (this.ended && !kept) return;
      const there = kept && (this.ended || (await sandbox.files.exists(kept.root)));
      const root = there ? kept.root : (await sandbox.files.getInfo(".")).path;
      if (sandbox !== this.sandbox || this.root !== "") return;
      this.root = root;
      await this.updateComplete;
      if (!kept) return;
      this.editor.restore(kept.files, kept.current, restoreDrafts(`${key}.drafts`));
      this.editing = kept.current !== undefined;
      await this.tree.restore(kept.folders);
    });
  }

  private readonly keep = () => {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { key, root } = this;
    if (key === undefined || root === "" || this.ended) return;
    this.editor.unkept = keepDrafts(`${key}.drafts`, this.editor.drafts);
    keepShown(key, { root, folders: this.tree.openFolders, files: this.editor.paths, current: this.editor.path });
  };

  private readonly keepSoon = () => {
    this.timer ??= setTimeout(this.keep, KEEP_AFTER_MS);
  };

  private get key(): string | undefined {
    return this.storageKey !== "" && this.sandbox ? `${this.storageKey}.files.${this.sandbox.sandboxId}` : undefined;
  }

  private setRoot(path: string) {
    this.root = path;
  }

  private async chooseRoot() {
    const path = await prompt({
      title: "Open a folder",
      action: "Open",
      input: {
        label: "Path of the folder",
        value: this.root,
        problem: (text) => (text.startsWith("/") ? undefined : "Give the whole path, beginning with a slash."),
      },
    });
    if (path === undefined) return;
    await this.attempt("Opening the folder", async ({ files }) => {
      const info = await files.getInfo(path);
      this.root = info.type === "directory" ? info.path : parentOf(info.path);
    });
  }

  private toggleSearch() {
    this.searching = !this.searching;
    this.naming = false;
    void this.updateComplete.then(() => (this.searching ? this.search?.focus() : this.tree.focus()));
  }

  private act(event: CustomEvent<{ action: TreeAction; entry: EntryInfo }>) {
    const { action, entry } = event.detail;
    const acts: Record<TreeAction, () => unknown> = {
      open: () => this.open(entry.path),
      "open-text": () => this.open(entry.path, 1),
      "open-folder": () => this.setRoot(entry.path),
      rename: () => this.actions.rename(entry),
      move: () => this.actions.moveByPath(entry),
      delete: () => this.actions.delete(entry),
      download: () => this.download(entry.path, entry.type === "directory"),
      "new-file": () => this.actions.make("file", entry.path),
      "new-folder": () => this.actions.make("folder", entry.path),
      upload: () => this.choose(entry.path, "files"),
      "upload-folder": () => this.choose(entry.path, "folder"),
      duplicate: () => this.actions.duplicate(entry),
      "copy-path": () => this.actions.copyPath(entry),
      refresh: () => this.refresh(),
    };
    acts[action]();
  }

  private async open(path: string, line?: number): Promise<void> {
    if (path.endsWith(".ipynb") && line === undefined) {
      const opening = new CustomEvent("notebook-open", { detail: path, cancelable: true });
      // Where nobody shows notebooks it is text as any other.
      if (!this.dispatchEvent(opening)) return;
    }
    this.editing = true;
    await this.editor.open(path, line);
  }

  private back() {
    this.editing = false;
    void this.updateComplete.then(() => (this.search ?? this.tree).focus());
  }

  private download(path: string, folder: boolean) {
    void this.actions.download(path, folder);
  }

  private choose(folder: string, kind: "files" | "folder") {
    this.chosenFolder = folder;
    const chooser = this.renderRoot.querySelector<HTMLInputElement>(`input.${kind}`);
    if (!chooser) return;
    chooser.value = "";
    chooser.click();
  }

  private chosen(event: Event) {
    const files = [...((event.target as HTMLInputElement).files ?? [])];
    void this.actions.upload(this.chosenFolder, () => chosenEntries(files));
  }

  private drop(event: CustomEvent<{ folder: string; data: DataTransfer }>) {
    const entries: Promise<LocalEntry[]> = droppedEntries(event.detail.data);
    void this.actions.upload(event.detail.folder, () => entries);
  }

  private move(event: CustomEvent<{ path: string; folder: string }>) {
    void this.actions.moveByHand(event.detail.path, event.detail.folder);
  }

  private say(notice: string) {
    this.notice = notice;
  }

  private async attempt(doing: string, act: (sandbox: Sandbox) => Promise<void>): Promise<void> {
    const { sandbox } = this;
    if (!sandbox) return;
    this.error = undefined;
    try {
      await act(sandbox);
    } catch (error) {
      if (sandbox === this.sandbox) this.error = { doing, error, retry: () => void this.attempt(doing, act) };
    }
  }

  private retry() {
    this.error?.retry();
  }

  private dismiss() {
    this.error = undefined;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-files": SandboxFiles;
  }
}
