/** Text that is not saved, in the tab's own storage, so that a reload does not lose it. */

import type { OpenDocument } from "./open-document.js";

/** The text of a file as it stands in the editor and in no file. */
export interface Draft {
  /** Its lines, joined by newlines. */
  readonly text: string;
  /** How they end in the file. */
  readonly lineSeparator: string;
  /** Which state of the file it was made from; see `versionOf`. */
  readonly version: string | undefined;
}

// Storage holds about 5 million characters for everything.
const MOST_TEXT = 1_000_000;

/** What of the documents is not saved, by path. */
export function draftsOf(documents: readonly OpenDocument[], text: (document: OpenDocument) => string): Map<string, Draft> {
  const drafts = new Map<string, Draft>();
  for (const document of documents) {
    const { dirty, draft, document: open, version, path } = document;
    // One that was not looked at since a reload is still what was kept.
    if (draft) drafts.set(path, draft);
    else if (dirty && open) drafts.set(path, { text: text(document), lineSeparator: open.state.lineBreak, version });
  }
  return drafts;
}

/** Reads drafts that were kept. */
export function restoreDrafts(key: string): ReadonlyMap<string, Draft> {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "[]") as [string, Draft][];
    return new Map(kept.filter(([path, draft]) => typeof path === "string" && typeof draft?.text === "string"));
  } catch {
    return new Map();
  }
}

/** Keeps drafts, the shortest first. Gives the paths of those for which there is no room. */
export function keepDrafts(key: string, drafts: ReadonlyMap<string, Draft>): ReadonlySet<string> {
  let left = MOST_TEXT;
  const fitting = [...drafts]
    .sort(([, a], [, b]) => a.text.length - b.text.length)
    .filter(([, { text }]) => {
      left -= text.length;
      return left >= 0;
    });
  try {
    if (fitting.length > 0) sessionStorage.setItem(key, JSON.stringify(fitting));
    else sessionStorage.removeItem(key);
  } catch {
    sessionStorage.removeItem(key);
    return new Set(drafts.keys());
  }
  const kept = new Set(fitting.map(([path]) => path));
  return new Set([...drafts.keys()].filter((path) => !kept.has(path)));
}
