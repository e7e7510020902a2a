/** CodeMirror as cells need it. Loaded when a notebook is shown. */

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { Compartment, type Extension, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { minimalSetup } from "codemirror";
import { editorLook } from "../editor/editor-look.js";

/** What the editor of a cell tells. */
export interface CellEditorHooks {
  edited(text: string): void;
  /** The person wants it run; then they go on where `next` says. */
  run(next: "stay" | "advance" | "insert"): void;
  /** The cursor goes above the first line or below the last. */
  leave(direction: -1 | 1): void;
}

const look = EditorView.theme({
  "&": { height: "auto", backgroundColor: "transparent" },
  ".cm-scroller": { overflow: "auto", fontSize: "12.5px", lineHeight: "20px" },
  ".cm-content": { padding: "7px 0" },
  ".cm-line": { padding: "0 10px" },
});

/** The editor of one cell. */
export class CellEditor {
  private readonly view: EditorView;
  private readonly language = new Compartment();
  private readonly label = new Compartment();

  constructor(parent: HTMLElement, root: ShadowRoot, text: string, hooks: CellEditorHooks) {
    const run = (next: Parameters<CellEditorHooks["run"]>[0]) => () => {
      hooks.run(next);
      return true;
    };
    const leave = (direction: -1 | 1) => (view: EditorView) => {
      const { main } = view.state.selection;
      const edge = direction === -1 ? 1 : view.state.doc.lines;
      if (!main.empty || view.state.doc.lineAt(main.head).number !== edge) return false;
      hooks.leave(direction);
      return true;
    };
    this.view = new EditorView({
      parent,
      root,
      doc: text,
      extensions: [
        Prec.highest(
          keymap.of([
            { key: "Mod-Enter", run: run("stay") },
            { key: "Shift-Enter", run: run("advance") },
            { key: "Alt-Enter", run: run("insert") },
            { key: "ArrowUp", run: leave(-1) },
            { key: "ArrowDown", run: leave(1) },
          ]),
        ),
        minimalSetup,
        bracketMatching(),
        closeBrackets(),
        indentOnInput(),
        // Long lines go on below: a cell is as wide as the page, and scrolls nowhere by itself.
        EditorView.lineWrapping,
        keymap.of([...closeBracketsKeymap, indentWithTab]),
        this.language.of([]),
        this.label.of([]),
        editorLook,
        Prec.highest(look),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) hooks.edited(update.state.doc.toString());
        }),
      ],
    });
  }

  setLanguage(language: Extension): void {
    this.view.dispatch({ effects: this.language.reconfigure(language) });
  }

  setLabel(label: string): void {
    this.view.dispatch({ effects: this.label.reconfigure(EditorView.contentAttributes.of({ "aria-label": label })) });
  }

  /** Puts the cursor to the beginning or the end. */
  focus(at?: "start" | "end"): void {
    this.view.focus();
    if (at) this.view.dispatch({ selection: { anchor: at === "start" ? 0 : this.view.state.doc.length }, scrollIntoView: true });
  }

  destroy(): void {
    this.view.destroy();
  }
}
