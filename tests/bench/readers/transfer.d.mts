import type { Settings } from "./settings.d.mts";

/** The ways a file can go. */
export type Way = "plain download" | "client download" | "plain upload" | "client upload";

export function transfer(how: Way, settings: Settings, path: string, bytes: number): Promise<number>;
export function calls(how: "plain" | "client", settings: Settings, times: number): Promise<number[]>;
export function keys(settings: Settings, times: number): Promise<{ took: number[]; inOrder: boolean }>;
