/** How the lines of a text are indented, so that new ones are indented likewise. */

const READ_LINES = 2000;
const MOST_SPACES = 8;

/** What a step of indentation is in a text: a tab or spaces. `undefined` where nothing is indented. */
export function indentationOf(text: string): string | undefined {
  const steps = new Map<string, number>();
  let before = 0;
  for (const line of text.split("\n", READ_LINES)) {
    const indent = /^[\t ]*(?=\S)/.exec(line)?.[0];
    if (indent === undefined) continue;
    const width = indent.length - before;
    before = indent.length;
    // One space more is how comments and wrapped lines go on.
    const step = indent.startsWith("\t") ? "\t" : width > 1 && width <= MOST_SPACES ? " ".repeat(width) : undefined;
    if (step !== undefined) steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  return [...steps].sort(([, a], [, b]) => b - a)[0]?.[0];
}
