/** Files of a sandbox by their names, by the `find` in it. */

import type { Commands } from "agent-sandbox-web";
import { LEFT_OUT } from "./grep.js";

/** More are not read: nobody looks through them. */
export const MOST_NAMES = 500;

/**
 * Looks for files below a folder whose names hold a text, in folders that people write in. A text with a slash is looked for in whole
 * paths; `*` and `?` stand for any characters and for one.
 * @param exact whether capitals count
 * @param found called with the paths that were found since the last call
 * @returns whether there are more than {@link MOST_NAMES}
 */
export async function findNames(
  commands: Commands,
  root: string,
  text: string,
  exact: boolean,
  found: (paths: readonly string[]) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const left = LEFT_OUT.flatMap((name, at) => [...(at === 0 ? [] : ["-o"]), "-name", name]);
  // Brackets and backslashes stand for themselves.
  const pattern = `*${text.replace(/[[\]\\]/g, "\\$&")}*`;
  const by = `-${exact ? "" : "i"}${text.includes("/") ? "path" : "name"}`;
  const find = [
    "find",
    root,
    "-mindepth",
    "1",
    "-type",
    "d",
    "(",
    ...left,
    ")",
    "-prune",
    "-o",
    "!",
    "-type",
    "d",
    by,
    pattern,
    "-print0",
  ];
  const decoder = new TextDecoder();
  let rest = "";
  let count = 0;
  for await (const chunk of commands.stream(find as [string, ...string[]], { output: "bytes", timeoutMs: 0, signal })) {
    // What cannot be read is passed over, as it is in a search for text.
    if (chunk.type !== "stdout") continue;
    const names = (rest + decoder.decode(chunk.data, { stream: true })).split("\0");
    rest = names.pop() ?? "";
    const some = names.slice(0, MOST_NAMES - count);
    count += some.length;
    if (some.length > 0) found(some);
    // Leaving the loop ends the process.
    if (count === MOST_NAMES) return true;
  }
  return false;
}
