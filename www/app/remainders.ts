/** How long paused sandboxes had still to live: pausing ends the count, and platforms do not go on with it. */

import type { SandboxInfo } from "agent-sandbox-web";
import { KeptById } from "./kept-by-id.js";
import { timeLeft } from "./status.js";

/** The least that is worth resuming or copying for, in ms; platforms give as much where nothing is asked. */
export const LEAST_LIFE_MS = 5 * 60_000;

const remainders = new KeptById<number>("agent-sandbox-console.remainders");

/** Keeps how long a sandbox that is about to be paused had to live. */
export function keepRemainder({ sandboxId, endAt }: SandboxInfo): void {
  const left = timeLeft(endAt);
  if (left !== undefined) remainders.set(sandboxId, left);
}

/** Forgets a sandbox that is resumed or gone. */
export function dropRemainder(id: string): void {
  remainders.delete(id);
}

/**
 * How long a paused sandbox is to live once it is resumed, in ms: what it had left where this tab paused it, else as long as it ran; at
 * least five minutes.
 */
export function lifeAfterResume(id: string, info: SandboxInfo | undefined): number {
  const { startedAt, endAt } = info ?? {};
  const ran = startedAt && endAt ? endAt.getTime() - startedAt.getTime() : 0;
  return Math.max(LEAST_LIFE_MS, remainders.get(id) ?? ran);
}
