/** How a piece of text looks. Absent fields mean the usual. */
export interface TextStyle {
  /** 0 to 15 for the palette, else a CSS colour. */
  color?: number | string;
  background?: number | string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  /** Whether text and background change places. */
  inverse?: boolean;
}

/** Where text came from. */
export type Channel = "stdout" | "stderr";

/** A piece of a line in one style. */
export interface Span {
  text: string;
  readonly style: Readonly<TextStyle>;
  readonly channel: Channel;
}

// A whole escape sequence: CSI, a string up to its end (OSC, DCS, SOS, PM, APC), or a short one. Else one control character.
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~])|[\x00-\x08\x0a-\x1f\x7f-\x9f]/g;

// What may still become a whole sequence when more text comes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const BEGINNING = /^\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$/;

const LONGEST_SEQUENCE = 4096;
const LONGEST_LINE = 8192;
const USUAL: Readonly<TextStyle> = Object.freeze({});

/**
 * Turns a stream of text into lines of styled text. Colours are kept; a carriage return starts the line anew, so that progress bars
 * stay one line; every other escape sequence is dropped. Only the last `limit` lines are kept.
 */
export class OutputLines {
  /** The lines; the last one may still grow. */
  readonly lines: Span[][] = [[]];
  /** How many lines were dropped from the front. */
  dropped = 0;
  private readonly channels = { stdout: { held: "", style: USUAL }, stderr: { held: "", style: USUAL } };
  private returned = false;
  private length = 0;

  /**
   * @param limit how many lines are kept
   * @param before lines of earlier output, and how many came before those; what is written goes on below them
   */
  constructor(
    private readonly limit: number,
    before: { readonly lines: readonly (readonly Span[])[]; readonly dropped: number } = { lines: [], dropped: 0 },
  ) {
    this.dropped = before.dropped;
    this.lines.unshift(...before.lines.map((line) => [...line]));
  }

  /** Adds text as it came. A sequence that is cut at its end waits for the rest. */
  write(text: string, channel: Channel = "stdout"): void {
    const state = this.channels[channel];
    const input = state.held + text;
    state.held = "";
    let from = 0;
    SEQUENCE.lastIndex = 0;
    for (let match = SEQUENCE.exec(input); match; match = SEQUENCE.exec(input)) {
      const { index } = match;
      const whole = match[0];
      this.put(input.slice(from, index), channel);
      // A sequence that grows too long is never going to end: then only its escape character is dropped.
      if (whole === "\x1b" && input.length - index < LONGEST_SEQUENCE && BEGINNING.test(input.slice(index))) {
        state.held = input.slice(index);
        return;
      }
      from = index + whole.length;
      if (whole === "\n") this.newLine();
      else if (whole === "\r") this.returned = true;
      else if (whole === "\b") this.backspace();
      else if (match[2] === "m") state.style = restyle(state.style, match[1] ?? "");
    }
    this.put(input.slice(from), channel);
  }

  private put(text: string, channel: Channel): void {
    if (text === "") return;
    if (this.returned) {
      this.returned = false;
      this.last.length = 0;
      this.length = 0;
    }
    let rest = text;
    while (this.length + rest.length > LONGEST_LINE) {
      const room = LONGEST_LINE - this.length;
      this.append(rest.slice(0, room), channel);
      rest = rest.slice(room);
      this.newLine();
    }
    if (rest !== "") this.append(rest, channel);
  }

  private append(text: string, channel: Channel): void {
    const { style } = this.channels[channel];
    const end = this.last.at(-1);
    if (end && end.style === style && end.channel === channel) end.text += text;
    else this.last.push({ text, style, channel });
    this.length += text.length;
  }

  private newLine(): void {
    this.returned = false;
    this.length = 0;
    this.lines.push([]);
    // Dropping in bulk keeps this cheap.
    if (this.lines.length > this.limit * 1.25) this.dropped += this.lines.splice(0, this.lines.length - this.limit).length;
  }

  private backspace(): void {
    const end = this.last.at(-1);
    if (!end) return;
    const shorter = end.text.replace(/.$/su, "");
    this.length -= end.text.length - shorter.length;
    if (shorter === "") this.last.pop();
    else end.text = shorter;
  }

  private get last(): Span[] {
    return this.lines[this.lines.length - 1] as Span[];
  }
}

function restyle(before: Readonly<TextStyle>, parameters: string): Readonly<TextStyle> {
  const style: TextStyle = { ...before };
  const codes = parameters.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const [color, used] = extendedColor(codes.slice(at + 1));
      at += used;
      if (color !== undefined) style[code === 38 ? "color" : "background"] = color;
    } else apply(style, code);
  }
  return Object.keys(style).length === 0 ? USUAL : style;
}

function apply(style: TextStyle, code: number): void {
  if (code === 0) for (const key of Object.keys(style)) delete style[key as keyof TextStyle];
  else if (code === 1) style.bold = true;
  else if (code === 2) style.dim = true;
  else if (code === 3) style.italic = true;
  else if (code === 4) style.underline = true;
  else if (code === 7) style.inverse = true;
  else if (code === 22) {
    delete style.bold;
    delete style.dim;
  } else if (code === 23) delete style.italic;
  else if (code === 24) delete style.underline;
  else if (code === 27) delete style.inverse;
  else if (code >= 30 && code <= 37) style.color = code - 30;
  else if (code === 39) delete style.color;
  else if (code >= 40 && code <= 47) style.background = code - 40;
  else if (code === 49) delete style.background;
  else if (code >= 90 && code <= 97) style.color = code - 82;
  else if (code >= 100 && code <= 107) style.background = code - 92;
}

/** The colour after a 38 or 48, and how many codes it took. */
function extendedColor(codes: number[]): [color: number | string | undefined, used: number] {
  const byte = (at: number) => Math.min(255, Math.max(0, Math.trunc(codes[at] ?? 0) || 0));
  if (codes[0] === 2) return [`rgb(${byte(1)} ${byte(2)} ${byte(3)})`, 4];
  if (codes[0] !== 5) return [undefined, 0];
  const index = byte(1);
  if (index < 16) return [index, 2];
  if (index >= 232) return [`rgb(${[0, 0, 0].fill(8 + (index - 232) * 10).join(" ")})`, 2];
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return [`rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`, 2];
}
