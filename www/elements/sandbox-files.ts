import type { EntryInfo, Files, Sandbox } from "agent-sandbox-web";
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { bytes } from "./format.js";
import { icon } from "./icons.js";
import { baseName, joinPath, nameProblem, parentOf, plainName, visibleName } from "./names.js";
import { confirm, prompt } from "./sandbox-dialog.js";
import type { SandboxEditor } from "./sandbox-editor.js";
import type { SandboxTree, TreeAction } from "./sandbox-tree.js";
import { base } from "./styles.js";
import { download, droppedFiles, type Upload, Uploads } from "./transfers.js";
import "./sandbox-editor.js";
import "./sandbox-error.js";
import "./sandbox-tree.js";

/** The files of a sandbox: a tree beside an editor, or one at a time where there is little room. */
@customElement("sandbox-files")
export class SandboxFiles extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: block;
        min-height: 0;
        min-width: 0;
        container-type: inline-size;
        background: var(--sb-surface);
      }
      .layout {
        display: grid;
        grid-template-columns: minmax(180px, 270px) minmax(0, 1fr);
        grid-template-rows: minmax(0, 1fr);
        height: 100%;
      }
      .side {
        display: flex;
        flex-direction: column;
        min-height: 0;
        min-width: 0;
        border-inline-end: 1px solid var(--sb-border);
        background: var(--sb-bg);
      }
      .bar {
        display: flex;
        align-items: center;
        flex: none;
        height: 36px;
        padding-inline: 8px 4px;
        border-bottom: 1px solid var(--sb-border);
      }
      .root {
        flex: 1;
        min-width: 0;
        padding: 2px 4px;
        overflow: hidden;
        border: 0;
        border-radius: 4px;
        background: none;
        font-weight: 600;
        text-align: start;
        text-overflow: ellipsis;
        white-space: pre;
        cursor: pointer;
      }
      .root:hover {
        background: var(--sb-hover);
      }
      sandbox-tree {
        flex: 1;
      }
      .transfers {
        flex: none;
        max-height: 40%;
        overflow: auto;
        border-top: 1px solid var(--sb-border);
      }
      .transfer {
        display: flex;
        align-items: center;
        gap: 8px;
        padding: 6px 10px;
        font-size: 12px;
      }
      .transfer .name {
        flex: 1;
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: pre;
      }
      sandbox-error {
        margin: 8px;
      }
      @container (max-width: 560px) {
        .layout {
          grid-template-columns: minmax(0, 1fr);
        }
        .layout.editing .side,
        .layout:not(.editing) sandbox-editor {
          display: none;
        }
        .side {
          border: 0;
        }
      }
    `,
  ];

  /** The sandbox whose files are shown. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  @state() private root = "";
  @state() private error: { doing: string; error: unknown; retry: () => void } | undefined;
  @state() private editing = false;
  @state() private narrow = false;
  @state() private notice = "";
  @query("sandbox-tree") private tree!: SandboxTree;
  @query("sandbox-editor") private editor!: SandboxEditor;
  @query("input[type=file]") private chooser!: HTMLInputElement;
  private chosenFolder = "";
  private readonly widths = new ResizeObserver(([entry]) => {
    this.narrow = (entry?.contentRect.width ?? 0) <= 560;
  });
  private readonly uploads = new Uploads((finished) => {
    this.requestUpdate();
    if (finished) void this.tree?.reveal(parentOf(finished.path), finished.path);
  });

  /** Reads what is shown of the tree anew. */
  async refresh(): Promise<void> {
    await this.tree?.refresh();
  }

  /** Whether a file has changes that are not saved. */
  get dirty(): boolean {
    return this.editor?.dirty ?? false;
  }

  override connectedCallback() {
    super.connectedCallback();
    this.widths.observe(this);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.widths.disconnect();
  }

  protected override willUpdate(changed: PropertyValues<this>) {
    if (!changed.has("sandbox")) return;
    this.root = "";
    this.editing = false;
    this.error = undefined;
    void this.goHome();
  }

  override render() {
    const { sandbox, root } = this;
    return html`
      <div class="layout ${this.editing ? "editing" : ""}">
        <div class="side">
          <div class="bar" role="toolbar" aria-label="Files">
            <button class="root" title=${`${plainName(root)}: open another folder`} @click=${this.chooseRoot} ?disabled=${!root}>${root ? visibleName(root) : "Files"}</button>
            ${this.renderTool("Folder above", "up", () => this.setRoot(parentOf(root)), root === "/")}
            ${this.renderTool("New file", "newFile", () => this.make("file", this.tree.folder))}
            ${this.renderTool("New folder", "newFolder", () => this.make("folder", this.tree.folder))}
            ${this.renderTool("Upload files", "upload", () => this.choose(this.tree.folder))}
            ${this.renderTool("Read the folders anew", "refresh", () => this.refresh())}
          </div>
          ${
            this.error
              ? html`<sandbox-error dismissible .error=${this.error.error} doing=${this.error.doing} retry-label="Try again"
                  @retry=${() => this.retry()} @dismiss=${() => this.dismiss()}></sandbox-error>`
              : nothing
          }
          <sandbox-tree .files=${sandbox?.files} .root=${root} @tree-action=${this.act} @tree-drop=${this.drop}></sandbox-tree>
          ${this.renderTransfers()}
        </div>
        <sandbox-editor .sandbox=${sandbox} .covering=${this.narrow} @editor-back=${() => this.back()} @file-saved=${this.saved}
          @file-download=${(event: CustomEvent<{ path: string }>) => this.download(event.detail.path)}></sandbox-editor>
      </div>
      <input type="file" multiple hidden aria-label="Files to upload" @change=${this.chosen} />
    `;
  }

  private renderTool(label: string, name: Parameters<typeof icon>[0], act: () => void, disabled = false) {
    return html`<button class="icon-button" aria-label=${label} title=${label} ?disabled=${disabled || !this.root} @click=${act}>
      ${icon(name)}
    </button>`;
  }

  private renderTransfers() {
    const { list } = this.uploads;
    if (list.length === 0 && this.notice === "") return nothing;
    return html`<div class="transfers" role="status">
      ${
        this.notice
          ? html`<div class="transfer"><span class="name">${this.notice}</span>
              <button class="icon-button" aria-label="Dismiss" @click=${() => this.say("")}>${icon("close")}</button></div>`
          : nothing
      }
      ${list.map((upload) => this.renderUpload(upload))}
    </div>`;
  }

  private renderUpload(upload: Upload) {
    const name = plainName(upload.file.name);
    if (upload.error === undefined) {
      return html`<div class="transfer"><span class="spinner"></span><span class="name">Uploading ${name}</span>${bytes(upload.file.size)}</div>`;
    }
    return html`<sandbox-error dismissible .error=${upload.error} doing=${`Uploading ${name}`} retry-label="Try again"
      @retry=${() => this.sandbox && this.uploads.retry(this.sandbox.files, upload)}
      @dismiss=${() => this.uploads.dismiss(upload)}></sandbox-error>`;
  }

  private async goHome(): Promise<void> {
    const { sandbox } = this;
    if (!sandbox) return;
    await this.attempt("Opening the home folder", async () => {
      const { path } = await sandbox.files.getInfo(".");
      if (sandbox === this.sandbox && this.root === "") this.root = path;
    });
  }

  private setRoot(path: string) {
    this.root = path;
  }

  private async chooseRoot() {
    const { sandbox } = this;
    const path = await prompt({
      title: "Open a folder",
      action: "Open",
      input: {
        label: "Path of the folder",
        value: this.root,
        problem: (text) => (text.startsWith("/") ? undefined : "Give the whole path, beginning with a slash."),
      },
    });
    if (path === undefined || !sandbox) return;
    await this.attempt("Opening the folder", async () => {
      const info = await sandbox.files.getInfo(path);
      this.root = info.type === "directory" ? info.path : parentOf(info.path);
    });
  }

  private act(event: CustomEvent<{ action: TreeAction; entry: EntryInfo }>) {
    const { action, entry } = event.detail;
    const acts: Record<TreeAction, () => unknown> = {
      open: () => this.open(entry.path),
      rename: () => this.rename(entry),
      delete: () => this.delete(entry),
      download: () => this.download(entry.path),
      "new-file": () => this.make("file", entry.path),
      "new-folder": () => this.make("folder", entry.path),
      upload: () => this.choose(entry.path),
    };
    acts[action]();
  }

  private async open(path: string): Promise<void> {
    this.editing = true;
    await this.editor.open(path);
  }

  private back() {
    this.editing = false;
    void this.updateComplete.then(() => this.tree.renderRoot.querySelector<HTMLElement>("[tabindex='0']")?.focus());
  }

  private saved() {
    void this.refresh();
  }

  private async make(kind: "file" | "folder", folder: string): Promise<void> {
    const name = await prompt({
      title: kind === "file" ? "New file" : "New folder",
      action: "Create",
      input: { label: `Name, in ${plainName(folder)}`, problem: (text) => nameProblem(text) ?? this.taken(folder, text) },
    });
    if (name === undefined) return;
    const path = joinPath(folder, name);
    await this.attempt(kind === "file" ? "Making the file" : "Making the folder", async (files) => {
      if (kind === "folder") await files.makeDir(path);
      // What the tree has not read may be there all the same, and writing would empty it.
      else if (!(await files.list(folder)).some((entry) => entry.name === name)) await files.write(path, "");
      await this.tree.reveal(folder, path);
      if (kind === "file") await this.open(path);
    });
  }

  private async rename(entry: EntryInfo): Promise<void> {
    const folder = parentOf(entry.path);
    const name = await prompt({
      title: `Rename ${plainName(entry.name)}`,
      action: "Rename",
      input: {
        label: "New name",
        value: entry.name,
        selectStem: entry.type !== "directory",
        problem: (text) => nameProblem(text) ?? (text === entry.name ? undefined : this.taken(folder, text)),
      },
    });
    if (name === undefined || name === entry.name) return;
    const path = joinPath(folder, name);
    await this.attempt("Renaming", async (files) => {
      await files.move(entry.path, path);
      this.editor.moved(entry.path, path);
      await this.tree.reveal(folder, path);
    });
  }

  private async delete(entry: EntryInfo): Promise<void> {
    const folder = entry.type === "directory";
    const agreed = await confirm({
      title: `Delete ${folder ? "the folder" : "the file"} ${plainName(entry.name)}?`,
      text: folder ? "Everything in it is deleted too. This cannot be undone." : "This cannot be undone.",
      detail: plainName(entry.path),
      action: "Delete",
      danger: true,
    });
    if (!agreed) return;
    await this.attempt("Deleting", async (files) => {
      await files.remove(entry.path);
      this.editor.removed(entry.path);
      await this.refresh();
    });
  }

  private async download(path: string): Promise<void> {
    await this.attempt("Downloading", (files) => download(files, path, baseName(path)));
  }

  private choose(folder: string) {
    this.chosenFolder = folder;
    this.chooser.value = "";
    this.chooser.click();
  }

  private chosen() {
    void this.upload(this.chosenFolder, [...(this.chooser.files ?? [])]);
  }

  private drop(event: CustomEvent<{ folder: string; data: DataTransfer }>) {
    const { files, folders } = droppedFiles(event.detail.data);
    if (folders > 0) this.say("Folders are not uploaded. Drop the files in them instead.");
    void this.upload(event.detail.folder, files);
  }

  private async upload(folder: string, chosen: File[]): Promise<void> {
    await this.attempt("Uploading", async (files) => {
      const taken = (await files.list(folder)).map((entry) => entry.name);
      const replaced = chosen.filter((file) => taken.includes(file.name));
      const agreed =
        replaced.length === 0 ||
        (await confirm({
          title: replaced.length === 1 ? "Replace a file?" : `Replace ${replaced.length} files?`,
          text: `The folder ${plainName(folder)} holds already:`,
          detail: replaced.map((file) => plainName(file.name)).join(", "),
          action: "Replace",
          danger: true,
        }));
      if (agreed) this.uploads.add(files, folder, chosen);
    });
  }

  private taken(folder: string, name: string): string | undefined {
    return this.tree.has(joinPath(folder, name)) ? "Something of this name is there already." : undefined;
  }

  private say(notice: string) {
    this.notice = notice;
  }

  /** Does something and shows what went wrong, with the offer to try it again. */
  private async attempt(doing: string, act: (files: Files) => Promise<void>): Promise<void> {
    const { sandbox } = this;
    if (!sandbox) return;
    this.error = undefined;
    try {
      await act(sandbox.files);
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
