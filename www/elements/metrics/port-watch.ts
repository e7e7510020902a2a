/** Notices that a port opens in a sandbox, whatever is looked at. */

import type { Sandbox } from "agent-sandbox-web";
import { isRead, type Listening, readPorts } from "./machine.js";

/**
 * For how many rounds nothing is asked once the shell that reads has ended. It may have ended with the sandbox, or by its pause, and a
 * request could wake that: whoever looks after the sandbox is given the time to say so.
 */
const WAITING_ROUNDS = 2;

/** What the sandbox itself listens with, or what runs its code. */
export const OWN_PORTS: Readonly<Record<number, string>> = {
  49983: "envd",
  49999: "code cells",
  9000: "SandboxServer",
  9001: "SandboxServer",
};

/** Which ports have opened and closed since the last time. */
export interface PortChange {
  readonly opened: readonly number[];
  readonly closed: readonly number[];
}

/** Tells of each port once: a server that is started again and again would tell nothing new. */
export class PortWatch {
  private readonly told = new Set<number>();
  private open: ReadonlySet<number> | undefined;
  private waiting = 0;
  private reading = false;

  /** Asks the sandbox, unless its shell has just ended. */
  async look(sandbox: Sandbox, signal: AbortSignal): Promise<PortChange> {
    if (this.reading && !(await isRead(sandbox))) {
      this.reading = false;
      this.waiting = WAITING_ROUNDS;
    }
    if (this.waiting > 0) {
      this.waiting -= 1;
      return { opened: [], closed: [] };
    }
    this.reading = true;
    return this.take(await readPorts(sandbox, signal));
  }

  /** What is new in a reading. What listens at the first one was there before anybody looked. */
  take({ ports, given: [first, last] }: Listening): PortChange {
    // A port that the kernel chose is what programs use among themselves, such as those of a kernel of code cells.
    const now = new Set(
      ports.map(({ port }) => port).filter((port) => !Object.hasOwn(OWN_PORTS, port) && (port < first || port > last)),
    );
    const before = this.open;
    this.open = now;
    const opened = before ? [...now].filter((port) => !this.told.has(port)) : [];
    for (const port of now) this.told.add(port);
    return { opened, closed: [...(before ?? [])].filter((port) => !now.has(port)) };
  }
}

/** Whether a stream more takes nothing from the person's own work: over plain http a page has few to a host that has no others beside it. */
export function hasStreamsLeft(sandbox: Sandbox): boolean {
  const { protocol, hostname } = new URL(sandbox.getUrl(80));
  return protocol === "https:" || hostname.endsWith(".localhost");
}
