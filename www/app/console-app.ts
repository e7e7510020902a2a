import type { ConnectionOptions } from "agent-sandbox-web";
import { html, LitElement, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { ExplainedError } from "../elements/describe-error.js";
import { icon } from "../elements/icons.js";
import { base } from "../elements/styles.js";
import { appStyles } from "./app-styles.js";
import { forgetAllWork } from "./kept-work.js";
import type { ConsolePalette } from "./palette.js";
import { connectionOptions, type PlatformConfig, readConfig, targetName, targetOptions } from "./platform.js";
import { SandboxStore } from "./sandbox-store.js";
import { Scheme } from "./scheme.js";
import { Session, takeCode } from "./session.js";
import { type ConsoleShortcuts, opensPalette, PALETTE_KEYS } from "./shortcuts.js";
import { isCopiedTab } from "./tab.js";
import type { ConsoleWorkspace } from "./workspace.js";
import "../elements/sandbox-error.js";
import { type Choice, type ConsoleConnect, PROVIDERS } from "./connect-form.js";
import "./palette.js";
import "./workspace.js";

/** The console: the way to a platform, and what is common to all of its sandboxes. */
@customElement("console-app")
export class ConsoleApp extends LitElement {
  static override styles = [base, appStyles];

  @state() private phase: "starting" | "out" | "in" = "starting";
  @state() private problem: unknown;
  @state() private busy = false;
  /** Whether the platform that serves the page needs no key, as of when the person was led to where one chooses. */
  @state() private known = false;
  @query("console-palette") private palette!: ConsolePalette;
  @query("console-shortcuts") private shortcuts!: ConsoleShortcuts;
  @query("console-connect") private connectForm!: ConsoleConnect | null;
  @query("console-workspace") private workspace!: ConsoleWorkspace | null;
  private config: PlatformConfig | undefined;
  private connection: ConnectionOptions = {};
  private store: SandboxStore | undefined;
  private readonly scheme = new Scheme(this);
  private readonly session = new Session(() => void this.enter());

  override connectedCallback() {
    super.connectedCallback();
    // A new address opened in a tab that shows the console already changes the fragment only.
    window.addEventListener("hashchange", this.codeGiven);
    window.addEventListener("keydown", this.key, true);
    void this.start(takeCode());
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("hashchange", this.codeGiven);
    window.removeEventListener("keydown", this.key, true);
    this.store?.stop();
  }

  override render() {
    const inside = this.phase === "in";
    return html`
      ${this.renderHeader()}
      ${
        inside && this.config?.isolation === "none"
          ? html`<div class="banner" role="alert">
              ${icon("warning")} Isolation is off: whatever runs in a sandbox of this platform runs with your own rights on this machine. Run
              nothing here that you would not run in your own shell.
            </div>`
          : nothing
      }
      ${
        this.store?.error === undefined || !inside
          ? nothing
          : html`<div class="trouble"><sandbox-error .error=${this.store.error} doing="Reading the sandboxes" retry-label="Try now"
              @retry=${() => this.store?.refresh()}></sandbox-error></div>`
      }
      ${inside ? this.renderInside() : this.renderOutside()}
      <console-palette></console-palette>
      <console-shortcuts></console-shortcuts>
    `;
  }

  private renderHeader() {
    const { config } = this;
    const label = this.scheme.dark ? "Use light colours" : "Use dark colours";
    return html`<header>
      <span class="logo">${icon("terminal")}</span>
      <h1>Sandbox console</h1>
      <span class="facts">
        ${config && this.phase === "in" ? html`<span class="where" title=${this.where}>${this.where}</span>${this.session.target ? nothing : html`<span class="version">${config.version}</span>`}` : nothing}
      </span>
      <button class="palette" aria-label=${`Commands ${PALETTE_KEYS}`} aria-keyshortcuts="Control+K F1" title=${`Find a command (${PALETTE_KEYS})`}
        @click=${this.togglePalette}>${icon("search")}<span class="hint">Commands <kbd>${PALETTE_KEYS}</kbd></span></button>
      <button class="icon-button" aria-label=${label} title=${label} @click=${() => this.scheme.toggle()}>
        ${icon(this.scheme.dark ? "sun" : "moon")}
      </button>
    </header>`;
  }

  private renderOutside() {
    if (this.phase === "starting") {
      return html`<main class="single"><div class="starting" role="status"><span class="spinner"></span>Connecting</div></main>`;
    }
    return html`<main class="single">
      <console-connect .error=${this.problem} .elsewhere=${this.config?.elsewhere ?? []} ?busy=${this.busy} ?known=${this.known}
        @connect-to=${this.connectTo}></console-connect>
    </main>`;
  }

  private renderInside() {
    const { store } = this;
    return html`<console-workspace .connection=${this.connection} .store=${store} .sandboxes=${store?.list}
      ?unreachable=${store?.error !== undefined} results-url=${this.config?.resultsUrl ?? ""}></console-workspace>`;
  }

  private async start(code: string | undefined): Promise<void> {
    // Two tabs in the same terminals would type into, resize and end what is the other's.
    if (await isCopiedTab()) forgetAllWork();
    await this.begin(code);
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
    const { target } = this.session;
    this.connection = target ? targetOptions(target) : connectionOptions(this.config, credential);
    this.store?.stop();
    const refused: string[] = [];
    const note = (event: SecurityPolicyViolationEvent) => refused.push(event.blockedURI);
    document.addEventListener("securitypolicyviolation", note);
    this.store = new SandboxStore(
      this.connection,
      () => this.listed(),
      () => this.denied(credential),
    );
    await this.store.refresh();
    document.removeEventListener("securitypolicyviolation", note);
    const { error } = this.store;
    if (!target || error === undefined) return;
    this.store.stop();
    this.session.useTarget(undefined);
    this.leaveOut(refused.length > 0 ? notAllowed(refused[0] ?? "", error) : error);
  }

  private connectTo(event: CustomEvent<Choice>) {
    const { target, keep, key } = event.detail;
    if (target) this.session.useTarget(target, keep);
    else if (key) this.session.useKey(key, keep);
    else this.session.useTarget(undefined);
    void this.enter();
  }

  /** Back to where one chooses the platform. Nothing ends. */
  private leave() {
    this.store?.stop();
    this.session.useTarget(undefined);
    this.leaveOut(undefined);
  }

  /** The platform that is used, for people. */
  private get where(): string {
    const { target } = this.session;
    return target ? targetName(target) : location.host;
  }

  private leaveOut(problem: unknown) {
    this.problem = problem;
    this.busy = false;
    this.known = this.session.knowsOwn;
    this.phase = "out";
    if (!this.config) void this.readConfig();
  }

  /** What may be connected to is told before anything is. Why it cannot be read is told when somebody tries to connect. */
  private async readConfig(): Promise<void> {
    this.config = await readConfig().catch(() => undefined);
    this.requestUpdate();
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
    // Another platform has to answer once before it is shown.
    if (this.session.target && this.phase !== "in" && this.store?.error !== undefined) return;
    if (this.phase !== "in") {
      this.phase = "in";
      this.busy = false;
      this.problem = undefined;
    }
    this.requestUpdate();
  }

  private readonly togglePalette = () => {
    const { dark } = this.scheme;
    this.palette.toggle([
      ...(this.workspace?.actions ?? []),
      {
        group: "Colours",
        label: dark ? "Use light colours" : "Use dark colours",
        icon: dark ? "sun" : "moon",
        run: () => this.scheme.toggle(),
      },
      ...(this.phase === "in"
        ? [{ group: "Platform", label: "Use another platform", icon: "link" as const, run: () => this.leave() }]
        : PROVIDERS.map(([provider, name]) => ({
            group: "Connect to",
            label: name,
            icon: "link" as const,
            run: () => this.connectForm?.choose(provider),
          }))),
      { group: "Help", label: "Keyboard shortcuts", icon: "keyboard", run: () => this.shortcuts.open() },
    ]);
  };

  private readonly key = (event: KeyboardEvent) => {
    if (!opensPalette(event)) return;
    // Before the terminal or the editor takes the key, or the browser.
    event.preventDefault();
    event.stopPropagation();
    this.togglePalette();
  };

  private readonly codeGiven = () => {
    const code = takeCode();
    if (code !== undefined) void this.begin(code);
  };
}

/** What is said when the page's own policy keeps it from a platform. */
function notAllowed(url: string, cause: unknown): ExplainedError {
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  return new ExplainedError(
    "This page may not connect there",
    `Its policy lets it connect to its own platform and to what that was told of. ${origin} is not among it.`,
    `Start the platform that serves this page with --console-connect ${origin}, and for hosts below it with --console-connect of the form https://*.example.com.`,
    { cause },
  );
}

declare global {
  interface HTMLElementTagNameMap {
    "console-app": ConsoleApp;
  }
}
