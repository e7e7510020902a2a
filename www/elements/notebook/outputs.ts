/** What a cell gave, in the order in which it came. */

import type { CodeError, Result } from "agent-sandbox-web";
import { type Channel, OutputLines } from "../ansi.js";

const KEPT_LINES = 5000;
// What is stored and exported of a stream: its end.
const KEPT_TEXT = 200_000;

/** One thing in all its forms, by MIME type. Base64 for images and PDF, values for JSON types, else text. */
export type MimeBundle = Readonly<Record<string, unknown>>;

/** Text as it was printed. */
export interface StreamOutput {
  readonly kind: "stream";
  readonly text: PrintedText;
}

/** Something displayed, or the value of the last expression. */
export interface ResultOutput {
  readonly kind: "result";
  readonly data: MimeBundle;
  /** Whether it is the value of the last expression. */
  readonly main: boolean;
}

/** What the code raised. */
export interface ErrorOutput extends CodeError {
  readonly kind: "error";
}

export type CellOutput = StreamOutput | ResultOutput | ErrorOutput;

/** A piece of printed text. */
export interface Printed {
  readonly channel: Channel;
  text: string;
}

/** Printed text: the lines that are shown, and the text itself as far as it is kept. */
export class PrintedText {
  readonly lines = new OutputLines(KEPT_LINES);
  private readonly pieces: Printed[] = [];
  private kept = 0;

  write(channel: Channel, text: string): void {
    this.lines.write(text, channel);
    const last = this.pieces.at(-1);
    if (last?.channel === channel && last.text.length < KEPT_TEXT / 8) last.text += text;
    else this.pieces.push({ channel, text });
    this.kept += text.length;
    while (this.kept > KEPT_TEXT && this.pieces.length > 1) this.kept -= this.pieces.shift()?.text.length ?? 0;
  }

  /** The end of the text, piece by piece. */
  get printed(): readonly Printed[] {
    return this.pieces.map(({ channel, text }) => ({ channel, text: text.slice(-KEPT_TEXT) }));
  }
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  text: "text/plain",
  html: "text/html",
  markdown: "text/markdown",
  svg: "image/svg+xml",
  png: "image/png",
  jpeg: "image/jpeg",
  pdf: "application/pdf",
  latex: "text/latex",
  json: "application/json",
  javascript: "application/javascript",
  data: "e2b/data",
  chart: "e2b/chart",
};

/** All forms of a result by MIME type. */
export function bundleOf(result: Result): MimeBundle {
  const named = Object.entries(MIME_TYPES).map(([member, mime]) => [mime, result[member as keyof Result]] as const);
  return Object.fromEntries([...named, ...Object.entries(result.extra)].filter(([, value]) => value !== undefined && value !== null));
}
