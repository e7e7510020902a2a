import { type ConnectionOptions, Sandbox, type SandboxInfo } from "agent-sandbox-web";
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import type { Action } from "../elements/actions.js";
import { ExplainedError } from "../elements/describe-error.js";
import { span } from "../elements/format.js";
import { icon } from "../elements/icons.js";
import type { PortChange } from "../elements/metrics/port-watch.js";
import { plainName } from "../elements/names.js";
import type { SandboxConsole } from "../elements/sandbox-console.js";
import { confirm, prompt } from "../elements/sandbox-dialog.js";
import { base, emptyState } from "../elements/styles.js";
import { Deadlines, type Warning } from "./deadlines.js";
import { forgetWork, keptWork, OPEN_KEY, WORK_KEY } from "./kept-work.js";
import type { ConsoleNewSandbox } from "./new-sandbox.js";
import type { ConsoleNotices, Notice } from "./notices.js";
import { type Opened, OpenSandboxes } from "./open-sandboxes.js";
import { PortNotices } from "./port-notices.js";
import { lifeAfterResume } from "./remainders.js";
import { actionsIn, type SandboxAction } from "./sandbox-actions.js";
import type { SandboxStore } from "./sandbox-store.js";
import type { ConsoleSnapshots } from "./snapshots.js";
import { type Known, stateOf } from "./status.js";
import { workspaceStyles } from "./workspace-styles.js";
import "../elements/sandbox-error.js";
import "./new-sandbox.js";
import "./notices.js";
import "./sandbox-bar.js";
import "./sandbox-list.js";
import "./snapshots.js";

/** The notice of what was done last. */
const DONE = "done";
const MINUTE_MS = 60_000;
const MOST_FORKS = 10;
const SECOND_MS = 1000;
/** What the platform that serves this page takes for the name of a snapshot; the id of one made here may be given again. */
const SNAPSHOT_NAME = /^(?:(?:local\/)?[\w-]{1,128}(?::[\w.-]{1,128})?)?$/;

/** The sandboxes of a platform: the list of them, and those that are open. */
@customElement("console-workspace")
export class ConsoleWorkspace extends LitElement {
  static override styles = [base, emptyState, workspaceStyles];

  /** The platform. */
  @property({ attribute: false }) connection: ConnectionOptions = {};
  /** What reads its sandboxes. */
  @property({ attribute: false }) store: SandboxStore | undefined;
  /** Its sandboxes as read last. */
  @property({ attribute: false }) sandboxes: readonly SandboxInfo[] | undefined;
  /** Whether it does not answer: what is known of it may be old. */
  @property({ type: Boolean }) unreachable = false;
  /** See `frame-url` of `<sandbox-notebook>`. */
  @property({ attribute: "results-url" }) resultsUrl = "";
  @state() private listing = true;
  @state() private failure: { doing: string; error: unknown } | undefined;
  /** Whether the code to work in a sandbox is there. */
  @state() private loaded = false;
  @query("console-new-sandbox") private dialog!: ConsoleNewSandbox;
  @query("console-snapshots") private snapshots!: ConsoleSnapshots;
  @query("console-notices") private notices!: ConsoleNotices;
  /** Whether the sandbox that is asked for is to run code cells. */
  private forCells = false;
  private readonly deadlines = new Deadlines();
  private readonly portNotices = new PortNotices({
    show: (notice) => this.notices.show(notice),
    close: (key) => this.notices.close(key),
    list: (id) => {
      this.show(id);
      this.consoleOf(id)?.showPorts();
    },
    copy: (text) => this.copy(text, "The URL is copied."),
  });
  private clock: ReturnType<typeof setInterval> | undefined;
  private readonly open = new OpenSandboxes(
    () => this.requestUpdate(),
    OPEN_KEY,
    forgetWork,
    (id) => keptWork(id).length > 0,
  );

  /** What can be done here now, for the palette. */
  get actions(): Action[] {
    const { current } = this.open;
    const info = current && this.infoOf(current.id);
    const known = current ? this.knownOf(current) : {};
    const shown = current && this.consoleOf(current.id);
    return [
      ...(shown?.actions ?? []),
      ...(current && !current.doing ? actionsIn(stateOf(info, known), info) : []).map(({ action, label, icon }) => ({
        group: "Sandbox",
        label,
        icon,
        run: () => void this.act(action, current?.id ?? ""),
      })),
      { group: "Sandboxes", label: "New sandbox", icon: "add", run: () => this.start() },
      { group: "Sandboxes", label: "Snapshots", icon: "snapshot", run: () => this.snapshots.open() },
      ...(this.sandboxes ?? [])
        .filter(({ sandboxId }) => sandboxId !== current?.id)
        .map(({ sandboxId, metadata, status }) => ({
          group: "Open",
          label: [sandboxId, ...Object.values(metadata).map(plainName), status].join(" · "),
          icon: "other" as const,
          run: () => this.show(sandboxId),
        })),
      ...(current
        ? [
            {
              group: "Sandboxes",
              label: "Close the shown one, which goes on",
              icon: "close" as const,
              run: () => this.leave(current),
            },
          ]
        : []),
    ];
  }

  override connectedCallback() {
    super.connectedCallback();
    this.clock = setInterval(() => this.checkDeadlines(), SECOND_MS);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.clock);
  }

  protected override willUpdate(changed: PropertyValues<this>) {
    if (changed.has("connection")) {
      this.open.connectBy(this.connection);
      this.open.restore();
      this.listing = !this.open.current;
    }
    if (changed.has("sandboxes") && this.sandboxes && !this.unreachable) this.open.listed(this.sandboxes);
    this.portNotices.keep(this.open.list);
    if (this.open.list.length > 0 && !this.loaded) void this.load();
  }

  override render() {
    const { open } = this;
    const { current } = open;
    return html`
      <main class=${this.listing || !current ? "listing" : "working"}>
        <console-sandboxes .sandboxes=${this.sandboxes} .current=${current?.id ?? ""} ?unreachable=${this.unreachable}
          @new-sandbox=${() => this.start()} @show-snapshots=${() => this.snapshots.open()}
          @open-sandbox=${(event: CustomEvent<string>) => this.show(event.detail)}
          @kill-sandbox=${(event: CustomEvent<string>) => this.act("kill", event.detail)}></console-sandboxes>
        <div class="work">
          ${
            this.failure
              ? html`<div class="panel"><sandbox-error dismissible .error=${this.failure.error} doing=${this.failure.doing}
                  @dismiss=${() => this.fail()}></sandbox-error></div>`
              : nothing
          }
          ${current ? this.renderCurrent(current) : this.renderNothingOpen()}
          ${
            this.loaded
              ? repeat(
                  open.list.filter(({ sandbox }) => sandbox),
                  ({ id }) => id,
                  (opened) => this.renderConsole(opened),
                )
              : nothing
          }
        </div>
      </main>
      <console-notices></console-notices>
      <console-new-sandbox .connection=${this.connection} @sandbox-created=${this.created}></console-new-sandbox>
      <console-snapshots .connection=${this.connection}
        @use-snapshot=${(event: CustomEvent<string>) => this.start(event.detail)}></console-snapshots>
    `;
  }

  private renderConsole(opened: Opened) {
    return html`<sandbox-console data-sandbox=${opened.id} .sandbox=${opened.sandbox} ?ended=${opened.ended} ?paused=${opened.paused}
      ?hidden=${opened !== this.open.current} frame-url=${this.resultsUrl} storage-key=${WORK_KEY}
      @need-template=${(event: CustomEvent<string>) => this.startForCells(event.detail)} @need-sandbox=${() => this.start()}
      @need-resume=${() => this.act("resume", opened.id)}
      @ports-change=${(event: CustomEvent<PortChange>) => this.portNotices.tell(opened, event.detail)}></sandbox-console>`;
  }

  private renderNothingOpen() {
    return html`<div class="middle"><div class="empty">
      ${icon("terminal")}
      <h2>No sandbox is open</h2>
      <p>Choose one on the left, or start a new one: it takes a moment.</p>
      <button class="button primary" @click=${() => this.start()}>${icon("add")}New sandbox</button>
    </div></div>`;
  }

  private renderCurrent(current: Opened) {
    const { ended, sandbox, error } = current;
    return html`
      <console-sandbox-bar .sandboxId=${current.id} .info=${this.infoOf(current.id)} .known=${this.knownOf(current)} @show-list=${this.showList}
        @sandbox-action=${(event: CustomEvent<SandboxAction>) => this.act(event.detail, current.id)}></console-sandbox-bar>
      ${ended ? this.renderEnded(current) : current.paused ? this.renderPaused(current) : nothing}
      ${
        error === undefined || ended
          ? nothing
          : html`<div class="panel"><sandbox-error .error=${error} doing="Opening the sandbox" retry-label="Try again"
              @retry=${() => this.open.connect(current)}><button class="button" @click=${() => this.leave(current)}>Close</button></sandbox-error></div>`
      }
      ${
        (sandbox && this.loaded) || error !== undefined || current.paused || ended
          ? nothing
          : html`<div class="middle starting" role="status"><span class="spinner"></span>Opening the sandbox</div>`
      }
    `;
  }

  private renderEnded(current: Opened) {
    const error = new ExplainedError(
      "This sandbox has ended",
      current.killed ? "You killed it, and its files are gone." : "It was killed or its time was over, and its files are gone.",
      current.sandbox ? "What is still shown below can be read and copied." : "",
    );
    return html`<div class="panel"><sandbox-error .error=${error} ?calm=${current.killed}>
      <button class="button primary" @click=${() => this.start()}>Start a new one</button>
      <button class="button" @click=${() => this.leave(current)}>Close</button>
    </sandbox-error></div>`;
  }

  /** With its work below when it was paused while it was open, else alone. */
  private renderPaused(current: Opened) {
    const busy = current.doing !== undefined;
    const life = span(lifeAfterResume(current.id, this.infoOf(current.id)));
    const button = html`<button class="button primary" ?disabled=${busy} @click=${() => this.act("resume", current.id)}>
      ${busy ? html`<span class="spinner"></span>` : icon("run")}Resume
    </button>`;
    if (current.sandbox) {
      return html`<div class="paused" role="status">
        <span><b>This sandbox is paused.</b> What runs in it stands still. Once resumed it lives for ${life}.</span>${button}
      </div>`;
    }
    return html`<div class="middle"><div class="empty" role="status">
      ${icon("pause")}
      <h2>This sandbox is paused</h2>
      <p>Its files are kept. Once resumed it lives for ${life}.</p>
      ${button}
    </div></div>`;
  }

  private async load(): Promise<void> {
    await import("../elements/sandbox-console.js");
    this.loaded = true;
  }

  private show(id: string) {
    this.listing = false;
    this.failure = undefined;
    void this.open.open(id);
  }

  /** Asks what sandbox to start: of a template or snapshot, or of what was chosen last. */
  private start(template?: string) {
    this.forCells = false;
    this.dialog.open(template);
  }

  /** Does so for somebody whose cells do not run in the shown one. */
  private startForCells(template: string) {
    this.start(template);
    this.forCells = true;
  }

  private created({ detail: sandbox }: CustomEvent<Sandbox>) {
    this.listing = false;
    this.failure = undefined;
    this.open.add(sandbox);
    if (this.forCells) void this.updateComplete.then(() => this.consoleOf(sandbox.sandboxId)?.showNotebook());
    void this.store?.refresh();
  }

  private leave(opened: Opened) {
    this.open.leave(opened);
    this.listing = true;
  }

  private showList() {
    this.listing = true;
  }

  /** Does something with a sandbox as a whole, after asking where that is due. */
  private async act(action: SandboxAction, id: string): Promise<void> {
    const { open } = this;
    const opened = open.find(id) ?? { id };
    switch (action) {
      case "extend":
      case "extend-hour":
        return this.attempt("Extending the sandbox", () => open.extend(id, (action === "extend" ? 15 : 60) * MINUTE_MS));
      case "pause":
        return this.attempt("Pausing the sandbox", () => open.pause(opened));
      case "resume":
        return this.attempt("Resuming the sandbox", () => open.resume(opened));
      case "fork":
        return this.fork(id);
      case "snapshot":
        return this.keep(id);
      case "copy-id":
        return this.copy(id, "The id is copied.");
      case "kill":
        return this.kill(id);
    }
  }

  private async fork(id: string): Promise<void> {
    const answer = await prompt({
      title: "Fork this sandbox",
      text: `Copies begin with its files as they are now${this.own ? "; what runs in it is not copied" : ""}. They live as long as it still does, at least five minutes.${this.own ? "" : " Whether what runs in it is copied too is up to the platform."}`,
      detail: id,
      input: {
        label: "How many copies",
        value: "1",
        problem: (text) =>
          /^\d+$/.test(text) && +text >= 1 && +text <= MOST_FORKS ? undefined : `A number from 1 to ${MOST_FORKS}.`,
      },
      action: "Fork",
    });
    if (answer === undefined) return;
    const count = Number(answer);
    this.say({ text: `Making ${count === 1 ? "a copy" : `${count} copies`}…`, stays: true });
    await this.attempt(
      "Forking the sandbox",
      () => this.open.fork(id, count),
      () => ({ text: count === 1 ? "The copy is open." : `${count} copies are open.` }),
    );
  }

  private async keep(id: string): Promise<void> {
    const name = await prompt({
      title: "Keep a snapshot",
      text: `Other sandboxes can be started from it later, also when this one is gone.${this.own ? " It holds the files; what runs is not part of it." : ""}`,
      detail: id,
      input: {
        label: "Name (may be left out)",
        // Elsewhere the platform knows what it takes.
        problem: (text) =>
          !this.own || SNAPSHOT_NAME.test(text.trim()) ? undefined : "Letters, digits, - and _ alone, at most 128 of them.",
      },
      action: "Keep",
    });
    if (name === undefined) return;
    this.say({ text: "Keeping a snapshot…", stays: true });
    const options = { ...this.connection, ...(name.trim() ? { name: name.trim() } : {}) };
    await this.attempt(
      "Keeping a snapshot",
      () => Sandbox.createSnapshot(id, options),
      ({ snapshotId }) => ({
        text: `The snapshot ${snapshotId} is kept.`,
        actions: [{ label: "Show the snapshots", run: () => this.snapshots.open() }],
      }),
    );
  }

  private async kill(id: string): Promise<void> {
    const labels = Object.entries(this.infoOf(id)?.metadata ?? {}).map(([key, value]) => plainName(`${key}: ${value}`));
    const agreed = await confirm({
      title: "Kill this sandbox?",
      text: "Everything that runs in it ends and its files are gone. This cannot be undone.",
      detail: [id, ...labels].join(" · "),
      action: "Kill",
      danger: true,
    });
    if (agreed) await this.attempt("Killing the sandbox", () => this.open.kill(id));
  }

  /** Does it, and shows why it could not be done. `done` is said when it is. */
  private async attempt<T>(doing: string, act: () => Promise<T>, done?: (result: T) => Omit<Notice, "key">): Promise<void> {
    this.failure = undefined;
    try {
      const result = await act();
      if (done) this.say(done(result));
    } catch (error) {
      this.notices.close(DONE);
      this.failure = { doing, error };
    }
    await this.store?.refresh();
  }

  private async copy(text: string, done: string): Promise<void> {
    await navigator.clipboard.writeText(text);
    this.say({ text: done });
  }

  /** Says what was done last. */
  private say(notice: Omit<Notice, "key">) {
    this.notices.show({ key: DONE, ...notice });
  }

  /** Warns of the end of every open sandbox, also of those that are not shown. */
  private checkDeadlines() {
    const open = this.open.list.filter(({ ended, doing }) => !ended && doing === undefined);
    const { due, over } = this.deadlines.check(
      (this.sandboxes ?? []).filter(({ sandboxId }) => open.some(({ id }) => id === sandboxId)),
    );
    for (const id of over) this.notices.close(endOf(id));
    for (const warning of due) void this.warn(warning);
  }

  private async warn({ info, left }: Warning): Promise<void> {
    const { sandboxId: id, endAt } = info;
    // Lists do not say what happens at the end.
    const { lifecycle, endAt: now } = await Sandbox.getInfo(id, this.connection).catch(() => info);
    if (now?.getTime() !== endAt?.getTime()) return;
    const pauses = lifecycle?.onTimeout === "pause";
    const { dirty = false } = this.consoleOf(id) ?? {};
    const offered = actionsIn("running", info).filter(({ action }) => action === "extend" || (action === "snapshot" && !pauses));
    this.notices.show({
      key: endOf(id),
      urgent: true,
      text: [
        `Sandbox ${id} ${pauses ? "is paused" : "ends"} in ${span(left + SECOND_MS / 2)}${pauses ? "." : ", and its files are gone."}`,
        ...(dirty ? ["A file in it is not saved."] : []),
      ].join("\n"),
      actions: [
        ...offered.map(({ action, label }) => ({ label, run: () => void this.act(action, id) })),
        ...(this.open.current?.id === id ? [] : [{ label: "Show it", run: () => this.show(id) }]),
      ],
    });
  }

  /** Whether this is the platform that serves the page, of which more is known than of others. */
  private get own(): boolean {
    return this.connection.apiUrl === location.origin;
  }

  private consoleOf(id: string): SandboxConsole | null {
    return this.renderRoot.querySelector<SandboxConsole>(`sandbox-console[data-sandbox="${id}"]`);
  }

  private fail() {
    this.failure = undefined;
  }

  private knownOf({ ended, doing }: Opened): Known {
    return { ...(ended ? { ended } : {}), ...(doing ? { doing } : {}), unreachable: this.unreachable };
  }

  private infoOf(id: string): SandboxInfo | undefined {
    return this.sandboxes?.find((info) => info.sandboxId === id);
  }
}

/** The key of the notice of a sandbox's end. */
function endOf(id: string): string {
  return `end ${id}`;
}

declare global {
  interface HTMLElementTagNameMap {
    "console-workspace": ConsoleWorkspace;
  }
}
