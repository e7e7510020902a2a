import type { Sandbox } from "agent-sandbox-web";
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { Attention } from "./attention.js";
import { isGone } from "./describe-error.js";
import { type Draft, draftsOf } from "./editor/drafts.js";
import type { EditorDocument, EditorEngine } from "./editor/editor-engine.js";
import {
  isMissing,
  type OpenDocument,
  pausedWhileReading,
  pausedWhileSaving,
  version,
  versionOf,
  withReason,
} from "./editor/open-document.js";
import { Outside } from "./editor/outside.js";
import { askToClose } from "./editor/questions.js";
import {
  acting,
  comparing,
  gone,
  noFile,
  outside,
  picture,
  preview,
  previewType,
  refused,
  status,
  type TextActs,
} from "./editor/views.js";
import { editorStyles } from "./editor-styles.js";
import { element } from "./element.js";
import { type OpenedFile, openFile } from "./files/open-file.js";
import { icon } from "./icons.js";
import { languageOf } from "./language.js";
import { baseName, plainName, visibleName } from "./names.js";
import { save } from "./save.js";
import { base, emptyState } from "./styles.js";
import "./sandbox-error.js";

/**
 * An editor for the files of a sandbox, with a tab for each open file.
 *
 * @fires file-saved - a file was written; `detail.path` names it
 * @fires drafts-change - {@link SandboxEditor.drafts} are others than before
 * @fires file-download - the person wants the file of `detail.path`
 * @fires need-sandbox - the sandbox is gone, and the person wants another
 * @fires need-resume - the sandbox is paused, and the person wants it to go on
 * @fires editor-back - the person wants back to where files are chosen
 */
@element("sandbox-editor")
export class SandboxEditor extends LitElement {
  static override styles = [base, emptyState, editorStyles];

  /** The sandbox whose files are edited. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** Whether there is a way back to show, because the editor covers the place where files are chosen. */
  @property({ type: Boolean, reflect: true }) covering = false;
  /** Whether the sandbox is gone: nothing can be saved then. */
  @property({ type: Boolean }) ended = false;
  /** Whether the sandbox is paused: what is saved waits for its resuming. */
  @property({ type: Boolean }) paused = false;
  /** The paths of files whose unsaved text is too large to be kept across a reload. */
  @property({ attribute: false }) unkept: ReadonlySet<string> = new Set();
  @state() private documents: readonly OpenDocument[] = [];
  @state() private current: OpenDocument | undefined;
  @state() private position = { line: 1, column: 1 };
  /** The text that was copied last, to say so. */
  @state() private copied: OpenDocument | undefined;
  /** What the person wants to save once the sandbox goes on. */
  private wanted: OpenDocument | undefined;
  @query(".code") private code!: HTMLElement;
  private readonly attention = new Attention(this);
  private readonly outside = new Outside({
    files: () => (this.ended || this.paused ? undefined : this.sandbox?.files),
    engine: () => this.engine,
    change: (document, change) => this.change(document, change),
    load: (document) => this.load(document, false),
  });
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

  /** The paths of the files that are open, in the order of their tabs. */
  get paths(): string[] {
    return this.documents.map(({ path }) => path);
  }

  /** Shows a file, opening it if it is not open, at a line (from 1) if one is given. */
  async open(path: string, line?: number): Promise<void> {
    let document = this.documents.find((document) => document.path === path);
    if (!document) {
      document = { path, reading: new AbortController() };
      this.documents = [...this.documents, document];
    }
    document.line = line;
    await this.show(document);
  }

  /** What is not saved, by path. */
  get drafts(): ReadonlyMap<string, Draft> {
    return draftsOf(this.documents, ({ document }) => (document && this.engine?.content(document).toString()) ?? "");
  }

  /** Opens files that were open before, with what was not saved of them; each is read when it is shown. */
  restore(paths: readonly string[], current: string | undefined, drafts: ReadonlyMap<string, Draft> = new Map()): void {
    this.documents = [...new Set([...paths, ...drafts.keys()])].map((path) => {
      const draft = drafts.get(path);
      return { path, reading: new AbortController(), dirty: draft !== undefined, draft };
    });
    const shown = this.documents.find(({ path }) => path === current);
    if (shown) void this.show(shown, false);
  }

  /** Says that something at `path` has changed in the sandbox, or is gone; `""` when it is not known where. */
  changedOutside(path: string, gone: boolean): void {
    for (const document of this.documents) {
      if (gone && document.path === path) document.doubtful = true;
      if (path === "" || document.path === path || document.path.startsWith(`${path}/`)) void this.outside.look(document);
    }
  }

  /** Follows a rename or move of a file, or of a folder above it. */
  moved(from: string, to: string): void {
    for (const document of this.documents) {
      if (document.path !== from && !document.path.startsWith(`${from}/`)) continue;
      document.path = to + document.path.slice(from.length);
      document.outside = undefined;
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
    for (const document of this.documents) this.letGo(document);
    this.engine?.dispose();
  }

  protected override willUpdate(changed: PropertyValues<this>) {
    if (changed.get("paused") === true && !this.paused) this.goOn();
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
        ${
          current?.document && previewType(current.path)
            ? html`<button class="icon-button" aria-label="Preview" title="Preview" aria-pressed=${current.previewing ?? false}
                @click=${() => this.change(current, { previewing: !current.previewing })}>${icon("eye")}</button>`
            : nothing
        }
        <button class="icon-button" aria-label="Find in this file" title="Find in this file (Ctrl-F)" ?disabled=${!current?.document}
          @click=${() => this.search()}>${icon("search")}</button>
        <button class="icon-button" aria-label="Save" title="Save (Ctrl-S)" ?disabled=${!current?.dirty || current.saving || this.ended}
          @click=${() => this.save()}>${icon("save")}</button>
      </div>
      <div class="body" role="tabpanel" aria-label=${current ? plainName(current.path) : "No file is open"}>
        ${current?.saveError === undefined ? nothing : this.renderSaveError(current)}
        ${current?.document ? this.renderHint(current) : nothing}
        ${this.renderBody(current)}
        ${current?.previewing && current.document ? preview(current.path, this.text ?? "") : nothing}
        <div class="code" ?hidden=${!current?.document || current.previewing}></div>
      </div>
      ${current?.document ? status(current, this.position, { unkept: this.unkept.has(current.path), ended: this.ended }) : nothing}
    `;
  }

  private renderTab(document: OpenDocument) {
    const selected = document === this.current;
    const name = baseName(document.path);
    return html`<button role="tab" class="tab" aria-selected=${selected} tabindex=${selected ? 0 : -1}
      title=${plainName(document.path)} aria-keyshortcuts="Delete"
      @click=${() => void this.show(document)} @auxclick=${(event: MouseEvent) => event.button === 1 && this.close(document)}>
      <span class="name">${visibleName(name)}</span>
      ${document.dirty ? html`<span class="dirty" title="Not saved"><span class="visually-hidden">, not saved</span></span>` : nothing}
      <span class="close" title="Close" aria-hidden="true" @click=${(event: Event) => {
        event.stopPropagation();
        void this.close(document);
      }}>${icon("close")}</span>
    </button>`;
  }

  private renderBody(current: OpenDocument | undefined) {
    if (!current) return noFile();
    if (current.error !== undefined) {
      return html`<div class="message">
        <sandbox-error .error=${current.error} retry-label=${this.ended || isGone(current.error) ? "" : this.paused ? "Resume" : "Try again"}
          @retry=${() => (this.paused ? this.resume() : this.load(current))}>
          <button class="button" @click=${() => this.drop(current)}>Close</button>
        </sandbox-error>
      </div>`;
    }
    const { opened, path, url } = current;
    const download = () => this.tell("file-download", { path });
    if (opened?.kind === "refused") return refused(path, opened, download);
    if (opened?.kind === "image" && url !== undefined) {
      const broken = () => this.change(current, { opened: { ...opened, kind: "refused", reason: "binary" } });
      return picture(path, url, opened.info, download, broken);
    }
    if (current.document) return nothing;
    return html`<div class="message waiting" role="status"><span class="spinner"></span>Reading</div>`;
  }

  /** What has to be known of a text before one goes on in it. */
  private renderHint(current: OpenDocument) {
    if (this.ended) {
      const another = () => this.dispatchEvent(new CustomEvent("need-sandbox", { composed: true }));
      return gone(current.dirty ?? false, { ...this.rescues(current), "New sandbox": another });
    }
    if (current.comparing) return comparing(() => this.outside.endComparison(current));
    if (!current.outside) return nothing;
    // All of them ask the sandbox.
    const acts: TextActs = {
      Compare: () => this.outside.compare(current),
      Reload: () => this.load(current),
      "Keep mine": () => this.outside.keepMine(current),
    };
    return outside(current.outside === "deleted", this.paused ? {} : acts);
  }

  private renderSaveError(current: OpenDocument) {
    // Once it is known to be gone, it is said of every text.
    if (this.ended) return nothing;
    const { paused } = this;
    const gone = isGone(current.saveError);
    return html`<sandbox-error class="save-error" dismissible .error=${current.saveError} doing="Saving"
      retry-label=${gone ? "" : paused ? "Resume and save" : "Try again"} @retry=${() => (paused ? this.resume(current) : this.save())}
      @dismiss=${() => this.change(current, { saveError: undefined })}>
      ${gone || paused ? acting(this.rescues(current)) : nothing}
    </sandbox-error>`;
  }

  /** What keeps a text that cannot be saved in the sandbox. */
  private rescues(current: OpenDocument): TextActs {
    return {
      [this.copied === current ? "Copied" : "Copy the text"]: () => void this.copy(current),
      "Download the text": () => save(new Blob([this.text ?? ""]), baseName(current.path)),
    };
  }

  private resume(wanted?: OpenDocument) {
    this.wanted = wanted;
    this.dispatchEvent(new CustomEvent("need-resume", { composed: true }));
  }

  /** Does what was waiting for the sandbox. */
  private goOn() {
    const { wanted } = this;
    this.wanted = undefined;
    for (const document of this.documents) {
      document.saveError = undefined;
      if (document.error !== undefined) void this.load(document, false);
      else if (document.stale) void this.outside.look(document);
    }
    if (wanted && wanted === this.current) void this.save();
  }

  private async load(document: OpenDocument, focus = true): Promise<void> {
    const { sandbox } = this;
    if (!sandbox) return;
    this.attention.begin();
    this.change(document, { error: this.paused ? pausedWhileReading() : undefined, begun: true });
    if (this.paused) return;
    try {
      const gone = document.draft !== undefined && (await isMissing(sandbox.files, document));
      const [opened, engine] = await Promise.all([
        gone ? undefined : openFile(sandbox.files, document.path, document.reading.signal),
        this.startEngine(),
      ]);
      if (!this.documents.includes(document)) return;
      this.letGoOfPicture(document);
      if (document.draft) this.takeUp(document, document.draft, opened, engine);
      else if (opened) this.take(document, opened, engine);
      if (document === this.current) await this.show(document, focus && this.attention.stayed);
    } catch (error) {
      if (!document.reading.signal.aborted) this.change(document, { error: withReason(error, document.path) });
    }
  }

  /** Shows what a file holds. */
  private take(document: OpenDocument, opened: OpenedFile, engine: EditorEngine): void {
    if (opened.kind === "text" && document.document) engine.reload(document.document, opened.text);
    else if (opened.kind === "text") this.makeText(document, opened.text, opened.lineSeparator, engine);
    else delete document.document;
    if (opened.kind === "image") document.url = URL.createObjectURL(opened.data);
    this.change(document, { opened, version: version(opened.info), outside: undefined, dirty: false });
  }

  /** Goes on with what an earlier page did not save, over what the file holds now; without a file that it can be compared with, alone. */
  private takeUp(document: OpenDocument, draft: Draft, opened: OpenedFile | undefined, engine: EditorEngine): void {
    const text = opened?.kind === "text" ? opened : undefined;
    const made = this.makeText(document, text?.text ?? "", text?.lineSeparator ?? draft.lineSeparator, engine);
    engine.rewrite(made, draft.text.split("\n"));
    const now = opened && version(opened.info);
    const dirty = text === undefined || engine.isDirty(made);
    const outside = !dirty || now === draft.version ? undefined : opened ? "changed" : "deleted";
    this.change(document, { opened, dirty, outside, draft: undefined, version: dirty ? draft.version : now });
  }

  private makeText(document: OpenDocument, text: string, lineSeparator: string, engine: EditorEngine): EditorDocument {
    const made = engine.create(text, lineSeparator, `Text of ${plainName(baseName(document.path))}`);
    document.document = made;
    void this.highlight(document, engine);
    return made;
  }

  private startEngine(): Promise<EditorEngine> {
    this.loading ??= this.loadEngine();
    this.loading.catch(() => {
      this.loading = undefined;
    });
    return this.loading;
  }

  private async loadEngine(): Promise<EditorEngine> {
    const { EditorEngine } = await import("./editor/editor-engine.js");
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
    this.copied = undefined;
    this.tell("drafts-change");
    const dirty = engine.isDirty(current.document);
    if (dirty !== (current.dirty ?? false)) this.change(current, { dirty });
  }

  /** Shows a document, reading it if that has not begun; `focus` says whether the person goes on in it. */
  private async show(document: OpenDocument, focus = true): Promise<void> {
    this.current = document;
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector("[role=tab][aria-selected=true]")?.scrollIntoView({ block: "nearest" }),
    );
    if (!document.begun) {
      await this.load(document, focus);
      return;
    }
    if (!document.document || !this.engine) return;
    this.engine.show(document.document);
    if (document.line !== undefined) {
      this.engine.goTo(document.line);
      this.change(document, { previewing: false });
    }
    document.line = undefined;
    void this.outside.look(document);
    // The code is hidden until the next update when another kind of tab was shown before.
    await this.updateComplete;
    if (focus) this.engine.focus();
  }

  private async save(): Promise<void> {
    const { current, engine, sandbox } = this;
    if (!current?.document || !engine || !sandbox || current.saving) return;
    if (this.paused) {
      this.change(current, { saveError: pausedWhileSaving() });
      return;
    }
    const { document, path } = current;
    const content = engine.content(document);
    const text = engine.text(document);
    this.change(current, { saving: true, saveError: undefined });
    try {
      if (await this.outside.mayOverwrite(sandbox.files, current)) {
        await sandbox.files.write(path, text);
        document.saved = content;
        this.change(current, {
          dirty: engine.isDirty(document),
          version: await versionOf(sandbox.files, current),
          outside: undefined,
        });
        await this.outside.endComparison(current);
        this.tell("file-saved", { path });
        this.tell("drafts-change");
      }
    } catch (saveError) {
      this.change(current, { saveError });
    } finally {
      this.change(current, { saving: false });
      // What was told while it was written may have been this very writing, or another's.
      if (current.stale) void this.outside.look(current);
    }
  }

  private async search(): Promise<void> {
    if (this.current) this.change(this.current, { previewing: false });
    await this.updateComplete;
    this.engine?.search();
  }

  private async copy(current: OpenDocument): Promise<void> {
    await navigator.clipboard.writeText(this.text ?? "");
    this.copied = current;
  }

  private async close(document: OpenDocument): Promise<void> {
    if (!document.dirty || (await askToClose(document.path))) this.drop(document);
  }

  private letGo(document: OpenDocument): void {
    document.reading.abort();
    this.letGoOfPicture(document);
  }

  private letGoOfPicture(document: OpenDocument): void {
    if (document.url !== undefined) URL.revokeObjectURL(document.url);
    document.url = undefined;
  }

  private drop(document: OpenDocument): void {
    this.letGo(document);
    const at = this.documents.indexOf(document);
    this.documents = this.documents.filter((other) => other !== document);
    if (document.dirty) this.tell("drafts-change");
    if (this.current !== document) return;
    const next = this.documents[Math.min(at, this.documents.length - 1)];
    if (next) void this.show(next);
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
      if (next) void this.show(next, false);
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
