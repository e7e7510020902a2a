/** Entries whose names are no UTF-8: they are listed with a replacement character, by which nobody finds them. */

import type { Files } from "agent-sandbox-web";
import { ExplainedError } from "../describe-error.js";

/** Whether a path holds what stands for bytes that are no UTF-8; a name may hold that character itself, too. */
export function isDoubtful(path: string): boolean {
  return path.includes("\ufffd");
}

/** What to tell of such an entry. */
export function unreachable(cause?: unknown): ExplainedError {
  return new ExplainedError(
    "This name cannot be written here",
    "Its bytes are not UTF-8, so that the sandbox cannot be asked for it by name.",
    "Rename it in a terminal: its beginning and * name it, as in mv begin* new-name.",
    { cause },
  );
}

/**
 * Makes sure that an entry that was listed can be asked for by its path.
 * @throws {ExplainedError} when it cannot
 */
export async function checkReachable(files: Files, path: string): Promise<void> {
  if (isDoubtful(path) && !(await files.exists(path))) throw unreachable();
}
