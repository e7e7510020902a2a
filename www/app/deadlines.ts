/** When the person is told that a sandbox is about to end. */

import type { SandboxInfo } from "agent-sandbox-web";
import { timeLeft } from "./status.js";

/** How long before the end it is said, in ms: first so early that something can be done, then again. */
const WARN_MS = [120_000, 30_000] as const;

/** A sandbox that is about to end. */
export interface Warning {
  readonly info: SandboxInfo;
  /** How long it still lives, in ms. */
  readonly left: number;
}

/** What was said of each sandbox's end, so that it is said once for each deadline. */
export class Deadlines {
  private readonly told = new Map<string, { readonly endAt: number; readonly stage: number }>();

  /**
   * What changed since it was last asked.
   * @param infos the sandboxes that matter, as their platform sees them
   * @returns of whom to warn now, and the ids of those whose warning holds no more
   */
  check(infos: readonly SandboxInfo[]): { due: Warning[]; over: string[] } {
    const due: Warning[] = [];
    const near = new Set<string>();
    for (const info of infos) {
      const left = info.status === "running" ? timeLeft(info.endAt) : undefined;
      const stage = left === undefined || left === 0 ? -1 : WARN_MS.filter((ms) => left <= ms).length - 1;
      if (stage < 0 || left === undefined) continue;
      const { sandboxId: id } = info;
      const endAt = info.endAt?.getTime() ?? 0;
      near.add(id);
      const before = this.told.get(id);
      if (before?.endAt === endAt && before.stage >= stage) continue;
      this.told.set(id, { endAt, stage });
      due.push({ info, left });
    }
    const over = [...this.told.keys()].filter((id) => !near.has(id));
    for (const id of over) this.told.delete(id);
    return { due, over };
  }
}
