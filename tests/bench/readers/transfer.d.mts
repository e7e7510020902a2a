import type { Settings } from "./settings.d.mts";

/** The ways a file can go. */
export type Way = "plain download" | "client download" | "plain upload" | "client upload";

export function transfer(how: Way, settings: Settings, path: string, bytes: number): Promise<number>;
/** Milliseconds of each call. */
export interface Calls {
  readonly plain: number[];
  readonly client: number[];
}
export function calls(settings: Settings, times: number): Promise<Calls>;
export function keys(settings: Settings, times: number): Promise<{ took: number[]; inOrder: boolean }>;
