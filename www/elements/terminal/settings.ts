/** How terminals look and what they keep: the person's choice, for all terminals of this origin. */

export interface TerminalSettings {
  /** The size of the text, in CSS pixels. */
  readonly fontSize: number;
  /** How many lines above the screen are kept. */
  readonly scrollback: number;
  /** Whether what is shown is told to screen readers too, which costs time. */
  readonly screenReader: boolean;
}

const KEY = "sandbox-terminal.settings";
const USUAL: TerminalSettings = { fontSize: 13, scrollback: 5000, screenReader: false };
export const FONT_SIZES = { least: 8, most: 32 } as const;
export const SCROLLBACKS = [1000, 5000, 20_000, 100_000] as const;

let current: TerminalSettings = read();
const listeners = new Set<() => void>();

/** What is chosen now. */
export function terminalSettings(): TerminalSettings {
  return current;
}

/** Changes some of it, in every terminal of this page and of later ones. */
export function changeTerminalSettings(change: Partial<TerminalSettings>): void {
  current = sound({ ...current, ...change });
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Where nothing can be kept the choice holds as long as the page.
  }
  for (const listener of listeners) listener();
}

/** Calls `listener` whenever something was changed; gives what ends that. */
export function onTerminalSettings(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(): TerminalSettings {
  try {
    return sound({ ...USUAL, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<TerminalSettings>) });
  } catch {
    return USUAL;
  }
}

function sound({ fontSize, scrollback, screenReader }: TerminalSettings): TerminalSettings {
  return {
    fontSize: Math.min(FONT_SIZES.most, Math.max(FONT_SIZES.least, Math.round(Number(fontSize)) || USUAL.fontSize)),
    scrollback: SCROLLBACKS.find((lines) => lines === scrollback) ?? USUAL.scrollback,
    screenReader: screenReader === true,
  };
}
