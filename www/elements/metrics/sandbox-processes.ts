import type { Sandbox } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { element } from "../element.js";
import { mebibytes, percent } from "../format.js";
import { icon } from "../icons.js";
import { plainName } from "../names.js";
import { confirm } from "../sandbox-dialog.js";
import { base } from "../styles.js";
import { endProcess, type Process } from "./machine.js";
import { metricsStyles } from "./styles.js";
import "../sandbox-error.js";

const ORDERS = {
  cpu: { label: "CPU", order: (a: Process, b: Process) => (b.cpu ?? 0) - (a.cpu ?? 0) || b.memory - a.memory },
  memory: { label: "Memory", order: (a: Process, b: Process) => b.memory - a.memory },
  pid: { label: "PID", order: (a: Process, b: Process) => a.pid - b.pid },
} as const;

type Order = keyof typeof ORDERS;

/**
 * What runs in a sandbox, with a way to end it.
 *
 * @fires process-ended - a process was told to end
 */
@element("sandbox-processes")
export class SandboxProcesses extends LitElement {
  static override styles = [
    base,
    metricsStyles,
    css`
      .scroll {
        max-height: 340px;
      }
      th button {
        padding: 0;
        border: 0;
        background: none;
        font-weight: 500;
        cursor: pointer;
      }
      th[aria-sort] button {
        color: var(--sb-text);
      }
      .busy {
        color: var(--sb-warn);
      }
      .of {
        font-weight: 400;
      }
      .share {
        display: inline-block;
        min-width: 5.5ch;
        margin-inline-start: 6px;
        color: var(--sb-muted);
      }
      .kill:hover:enabled {
        color: var(--sb-danger);
      }
    `,
  ];

  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** What was read last; `undefined` before that. */
  @property({ attribute: false }) processes: readonly Process[] | undefined;
  /** How much memory the whole sandbox may use, in bytes, where that is known. */
  @property({ attribute: false }) limit: number | undefined;
  /** Whether nothing can be ended now. */
  @property({ type: Boolean }) ended = false;
  @state() private order: Order = "cpu";
  @state() private failure: { doing: string; error: unknown } | undefined;
  /** Those that were told to end, by pid and start. */
  @state() private told: ReadonlySet<string> = new Set();

  override render() {
    const list = this.processes && [...this.processes].sort(ORDERS[this.order].order);
    return html`
      <div class="head"><h2 id="title">Processes ${list ? html`<span class="count">${list.length}</span>` : nothing}</h2></div>
      ${
        this.failure
          ? html`<sandbox-error dismissible .error=${this.failure.error} doing=${this.failure.doing} @dismiss=${() => this.forget()}></sandbox-error>`
          : nothing
      }
      ${
        list
          ? html`<div class="scroll" tabindex="0" role="region" aria-labelledby="title">
              <table>
                <thead><tr>
                  ${this.renderSorter("pid")}<th class="wide">Command</th>${this.renderSorter("cpu")}${this.renderSorter("memory")}
                  <th><span class="visually-hidden">End</span></th>
                </tr></thead>
                <tbody>${repeat(list, key, (process) => this.renderRow(process))}</tbody>
              </table>
            </div>`
          : html`<p class="none">Reading the processes…</p>`
      }
    `;
  }

  private renderSorter(order: Order) {
    const chosen = order === this.order;
    return html`<th class="number" aria-sort=${chosen ? (order === "pid" ? "ascending" : "descending") : nothing}>
      <button @click=${() => this.sort(order)}>${ORDERS[order].label}</button>${
        order === "memory" && this.limit ? html` <span class="of">of ${mebibytes(this.limit)}</span>` : nothing
      }
    </th>`;
  }

  private renderRow(process: Process) {
    const { pid, command, cpu, memory, system, state } = process;
    const told = this.told.has(key(process));
    const words = told ? "Force to end" : "End";
    const shown = plainName(command);
    return html`<tr>
      <td class="number">${pid}</td>
      <td class="wide mono" title=${shown}>${shown}</td>
      <td class="number ${cpu !== undefined && cpu >= 50 ? "busy" : ""}">${cpu === undefined ? "–" : percent(cpu)}</td>
      <td class="number" title="What of it is in memory now; what processes share is counted in each">${mebibytes(memory)}${
        this.limit ? html`<span class="share">${percent((100 * memory) / this.limit)}</span>` : nothing
      }</td>
      <td class="tight">${
        system
          ? html`<span class="chip" title="The sandbox itself">system</span>`
          : html`<button class="icon-button kill" title=${words} aria-label=${`${words} ${pid} ${shown}`} ?disabled=${this.ended || state === "Z"}
              @click=${() => this.end(process, told ? "KILL" : "TERM")}>${icon(told ? "stop" : "power")}</button>`
      }</td>
    </tr>`;
  }

  private async end(process: Process, signal: "TERM" | "KILL"): Promise<void> {
    const { sandbox } = this;
    if (!sandbox) return;
    const force = signal === "KILL";
    const agreed = await confirm({
      title: force ? "Force this process to end?" : "End this process?",
      text: force
        ? "It gets SIGKILL, and no chance to save anything."
        : "It gets SIGTERM, and may save what it has. If it goes on, the same button forces it.",
      detail: `${process.pid} ${plainName(process.command)}`,
      action: force ? "Force" : "End",
      danger: true,
    });
    if (!agreed) return;
    const doing = `Ending process ${process.pid}`;
    try {
      const refused = await endProcess(sandbox, process, signal);
      this.failure = refused ? { doing, error: new Error(refused) } : undefined;
      this.told = new Set([...this.told, key(process)]);
      this.dispatchEvent(new CustomEvent("process-ended"));
    } catch (error) {
      this.failure = { doing, error };
    }
  }

  private sort(order: Order) {
    this.order = order;
  }

  private forget() {
    this.failure = undefined;
  }
}

/** What names a process for good. */
function key({ pid, started }: Process): string {
  return `${pid} ${started}`;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-processes": SandboxProcesses;
  }
}
