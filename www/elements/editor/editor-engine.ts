/** CodeMirror as the editor element needs it. Loaded only when a file is opened. */

import { indentWithTab } from "@codemirror/commands";
import { indentUnit } from "@codemirror/language";
import { openSearchPanel } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Prec, Text, type TransactionSpec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { editorLook } from "./editor-look.js";
import { indentationOf } from "./indentation.js";

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
  readonly comparison: Compartment;
  scrollTop: number;
}

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
    const comparison = new Compartment();
    const indentation = indentationOf(text);
    const own = indentation === undefined ? [] : indentUnit.of(indentation);
    // What the file shows comes before what its language says.
    const extensions = [own, this.extensions(lineSeparator, label), language.of([]), comparison.of([])];
    const state = EditorState.create({ doc: text, extensions });
    return { state, saved: state.doc, language, comparison, scrollTop: 0 };
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
    this.change(document, { effects: document.language.reconfigure(language) });
  }

  /** Marks where a document differs from another text, or takes the marks away. */
  async compare(document: EditorDocument, other: string | undefined): Promise<void> {
    const extension = other === undefined ? [] : (await import("./compare.js")).comparison(other);
    this.change(document, { effects: document.comparison.reconfigure(extension) });
  }

  /** Puts the cursor to the beginning of a line of the shown document, and shows that line. */
  goTo(line: number): void {
    const { doc } = this.view.state;
    const { from } = doc.line(Math.max(1, Math.min(line, doc.lines)));
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  }

  /** Opens the search of the shown document. */
  search(): void {
    openSearchPanel(this.view);
  }

  /** Replaces a document's text by what the file holds now. */
  reload(document: EditorDocument, text: string): void {
    this.replace(document, this.current(document).toText(text));
    document.saved = this.current(document).doc;
    this.hooks.edited();
  }

  /** Replaces a document's text by lines that are in no file yet. */
  rewrite(document: EditorDocument, lines: readonly string[]): void {
    this.replace(document, Text.of(lines));
  }

  /** Says what the file holds, without changing the text here. */
  setSaved(document: EditorDocument, text: string): void {
    document.saved = this.current(document).toText(text);
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

  private replace(document: EditorDocument, insert: Text): void {
    const { doc, selection } = this.current(document);
    this.change(document, {
      changes: { from: 0, to: doc.length, insert },
      selection: { anchor: Math.min(selection.main.anchor, insert.length) },
    });
  }

  private change(document: EditorDocument, change: TransactionSpec): void {
    if (document === this.shown) this.view.dispatch(change);
    else document.state = document.state.update(change).state;
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

  private extensions(lineSeparator: string, label: string): Extension {
    return [
      Prec.highest(keymap.of([{ key: "Mod-s", preventDefault: true, run: () => this.save() }])),
      basicSetup,
      keymap.of([indentWithTab]),
      EditorState.lineSeparator.of(lineSeparator),
      EditorView.contentAttributes.of({ "aria-label": label }),
      editorLook,
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.hooks.edited();
        if (update.docChanged || update.selectionSet) this.tellCursor();
      }),
    ];
  }
}
