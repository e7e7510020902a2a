/** What is shown of a sandbox's files, in the tab's own storage, so that a reload does not lose it. */

/** What is kept. */
export interface ShownFiles {
  readonly root: string;
  /** The folders that are open. */
  readonly folders: readonly string[];
  /** The files that are open. */
  readonly files: readonly string[];
  /** The file that is shown. */
  readonly current: string | undefined;
}

/** Reads it; `undefined` when there is nothing that can be read. */
export function restoreShown(key: string): ShownFiles | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null") as ShownFiles | null;
    return kept !== null && Array.isArray(kept.folders) && Array.isArray(kept.files) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it, or nothing where there is no room. */
export function keepShown(key: string, shown: ShownFiles): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(shown));
  } catch {
    sessionStorage.removeItem(key);
  }
}
