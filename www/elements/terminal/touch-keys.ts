/** Keys that the keyboards of phones do not have. */

/** A key of the bar: what it says, what screen readers call it, and what it types. */
export interface TouchKey {
  readonly text: string;
  readonly label: string;
  /** What is typed; of an arrow only its letter, which programs may want in another form. */
  readonly types: string | { readonly arrow: "A" | "B" | "C" | "D" };
}

export const TOUCH_KEYS: readonly TouchKey[] = [
  { text: "Esc", label: "Esc", types: "\x1b" },
  { text: "Tab", label: "Tab", types: "\t" },
  { text: "←", label: "Left", types: { arrow: "D" } },
  { text: "↑", label: "Up", types: { arrow: "A" } },
  { text: "↓", label: "Down", types: { arrow: "B" } },
  { text: "→", label: "Right", types: { arrow: "C" } },
  { text: "|", label: "Vertical bar", types: "|" },
  { text: "/", label: "Slash", types: "/" },
  { text: "-", label: "Dash", types: "-" },
];

/** What a program gets for a key. `application`: it asked for arrows in their other form. */
export function typed({ types }: TouchKey, application: boolean): string {
  return typeof types === "string" ? types : `\x1b${application ? "O" : "["}${types.arrow}`;
}

/** What a character becomes while Ctrl is held: a letter is its number in the alphabet. What has no such form stays. */
export function withControl(data: string): string {
  if (data === "?") return "\x7f";
  return /^[@-_a-z ]$/.test(data) ? String.fromCharCode(data.charCodeAt(0) & 0x1f) : data;
}
