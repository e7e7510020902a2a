/** Formulas by KaTeX. Loaded when there is one. */

import katex from "katex";
import css from "katex/dist/katex.min.css?inline";

const sheet = new CSSStyleSheet();
sheet.replaceSync(css);

/** Its style sheet, for the shadow tree that shows formulas. */
export const mathSheet: CSSStyleSheet = sheet;

// Fonts are known to a whole document or not at all.
if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

const DELIMITERS: readonly (readonly [open: string, close: string, display: boolean])[] = [
  ["$$", "$$", true],
  ["\\[", "\\]", true],
  ["\\(", "\\)", false],
  ["$", "$", true],
];

/**
 * Draws a formula, with its delimiters or without.
 * @throws when KaTeX cannot read it
 */
export function drawFormula(latex: string, into: HTMLElement, display = true): void {
  const text = latex.trim();
  const found = DELIMITERS.find(
    ([open, close]) => text.length >= open.length + close.length && text.startsWith(open) && text.endsWith(close),
  );
  const source = found ? text.slice(found[0].length, -found[1].length) : text;
  katex.render(source, into, {
    displayMode: found && display ? found[2] : display,
    // Links, classes and images in formulas are for texts of one's own.
    trust: false,
    strict: "ignore",
    maxSize: 40,
    maxExpand: 2000,
    throwOnError: true,
  });
}
