/** Search in the files of a sandbox, by the `grep` in it. */

import type { Commands } from "agent-sandbox-web";
import { ExplainedError } from "../describe-error.js";
import { plainName } from "../names.js";

/** What is looked for. */
export interface Search {
  readonly text: string;
  /** Whether `text` is a regular expression. */
  readonly pattern: boolean;
  /** Whether capitals count. */
  readonly exact: boolean;
}

/** A line that was found. */
export interface Match {
  readonly path: string;
  /** Its number, from 1. */
  readonly line: number;
  /** Its beginning. */
  readonly text: string;
}

/** More are not read: nobody looks through them. */
export const MOST_MATCHES = 1000;
const SHOWN_CHARACTERS = 300;
/** Folders that machines write in. */
export const LEFT_OUT = [".git", "node_modules", "__pycache__", ".venv", "target"];

/**
 * Looks through the text files below a folder, in folders that people write in.
 * @param found called with what was found since the last call
 * @returns whether there is more than {@link MOST_MATCHES}
 * @throws {ExplainedError} when `grep` does not take the pattern
 */
export async function searchFiles(
  commands: Commands,
  root: string,
  search: Search,
  found: (matches: readonly Match[]) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const grep = [
    "grep",
    // Recursive, without binary files, with numbers, a NUL after each name, and no word of what cannot be read.
    "-rInsZ",
    search.pattern ? "-E" : "-F",
    ...(search.exact ? [] : ["-i"]),
    ...LEFT_OUT.map((name) => `--exclude-dir=${name}`),
    "-e",
    search.text,
    "--",
    root,
  ] as [string, ...string[]];
  const lines = new MatchLines();
  const decoder = new TextDecoder();
  let complaint = "";
  let count = 0;
  for await (const chunk of commands.stream(grep, { output: "bytes", timeoutMs: 0, signal })) {
    if (chunk.type === "stdout") {
      const matches = lines.read(chunk.data).slice(0, MOST_MATCHES - count);
      count += matches.length;
      if (matches.length > 0) found(matches);
      // Leaving the loop ends the process.
      if (count === MOST_MATCHES) return true;
    } else if (chunk.type !== "exit") complaint = (complaint + decoder.decode(chunk.data, { stream: true })).slice(0, 1000);
    // 1 is nothing found; 2 with matches, or without a word, is only that something could not be read.
    else if (chunk.exitCode > 1 && count === 0 && complaint !== "") throw refused(complaint);
  }
  return false;
}

function refused(complaint: string): ExplainedError {
  return new ExplainedError(
    "The search could not be done",
    plainName(complaint.trim().split("\n")[0] ?? ""),
    "Look at the pattern, or search for plain text.",
  );
}

/** Reads `path NUL number ":" line LF` however it is cut. A path may hold anything but a NUL; of a long line only its beginning is kept. */
export class MatchLines {
  private readonly decoder = new TextDecoder();
  private rest = "";

  read(data: Uint8Array): Match[] {
    const text = this.rest + this.decoder.decode(data, { stream: true });
    const matches: Match[] = [];
    let at = 0;
    for (;;) {
      const nul = text.indexOf("\0", at);
      const end = nul === -1 ? -1 : text.indexOf("\n", nul);
      if (end === -1) break;
      matches.push(match(text.slice(at, nul), text.slice(nul + 1, end)));
      at = end + 1;
    }
    this.rest = shorten(text.slice(at));
    return matches;
  }
}

function match(path: string, numbered: string): Match {
  const colon = numbered.indexOf(":");
  return { path, line: Number(numbered.slice(0, colon)), text: numbered.slice(colon + 1, colon + 1 + SHOWN_CHARACTERS) };
}

/** The beginning of a line whose end has not come: what is not shown of it need not be held. */
function shorten(rest: string): string {
  const nul = rest.indexOf("\0");
  return nul === -1 ? rest : rest.slice(0, nul + SHOWN_CHARACTERS + 20);
}
