/** What a sandbox used over time, as far as it was read. */

import type { Sandbox, SandboxMetrics } from "agent-sandbox-web";
import type { TimedValue } from "../plot/time-plot.js";

/** How far back the platform is asked, in ms. */
const KEPT_MS = 4 * 3_600_000;

/** The measurements of one sandbox: the whole past at first, what is new from then on. */
export class Usage {
  private samples: SandboxMetrics[] = [];

  /** The newest. */
  get last(): SandboxMetrics | undefined {
    return this.samples.at(-1);
  }

  /** Reads what is new. */
  async read(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
    const { last } = this;
    const start = last?.timestamp ?? new Date(Date.now() - KEPT_MS);
    // The range is in whole seconds: the last one comes again.
    const fresh = await sandbox.getMetrics({ start, signal });
    if (signal.aborted) return;
    const newer = fresh.filter(({ timestamp }) => !last || timestamp > last.timestamp);
    const horizon = Date.now() - KEPT_MS;
    this.samples = [...this.samples, ...newer].filter(({ timestamp }) => timestamp.getTime() >= horizon);
  }

  /** One of the values over time, from a moment on. */
  series(value: (sample: SandboxMetrics) => number, from: number): TimedValue[] {
    return this.samples.map((sample) => ({ at: sample.timestamp.getTime(), value: value(sample) })).filter(({ at }) => at >= from);
  }
}
