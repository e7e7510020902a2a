/** The platform's runtime of code cells, which the first sandbox that needs it makes. */

import type { ConnectionOptions } from "agent-sandbox-web";

/** How far the runtime is. */
export interface CodeCellsStatus {
  /** `absent`: the next sandbox with code cells makes it; `failed`: that failed, and the next one tries again. */
  readonly state: "absent" | "making" | "ready" | "failed";
  /** What is being done, or why it failed. */
  readonly detail?: string;
  readonly packages: number;
  readonly megabytes: number;
  /** How long it usually takes, such as `1 to 4`. */
  readonly minutes: string;
}

/** Asks the platform that serves this page; `undefined` when it does not say. */
export async function codeCellsStatus({ apiKey, apiUrl }: ConnectionOptions): Promise<CodeCellsStatus | undefined> {
  // Other platforms have nothing of the kind, and their keys are not for this one.
  if (typeof apiKey !== "string" || apiUrl !== location.origin) return undefined;
  try {
    const response = await fetch("/code-cells", { headers: { "x-api-key": apiKey } });
    return response.ok ? ((await response.json()) as CodeCellsStatus) : undefined;
  } catch {
    return undefined;
  }
}

/** How much of the making is done, from 0 to 1; `undefined` when that cannot be told. */
export function progressOf({ detail = "" }: CodeCellsStatus): number | undefined {
  const [, done, all] = /^Package (\d+) of (\d+)/.exec(detail) ?? [];
  // Fetching takes about two thirds of the time, unpacking the rest.
  if (done !== undefined && all !== undefined) return (0.66 * Number(done)) / Number(all);
  if (detail.startsWith("Unpacking")) return 0.7;
  if (detail.startsWith("Listing fonts")) return 0.95;
  return undefined;
}
