import type { Sandbox, SandboxLogEntry } from "agent-sandbox-web";
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { codeOf } from "./describe-error.js";
import { element } from "./element.js";
import { bytes, percent } from "./format.js";
import { type Machine, MachineReader } from "./metrics/machine.js";
import { Poller } from "./metrics/poller.js";
import type { LogLevel } from "./metrics/sandbox-logs.js";
import { metricsStyles } from "./metrics/styles.js";
import { Usage } from "./metrics/usage.js";
import { base } from "./styles.js";
import "./metrics/sandbox-logs.js";
import "./metrics/sandbox-ports.js";
import "./metrics/sandbox-processes.js";
import "./plot/time-plot.js";
import "./sandbox-error.js";

const MINUTE_MS = 60_000;
const RANGES = [5, 15, 60, 240] as const;
// Platforms measure every five seconds.
const USAGE_MS = 5000;
const MACHINE_MS = 3000;
const LOG_MS = 5000;
const LOG_ENTRIES = 200;
/** What no trying again changes: the provider has no such call, or there is no API key for it. */
const FINAL = new Set(["E8004", "E1001"]);

/**
 * What a sandbox uses and what goes on in it: CPU, memory and disk over time, open ports with a preview, processes with a way to end them,
 * and the log. It reads only while it can be seen, and reading never extends the sandbox's life.
 */
@element("sandbox-metrics")
export class SandboxMetricsElement extends LitElement {
  static override styles = [
    base,
    metricsStyles,
    css`
      :host {
        display: block;
        /* What is for screen readers alone would otherwise lengthen the page around it. */
        position: relative;
        min-height: 0;
        overflow: auto;
        container-type: inline-size;
        background: var(--sb-surface);
      }
      .grid {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 18px 24px;
        padding: 12px 14px 20px;
      }
      .column {
        display: grid;
        align-content: start;
        gap: 18px;
        min-width: 0;
      }
      .plots {
        display: grid;
        gap: 14px;
      }
      @container (min-width: 820px) {
        .grid {
          grid-template-columns: minmax(0, 5fr) minmax(0, 6fr);
        }
      }
    `,
  ];

  /** The sandbox to look at. */
  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** Whether the sandbox is gone: what is known of it stays. */
  @property({ type: Boolean }) ended = false;
  /** Whether it is paused: nothing runs in it then, and nothing is asked of it. */
  @property({ type: Boolean }) paused = false;
  @state() private minutes: (typeof RANGES)[number] = 15;
  @state() private level: LogLevel = "info";
  @state() private machine: Machine | undefined;
  @state() private entries: readonly SandboxLogEntry[] | undefined;
  private usage = new Usage();
  private reader = new MachineReader();
  private readonly usagePoller: Poller = new Poller(
    this,
    (signal) => this.readUsage(signal),
    USAGE_MS,
    () => this.wants(this.usagePoller),
  );
  private readonly machinePoller: Poller = new Poller(
    this,
    (signal) => this.readMachine(signal),
    MACHINE_MS,
    () => this.wants(this.machinePoller) && !this.paused,
  );
  private readonly logPoller: Poller = new Poller(
    this,
    (signal) => this.readLog(signal),
    LOG_MS,
    () => this.wants(this.logPoller),
  );

  protected override willUpdate(changed: PropertyValues<this>) {
    if (!changed.has("sandbox")) return;
    this.usage = new Usage();
    this.reader = new MachineReader();
    this.machine = undefined;
    this.entries = undefined;
    for (const poller of [this.usagePoller, this.machinePoller, this.logPoller]) poller.reset();
  }

  override render() {
    return html`<div class="grid">
      <div class="column">${this.renderUsage()}${this.renderLog()}</div>
      <div class="column">
        ${this.failureOf(this.machinePoller, "Reading ports and processes")}
        <sandbox-ports .sandbox=${this.sandbox} .ports=${this.machine?.ports} ?ended=${this.ended || this.paused}></sandbox-ports>
        <sandbox-processes .sandbox=${this.sandbox} .processes=${this.machine?.processes} .limit=${this.usage.last?.memTotal} ?ended=${this.ended || this.paused}
          @process-ended=${() => this.machinePoller.now()}></sandbox-processes>
      </div>
    </div>`;
  }

  private renderUsage() {
    const { last } = this.usage;
    const until = this.paused || this.ended ? (last?.timestamp.getTime() ?? Date.now()) : Date.now();
    const from = until - this.minutes * MINUTE_MS;
    const range = [from, until] as const;
    const { usage } = this;
    return html`<section aria-labelledby="usage">
      <div class="head">
        <h2 id="usage">Usage</h2>
        ${last ? html`<span class="muted">${last.cpuCount} CPUs</span>` : nothing}
        <select class="field end" aria-label="How far back" @change=${this.chooseRange}>
          ${RANGES.map(
            (minutes) =>
              html`<option value=${minutes} ?selected=${minutes === this.minutes}>${minutes < 60 ? `${minutes} minutes` : `${minutes / 60} ${minutes === 60 ? "hour" : "hours"}`}</option>`,
          )}
        </select>
      </div>
      ${this.failureOf(this.usagePoller, this.withoutPlatform ? "Reading usage and log" : "Reading the usage")}
      <div class="plots" ?hidden=${this.final(this.usagePoller)}>
        <sandbox-time-plot label="CPU" max="100" .format=${percent} .range=${range}
          .values=${usage.series((sample) => sample.cpuUsedPct, from)}></sandbox-time-plot>
        <sandbox-time-plot label="Memory" binary .format=${bytes} .range=${range}
          .values=${usage.series((sample) => sample.memUsed, from)}></sandbox-time-plot>
        <sandbox-time-plot label="Disk" binary .format=${bytes} .range=${range}
          .values=${usage.series((sample) => sample.diskUsed, from)}></sandbox-time-plot>
      </div>
    </section>`;
  }

  private renderLog() {
    // What keeps both from being read is told once.
    if (this.withoutPlatform) return nothing;
    return html`<div>
      ${this.failureOf(this.logPoller, "Reading the log")}
      <sandbox-logs ?hidden=${this.final(this.logPoller)} .entries=${this.entries} level=${this.level} @log-level=${this.chooseLevel}></sandbox-logs>
    </div>`;
  }

  private failureOf(poller: Poller, doing: string) {
    if (poller.error === undefined || this.ended || this.paused) return nothing;
    const retry = this.final(poller) ? "" : "Try now";
    return html`<sandbox-error .error=${poller.error} doing=${doing} retry-label=${retry} @retry=${() => poller.now()}></sandbox-error>`;
  }

  private wants(poller: Poller): boolean {
    return this.sandbox !== undefined && !this.ended && !this.final(poller);
  }

  /** Whether the control plane can be asked for nothing, and for the same reason: as with a sandbox that was handed over. */
  private get withoutPlatform(): boolean {
    return this.final(this.logPoller) && codeOf(this.logPoller.error) === codeOf(this.usagePoller.error);
  }

  private final({ error }: Poller): boolean {
    return FINAL.has(codeOf(error));
  }

  private async readUsage(signal: AbortSignal): Promise<void> {
    if (this.sandbox) await this.usage.read(this.sandbox, signal);
  }

  private async readMachine(signal: AbortSignal): Promise<void> {
    if (!this.sandbox) return;
    const machine = await this.reader.read(this.sandbox, signal);
    if (!signal.aborted) this.machine = machine;
  }

  private async readLog(signal: AbortSignal): Promise<void> {
    if (!this.sandbox) return;
    const entries = await this.sandbox.logs({ limit: LOG_ENTRIES, direction: "backward", level: this.level, signal });
    if (!signal.aborted) this.entries = entries;
  }

  private chooseRange(event: Event) {
    const chosen = Number((event.target as HTMLSelectElement).value);
    this.minutes = RANGES.find((minutes) => minutes === chosen) ?? 15;
  }

  private chooseLevel(event: CustomEvent<LogLevel>) {
    this.level = event.detail;
    this.entries = undefined;
    this.logPoller.reset();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-metrics": SandboxMetricsElement;
  }
}
