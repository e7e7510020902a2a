import { FileNotFoundError, type Sandbox } from "agent-sandbox-web";
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { isGone } from "./describe-error.js";
import type { EditorDocument, EditorEngine } from "./editor-engine.js";
import { editorStyles } from "./editor-styles.js";
import { bytes } from "./format.js";
import { icon } from "./icons.js";
import { languageOf } from "./language.js";
import { baseName, plainName, visibleName } from "./names.js";
import { EDITABLE_BYTES, hexDump, type OpenedFile, openFile } from "./open-file.js";
import { confirm } from "./sandbox-dialog.js";
import { base, emptyState } from "./styles.js";
import "./sandbox-error.js";

interface OpenDocument {
  path: string;
  /** Ends the reading when the tab is closed. */
  readonly reading: AbortController;
  opened?: OpenedFile;
  document?: EditorDocument;
  error?: unknown;
  saveError?: unknown;
  saving?: boolean;
  dirty?: boolean;
  /** When the file was changed last, as far as is known, in ms since 1970. */
  modified?: number | undefined;
}

/**
 * An editor for the files of a sandbox, with a tab for each open file.
 *
 * @fires file-saved - a file was written; `detail.path` names it
 * @fires file-download - the person wants the file of `detail.path`
 * @fires editor-back - the person wants back to where files are chosen
 */
@customElement("sandbox-editor")
export class SandboxEditor extends LitElement {
  static override styles = [base, emptyState, editorStyles];

  /** The sandbox whose files are edited. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** Whether there is a way back to show, because the editor covers the place where files are chosen. */
  @property({ type: Boolean, reflect: true }) covering = false;
  @state() private documents: readonly OpenDocument[] = [];
  @state() private current: OpenDocument | undefined;
  @state() private position = { line: 1, column: 1 };
  @query(".code") private code!: HTMLElement;
  private engine: EditorEngine | undefined;
  private loading: Promise<EditorEngine> | undefined;

  /** The path of the file that is shown. */
  get path(): string | undefined {
    return this.current?.path;
  }

  /** Whether a file has changes that are not saved. */
  get dirty(): boolean {
    return this.documents.some((document) => document.dirty);
  }

  /** The text of the file that is shown, as it is in the editor. */
  get text(): string | undefined {
    return this.current?.document && this.engine?.text(this.current.document);
  }

  /** Shows a file, opening it if it is not open. */
  async open(path: string): Promise<void> {
    const open = this.documents.find((document) => document.path === path);
    if (open) {
      this.show(open);
      return;
    }
    const document: OpenDocument = { path, reading: new AbortController() };
    this.documents = [...this.documents, document];
    this.show(document);
    await this.load(document);
  }

  /** Follows a rename or move of a file, or of a folder above it. */
  moved(from: string, to: string): void {
    for (const document of this.documents) {
      if (document.path === from || document.path.startsWith(`${from}/`)) document.path = to + document.path.slice(from.length);
    }
    this.requestUpdate();
  }

  /** Closes the files at and below a path that was deleted. */
  removed(path: string): void {
    for (const document of this.documents) {
      if (document.path === path || document.path.startsWith(`${path}/`)) this.drop(document);
    }
  }

  override connectedCallback() {
    super.connectedCallback();
    window.addEventListener("beforeunload", this.warn);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("beforeunload", this.warn);
    for (const document of this.documents) document.reading.abort();
    this.engine?.dispose();
  }

  protected override willUpdate(changed: PropertyValues<this>) {
    if (!changed.has("sandbox") || changed.get("sandbox") === undefined) return;
    for (const document of this.documents) this.drop(document);
  }

  override render() {
    const { current } = this;
    return html`
      <div class="bar" ?hidden=${this.documents.length === 0}>
        <button class="icon-button back" aria-label="Back to the files" @click=${() => this.tell("editor-back")}>${icon("back")}</button>
        <div class="tabs" role="tablist" aria-label="Open files" @keydown=${this.key}>
          ${repeat(
            this.documents,
            (document) => document,
            (document) => this.renderTab(document),
          )}
        </div>
        <button class="icon-button" aria-label="Save" title="Save (Ctrl-S)" ?disabled=${!current?.dirty || current.saving}
          @click=${() => this.save()}>${icon("save")}</button>
      </div>
      <div class="body" role="tabpanel" aria-label=${current ? plainName(current.path) : "No file is open"}>
        ${current?.saveError === undefined ? nothing : this.renderSaveError(current)}
        ${this.renderBody(current)}
        <div class="code" ?hidden=${!current?.document}></div>
      </div>
      ${current?.document ? this.renderStatus(current) : nothing}
    `;
  }

  private renderTab(document: OpenDocument) {
    const selected = document === this.current;
    const name = baseName(document.path);
    return html`<button role="tab" class="tab" aria-selected=${selected} tabindex=${selected ? 0 : -1}
      title=${plainName(document.path)} aria-keyshortcuts="Delete"
      @click=${() => this.show(document)} @auxclick=${(event: MouseEvent) => event.button === 1 && this.close(document)}>
      <span class="name">${visibleName(name)}</span>
      ${document.dirty ? html`<span class="dirty" title="Not saved"><span class="visually-hidden">, not saved</span></span>` : nothing}
      <span class="close" title="Close" aria-hidden="true" @click=${(event: Event) => {
        event.stopPropagation();
        void this.close(document);
      }}>${icon("close")}</span>
    </button>`;
  }

  private renderBody(current: OpenDocument | undefined) {
    if (!current) {
      return html`<div class="empty">
        ${icon("file")}
        <h2>No file is open</h2>
        <p>Choose a file in the tree, or drop files onto it to upload them.</p>
      </div>`;
    }
    if (current.error !== undefined) {
      return html`<div class="message">
        <sandbox-error .error=${current.error} retry-label="Try again" @retry=${() => this.load(current)}>
          <button class="button" @click=${() => this.drop(current)}>Close</button>
        </sandbox-error>
      </div>`;
    }
    if (current.opened?.kind === "refused") return this.renderRefused(current.path, current.opened);
    if (current.document) return nothing;
    return html`<div class="message waiting" role="status"><span class="spinner"></span>Reading</div>`;
  }

  private renderRefused(path: string, { reason, info, head }: Extract<OpenedFile, { kind: "refused" }>) {
    const why = {
      binary: "This is not text, so it is shown as bytes.",
      large: `At ${bytes(info.size)} it is too large for the editor, which takes up to ${bytes(EDITABLE_BYTES)}.`,
      special: "This is not a file with content, but a device, a pipe, a folder or a broken link.",
    }[reason];
    return html`<div class="message">
      <h2>${visibleName(baseName(path))}</h2>
      <p>${why}</p>
      <p class="muted">${info.permissions} ${info.owner} · ${bytes(info.size)}</p>
      ${
        reason === "special"
          ? nothing
          : html`<button class="button" @click=${() => this.tell("file-download", { path })}>${icon("download")}Download</button>`
      }
      ${
        head.length === 0
          ? nothing
          : html`<h3>The first ${head.length} bytes</h3>
              <pre class="preview mono" tabindex="0">${reason === "large" ? new TextDecoder().decode(head) : hexDump(head)}</pre>`
      }
    </div>`;
  }

  private renderSaveError(current: OpenDocument) {
    const gone = isGone(current.saveError);
    return html`<sandbox-error class="save-error" dismissible .error=${current.saveError} doing="Saving"
      retry-label=${gone ? "" : "Try again"} @retry=${() => this.save()}
      @dismiss=${() => this.change(current, { saveError: undefined })}>
      ${gone ? html`<button class="button" @click=${() => this.copy()}>Copy the text</button>` : nothing}
    </sandbox-error>`;
  }

  private renderStatus(current: OpenDocument) {
    const state = current.saving ? "Saving" : current.dirty ? "Not saved" : "Saved";
    const ends = current.opened?.kind === "text" && current.opened.lineSeparator === "\r\n" ? "CRLF" : "LF";
    return html`<div class="status">
      <span class="path">${visibleName(current.path)}</span>
      <span role="status">${state}</span>
      <span class="detail">Line ${this.position.line}, column ${this.position.column}</span>
      <span class="detail">${languageOf(baseName(current.path))?.name ?? "Plain text"}</span>
      <span class="detail">${ends}</span>
      <span class="detail" title="The Tab key indents. Escape, then Tab, leaves the editor.">Esc Tab leaves</span>
    </div>`;
  }

  private async load(document: OpenDocument): Promise<void> {
    const { sandbox } = this;
    if (!sandbox) return;
    this.change(document, { error: undefined });
    try {
      const [opened, engine] = await Promise.all([
        openFile(sandbox.files, document.path, document.reading.signal),
        this.startEngine(),
      ]);
      if (!this.documents.includes(document)) return;
      if (opened.kind === "text") {
        document.document = engine.create(opened.text, opened.lineSeparator, `Text of ${plainName(baseName(document.path))}`);
        void this.highlight(document, engine);
      }
      this.change(document, { opened, modified: opened.info.modifiedTime?.getTime() });
      if (document === this.current) this.show(document);
    } catch (error) {
      if (!document.reading.signal.aborted) this.change(document, { error });
    }
  }

  private startEngine(): Promise<EditorEngine> {
    this.loading ??= this.loadEngine();
    this.loading.catch(() => {
      this.loading = undefined;
    });
    return this.loading;
  }

  private async loadEngine(): Promise<EditorEngine> {
    const { EditorEngine } = await import("./editor-engine.js");
    await this.updateComplete;
    this.engine = new EditorEngine(this.code, this.renderRoot as ShadowRoot, {
      edited: () => this.markDirty(),
      cursor: (line, column) => {
        this.position = { line, column };
      },
      save: () => void this.save(),
    });
    return this.engine;
  }

  private async highlight({ path, document }: OpenDocument, engine: EditorEngine): Promise<void> {
    try {
      const language = await languageOf(baseName(path))?.load();
      if (language && document) engine.highlight(document, language);
    } catch {
      // Without its language a file is plain text, which does no harm.
    }
  }

  private markDirty(): void {
    const { current, engine } = this;
    if (!current?.document || !engine) return;
    const dirty = engine.isDirty(current.document);
    if (dirty !== (current.dirty ?? false)) this.change(current, { dirty });
  }

  private show(document: OpenDocument): void {
    this.current = document;
    if (!document.document || !this.engine) return;
    this.engine.show(document.document);
    // The code is hidden until the next update when another kind of tab was shown before.
    void this.updateComplete.then(() => this.engine?.focus());
  }

  private async save(): Promise<void> {
    const { current, engine, sandbox } = this;
    if (!current?.document || !engine || !sandbox || current.saving) return;
    const { document, path } = current;
    const content = engine.content(document);
    const text = engine.text(document);
    this.change(current, { saving: true, saveError: undefined });
    try {
      if (await this.mayOverwrite(sandbox, current)) {
        await sandbox.files.write(path, text);
        document.saved = content;
        const { modifiedTime } = await sandbox.files.getInfo(path);
        this.change(current, { dirty: engine.isDirty(document), modified: modifiedTime?.getTime() });
        this.tell("file-saved", { path });
      }
    } catch (saveError) {
      this.change(current, { saveError });
    } finally {
      this.change(current, { saving: false });
    }
  }

  /** Asks when the file is another than the one that was read. A file that went away is simply written anew. */
  private async mayOverwrite(sandbox: Sandbox, current: OpenDocument): Promise<boolean> {
    let modified: number | undefined;
    try {
      modified = (await sandbox.files.getInfo(current.path)).modifiedTime?.getTime();
    } catch (error) {
      if (error instanceof FileNotFoundError) return true;
      throw error;
    }
    if (current.modified === undefined || modified === current.modified) return true;
    return confirm({
      title: "The file has changed in the sandbox",
      text: "It was changed there after it was opened here. Saving replaces that change.",
      detail: plainName(current.path),
      action: "Replace it",
      danger: true,
    });
  }

  private async copy(): Promise<void> {
    await navigator.clipboard.writeText(this.text ?? "");
  }

  private async close(document: OpenDocument): Promise<void> {
    const agreed =
      !document.dirty ||
      (await confirm({
        title: "Close without saving?",
        text: "The changes to this file are lost.",
        detail: plainName(document.path),
        action: "Close",
        danger: true,
      }));
    if (agreed) this.drop(document);
  }

  private drop(document: OpenDocument): void {
    document.reading.abort();
    const at = this.documents.indexOf(document);
    this.documents = this.documents.filter((other) => other !== document);
    if (this.current !== document) return;
    const next = this.documents[Math.min(at, this.documents.length - 1)];
    if (next) this.show(next);
    else {
      this.current = undefined;
      this.tell("editor-back");
    }
  }

  private key(event: KeyboardEvent) {
    const at = this.documents.indexOf(this.current as OpenDocument);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Delete" && this.current) void this.close(this.current);
    else if (step !== undefined) {
      const next = this.documents[(at + step + this.documents.length) % this.documents.length];
      if (next) this.current = next;
      if (next?.document) this.engine?.show(next.document);
      void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
    } else return;
    event.preventDefault();
  }

  private change(document: OpenDocument, change: Partial<OpenDocument>): void {
    Object.assign(document, change);
    this.requestUpdate();
  }

  private readonly warn = (event: BeforeUnloadEvent) => {
    if (this.dirty) event.preventDefault();
  };

  private tell(type: string, detail?: { path: string }) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-editor": SandboxEditor;
  }
}
