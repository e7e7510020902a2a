import type { Commands } from "agent-sandbox-web";
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { element } from "./element.js";
import { findNames, MOST_NAMES } from "./files/find-names.js";
import { type Match, MOST_MATCHES, searchFiles } from "./files/grep.js";
import { icon } from "./icons.js";
import { plainName, visibleName } from "./names.js";
import { base } from "./styles.js";
import "./sandbox-error.js";

/** What the event `search-open` says. */
export interface FoundPlace {
  readonly path: string;
  /** Absent when a file was found by its name. */
  readonly line?: number;
}

/**
 * Search below a folder: in text files, with what was found by file, or for files by their names.
 *
 * @fires search-open - the person wants the place of `detail`, `{path, line}`
 * @fires search-close - the person wants the files back
 */
@element("sandbox-search")
export class SandboxSearch extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      form {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        gap: 6px;
        flex: none;
        padding: 8px;
        border-bottom: 1px solid var(--sb-border);
      }
      .options {
        display: flex;
        flex-wrap: wrap;
        gap: 4px 14px;
        grid-column: 1 / -1;
        font-size: 12px;
      }
      .options label {
        display: flex;
        align-items: center;
        gap: 5px;
        min-height: 22px;
      }
      .count {
        grid-column: 1 / -1;
        min-height: 1.45em;
        color: var(--sb-muted);
        font-size: 12px;
      }
      .found {
        flex: 1;
        min-height: 0;
        padding: 4px 0 24px;
        overflow: auto;
      }
      h3 {
        margin: 6px 0 0;
        padding: 2px 8px;
        overflow: hidden;
        font-size: 12px;
        font-weight: 600;
        text-overflow: ellipsis;
        white-space: pre;
      }
      .place {
        display: flex;
        gap: 8px;
        width: 100%;
        padding: 3px 8px 3px 14px;
        border: 0;
        background: none;
        font: 12px / 1.4 var(--sb-mono);
        text-align: start;
        cursor: pointer;
      }
      .place:hover {
        background: var(--sb-hover);
      }
      .number {
        flex: none;
        min-width: 3ch;
        color: var(--sb-muted);
        text-align: end;
      }
      .text {
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: pre;
      }
      mark {
        border-radius: 2px;
        background: var(--sb-warn-bg);
        color: var(--sb-warn);
      }
      sandbox-error {
        margin: 8px;
      }
      @media (pointer: coarse) {
        .place {
          padding-block: 9px;
        }
      }
    `,
  ];

  /** Where `grep` is run. */
  @property({ attribute: false }) commands: Commands | undefined;
  /** The absolute path of the folder that is searched. */
  @property() root = "";
  /** Whether files are looked for by their names. */
  @property({ type: Boolean }) names = false;
  @state() private text = "";
  @state() private pattern = false;
  @state() private exact = false;
  @state() private found: ReadonlyMap<string, readonly Match[]> = new Map();
  @state() private paths: readonly string[] = [];
  @state() private phase: "before" | "running" | "done" | "cut" = "before";
  @state() private error: unknown;
  @query("input[type=search]") private field!: HTMLInputElement;
  private stopper: AbortController | undefined;

  override focus() {
    this.field?.select();
    this.field?.focus();
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.stopper?.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>) {
    if (!changed.has("root") && !changed.has("commands") && !changed.has("names")) return;
    this.stopper?.abort();
    this.found = new Map();
    this.paths = [];
    this.phase = "before";
    this.error = undefined;
  }

  override render() {
    return html`
      <form role="search" @submit=${this.submit}>
        <input type="search" class="field" aria-label=${this.names ? "Name of the file, or a part of it" : "Text to find in the files"}
          placeholder=${this.names ? "Name of a file, such as  *.py" : "Find in files"} autocomplete="off" spellcheck="false"
          .value=${this.text} @input=${(event: Event) => this.write((event.target as HTMLInputElement).value)} @keydown=${this.key} />
        ${
          this.phase === "running"
            ? html`<button type="button" class="button" @click=${() => this.stop()}>${icon("stop")}Stop</button>`
            : html`<button class="button" ?disabled=${this.text === ""}>${icon("search")}Find</button>`
        }
        <div class="options">
          <label><input type="checkbox" .checked=${this.exact} @change=${(event: Event) => this.setExact(checked(event))} />Match case</label>
          ${
            this.names
              ? nothing
              : html`<label><input type="checkbox" .checked=${this.pattern} @change=${(event: Event) => this.setPattern(checked(event))} />Pattern</label>`
          }
          <label><input type="checkbox" .checked=${this.names} @change=${(event: Event) => this.setNames(checked(event))} />File names</label>
        </div>
        <div class="count" role="status">${this.counted}</div>
      </form>
      ${this.error === undefined ? nothing : html`<sandbox-error .error=${this.error} doing="Searching"></sandbox-error>`}
      <div class="found">
        ${[...this.found].map(([path, matches]) => this.renderFile(path, matches))}
        ${this.paths.map(
          (path) => html`<button class="place" title=${plainName(path)} @click=${() => this.open({ path })}>
            <span class="text">${visibleName(this.relative(path))}</span></button>`,
        )}
      </div>
    `;
  }

  private relative(path: string): string {
    const top = this.root === "/" ? "/" : `${this.root}/`;
    return path.startsWith(top) ? path.slice(top.length) : path;
  }

  private renderFile(path: string, matches: readonly Match[]) {
    return html`<h3 title=${plainName(path)}>${visibleName(this.relative(path))} <span class="muted">${matches.length}</span></h3>
      ${matches.map(
        ({ line, text }) => html`<button class="place" @click=${() => this.open({ path, line })}>
          <span class="number">${line}</span><span class="text">${this.renderText(text)}</span></button>`,
      )}`;
  }

  private renderText(text: string) {
    const line = plainName(text.trimStart().replaceAll("\t", "  "));
    const at = this.pattern ? -1 : line.toLowerCase().indexOf(this.text.toLowerCase());
    if (at === -1) return line;
    const end = at + this.text.length;
    return html`${line.slice(0, at)}<mark>${line.slice(at, end)}</mark>${line.slice(end)}`;
  }

  private get counted(): string {
    if (this.names) return this.countedNames;
    const places = [...this.found.values()].reduce((sum, matches) => sum + matches.length, 0);
    const files = this.found.size;
    const words = `${places} ${places === 1 ? "line" : "lines"} in ${files} ${files === 1 ? "file" : "files"}`;
    if (this.phase === "before") return "";
    if (this.phase === "running") return places === 0 ? "Searching" : `${words} so far`;
    if (this.phase === "done") return places === 0 && this.error === undefined ? "Nothing was found" : words;
    return `The first ${MOST_MATCHES.toLocaleString("en")} lines; look for something rarer to see the rest`;
  }

  private get countedNames(): string {
    const { length } = this.paths;
    const words = `${length} ${length === 1 ? "file" : "files"}`;
    if (this.phase === "before") return "";
    if (this.phase === "running") return length === 0 ? "Searching" : `${words} so far`;
    if (this.phase === "done") return length === 0 && this.error === undefined ? "No file of such a name was found" : words;
    return `The first ${MOST_NAMES} files; give more of the name to see the rest`;
  }

  private write(text: string) {
    this.text = text;
  }

  private setExact(exact: boolean) {
    this.exact = exact;
  }

  private setPattern(pattern: boolean) {
    this.pattern = pattern;
  }

  private setNames(names: boolean) {
    this.names = names;
  }

  private submit(event: Event) {
    event.preventDefault();
    void this.run();
  }

  private async run(): Promise<void> {
    const { commands, text, pattern, exact, names, root } = this;
    if (!commands || text === "") return;
    this.stopper?.abort();
    const stopper = new AbortController();
    this.stopper = stopper;
    this.found = new Map();
    this.paths = [];
    this.error = undefined;
    this.phase = "running";
    try {
      const { signal } = stopper;
      const cut = names
        ? await findNames(commands, root, text, exact, (paths) => this.addPaths(paths), signal)
        : await searchFiles(commands, root, { text, pattern, exact }, (matches) => this.add(matches), signal);
      if (stopper === this.stopper) this.phase = cut ? "cut" : "done";
    } catch (error) {
      if (stopper !== this.stopper || stopper.signal.aborted) return;
      this.phase = "done";
      this.error = error;
    }
  }

  private stop() {
    this.stopper?.abort();
    this.phase = "done";
  }

  private add(matches: readonly Match[]) {
    const found = new Map(this.found);
    for (const match of matches) found.set(match.path, [...(found.get(match.path) ?? []), match]);
    this.found = found;
  }

  private addPaths(paths: readonly string[]) {
    this.paths = [...this.paths, ...paths];
  }

  private open(detail: FoundPlace) {
    this.dispatchEvent(new CustomEvent<FoundPlace>("search-open", { detail }));
  }

  private key(event: KeyboardEvent) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    this.dispatchEvent(new CustomEvent("search-close"));
  }
}

function checked(event: Event): boolean {
  return (event.target as HTMLInputElement).checked;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-search": SandboxSearch;
  }
}
