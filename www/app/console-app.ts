import { type ConnectionOptions, Sandbox, type SandboxInfo } from "agent-sandbox-web";
import { html, LitElement, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { ExplainedError, isGone } from "../elements/describe-error.js";
import { icon } from "../elements/icons.js";
import { plainName } from "../elements/names.js";
import { confirm } from "../elements/sandbox-dialog.js";
import { base, emptyState } from "../elements/styles.js";
import { appStyles } from "./app-styles.js";
import type { ConsoleNewSandbox } from "./new-sandbox.js";
import { connectionOptions, type PlatformConfig, readConfig } from "./platform.js";
import { SandboxStore } from "./sandbox-store.js";
import { Session, takeCode } from "./session.js";
import "../elements/sandbox-console.js";
import "../elements/sandbox-error.js";
import "./connect-form.js";
import "./new-sandbox.js";
import "./sandbox-bar.js";
import "./sandbox-list.js";

const CURRENT = "agent-sandbox-console.sandbox";
const NOTEBOOK = "agent-sandbox-console.notebook";
const EXTENSION_MS = 15 * 60_000;
// `connect` makes a sandbox live at least this long and never shortens its life. Looking at a sandbox must not extend it, so the page
// asks for next to nothing.
const LOOKING_MS = 1000;
// A paused sandbox has no life left to keep: whoever resumes it wants to use it.
const RESUMED_MS = 5 * 60_000;

/** A sandbox that this page has opened. */
interface Opened {
  readonly id: string;
  sandbox?: Sandbox;
  /** Why it could not be opened. */
  error?: unknown;
  paused?: boolean;
  ended?: boolean;
}

/** The console: the sandboxes of the platform that serves this page, and what one does with the open one. */
@customElement("console-app")
export class ConsoleApp extends LitElement {
  static override styles = [base, emptyState, appStyles];

  @state() private phase: "starting" | "out" | "in" = "starting";
  @state() private problem: unknown;
  @state() private busy = false;
  @state() private opened: readonly Opened[] = [];
  @state() private current: Opened | undefined;
  @state() private listing = true;
  @state() private failure: { doing: string; error: unknown } | undefined;
  @state() private dark = matchMedia("(prefers-color-scheme: dark)").matches;
  @query("console-new-sandbox") private dialog!: ConsoleNewSandbox;
  private config: PlatformConfig | undefined;
  private connection: ConnectionOptions = {};
  private store: SandboxStore | undefined;
  private readonly session = new Session(() => void this.enter());

  override connectedCallback() {
    super.connectedCallback();
    // A new address opened in a tab that shows the console already changes the fragment only.
    window.addEventListener("hashchange", this.codeGiven);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", this.schemeChanged);
    void this.begin(takeCode());
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("hashchange", this.codeGiven);
    matchMedia("(prefers-color-scheme: dark)").removeEventListener("change", this.schemeChanged);
    this.store?.stop();
  }

  override render() {
    return html`
      ${this.renderHeader()}
      ${
        this.phase === "in" && this.config?.isolation === "none"
          ? html`<div class="banner" role="alert">
              ${icon("warning")} Isolation is off: whatever runs in a sandbox of this platform runs with your own rights on this machine. Run
              nothing here that you would not run in your own shell.
            </div>`
          : nothing
      }
      ${
        this.store?.error === undefined || this.phase !== "in"
          ? nothing
          : html`<div class="trouble"><sandbox-error .error=${this.store.error} doing="Reading the sandboxes" retry-label="Try now"
              @retry=${() => this.store?.refresh()}></sandbox-error></div>`
      }
      ${this.phase === "in" ? this.renderMain() : this.renderOutside()}
      <console-new-sandbox .connection=${this.connection} @sandbox-created=${this.created}></console-new-sandbox>
    `;
  }

  private renderHeader() {
    const { config } = this;
    const label = this.dark ? "Use light colours" : "Use dark colours";
    return html`<header>
      <span class="logo">${icon("terminal")}</span>
      <h1>Sandbox console</h1>
      <span class="facts">
        ${config && this.phase === "in" ? html`<span>${location.host}</span><span>${config.version}</span>` : nothing}
      </span>
      <button class="icon-button" aria-label=${label} title=${label} @click=${this.toggleScheme}>${icon(this.dark ? "sun" : "moon")}</button>
    </header>`;
  }

  private renderOutside() {
    if (this.phase === "starting") {
      return html`<main class="single"><div class="starting" role="status"><span class="spinner"></span>Connecting</div></main>`;
    }
    return html`<main class="single">
      <console-connect .error=${this.problem} ?busy=${this.busy} @use-key=${this.useKey}></console-connect>
    </main>`;
  }

  private renderMain() {
    const { current } = this;
    return html`<main class=${this.listing || !current ? "listing" : "working"}>
      <console-sandboxes .sandboxes=${this.store?.list} .current=${current?.id ?? ""}
        ?unreachable=${this.unreachable} @new-sandbox=${() => this.dialog.open()}
        @open-sandbox=${(event: CustomEvent<string>) => this.open(event.detail)}
        @kill-sandbox=${(event: CustomEvent<string>) => this.kill(event.detail)}></console-sandboxes>
      <div class="work">
        ${
          this.failure
            ? html`<div class="panel"><sandbox-error dismissible .error=${this.failure.error} doing=${this.failure.doing}
                @dismiss=${() => this.fail()}></sandbox-error></div>`
            : nothing
        }
        ${current ? this.renderCurrent(current) : this.renderNothingOpen()}
        ${repeat(
          this.opened.filter((opened) => opened.sandbox),
          (opened) => opened.id,
          (opened) => html`<sandbox-console data-sandbox=${opened.id} .sandbox=${opened.sandbox}
            ?ended=${opened.ended} ?hidden=${opened !== current} frame-url=${this.config?.resultsUrl ?? ""} storage-key=${NOTEBOOK}
            @need-template=${(event: CustomEvent<string>) => this.dialog.open(event.detail)}></sandbox-console>`,
        )}
      </div>
    </main>`;
  }

  private renderNothingOpen() {
    return html`<div class="middle"><div class="empty">
      ${icon("terminal")}
      <h2>No sandbox is open</h2>
      <p>Choose one on the left, or start a new one: it takes a moment.</p>
      <button class="button primary" @click=${() => this.dialog.open()}>${icon("add")}New sandbox</button>
    </div></div>`;
  }

  private renderCurrent(current: Opened) {
    const info = this.infoOf(current.id);
    return html`
      <console-sandbox-bar .sandboxId=${current.id} .info=${info} ?ended=${current.ended}
        ?unreachable=${this.unreachable} @show-list=${() => this.showList()}
        @extend-sandbox=${() => this.extend(current.id)} @kill-sandbox=${() => this.kill(current.id)}></console-sandbox-bar>
      ${current.ended ? this.renderEnded(current) : nothing}
      ${current.paused ? this.renderPaused(current) : nothing}
      ${
        current.error === undefined || current.ended
          ? nothing
          : html`<div class="panel"><sandbox-error .error=${current.error} doing="Opening the sandbox" retry-label="Try again"
              @retry=${() => this.connect(current)}><button class="button" @click=${() => this.leave(current)}>Close</button></sandbox-error></div>`
      }
      ${
        current.sandbox || current.error !== undefined || current.paused || current.ended
          ? nothing
          : html`<div class="middle starting" role="status"><span class="spinner"></span>Opening the sandbox</div>`
      }
    `;
  }

  private renderEnded(current: Opened) {
    const error = new ExplainedError(
      "This sandbox has ended",
      "It was killed or its time was over, and its files are gone.",
      current.sandbox ? "What is still shown below can be read and copied." : "",
    );
    return html`<div class="panel"><sandbox-error .error=${error}>
      <button class="button primary" @click=${() => this.dialog.open()}>Start a new one</button>
      <button class="button" @click=${() => this.leave(current)}>Close</button>
    </sandbox-error></div>`;
  }

  private renderPaused(current: Opened) {
    return html`<div class="middle"><div class="empty">
      ${icon("time")}
      <h2>This sandbox is paused</h2>
      <p>Its files are kept. Resuming it starts its life again, for five minutes at first.</p>
      <button class="button primary" @click=${() => this.connect(current, RESUMED_MS)}>Resume</button>
    </div></div>`;
  }

  private async begin(code: string | undefined): Promise<void> {
    try {
      if (code !== undefined) await this.session.exchange(code);
    } catch (error) {
      // A tab that has its token already does not need the code.
      if (this.session.credential === undefined && !(await this.session.askTabs())) {
        this.leaveOut(error);
        return;
      }
    }
    if (this.session.credential !== undefined || (await this.session.askTabs())) await this.enter();
    else this.leaveOut(undefined);
  }

  private async enter(): Promise<void> {
    const { credential } = this.session;
    if (credential === undefined) return;
    this.busy = true;
    try {
      this.config = await readConfig();
    } catch (error) {
      this.leaveOut(error);
      return;
    }
    this.connection = connectionOptions(this.config, credential);
    this.store?.stop();
    this.store = new SandboxStore(
      this.connection,
      () => this.listed(),
      () => this.denied(credential),
    );
    await this.store.refresh();
  }

  private useKey(event: CustomEvent<string>) {
    this.session.useKey(event.detail);
    void this.enter();
  }

  private leaveOut(problem: unknown) {
    this.problem = problem;
    this.busy = false;
    this.phase = "out";
  }

  private denied(credential: string) {
    // Another tab may have brought a newer token meanwhile.
    if (this.session.credential !== credential) {
      void this.enter();
      return;
    }
    const typed = this.session.isKey;
    this.session.forget();
    this.leaveOut(
      typed
        ? new ExplainedError(
            "The key was refused",
            "The platform does not know this API key.",
            "Copy the key that the platform was started with.",
          )
        : new ExplainedError(
            "The platform was restarted",
            "This tab's token was good for its last run only.",
            "Open the address that the platform printed when it started again, or connect with the API key. Sandboxes that ran before have ended.",
          ),
    );
  }

  private listed() {
    const { store } = this;
    if (this.phase !== "in") {
      this.phase = "in";
      this.busy = false;
      this.problem = undefined;
      const remembered = sessionStorage.getItem(CURRENT);
      if (remembered !== null && !this.current) void this.open(remembered);
    }
    const list = store?.list;
    if (list && store?.error === undefined) {
      for (const opened of this.opened)
        if (opened.sandbox && !list.some((info) => info.sandboxId === opened.id)) opened.ended = true;
    }
    this.requestUpdate();
  }

  private created(event: CustomEvent<Sandbox>) {
    const sandbox = event.detail;
    this.show({ id: sandbox.sandboxId, sandbox });
    void this.store?.refresh();
  }

  private async open(id: string): Promise<void> {
    const known = this.opened.find((opened) => opened.id === id);
    if (known) this.show(known);
    else {
      const opened: Opened = { id };
      this.show(opened);
      await this.connect(opened);
    }
  }

  private async connect(opened: Opened, timeoutMs = LOOKING_MS): Promise<void> {
    this.change(opened, { error: undefined });
    try {
      if (timeoutMs === LOOKING_MS) {
        // Connecting resumes a paused sandbox: that is for the person to decide.
        const { status } = await Sandbox.getInfo(opened.id, this.connection);
        if (status === "paused") {
          this.change(opened, { paused: true });
          return;
        }
      }
      const sandbox = await Sandbox.connect(opened.id, { ...this.connection, timeoutMs });
      this.change(opened, { sandbox, paused: false });
      void this.store?.refresh();
    } catch (error) {
      this.change(opened, isGone(error) ? { ended: true, paused: false } : { error });
    }
  }

  private show(opened: Opened) {
    if (!this.opened.includes(opened)) this.opened = [...this.opened, opened];
    this.current = opened;
    this.listing = false;
    this.failure = undefined;
    sessionStorage.setItem(CURRENT, opened.id);
  }

  private leave(opened: Opened) {
    this.opened = this.opened.filter((other) => other !== opened);
    void opened.sandbox?.close();
    if (this.current !== opened) return;
    this.current = undefined;
    this.listing = true;
    sessionStorage.removeItem(CURRENT);
  }

  private async extend(id: string): Promise<void> {
    await this.attempt("Extending the sandbox", async () => {
      const { endAt } = await Sandbox.getInfo(id, this.connection);
      const left = Math.max(0, (endAt?.getTime() ?? 0) - Date.now());
      await Sandbox.setTimeout(id, left + EXTENSION_MS, this.connection);
    });
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
    if (!agreed) return;
    await this.attempt("Killing the sandbox", async () => {
      await Sandbox.kill(id, this.connection);
      const opened = this.opened.find((other) => other.id === id);
      if (opened) this.change(opened, { ended: true });
    });
  }

  private async attempt(doing: string, act: () => Promise<void>): Promise<void> {
    this.failure = undefined;
    try {
      await act();
      await this.store?.refresh();
    } catch (error) {
      this.failure = { doing, error };
    }
  }

  private fail() {
    this.failure = undefined;
  }

  /** Whether the last reading of the sandboxes failed, so that what is known of them may be old. */
  private get unreachable(): boolean {
    return this.store?.error !== undefined;
  }

  private infoOf(id: string): SandboxInfo | undefined {
    return this.store?.list?.find((info) => info.sandboxId === id);
  }

  private change(opened: Opened, change: Partial<Opened>) {
    Object.assign(opened, change);
    this.requestUpdate();
  }

  private showList() {
    this.listing = true;
  }

  private readonly codeGiven = () => {
    const code = takeCode();
    if (code !== undefined) void this.begin(code);
  };

  private readonly schemeChanged = (event: MediaQueryListEvent) => {
    this.setDark(event.matches);
  };

  private toggleScheme() {
    this.setDark(!this.dark);
  }

  private setDark(dark: boolean) {
    this.dark = dark;
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "console-app": ConsoleApp;
  }
}
