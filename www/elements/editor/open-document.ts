import { FileNotFoundError, type Files } from "agent-sandbox-web";
import { ExplainedError, isGone } from "../describe-error.js";
import type { OpenedFile } from "../files/open-file.js";
import { isDoubtful, unreachable } from "../files/unreachable.js";
import { parentOf } from "../names.js";
import type { Draft } from "./drafts.js";
import type { EditorDocument } from "./editor-engine.js";

/** A file that is open in the editor. */
export interface OpenDocument {
  path: string;
  /** Ends the reading when the tab is closed. */
  readonly reading: AbortController;
  /** Whether it is being read, or has been. */
  begun?: boolean;
  opened?: OpenedFile | undefined;
  document?: EditorDocument;
  /** The address of its picture within this page. */
  url?: string | undefined;
  error?: unknown;
  saveError?: unknown;
  saving?: boolean;
  dirty?: boolean;
  /** What an earlier page had here and did not save, until it is shown. */
  draft?: Draft | undefined;
  /** As which state of the file the text here was read or written. */
  version?: string | undefined;
  /** What happened to the file in the sandbox that the text here does not know of. */
  outside?: "changed" | "deleted" | undefined;
  /** Whether it is shown as what its text describes, such as formatted text. */
  previewing?: boolean;
  /** Whether it is shown against what the file holds. */
  comparing?: boolean;
  /** The line to go to once it is read. */
  line?: number | undefined;
  /** Whether the file may be gone. */
  doubtful?: boolean;
  /** Whether the file is being looked at. */
  looking?: boolean;
  /** Whether the file may have changed since it was looked at. */
  stale?: boolean;
}

/** Which state a file is in; `undefined` when it is not there. Two states can be told apart when size or time differ. */
export async function versionOf(files: Files, document: OpenDocument): Promise<string | undefined> {
  const { path } = document;
  try {
    if (!document.doubtful) return version(await files.getInfo(path));
    // Asking for what is probably not there would be an error in the browser's console.
    const found = (await files.list(parentOf(path))).find((entry) => entry.path === path);
    document.doubtful = found === undefined;
    return found && version(found);
  } catch (error) {
    if (error instanceof FileNotFoundError) return undefined;
    throw error;
  }
}

/** Whether the file is not there, or its whole sandbox; asked without an error in the browser's console if only the file is not. */
export async function isMissing(files: Files, document: OpenDocument): Promise<boolean> {
  document.doubtful = true;
  try {
    return (await versionOf(files, document)) === undefined;
  } catch (error) {
    if (isGone(error)) return true;
    throw error;
  }
}

/** See {@link versionOf}. */
export function version(info: { readonly size: number; readonly modifiedTime?: Date | undefined }): string {
  return `${info.modifiedTime?.getTime() ?? ""}/${info.size}`;
}

/** Why a file that was listed cannot be read, where its name tells more than the error. */
export function withReason(error: unknown, path: string): unknown {
  return error instanceof FileNotFoundError && isDoubtful(path) ? unreachable(error) : error;
}

/** Why nothing is read in a sandbox that is paused. It is not asked: a request might wake it. */
export function pausedWhileReading(): ExplainedError {
  return new ExplainedError("This sandbox is paused", "The file cannot be read while it stands still.", "Resume it.");
}

/** Why nothing is saved in a sandbox that is paused; see {@link pausedWhileReading}. */
export function pausedWhileSaving(): ExplainedError {
  return new ExplainedError(
    "This sandbox is paused",
    "Nothing can be saved in it while it stands still.",
    "Resume it, or copy or download the text.",
  );
}
