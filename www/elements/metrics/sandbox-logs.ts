import type { SandboxLogEntry } from "agent-sandbox-web";
import { css, html, LitElement } from "lit";
import { property } from "lit/decorators.js";
import { element } from "../element.js";
import { plainName } from "../names.js";
import { base } from "../styles.js";
import { READING } from "./machine.js";
import { metricsStyles } from "./styles.js";

/** From which level on entries are shown. */
export type LogLevel = "debug" | "info" | "warn" | "error";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/**
 * What the platform notes of a sandbox, the newest first.
 *
 * @fires log-level - `detail` is the level that was chosen
 */
@element("sandbox-logs")
export class SandboxLogs extends LitElement {
  static override styles = [
    base,
    metricsStyles,
    css`
      .scroll {
        max-height: 260px;
      }
      td {
        vertical-align: top;
      }
      .message {
        width: 100%;
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      .error {
        color: var(--sb-danger);
      }
      .warn {
        color: var(--sb-warn);
      }
    `,
  ];

  /** The newest first; `undefined` before they were read. */
  @property({ attribute: false }) entries: readonly SandboxLogEntry[] | undefined;
  /** From which level on they were asked for. */
  @property() level: LogLevel = "info";

  override render() {
    const entries = this.entries && withoutReadings(this.entries);
    return html`
      <div class="head">
        <h2 id="title">Log</h2>
        <select class="field end" aria-label="From which level on" @change=${this.choose}>
          ${LEVELS.map((level) => html`<option value=${level} ?selected=${level === this.level}>${level} and above</option>`)}
        </select>
      </div>
      ${
        entries?.length
          ? html`<div class="scroll" tabindex="0" role="region" aria-labelledby="title"><table><tbody>
              ${entries.map(
                ({ timestamp, level, message, fields }) => html`<tr>
                  <td title=${timestamp.toLocaleString()}>${timestamp.toLocaleTimeString()}</td>
                  <td class=${level}>${plainName(level)}</td>
                  <td class="message mono">${plainName([message, ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`)].join(" · "))}</td>
                </tr>`,
              )}
            </tbody></table></div>`
          : html`<p class="none">${entries ? "There are no entries of this level." : "Reading the log…"}</p>`
      }
    `;
  }

  private choose(event: Event) {
    this.dispatchEvent(new CustomEvent("log-level", { detail: (event.target as HTMLSelectElement).value }));
  }
}

/** Without what looking at the sandbox adds itself: it says nothing of the sandbox, and there is much of it. */
function withoutReadings(entries: readonly SandboxLogEntry[]): SandboxLogEntry[] {
  const own = new Set(entries.filter(({ fields }) => fields.command?.includes(READING)).map(({ fields }) => fields.pid));
  return entries.filter(({ fields }) => fields.pid === undefined || !own.has(fields.pid));
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-logs": SandboxLogs;
  }
}
