/** Which terminals a sandbox has, in the tab's own storage, so that a reload finds their shells and texts again. */

/** A terminal as it is kept. */
export interface KeptTerminal {
  /** The process id of its shell. */
  readonly pid: number;
  /** What it showed, with the escape sequences that draw it again. */
  readonly text: string;
  /** The size in characters that the text was drawn for; absent where it is not known. */
  readonly cols?: number;
  readonly rows?: number;
  /** Whether the shell belongs to somebody else, and is only let go of at the end. */
  readonly borrowed?: boolean;
}

/** The terminals of each tab. */
export interface KeptTerminals {
  readonly tabs: readonly { readonly id: number; readonly panes: readonly KeptTerminal[] }[];
  /** The view that was shown. */
  readonly view: string | number;
  /** The views that have the whole height. */
  readonly whole: readonly (string | number)[];
  /** The height of the lower part, in CSS pixels; 0 for the usual. */
  readonly height: number;
}

// Storage holds about 5 million characters for everything.
const MOST_TEXT = 1_000_000;

/** Reads them; `undefined` when there are none that can be read. */
export function restoreTerminals(key: string): KeptTerminals | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null") as KeptTerminals | null;
    return kept && Array.isArray(kept.tabs) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps them: all shells, and of their texts what fits. */
export function keepTerminals(key: string, kept: KeptTerminals): void {
  let left = MOST_TEXT;
  const tabs = kept.tabs.map(({ id, panes }) => ({
    id,
    panes: panes.map((pane) => {
      left -= pane.text.length;
      return left >= 0 ? pane : { ...pane, text: "" };
    }),
  }));
  const without = tabs.map(({ id, panes }) => ({ id, panes: panes.map((pane) => ({ ...pane, text: "" })) }));
  for (const some of [tabs, without]) {
    try {
      sessionStorage.setItem(key, JSON.stringify({ ...kept, tabs: some }));
      return;
    } catch {
      sessionStorage.removeItem(key);
    }
  }
}
