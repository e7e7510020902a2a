/** A notebook in the tab's own storage, so that a reload does not lose it. */

import type { Cell } from "./cell.js";
import { fromFile, type NotebookContent, toFile } from "./file.js";
import type { MimeBundle } from "./outputs.js";

// Storage holds about 5 million characters for everything; the largest outputs stay out of it.
const MOST_OUTPUT = 1_500_000;

/** What is kept. */
interface Kept {
  readonly notebook: string;
  readonly contexts: Record<string, string>;
  /** How each cell ended, where its outputs do not say it. */
  readonly notes?: readonly string[];
  /** Where in the sandbox its file is. */
  readonly file?: NotebookFile | undefined;
}

/** A notebook's file in the sandbox. */
export interface NotebookFile {
  readonly path: string;
  /** As which state of the file it was read or written; see `version`. */
  readonly version: string | undefined;
}

/** Reads a notebook; `undefined` when there is none that can be read. */
export function restore(
  key: string,
): { content: NotebookContent; contexts: Readonly<Record<string, string>>; file: NotebookFile | undefined } | undefined {
  const text = sessionStorage.getItem(key);
  if (text === null) return undefined;
  try {
    const { notebook, contexts, notes = [], file } = JSON.parse(text) as Kept;
    const content = fromFile(notebook);
    for (const [at, cell] of content.cells.entries()) cell.note = String(notes[at] ?? "");
    return { content, contexts, file };
  } catch {
    sessionStorage.removeItem(key);
    return undefined;
  }
}

/** Keeps a notebook: its text whole, of its outputs what fits. Gives whether there was room. */
export function keep(
  key: string,
  content: NotebookContent,
  contexts: Readonly<Record<string, string>>,
  file?: NotebookFile,
): boolean {
  const put = (outputs: (cell: Cell) => boolean) => {
    try {
      sessionStorage.setItem(
        key,
        JSON.stringify({ notebook: toFile(content, outputs), contexts, notes: content.cells.map(noteOf), file }),
      );
      return true;
    } catch {
      return false;
    }
  };
  const small = smallest(content.cells);
  return put((cell) => small.has(cell)) || put(() => false);
}

/** What a later page says of a cell: what runs ends with the page that has started it. */
function noteOf({ state, note }: Cell): string {
  return { idle: note, waiting: "not run because of the reload", running: "interrupted by the reload", stopping: "stopped" }[state];
}

function smallest(cells: readonly Cell[]): Set<Cell> {
  const sizes = cells.map((cell) => ({ cell, size: outputSize(cell) })).sort((a, b) => a.size - b.size);
  let left = MOST_OUTPUT;
  const fitting = sizes.filter(({ size }) => {
    left -= size;
    return left >= 0;
  });
  return new Set(fitting.map(({ cell }) => cell));
}

const sizes = new WeakMap<MimeBundle, number>();

function outputSize(cell: Cell): number {
  const parts = cell.outputs.map((output) => {
    if (output.kind === "stream") return output.text.text.length;
    if (output.kind === "error") return output.traceback.length + output.value.length;
    const known = sizes.get(output.data);
    if (known !== undefined) return known;
    const size = JSON.stringify(output.data).length;
    sizes.set(output.data, size);
    return size;
  });
  return parts.reduce((sum, size) => sum + size, 0);
}
