import type { EntryInfo, Files } from "agent-sandbox-web";
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { isGone } from "./describe-error.js";
import { element } from "./element.js";
import { FileTree, type TreeRow } from "./files/file-tree.js";
import { TreeWatch } from "./files/tree-watch.js";
import { bytes } from "./format.js";
import { type IconName, icon } from "./icons.js";
import { baseName, parentOf, plainName, visibleName } from "./names.js";
import { base } from "./styles.js";
import { treeStyles } from "./tree-styles.js";
import "./sandbox-error.js";

/** What can be done with an entry. */
export type TreeAction =
  | "open"
  | "open-text"
  | "open-folder"
  | "rename"
  | "move"
  | "delete"
  | "download"
  | "new-file"
  | "new-folder"
  | "upload"
  | "upload-folder"
  | "duplicate"
  | "copy-path"
  | "refresh";

interface Offer {
  readonly action: TreeAction;
  readonly label: string;
  readonly icon: IconName;
  /** For what it is offered: `top` is the folder that the tree shows. */
  readonly for: readonly ("file" | "other" | "folder" | "top")[];
  /** Only for names that it matches. */
  readonly named?: RegExp;
}

const OFFERS: readonly Offer[] = [
  { action: "open", label: "Open", icon: "file", for: ["file", "other"] },
  { action: "open-text", label: "Open as text", icon: "file", for: ["file"], named: /\.ipynb$/ },
  { action: "new-file", label: "New file", icon: "newFile", for: ["folder", "top"] },
  { action: "new-folder", label: "New folder", icon: "newFolder", for: ["folder", "top"] },
  { action: "upload", label: "Upload files here", icon: "upload", for: ["folder", "top"] },
  { action: "upload-folder", label: "Upload a folder here", icon: "upload", for: ["folder", "top"] },
  { action: "download", label: "Download", icon: "download", for: ["file", "folder", "top"] },
  { action: "open-folder", label: "Show only this folder", icon: "folder", for: ["folder"] },
  { action: "refresh", label: "Refresh", icon: "refresh", for: ["top"] },
  { action: "rename", label: "Rename", icon: "rename", for: ["file", "other", "folder"] },
  { action: "move", label: "Move", icon: "move", for: ["file", "other", "folder"] },
  { action: "duplicate", label: "Duplicate", icon: "newFile", for: ["file", "other", "folder"] },
  { action: "copy-path", label: "Copy path", icon: "copy", for: ["file", "other", "folder", "top"] },
  { action: "delete", label: "Delete", icon: "trash", for: ["file", "other", "folder"] },
];

/** What can be done when the sandbox is gone. A file that is open is shown. */
const WITHOUT_SANDBOX: ReadonlySet<TreeAction> = new Set(["open", "open-text", "copy-path"]);

/** Under which type a dragged entry names itself. */
const DRAGGED = "application/x-sandbox-path";

/**
 * A tree of files and folders that are read when they are opened, and again when they change.
 *
 * @fires tree-action - `detail` is `{action, entry}`
 * @fires tree-drop - files were dropped; `detail` is `{folder, data}`
 * @fires tree-move - an entry was dragged to a folder; `detail` is `{path, folder}`
 * @fires tree-change - something has changed; `detail` is `{path, gone}`, and `path` is `""` when it is not known where
 */
@element("sandbox-tree")
export class SandboxTree extends LitElement {
  static override styles = [base, treeStyles];

  @property({ attribute: false }) files: Files | undefined;
  /** The absolute path of the top folder. */
  @property() root = "";
  /** Whether the sandbox is gone: what was read stays. */
  @property({ type: Boolean }) ended = false;
  /** See `<sandbox-files>`. */
  @property({ type: Boolean }) paused = false;
  /** The path of the selected entry. */
  @property({ attribute: false }) selected: string | undefined;
  @state() private target: string | undefined;
  @state() private menuEntry: EntryInfo | undefined;
  @query(".menu") private menu!: HTMLElement;
  private menuOpener: HTMLElement | undefined;
  private tree: FileTree | undefined;
  private watch: TreeWatch | undefined;

  override connectedCallback() {
    super.connectedCallback();
    this.follow();
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.watch?.stop();
  }

  /** Reads every open folder anew, and watches them again if that has ended. A paused sandbox is not asked: it would wake, or not answer. */
  async refresh(): Promise<void> {
    if (this.ended || this.paused) return;
    this.follow();
    await this.tree?.refresh();
  }

  /** The paths of the folders that are open. */
  get openFolders(): string[] {
    return this.tree?.openFolders ?? [];
  }

  /** Opens folders that were open before; those that are not there any more are left out. */
  async restore(folders: readonly string[]): Promise<void> {
    // The folder may have been given a moment ago.
    await this.updateComplete;
    await this.tree?.restore(folders);
  }

  /** Puts the focus on the entry that can be reached by Tab. */
  override focus() {
    this.renderRoot.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }

  /** Opens the menu of the top folder, below the button that asked for it. */
  openFolderMenu(event: Event) {
    this.openMenu(event, { name: baseName(this.root), path: this.root, type: "directory" } as EntryInfo);
  }

  /** Opens the folder at `path` and selects what `select` names. */
  async reveal(folder: string, select: string): Promise<void> {
    const { tree } = this;
    if (!tree) return;
    if (folder !== tree.root) await tree.expand(folder);
    await tree.read(folder);
    this.select(select);
  }

  /** The folder that new things go into: the selected one, else the one that holds what is selected. */
  get folder(): string {
    const entry = this.selected === undefined ? undefined : this.tree?.entry(this.selected);
    if (!entry) return this.root;
    return entry.type === "directory" ? entry.path : parentOf(entry.path);
  }

  /** Whether there is an entry at `path`, as far as has been read. */
  has(path: string): boolean {
    return this.tree?.entry(path) !== undefined;
  }

  protected override willUpdate(changed: PropertyValues<this>) {
    if (this.tree) this.tree.paused = this.paused;
    if (this.ended || this.paused) this.watch?.stop();
    else if (changed.get("paused") === true) void this.refresh();
    if (!changed.has("files") && !changed.has("root")) return;
    this.watch?.stop();
    this.tree = this.files && this.root ? new FileTree(this.files, this.root, () => this.requestUpdate()) : undefined;
    if (this.tree) this.tree.paused = this.paused;
    void this.tree?.read(this.root);
    this.follow();
  }

  private follow() {
    const { files, tree, watch } = this;
    if (files && tree && !watch?.live && !this.ended && !this.paused && this.isConnected) {
      this.watch = new TreeWatch(files, tree, (path, gone) =>
        this.dispatchEvent(new CustomEvent("tree-change", { detail: { path, gone } })),
      );
    }
  }

  override render() {
    const rows = this.tree?.rows() ?? [];
    const entries = rows.filter((row) => row.kind === "entry");
    const reachable = entries.some((row) => row.entry.path === this.selected) ? this.selected : entries[0]?.entry.path;
    const empty = this.tree?.ready && rows.length === 0;
    const errors = rows.filter((row) => row.kind === "error");
    return html`
      <div class="tree ${this.target === this.root ? "target" : ""}" @dragover=${this.dragOver} @dragleave=${this.dragLeave} @drop=${this.drop}>
        ${errors.length > 0 ? html`<div class="errors">${errors.map((row) => this.renderError(row))}</div>` : nothing}
        <div role=${entries.length > 0 ? "tree" : nothing} aria-label=${entries.length > 0 ? "Files" : nothing} @keydown=${this.key}>
          ${repeat(
            entries,
            (row) => row.entry.path,
            (row) => this.renderEntry(row, reachable === row.entry.path),
          )}
        </div>
        ${rows.map((row) => (row.kind === "more" ? this.renderMore(row) : nothing))}
        ${this.tree && !this.tree.ready ? html`<div class="note" role="status">Reading the folder</div>` : nothing}
        ${empty ? html`<div class="note">This folder is empty. Make a file, or drop files here.</div>` : nothing}
      </div>
      <div class="menu" popover role="menu" aria-label="Actions" @toggle=${this.menuToggled} @keydown=${this.menuKey}>
        ${this.menuEntry ? this.renderMenu(this.menuEntry) : nothing}
      </div>
    `;
  }

  private renderEntry({ entry, depth, expanded, loading }: Extract<TreeRow, { kind: "entry" }>, reachable: boolean) {
    const folder = entry.type === "directory";
    const classes = [
      "row",
      entry.type,
      entry.name.startsWith(".") ? "hidden-file" : "",
      this.target === entry.path ? "target" : "",
    ];
    const link = entry.symlinkTarget === undefined ? "" : ` → ${plainName(entry.symlinkTarget)}`;
    return html`<div class=${classes.join(" ")} role="treeitem" aria-level=${depth + 1} aria-expanded=${folder ? String(expanded) : nothing}
      aria-selected=${entry.path === this.selected} tabindex=${reachable ? 0 : -1} title=${plainName(entry.path) + link}
      style="padding-inline-start: ${6 + depth * 14}px" .entry=${entry}
      draggable="true" @dragstart=${(event: DragEvent) => this.dragStart(event, entry)}
      @click=${() => this.activate(entry)} @contextmenu=${(event: MouseEvent) => this.openMenu(event, entry)}>
      <span class="twist">${loading ? html`<span class="spinner"></span>` : folder ? icon("chevron") : nothing}</span>
      <span class="kind">${icon(folder ? "folder" : entry.type === "file" ? "file" : "other")}</span>
      <span class="name">${visibleName(entry.name)}${link ? html`<em class="link">${link}</em>` : nothing}</span>
      ${entry.type === "file" ? html`<span class="size">${bytes(entry.size)}</span>` : nothing}
      <button class="icon-button more" tabindex="-1" aria-label=${`Actions for ${plainName(entry.name)}`}
        @click=${(event: MouseEvent) => this.openMenu(event, entry)}>⋯</button>
    </div>`;
  }

  private renderMore({ path, hidden }: Extract<TreeRow, { kind: "more" }>): TemplateResult {
    return html`<div class="note">
      ${hidden.toLocaleString("en")} more in ${visibleName(path)}
      <button @click=${() => this.tree?.showMore(path)}>Show more</button>
    </div>`;
  }

  /** Trying again is offered where it can help: not of a sandbox that is gone, and once a paused one goes on it is done unasked. */
  private renderError({ path, error }: Extract<TreeRow, { kind: "error" }>) {
    if (this.ended || isGone(error))
      return html`<div class="note" role="status">This sandbox is gone: nothing more can be read of ${visibleName(path)}.</div>`;
    if (this.paused)
      return html`<div class="note" role="status">This sandbox is paused: ${visibleName(path)} is read once it is resumed.</div>`;
    return html`<sandbox-error .error=${error} doing=${plainName(path)} retry-label="Try again"
      @retry=${() => this.tree?.read(path)}></sandbox-error>`;
  }

  private renderMenu(entry: EntryInfo) {
    const kind = this.offeredAs(entry);
    const possible = ({ action }: Offer) => !this.ended || WITHOUT_SANDBOX.has(action);
    return OFFERS.filter((offer) => offer.for.includes(kind) && (offer.named?.test(entry.name) ?? true) && possible(offer)).map(
      ({ action, label, icon: name }) =>
        html`<button role="menuitem" tabindex="-1" @click=${() => this.act(action, entry)}>${icon(name)}${label}</button>`,
    );
  }

  private offeredAs({ path, type }: EntryInfo): Offer["for"][number] {
    if (path === this.root) return "top";
    if (type === "directory") return "folder";
    return type === "file" ? "file" : "other";
  }

  private activate(entry: EntryInfo) {
    this.select(entry.path);
    if (entry.type === "directory") this.toggle(entry);
    else this.act("open", entry);
  }

  private toggle(entry: EntryInfo) {
    const expanded = this.rowOf(entry.path)?.ariaExpanded === "true";
    if (expanded) this.tree?.collapse(entry.path);
    else void this.tree?.expand(entry.path);
  }

  private act(action: TreeAction, entry: EntryInfo) {
    this.menu.hidePopover();
    this.dispatchEvent(new CustomEvent("tree-action", { detail: { action, entry } }));
  }

  private select(path: string) {
    this.selected = path;
  }

  private rowOf(path: string | undefined): HTMLElement | undefined {
    return this.rows.find((row) => row.entry.path === path);
  }

  private get rows(): (HTMLElement & { entry: EntryInfo })[] {
    return [...this.renderRoot.querySelectorAll<HTMLElement & { entry: EntryInfo }>(".row")];
  }

  private key(event: KeyboardEvent) {
    const { rows } = this;
    const at = rows.indexOf(event.target as (typeof rows)[number]);
    const row = rows[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const { entry } = row;
    const expanded = row.ariaExpanded;
    const moves: Record<string, () => void> = {
      ArrowDown: () => this.moveTo(rows[at + 1]),
      ArrowUp: () => this.moveTo(rows[at - 1]),
      Home: () => this.moveTo(rows[0]),
      End: () => this.moveTo(rows.at(-1)),
      ArrowRight: () => (expanded === "false" ? this.toggle(entry) : expanded === "true" && this.moveTo(rows[at + 1])),
      ArrowLeft: () => (expanded === "true" ? this.toggle(entry) : this.moveTo(this.rowOf(parentOf(entry.path)))),
      Enter: () => this.activate(entry),
      " ": () => this.activate(entry),
      F2: () => this.act("rename", entry),
      Delete: () => this.act("delete", entry),
      ContextMenu: () => this.openMenu(event, entry),
    };
    const move =
      event.key === "F10" && event.shiftKey ? moves.ContextMenu : Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (!move) return;
    event.preventDefault();
    move();
  }

  private moveTo(row: (HTMLElement & { entry: EntryInfo }) | HTMLElement | undefined) {
    if (!row) return;
    this.select((row as HTMLElement & { entry: EntryInfo }).entry.path);
    row.focus();
  }

  private openMenu(event: Event, entry: EntryInfo) {
    event.preventDefault();
    event.stopPropagation();
    if (entry.path !== this.root) this.select(entry.path);
    this.menuEntry = entry;
    const row = this.rowOf(entry.path) ?? (event.currentTarget as HTMLElement);
    this.menuOpener = row;
    void this.updateComplete.then(() => {
      const from = row?.getBoundingClientRect();
      const pointer = event instanceof MouseEvent && event.type === "contextmenu" ? event : undefined;
      this.menu.showPopover();
      const { offsetWidth, offsetHeight } = this.menu;
      const left = pointer?.clientX ?? (from?.right ?? 0) - offsetWidth;
      const top = pointer?.clientY ?? from?.bottom ?? 0;
      this.menu.style.left = `${Math.max(4, Math.min(left, innerWidth - offsetWidth - 4))}px`;
      this.menu.style.top = `${Math.max(4, Math.min(top, innerHeight - offsetHeight - 4))}px`;
      this.menu.querySelector("button")?.focus();
    });
  }

  private menuKey(event: KeyboardEvent) {
    const items = [...this.menu.querySelectorAll("button")];
    const at = items.indexOf(event.target as HTMLButtonElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    items[(at + step + items.length) % items.length]?.focus();
  }

  private menuToggled(event: ToggleEvent) {
    if (event.newState !== "closed" || !this.menuEntry) return;
    // The focus goes back only if it was in the menu: a dialog that has opened since keeps it.
    if (this.shadowRoot?.activeElement === null || this.menu.contains(this.shadowRoot?.activeElement ?? null)) {
      (this.rowOf(this.menuEntry.path) ?? this.menuOpener)?.focus();
    }
    this.menuEntry = undefined;
    this.menuOpener = undefined;
  }

  private dragStart(event: DragEvent, entry: EntryInfo) {
    if (!event.dataTransfer) return;
    event.dataTransfer.setData(DRAGGED, entry.path);
    event.dataTransfer.effectAllowed = "move";
  }

  private dragOver(event: DragEvent) {
    const { dataTransfer } = event;
    const inside = dataTransfer?.types.includes(DRAGGED) ?? false;
    if (!dataTransfer || (!inside && !dataTransfer.types.includes("Files"))) return;
    event.preventDefault();
    dataTransfer.dropEffect = inside ? "move" : "copy";
    this.target = this.folderAt(event);
  }

  private dragLeave(event: DragEvent) {
    if (!(event.relatedTarget instanceof Node) || !this.renderRoot.contains(event.relatedTarget)) this.target = undefined;
  }

  private drop(event: DragEvent) {
    event.preventDefault();
    const folder = this.folderAt(event);
    this.target = undefined;
    const { dataTransfer: data } = event;
    if (!data) return;
    const path = data.getData(DRAGGED);
    // Another page may name a path too: it is only ever a question to the person.
    if (path !== "") this.dispatchEvent(new CustomEvent("tree-move", { detail: { path, folder } }));
    else this.dispatchEvent(new CustomEvent("tree-drop", { detail: { folder, data } }));
  }

  private folderAt(event: DragEvent): string {
    const row = (event.target as Element).closest<HTMLElement & { entry?: EntryInfo }>(".row");
    if (!row?.entry) return this.root;
    return row.entry.type === "directory" ? row.entry.path : parentOf(row.entry.path);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-tree": SandboxTree;
  }
}
