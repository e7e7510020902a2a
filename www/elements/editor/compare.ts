/** A document shown against another text. Loaded when the person compares. */

import { unifiedMergeView } from "@codemirror/merge";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

const look = EditorView.theme({
  ".cm-changedLine, .cm-insertedLine, .cm-inlineChangedLine": { backgroundColor: "light-dark(#e4f5ea, #16281e)" },
  ".cm-deletedChunk": { backgroundColor: "light-dark(#fdeeed, #2d1a1b)", paddingLeft: "6px" },
  ".cm-deletedLine, .cm-deletedLine del": { textDecoration: "none" },
  "& .cm-changedText": { background: "light-dark(#bfe6cd, #285239) !important" },
  "& .cm-deletedChunk .cm-deletedText": { background: "light-dark(#f8cdca, #5c2c2c) !important" },
  "& .cm-changedLineGutter, & .cm-inlineChangedLineGutter": { background: "var(--sb-ok) !important" },
  "& .cm-deletedLineGutter": { background: "var(--sb-danger) !important" },
  ".cm-deletedChunk button": {
    margin: "2px !important",
    padding: "1px 8px",
    border: "1px solid var(--sb-border-strong) !important",
    borderRadius: "4px !important",
    backgroundColor: "var(--sb-raised) !important",
    color: "var(--sb-text) !important",
    font: "12px var(--sb-font)",
  },
  "& .cm-collapsedLines": { background: "var(--sb-bg) !important", color: "var(--sb-muted) !important" },
});

/**
 * Marks where a document differs from `other`: green is in the document alone, red in the other text alone.
 * Each difference has a button for either side.
 */
export function comparison(other: string): Extension {
  return [
    unifiedMergeView({
      original: other,
      gutter: true,
      collapseUnchanged: { margin: 3, minSize: 6 },
      mergeControls: (type, act) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = type === "accept" ? "Keep mine" : "Take theirs";
        button.addEventListener("mousedown", act);
        button.addEventListener("click", (event) => {
          // A click without a pointer is the keyboard's.
          if (event.detail === 0) act(event);
        });
        return button;
      },
    }),
    look,
  ];
}
