import type { IconName } from "./icons.js";

/** Something that can be done now, as a command palette offers it. */
export interface Action {
  /** What it does, beginning with a verb. */
  readonly label: string;
  /** What it belongs to, such as `Terminal`. */
  readonly group: string;
  readonly icon?: IconName;
  /** The keys that do the same, such as `Ctrl+K`. */
  readonly keys?: string;
  run(): void;
}

/** How well an action fits what was typed: the lower the better; `undefined` when it does not. */
export function rank({ label, group }: Action, typed: string): number | undefined {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${group} ${label}`.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return undefined;
    // What a word begins with counts more than what is in its middle.
    sum += at === 0 || text[at - 1] === " " ? 0 : 10;
    sum += at / text.length;
  }
  return sum;
}
