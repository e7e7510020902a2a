/** Which sandbox is a copy of which. Copies have the labels of their source, and platforms do not say where they are from. */

import { KeptById } from "./kept-by-id.js";

const sources = new KeptById<string>("agent-sandbox-console.forks");

/** Keeps of which sandbox another is a copy. */
export function keepSource(id: string, source: string): void {
  sources.set(id, source);
}

/** The sandbox of which this is a copy, as far as this tab made it. */
export function sourceOf(id: string): string | undefined {
  return sources.get(id);
}
