/** CodeMirror as the editor element needs it. Loaded only when a file is opened. */

import { indentWithTab } from "@codemirror/commands";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, type Extension, Prec, type Text } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";

/** What the engine tells. */
export interface EngineHooks {
  /** The shown document was edited. */
  edited(): void;
  /** The cursor moved. Both count from 1. */
  cursor(line: number, column: number): void;
  /** The person wants to save. */
  save(): void;
}

/** A document that can be shown and edited. */
export interface EditorDocument {
  state: EditorState;
  /** What the file holds, as far as is known. */
  saved: Text;
  readonly language: Compartment;
  scrollTop: number;
}

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
  ".cm-matchingBracket": { backgroundColor: "var(--sb-selected)", outline: "1px solid var(--sb-accent)" },
  ".cm-searchMatch": { backgroundColor: "light-dark(#fbe3b0, #5a4718)" },
  ".cm-selectionMatch": { backgroundColor: "light-dark(#e6eadf, #2c3530)" },
  ".cm-panels": { backgroundColor: "var(--sb-bg)", color: "var(--sb-text)", borderColor: "var(--sb-border)" },
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

/** An editor drawn into an element; it shows one document at a time. */
export class EditorEngine {
  private readonly view: EditorView;
  private shown: EditorDocument | undefined;

  constructor(
    parent: HTMLElement,
    root: ShadowRoot,
    private readonly hooks: EngineHooks,
  ) {
    this.view = new EditorView({ parent, root });
  }

  /** Makes a document of a file's text. */
  create(text: string, lineSeparator: string, label: string): EditorDocument {
    const language = new Compartment();
    const state = EditorState.create({ doc: text, extensions: this.extensions(lineSeparator, label, language) });
    return { state, saved: state.doc, language, scrollTop: 0 };
  }

  /** Shows a document. */
  show(document: EditorDocument): void {
    if (this.shown === document) return;
    this.keep();
    this.shown = document;
    this.view.setState(document.state);
    this.view.requestMeasure({ read: () => {}, write: () => this.view.scrollDOM.scrollTo(0, document.scrollTop) });
    this.tellCursor();
  }

  /** Adds the highlighting of a language. */
  highlight(document: EditorDocument, language: Extension): void {
    const effects = document.language.reconfigure(language);
    if (document === this.shown) this.view.dispatch({ effects });
    else document.state = document.state.update({ effects }).state;
  }

  /** Replaces a document's text by what the file holds now. */
  reload(document: EditorDocument, text: string): void {
    const state = this.current(document);
    const change = { changes: { from: 0, to: state.doc.length, insert: state.toText(text) } };
    if (document === this.shown) this.view.dispatch(change);
    else document.state = document.state.update(change).state;
    document.saved = this.current(document).doc;
    this.hooks.edited();
  }

  /** The text of a document, with its own line ends. */
  text(document: EditorDocument): string {
    return this.current(document).sliceDoc();
  }

  /** The text of a document as an immutable value: what {@link EditorDocument.saved} is compared with. */
  content(document: EditorDocument): Text {
    return this.current(document).doc;
  }

  isDirty(document: EditorDocument): boolean {
    return !this.current(document).doc.eq(document.saved);
  }

  focus(): void {
    this.view.focus();
  }

  dispose(): void {
    this.view.destroy();
  }

  private current(document: EditorDocument): EditorState {
    return document === this.shown ? this.view.state : document.state;
  }

  private keep(): void {
    if (!this.shown) return;
    this.shown.state = this.view.state;
    this.shown.scrollTop = this.view.scrollDOM.scrollTop;
  }

  private save(): boolean {
    this.hooks.save();
    return true;
  }

  private tellCursor(): void {
    const { head } = this.view.state.selection.main;
    const line = this.view.state.doc.lineAt(head);
    this.hooks.cursor(line.number, head - line.from + 1);
  }

  private extensions(lineSeparator: string, label: string, language: Compartment): Extension {
    return [
      Prec.highest(keymap.of([{ key: "Mod-s", preventDefault: true, run: () => this.save() }])),
      basicSetup,
      keymap.of([indentWithTab]),
      language.of([]),
      EditorState.lineSeparator.of(lineSeparator),
      EditorView.contentAttributes.of({ "aria-label": label }),
      theme,
      Prec.high(syntaxHighlighting(highlighting)),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.hooks.edited();
        if (update.docChanged || update.selectionSet) this.tellCursor();
      }),
    ];
  }
}
