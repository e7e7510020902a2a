import type { Sandbox } from "agent-sandbox-web";
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import type { Action } from "./actions.js";
import { consoleStyles } from "./console-styles.js";
import { element } from "./element.js";
import { icon } from "./icons.js";
import { Poller } from "./metrics/poller.js";
import { hasStreamsLeft, type PortChange, PortWatch } from "./metrics/port-watch.js";
import type { SandboxFiles } from "./sandbox-files.js";
import type { SandboxTerminalGroup } from "./sandbox-terminal-group.js";
import { base } from "./styles.js";
import { type KeptTerminal, keepTerminals, restoreTerminals } from "./terminal/keep.js";
import "./sandbox-command.js";
import "./sandbox-files.js";
import "./sandbox-terminal-group.js";

/** What can be looked at: the files, the command box, the notebook, the metrics, or the terminal of this number. */
type View = "files" | "command" | "notebook" | "metrics" | number;

const NAMES = { files: "Files", command: "Command", notebook: "Notebook", metrics: "Metrics & ports" } as const;

/** The views whose code is loaded when they are first shown. */
const LAZY = { notebook: () => import("./sandbox-notebook.js"), metrics: () => import("./sandbox-metrics.js") };

/** How long a port may be open before it is told. */
const PORTS_MS = 4000;
const NARROW = 720;
const STEP = 24;

/**
 * Everything one does with a sandbox: files with an editor above, commands, a notebook, metrics and terminals in tabs below; where there is little
 * room, one of them at a time.
 *
 * @fires need-template - see `<sandbox-notebook>`
 * @fires need-resume - see `<sandbox-command>`, `<sandbox-notebook>` and `<sandbox-editor>`
 * @fires need-sandbox - see `<sandbox-editor>`
 * @fires ports-change - while it can be seen, other ports have opened or closed; `detail` is `{opened, closed}`, the numbers of each. Each
 *   port is told as opened once, and none that the kernel chose or that the sandbox itself uses
 */
@element("sandbox-console")
export class SandboxConsole extends LitElement {
  static override styles = [base, consoleStyles];

  /** The sandbox to work in. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** Whether the sandbox is gone: nothing is offered then that needs it. */
  @property({ type: Boolean }) ended = false;
  /** Whether the sandbox is paused: what needs it waits for its resuming. */
  @property({ type: Boolean }) paused = false;
  /** See `<sandbox-notebook>`. */
  @property({ attribute: "frame-url" }) frameUrl = "";
  /** See `<sandbox-notebook>` and `<sandbox-files>`. */
  @property({ attribute: "storage-key" }) storageKey = "";
  @state() private view: View = "command";
  /** Those of the lazy views that have been looked at. */
  @state() private loaded: ReadonlySet<View> = new Set();
  /** The views that are shown in the whole height, without the files above them. */
  @state() private whole: ReadonlySet<View> = new Set(["notebook", "metrics"]);
  @state() private terminals: readonly number[] = [1];
  @state() private narrow = false;
  /** How high the lower part is now. */
  @state() private panelHeight = 0;
  /** How high it is where there is room for that; 0 until it is known. */
  private wantedHeight = 0;
  @query("sandbox-files") private files!: SandboxFiles;
  private counter = 1;
  /** The view whose tab was last brought into sight. */
  private revealed: View | undefined;
  private kept: ReadonlyMap<number, readonly KeptTerminal[]> = new Map();
  private portWatch = new PortWatch();
  private readonly portPoller: Poller = new Poller(
    this,
    (signal) => this.lookAtPorts(signal),
    PORTS_MS,
    () => this.sandbox !== undefined && !this.ended && !this.paused && hasStreamsLeft(this.sandbox),
  );
  private readonly sizes = new ResizeObserver(([entry]) => this.measured(entry?.contentRect));

  /** Shows the notebook. */
  showNotebook(): void {
    this.show("notebook");
  }

  /** Shows the metrics, with the open ports. */
  showPorts(): void {
    this.show("metrics");
  }

  /** Whether a file has changes that are not saved. */
  get dirty(): boolean {
    return this.files?.dirty ?? false;
  }

  /** What can be done here now, for command palettes. */
  get actions(): Action[] {
    const views = (["files", "command", "notebook", "metrics"] as const).map((view) => ({
      group: "Show",
      label: NAMES[view],
      icon: view,
      run: () => this.show(view),
    }));
    const terminals = this.terminals.map((id) => ({
      group: "Show",
      label: `Terminal ${id}`,
      icon: "terminal" as const,
      run: () => this.show(id),
    }));
    const shown = this.shown;
    return [
      ...views,
      ...terminals,
      ...(this.ended
        ? []
        : [
            { group: "Files", label: "Find a file by its name", icon: "search" as const, run: () => this.findFile() },
            { group: "Terminal", label: "New terminal", icon: "add" as const, run: () => this.addTerminal() },
            { group: "Terminal", label: "Attach to a running shell", icon: "link" as const, run: () => void this.attach() },
          ]),
      ...(typeof shown === "number"
        ? [
            {
              group: "Terminal",
              label: `Close Terminal ${shown} and end its shell`,
              icon: "close" as const,
              run: () => this.closeTerminal(shown),
            },
          ]
        : []),
      ...(this.narrow
        ? []
        : [
            {
              group: "Layout",
              label: "Use the whole height, or show the files above",
              icon: "maximize" as const,
              run: () => this.setWhole(!this.whole.has(shown)),
            },
          ]),
    ];
  }

  override connectedCallback() {
    super.connectedCallback();
    this.sizes.observe(this);
    window.addEventListener("pagehide", this.keep);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes.disconnect();
    window.removeEventListener("pagehide", this.keep);
  }

  protected override willUpdate(changed: PropertyValues<this>) {
    if (!changed.has("sandbox")) return;
    const kept = this.storage === undefined ? undefined : restoreTerminals(this.storage);
    this.kept = new Map(kept?.tabs.map(({ id, panes }) => [id, panes]));
    this.terminals = this.kept.size > 0 ? [...this.kept.keys()] : [1];
    this.counter = Math.max(...this.terminals);
    this.view = isView(kept?.view, this.terminals) ? kept.view : "command";
    if (kept) {
      this.whole = new Set(kept.whole?.filter((view) => isView(view, this.terminals)));
      this.wantedHeight = Number(kept.height) || 0;
      this.fitPanel();
    }
    this.loaded = new Set();
    this.portPoller.reset();
    this.portWatch = new PortWatch();
    void this.load(this.view);
  }

  override render() {
    const { sandbox, narrow } = this;
    const view = this.shown;
    const whole = !narrow && this.whole.has(view);
    return html`
      <div class="layout ${narrow || whole ? "narrow" : "wide"}" style="--panel: ${this.panelHeight}px">
        <sandbox-files class="view" .sandbox=${sandbox} ?ended=${this.ended} ?paused=${this.paused} storage-key=${this.storageKey}
          ?hidden=${whole || (narrow && view !== "files")} @notebook-open=${this.openNotebook}></sandbox-files>
        ${narrow || whole ? nothing : this.renderSplitter()}
        <div class="bar">
          <div class="tabs" role="tablist" aria-label="Views" @keydown=${this.key}>
            ${narrow ? this.renderTab("files", NAMES.files, "files") : nothing} ${this.renderTab("command", NAMES.command, "command")}
            ${this.renderTab("notebook", NAMES.notebook, "notebook")} ${this.renderTab("metrics", NAMES.metrics, "metrics")}
            ${repeat(
              this.terminals,
              (id) => id,
              (id) => this.renderTab(id, `Terminal ${id}`, "terminal"),
            )}
          </div>
          <button class="icon-button" aria-label="New terminal" title="New terminal" @click=${this.addTerminal}>${icon("add")}</button>
          ${narrow ? nothing : this.renderWhole(whole)}
        </div>
        <div class="panel" role="tabpanel" aria-label=${typeof view === "number" ? `Terminal ${view}` : NAMES[view]} ?hidden=${view === "files"}>
          <sandbox-command class="view" .sandbox=${sandbox} ?ended=${this.ended} ?paused=${this.paused} storage-key=${this.storageKey}
            ?hidden=${view !== "command"} @command-end=${() => this.files.refresh()}></sandbox-command>
          ${
            this.loaded.has("notebook")
              ? html`<sandbox-notebook class="view" .sandbox=${sandbox} ?ended=${this.ended} ?paused=${this.paused} ?hidden=${view !== "notebook"}
                  frame-url=${this.frameUrl} storage-key=${this.storageKey}></sandbox-notebook>`
              : nothing
          }
          ${
            this.loaded.has("metrics")
              ? html`<sandbox-metrics class="view" .sandbox=${sandbox} ?ended=${this.ended} ?paused=${this.paused}
                  ?hidden=${view !== "metrics"}></sandbox-metrics>`
              : nothing
          }
          ${repeat(
            this.terminals,
            (id) => id,
            (id) => html`<sandbox-terminal-group class="view" data-id=${id} label=${`Terminal ${id}`} .sandbox=${sandbox}
              .kept=${this.kept.get(id) ?? []} ?ended=${this.ended} ?paused=${this.paused} ?active=${view === id} ?hidden=${view !== id}></sandbox-terminal-group>`,
          )}
        </div>
      </div>
    `;
  }

  protected override updated() {
    if (this.shown === this.revealed) return;
    this.revealed = this.shown;
    this.revealTab();
  }

  /** Scrolls the row of tabs, and nothing around it, so far that the chosen one is seen whole. */
  private revealTab() {
    const tab = this.renderRoot.querySelector<HTMLElement>("[role=tab][aria-selected=true]");
    const row = tab?.parentElement;
    if (!tab || !row) return;
    const [inner, outer] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
    row.scrollLeft += Math.min(0, inner.left - outer.left) + Math.max(0, inner.right - outer.right);
  }

  private renderTab(view: View, label: string, name: Parameters<typeof icon>[0]) {
    const selected = view === this.shown;
    const closes = typeof view === "number";
    return html`<button role="tab" class="tab" aria-selected=${selected} tabindex=${selected ? 0 : -1} aria-label=${label}
      aria-keyshortcuts=${closes ? "Delete" : nothing} @click=${() => this.show(view)}
      @auxclick=${(event: MouseEvent) => closes && event.button === 1 && this.closeTerminal(view)}>
      ${icon(name)}<span class="label">${label}</span>
      ${
        closes
          ? html`<span class="close" title="Close and end the shell" aria-hidden="true" @click=${(event: Event) => {
              event.stopPropagation();
              this.closeTerminal(view);
            }}>${icon("close")}</span>`
          : nothing
      }
    </button>`;
  }

  private renderWhole(whole: boolean) {
    const label = whole ? "Show the files above" : "Use the whole height";
    return html`<button class="icon-button" aria-label=${label} title=${label} @click=${() => this.setWhole(!whole)}>
      ${icon(whole ? "restore" : "maximize")}
    </button>`;
  }

  private renderSplitter() {
    return html`<div class="splitter" role="separator" aria-orientation="horizontal" aria-label="Height of the lower part" tabindex="0"
      aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round((100 * this.panelHeight) / Math.max(1, this.clientHeight))}
      @pointerdown=${this.drag} @keydown=${this.resizeByKey}></div>`;
  }

  /** The view there is: with much room the files are always there. */
  private get shown(): View {
    return this.view === "files" && !this.narrow ? "command" : this.view;
  }

  private show(view: View) {
    this.view = view;
    void this.load(view);
    if (typeof view !== "number") return;
    void this.updateComplete.then(() => this.terminal(view)?.focus());
  }

  private readonly openNotebook = (event: CustomEvent<string>) => {
    event.preventDefault();
    this.show("notebook");
    void this.load("notebook").then(async () => {
      await this.updateComplete;
      await this.renderRoot.querySelector("sandbox-notebook")?.openFile(event.detail);
    });
  };

  private findFile() {
    if (this.narrow) this.show("files");
    else this.setWhole(false);
    void this.updateComplete.then(() => this.files.findFile());
  }

  /** Offers the shells that run without a terminal in this page, and opens one for the chosen. */
  private async attach(): Promise<void> {
    const { sandbox } = this;
    if (!sandbox) return;
    const { attachChoice } = await import("./terminal/attach.js");
    const pid = await attachChoice(sandbox);
    if (pid === undefined) return;
    this.kept = new Map([...this.kept, [this.counter + 1, [{ pid, text: "", borrowed: true }]]]);
    this.addTerminal();
  }

  private async load(view: View): Promise<void> {
    if (view !== "notebook" && view !== "metrics") return;
    await LAZY[view]();
    this.loaded = new Set([...this.loaded, view]);
  }

  private async lookAtPorts(signal: AbortSignal): Promise<void> {
    const { sandbox } = this;
    if (!sandbox) return;
    const detail: PortChange = await this.portWatch.look(sandbox, signal);
    if (detail.opened.length + detail.closed.length > 0 && sandbox === this.sandbox)
      this.dispatchEvent(new CustomEvent("ports-change", { detail }));
  }

  private setWhole(whole: boolean) {
    const views = new Set(this.whole);
    if (whole) views.add(this.shown);
    else views.delete(this.shown);
    this.whole = views;
  }

  private terminal(id: number): SandboxTerminalGroup | null {
    return this.renderRoot.querySelector(`sandbox-terminal-group[data-id="${id}"]`);
  }

  private get storage(): string | undefined {
    return this.storageKey !== "" && this.sandbox ? `${this.storageKey}.terminals.${this.sandbox.sandboxId}` : undefined;
  }

  private readonly keep = () => {
    if (this.storage === undefined || this.ended) return;
    const tabs = this.terminals.map((id) => ({ id, panes: this.terminal(id)?.keep() ?? [] }));
    keepTerminals(this.storage, { tabs, view: this.view, whole: [...this.whole], height: this.wantedHeight });
  };

  private addTerminal() {
    this.counter += 1;
    this.terminals = [...this.terminals, this.counter];
    this.show(this.counter);
  }

  private closeTerminal(id: number) {
    const at = this.terminals.indexOf(id);
    this.terminals = this.terminals.filter((other) => other !== id);
    if (this.view === id) this.show(this.terminals[Math.min(at, this.terminals.length - 1)] ?? "command");
  }

  private key(event: KeyboardEvent) {
    const views: View[] = [...(this.narrow ? (["files"] as const) : []), "command", "notebook", "metrics", ...this.terminals];
    const { shown } = this;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step !== undefined) {
      this.view = views[(views.indexOf(shown) + step + views.length) % views.length] ?? "command";
      void this.load(this.view);
    } else if (event.key === "Delete" && typeof shown === "number") this.closeTerminal(shown);
    else return;
    event.preventDefault();
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus());
  }

  private measured(size: DOMRectReadOnly | undefined) {
    if (!size || size.height === 0) return;
    this.narrow = size.width < NARROW;
    // A row that got narrower may have lost the chosen tab from sight.
    void this.updateComplete.then(() => this.revealTab());
    this.wantedHeight ||= Math.round(size.height * 0.42);
    this.fitPanel();
  }

  /** Takes less than what is wanted only for as long as there is no room, such as beside a message above. */
  private fitPanel() {
    this.panelHeight = Math.round(Math.max(90, Math.min(this.wantedHeight, this.clientHeight - 140)));
  }

  private setPanelHeight(height: number) {
    this.wantedHeight = height;
    this.fitPanel();
    this.wantedHeight = this.panelHeight;
  }

  private drag(event: PointerEvent) {
    const splitter = event.currentTarget as HTMLElement;
    splitter.setPointerCapture(event.pointerId);
    const offset = this.panelHeight + event.clientY;
    const move = (to: PointerEvent) => this.setPanelHeight(offset - to.clientY);
    splitter.addEventListener("pointermove", move);
    splitter.addEventListener("lostpointercapture", () => splitter.removeEventListener("pointermove", move), { once: true });
  }

  private resizeByKey(event: KeyboardEvent) {
    const step = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.setPanelHeight(this.panelHeight + step);
  }
}

/** Whether `view` is one that there is; what was kept may be of another version of the page. */
function isView(view: string | number | undefined, terminals: readonly number[]): view is View {
  return typeof view === "number" ? terminals.includes(view) : view !== undefined && Object.hasOwn(NAMES, view);
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-console": SandboxConsole;
  }
}
