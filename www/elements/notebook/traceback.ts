/** Tracebacks of Python as they are meant to be read. */

import type { CodeError } from "agent-sandbox-web";

const red = (text: string) => `\x1b[1;31m${text}\x1b[0m`;
const green = (text: string) => `\x1b[32m${text}\x1b[0m`;
const dim = (text: string) => `\x1b[2m${text}\x1b[0m`;

/**
 * The text of an error. Interpreters take the colours out of tracebacks and glue their first parts together: both comes back here. What has
 * colours already, or is of another language, stays as it is.
 */
export function readableTraceback({ name, value, traceback }: CodeError): string {
  if (traceback === "") return red([name, value].filter(Boolean).join(": "));
  if (traceback.includes("\x1b")) return traceback;
  return traceback
    .replace(/^(-{20,})(?=[^\s-])/, "$1\n")
    .replace(/(Traceback \(most recent call last\))(?=[^\s:])/, "$1\n")
    .split("\n")
    .map((line) => coloured(line, name))
    .join("\n");
}

function coloured(line: string, name: string): string {
  if (/^-{20,}$/.test(line)) return dim(line);
  if (name !== "" && line.startsWith(name)) return red(name) + line.slice(name.length);
  const place = /^(?:Cell In\[\d+\], line \d+|File .*?:\d+)/.exec(line)?.[0];
  if (place !== undefined) return green(place) + line.slice(place.length);
  const arrow = /^-+> \d+/.exec(line)?.[0];
  return arrow === undefined ? line : green(arrow) + line.slice(arrow.length);
}
