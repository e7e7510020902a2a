import { html, type TemplateResult } from "lit";

// Characters that would show nothing, break the line or turn the text around: C0 and C1 controls, line and paragraph separators,
// zero-width characters, and everything that changes the writing direction.
const UNSEEN = /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function written(character: string): string {
  return SHORT[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}}`;
}

/** A name as plain text in which nothing is hidden: a newline becomes `\n`. For titles, labels and messages. */
export function plainName(name: string): string {
  return name.replace(UNSEEN, written);
}

/** A name in which unseen characters stand out. It is text throughout: no name is ever read as HTML. */
export function visibleName(name: string): TemplateResult {
  const parts: (string | TemplateResult)[] = [];
  let from = 0;
  for (const match of name.matchAll(UNSEEN)) {
    parts.push(name.slice(from, match.index), html`<span class="escaped">${written(match[0])}</span>`);
    from = match.index + match[0].length;
  }
  parts.push(name.slice(from));
  return html`<bdi>${parts}</bdi>`;
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || "/";
}

/** The directory that holds `path`. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** The path of `name` in the directory `directory`. */
export function joinPath(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** The path that `path` leads to from the directory `from`: `.` and `..` are followed, and a slash at its end means nothing. */
export function resolvePath(from: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${from}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Why `name` cannot name an entry of a directory, or `undefined` when it can. */
export function nameProblem(name: string): string | undefined {
  if (name === "") return "Give it a name.";
  if (name === "." || name === "..") return "This name stands for a folder already.";
  if (name.includes("/")) return "A name cannot hold a slash.";
  if (name.includes("\0")) return "A name cannot hold a NUL character.";
  if (new TextEncoder().encode(name).length > 255) return "A name can be at most 255 bytes long.";
  return undefined;
}
