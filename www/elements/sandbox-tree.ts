import type { EntryInfo, Files } from "agent-sandbox-web";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { FileTree, type TreeRow } from "./file-tree.js";
import { bytes } from "./format.js";
import { type IconName, icon } from "./icons.js";
import { parentOf, plainName, visibleName } from "./names.js";
import { base } from "./styles.js";
import "./sandbox-error.js";

/** What can be done with an entry. */
export type TreeAction = "open" | "rename" | "delete" | "download" | "new-file" | "new-folder" | "upload";

const ACTIONS: [TreeAction, string, IconName, (entry: EntryInfo) => boolean][] = [
  ["open", "Open", "file", (entry) => entry.type !== "directory"],
  ["new-file", "New file", "newFile", (entry) => entry.type === "directory"],
  ["new-folder", "New folder", "newFolder", (entry) => entry.type === "directory"],
  ["upload", "Upload here", "upload", (entry) => entry.type === "directory"],
  ["download", "Download", "download", (entry) => entry.type === "file"],
  ["rename", "Rename", "rename", () => true],
  ["delete", "Delete", "trash", () => true],
];

/**
 * A tree of files and folders that are read when they are opened.
 *
 * @fires tree-action - `detail` is `{action, entry}`
 * @fires tree-drop - files were dropped; `detail` is `{folder, data}`
 */
@customElement("sandbox-tree")
export class SandboxTree extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: block;
        min-height: 0;
        overflow: auto;
      }
      .tree {
        min-height: 100%;
        padding: 4px 0 24px;
      }
      .row {
        display: flex;
        align-items: center;
        gap: 5px;
        height: 26px;
        padding-inline: 6px 4px;
        cursor: pointer;
        user-select: none;
      }
      .row:hover {
        background: var(--sb-hover);
      }
      .row[aria-selected="true"] {
        background: var(--sb-selected);
      }
      .row:focus-visible {
        outline-offset: -2px;
      }
      .target {
        background: var(--sb-selected);
        box-shadow: inset 0 0 0 1px var(--sb-accent);
      }
      .twist {
        display: grid;
        place-items: center;
        width: 14px;
        color: var(--sb-muted);
      }
      .twist svg.icon {
        width: 12px;
        height: 12px;
        transition: transform 0.1s;
      }
      [aria-expanded="true"] .twist svg.icon {
        transform: rotate(90deg);
      }
      .kind {
        color: var(--sb-muted);
      }
      .directory .kind {
        color: var(--sb-accent);
      }
      .name {
        flex: 1;
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: pre;
      }
      .hidden-file .name {
        color: var(--sb-muted);
      }
      .link {
        color: var(--sb-muted);
        font-style: normal;
      }
      .size {
        color: var(--sb-muted);
        font-size: 11px;
        font-variant-numeric: tabular-nums;
      }
      .more {
        display: none;
        width: 22px;
        height: 22px;
      }
      .row:hover .more,
      .row:focus .more,
      .row[aria-selected="true"] .more {
        display: inline-grid;
      }
      .row:hover .size,
      .row:focus .size,
      .row[aria-selected="true"] .size {
        display: none;
      }
      .note {
        padding: 3px 8px;
        color: var(--sb-muted);
        font-size: 12px;
      }
      .note button {
        border: 0;
        padding: 2px 6px;
        background: none;
        color: var(--sb-accent);
        cursor: pointer;
      }
      sandbox-error {
        margin: 4px 8px;
      }
      .menu {
        position: fixed;
        inset: auto;
        min-width: 168px;
        margin: 0;
        padding: 4px;
        border: 1px solid var(--sb-border);
        border-radius: 8px;
        background: var(--sb-raised);
        color: var(--sb-text);
        box-shadow: var(--sb-shadow);
      }
      .menu button {
        display: flex;
        align-items: center;
        gap: 8px;
        width: 100%;
        min-height: 28px;
        padding: 2px 10px;
        border: 0;
        border-radius: 5px;
        background: none;
        text-align: start;
        cursor: pointer;
      }
      .menu button:hover,
      .menu button:focus {
        background: var(--sb-hover);
      }
      .menu svg {
        color: var(--sb-muted);
      }
      @media (pointer: coarse) {
        .row {
          height: 36px;
        }
        .more {
          display: inline-grid;
          width: 34px;
          height: 34px;
        }
        .menu button {
          min-height: 40px;
        }
      }
    `,
  ];

  @property({ attribute: false }) files: Files | undefined;
  /** The absolute path of the top folder. */
  @property() root = "";
  /** The path of the selected entry. */
  @property({ attribute: false }) selected: string | undefined;
  @state() private target: string | undefined;
  @state() private menuEntry: EntryInfo | undefined;
  @query(".menu") private menu!: HTMLElement;
  private tree: FileTree | undefined;

  /** Reads every open folder anew. */
  async refresh(): Promise<void> {
    await this.tree?.refresh();
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
    if (!changed.has("files") && !changed.has("root")) return;
    this.tree = this.files && this.root ? new FileTree(this.files, this.root, () => this.requestUpdate()) : undefined;
    void this.tree?.read(this.root);
  }

  override render() {
    const rows = this.tree?.rows() ?? [];
    const entries = rows.filter((row) => row.kind === "entry");
    const reachable = entries.some((row) => row.entry.path === this.selected) ? this.selected : entries[0]?.entry.path;
    const empty = this.tree?.ready && rows.length === 0;
    return html`
      <div class="tree ${this.target === this.root ? "target" : ""}" @dragover=${this.dragOver} @dragleave=${this.dragLeave} @drop=${this.drop}>
        <div role=${entries.length > 0 ? "tree" : nothing} aria-label=${entries.length > 0 ? "Files" : nothing} @keydown=${this.key}>
          ${repeat(
            entries,
            (row) => row.entry.path,
            (row) => this.renderEntry(row, reachable === row.entry.path),
          )}
        </div>
        ${rows.map((row) => this.renderNote(row))}
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
      @click=${() => this.activate(entry)} @contextmenu=${(event: MouseEvent) => this.openMenu(event, entry)}>
      <span class="twist">${loading ? html`<span class="spinner"></span>` : folder ? icon("chevron") : nothing}</span>
      <span class="kind">${icon(folder ? "folder" : entry.type === "file" ? "file" : "other")}</span>
      <span class="name">${visibleName(entry.name)}${link ? html`<em class="link">${link}</em>` : nothing}</span>
      ${entry.type === "file" ? html`<span class="size">${bytes(entry.size)}</span>` : nothing}
      <button class="icon-button more" tabindex="-1" aria-label=${`Actions for ${plainName(entry.name)}`}
        @click=${(event: MouseEvent) => this.openMenu(event, entry)}>⋯</button>
    </div>`;
  }

  private renderNote(row: TreeRow): TemplateResult | typeof nothing {
    if (row.kind === "error") {
      return html`<sandbox-error .error=${row.error} doing=${plainName(row.path)} retry-label="Try again"
        @retry=${() => this.tree?.read(row.path)}></sandbox-error>`;
    }
    if (row.kind === "more") {
      return html`<div class="note">
        ${row.hidden.toLocaleString("en")} more in ${visibleName(row.path)}
        <button @click=${() => this.tree?.showMore(row.path)}>Show more</button>
      </div>`;
    }
    return nothing;
  }

  private renderMenu(entry: EntryInfo) {
    return ACTIONS.filter(([, , , fits]) => fits(entry)).map(
      ([action, label, name]) =>
        html`<button role="menuitem" tabindex="-1" @click=${() => this.act(action, entry)}>${icon(name)}${label}</button>`,
    );
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
    this.select(entry.path);
    this.menuEntry = entry;
    const row = this.rowOf(entry.path);
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
      this.rowOf(this.menuEntry.path)?.focus();
    }
    this.menuEntry = undefined;
  }

  private dragOver(event: DragEvent) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    this.target = this.folderAt(event);
  }

  private dragLeave(event: DragEvent) {
    if (!(event.relatedTarget instanceof Node) || !this.renderRoot.contains(event.relatedTarget)) this.target = undefined;
  }

  private drop(event: DragEvent) {
    event.preventDefault();
    const folder = this.folderAt(event);
    this.target = undefined;
    if (event.dataTransfer) this.dispatchEvent(new CustomEvent("tree-drop", { detail: { folder, data: event.dataTransfer } }));
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
