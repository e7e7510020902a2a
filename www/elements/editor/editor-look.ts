/** What CodeMirror looks like here, in the colours of theme.css. */

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Extension, Prec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const theme = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--sb-surface)", color: "var(--sb-text)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--sb-mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--sb-accent)", padding: "8px 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--sb-accent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "light-dark(#d3d9fa, #333a66)",
  },
  ".cm-gutters": { backgroundColor: "var(--sb-surface)", color: "var(--sb-muted)", border: "0" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 10px 0 14px" },
  ".cm-activeLine": { backgroundColor: "light-dark(rgb(76 91 212 / 5%), rgb(152 162 251 / 6%))" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--sb-text)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--sb-hover)", border: "0", color: "var(--sb-muted)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--sb-selected)", outline: "1px solid var(--sb-accent)" },
  ".cm-searchMatch": { backgroundColor: "light-dark(#fbe3b0, #5a4718)" },
  ".cm-selectionMatch": { backgroundColor: "light-dark(#e6eadf, #2c3530)" },
  ".cm-panels": { backgroundColor: "var(--sb-bg)", color: "var(--sb-text)", borderColor: "var(--sb-border)" },
  // In the size of everything else, and large enough for a finger.
  ".cm-panel.cm-search": { padding: "6px 28px 6px 8px" },
  ".cm-panel.cm-search :is(input, button, label)": { fontSize: "12px", verticalAlign: "middle" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", gap: "2px" },
  ".cm-panel.cm-search [name=close]": { minWidth: "24px", minHeight: "24px" },
  "@media (pointer: coarse)": { ".cm-panel.cm-search :is(input[name], button)": { minHeight: "30px" } },
  ".cm-textfield": { backgroundColor: "var(--sb-surface)", borderColor: "var(--sb-border-strong)", borderRadius: "4px" },
  ".cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--sb-raised)",
    borderColor: "var(--sb-border-strong)",
    borderRadius: "4px",
  },
  ".cm-tooltip": { backgroundColor: "var(--sb-raised)", borderColor: "var(--sb-border)", color: "var(--sb-text)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--sb-accent-fill)", color: "var(--sb-on-fill)" },
  ".cm-specialChar": { color: "var(--sb-danger)" },
});

const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--sb-syntax-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--sb-syntax-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--sb-syntax-number)" },
  { tag: [tags.comment, tags.meta], color: "var(--sb-syntax-comment)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.labelName], color: "var(--sb-syntax-function)" },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.tagName], color: "var(--sb-syntax-type)" },
  { tag: [tags.propertyName, tags.attributeName], color: "var(--sb-syntax-property)" },
  { tag: tags.heading, color: "var(--sb-syntax-function)", fontWeight: "600" },
  { tag: tags.strong, fontWeight: "600" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.link, textDecoration: "underline" },
  { tag: tags.invalid, color: "var(--sb-syntax-invalid)" },
]);

/** The look of every editor: colours of the page and of the code. */
export const editorLook: Extension = [theme, Prec.high(syntaxHighlighting(highlighting))];
