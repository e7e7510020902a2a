import type { Settings } from "./settings.d.mts";

/** The ways a file can go. */
export type Way = "plain download" | "client download" | "plain upload" | "client upload";

export function transfer(how: Way, settings: Settings, path: string, bytes: number): Promise<number>;
/** Milliseconds of each call. */
export interface Calls {
  readonly plain: number[];
  readonly client: number[];
}
/** Milliseconds from each key to its echo, and whether as many keys at once came back in order. */
export interface Keys {
  readonly took: number[];
  readonly inOrder: boolean;
}
export function calls(settings: Settings, times: number): Promise<Calls>;
export function keys(settings: Settings, times: number): Promise<Keys>;
