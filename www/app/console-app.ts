import type { ConnectionOptions } from "agent-sandbox-web";
import { html, LitElement, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { ExplainedError } from "../elements/describe-error.js";
import { icon } from "../elements/icons.js";
import { base } from "../elements/styles.js";
import { appStyles } from "./app-styles.js";
import { connectionOptions, type PlatformConfig, readConfig } from "./platform.js";
import { SandboxStore } from "./sandbox-store.js";
import { Scheme } from "./scheme.js";
import { Session, takeCode } from "./session.js";
import "../elements/sandbox-error.js";
import "./connect-form.js";
import "./workspace.js";

/** The console: the way to a platform, and what is common to all of its sandboxes. */
@customElement("console-app")
export class ConsoleApp extends LitElement {
  static override styles = [base, appStyles];

  @state() private phase: "starting" | "out" | "in" = "starting";
  @state() private problem: unknown;
  @state() private busy = false;
  private config: PlatformConfig | undefined;
  private connection: ConnectionOptions = {};
  private store: SandboxStore | undefined;
  private readonly scheme = new Scheme(this);
  private readonly session = new Session(() => void this.enter());

  override connectedCallback() {
    super.connectedCallback();
    // A new address opened in a tab that shows the console already changes the fragment only.
    window.addEventListener("hashchange", this.codeGiven);
    void this.begin(takeCode());
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("hashchange", this.codeGiven);
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
    `;
  }

  private renderHeader() {
    const { config } = this;
    const label = this.scheme.dark ? "Use light colours" : "Use dark colours";
    return html`<header>
      <span class="logo">${icon("terminal")}</span>
      <h1>Sandbox console</h1>
      <span class="facts">
        ${config && this.phase === "in" ? html`<span>${location.host}</span><span>${config.version}</span>` : nothing}
      </span>
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
      <console-connect .error=${this.problem} ?busy=${this.busy} @use-key=${this.useKey}></console-connect>
    </main>`;
  }

  private renderInside() {
    const { store } = this;
    return html`<console-workspace .connection=${this.connection} .store=${store} .sandboxes=${store?.list}
      ?unreachable=${store?.error !== undefined} results-url=${this.config?.resultsUrl ?? ""}></console-workspace>`;
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
    if (this.phase !== "in") {
      this.phase = "in";
      this.busy = false;
      this.problem = undefined;
    }
    this.requestUpdate();
  }

  private readonly codeGiven = () => {
    const code = takeCode();
    if (code !== undefined) void this.begin(code);
  };
}

declare global {
  interface HTMLElementTagNameMap {
    "console-app": ConsoleApp;
  }
}
