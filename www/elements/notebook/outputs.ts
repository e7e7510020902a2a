/** What a cell gave, in the order in which it came. */

import type { CodeError, Result } from "agent-sandbox-web";
import { type Channel, OutputLines } from "../ansi.js";

const KEPT_LINES = 2000;
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
  /** What a notebook's file says of it, such as the size of a picture. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What the code raised. */
export interface ErrorOutput extends CodeError {
  readonly kind: "error";
}

export type CellOutput = StreamOutput | ResultOutput | ErrorOutput;

/** Text printed to one channel: the lines that are shown, and the text itself as far as it is kept. */
export class PrintedText {
  readonly lines = new OutputLines(KEPT_LINES);
  private kept: string[] = [];
  private length = 0;
  private end = "";

  constructor(readonly channel: Channel) {}

  write(text: string): void {
    if (text === "") return;
    this.lines.write(text, this.channel);
    this.end = text.slice(-1);
    this.kept.push(text);
    this.length += text.length;
    // Joined now and then: many small pieces become one, of which the end is kept.
    if (this.kept.length > 1000 || this.length > 2 * KEPT_TEXT) {
      this.kept = [this.text];
      this.length = this.kept[0]?.length ?? 0;
    }
  }

  /** Whether its last line may still grow, such as a progress bar. */
  get open(): boolean {
    return this.end !== "\n";
  }

  /** The end of the text. */
  get text(): string {
    return this.kept.join("").slice(-KEPT_TEXT);
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
  return Object.fromEntries(
    [...named, ...Object.entries(result.extra)].filter(([, value]) => value !== undefined && value !== null),
  );
}
