/** Notebooks as .ipynb files (nbformat 4): how they are exported, imported and kept across a reload. */

import { ExplainedError } from "../describe-error.js";
import { Cell } from "./cell.js";
import type { CellOutput, MimeBundle } from "./outputs.js";

/** What a file holds. */
export interface NotebookContent {
  readonly cells: readonly Cell[];
  readonly language: string;
  /** What else the file says of the notebook: it goes back as it came. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

type Json = Record<string, unknown>;

/** Values that only MIME types of JSON may have in a file, and what they are called there. */
const IN_FILES: Readonly<Record<string, string>> = {
  "e2b/data": "application/vnd.e2b.data+json",
  "e2b/chart": "application/vnd.e2b.chart+json",
};
const FROM_FILES = Object.fromEntries(Object.entries(IN_FILES).map(([mime, name]) => [name, mime]));

const KERNELS: Record<string, string> = { python: "python3", javascript: "deno", typescript: "deno", bash: "bash" };

/**
 * Writes a notebook.
 * @param outputs which cells keep what they gave
 */
export function toFile({ cells, language, metadata = {} }: NotebookContent, outputs: (cell: Cell) => boolean = () => true): string {
  const ids = new Set<unknown>();
  const own = {
    kernelspec: { name: KERNELS[language] ?? language, display_name: language, language },
    language_info: { name: language },
  };
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: languageOf(metadata) === language ? { ...own, ...metadata } : { ...metadata, ...own },
    cells: cells.map((cell, at) => {
      let { id } = cell.origin;
      // Each must be there once; that of a cell that was copied in a text editor is not.
      while (ids.has(id)) id = `${id}-${at}`;
      ids.add(id);
      const common = { cell_type: cell.kind, metadata: {}, ...cell.origin, id, source: lines(cell.source) };
      if (cell.kind === "markdown") return common;
      return {
        ...common,
        execution_count: cell.count ?? null,
        outputs: outputs(cell) ? cell.outputs.flatMap((output) => written(output, cell.count)) : [],
      };
    }),
  });
}

function written(output: CellOutput, count: number | undefined): Json[] {
  switch (output.kind) {
    case "stream":
      return [{ output_type: "stream", name: output.text.channel, text: lines(output.text.text) }];
    case "result": {
      const { metadata = {} } = output;
      const data = Object.fromEntries(Object.entries(output.data).map(([mime, value]) => [IN_FILES[mime] ?? mime, value]));
      return [
        output.main
          ? { output_type: "execute_result", data, metadata, execution_count: count ?? null }
          : { output_type: "display_data", data, metadata },
      ];
    }
    case "error":
      return [{ output_type: "error", ename: output.name, evalue: output.value, traceback: output.traceback.split("\n") }];
  }
}

/** Text as nbformat has it: a list of lines with their ends. */
function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/**
 * Reads a notebook.
 * @throws {ExplainedError} when the text is no notebook of this format
 */
export function fromFile(text: string): NotebookContent {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (cause) {
    throw noNotebook("It is not JSON.", cause);
  }
  if (!isObject(file) || !Array.isArray(file.cells)) throw noNotebook("It has no list of cells.");
  if (file.nbformat !== 4) throw noNotebook("It is not in version 4 of the format, which Jupyter has written since 2015.");
  const metadata = isObject(file.metadata) ? file.metadata : {};
  return { cells: file.cells.filter(isObject).map(readCell), language: languageOf(metadata), metadata };
}

function noNotebook(message: string, cause?: unknown): ExplainedError {
  return new ExplainedError("This is no notebook", message, "Choose a .ipynb file, as Jupyter saves it.", { cause });
}

function languageOf(metadata: Json): string {
  const names = [metadata.language_info, metadata.kernelspec].filter(isObject).flatMap(({ name, language }) => [language, name]);
  return names.find((name): name is string => typeof name === "string" && Object.hasOwn(KERNELS, name)) ?? "python";
}

function readCell(json: Json): Cell {
  const source = joined(json.source);
  const code = json.cell_type === "code";
  const cell = new Cell(code ? "code" : "markdown", source, code || source === "");
  cell.origin = { ...cell.origin, ...originOf(json) };
  if (!code) return cell;
  if (typeof json.execution_count === "number") cell.count = json.execution_count;
  for (const output of Array.isArray(json.outputs) ? json.outputs.filter(isObject) : []) readOutput(cell, output);
  return cell;
}

function readOutput(cell: Cell, json: Json): void {
  const type = json.output_type;
  if (type === "stream") cell.print(json.name === "stderr" ? "stderr" : "stdout", joined(json.text));
  else if (type === "error") {
    const traceback = Array.isArray(json.traceback) ? json.traceback.join("\n") : "";
    cell.add({ kind: "error", name: String(json.ename ?? ""), value: String(json.evalue ?? ""), traceback });
  } else if (isObject(json.data)) {
    const metadata = isObject(json.metadata) ? json.metadata : {};
    cell.add({ kind: "result", data: readBundle(json.data), main: type === "execute_result", metadata });
  }
}

/** What goes back as it came: pictures within a text, tags, and that a cell is neither code nor Markdown. */
function originOf({ id, metadata, attachments, cell_type }: Json): Json {
  return {
    ...(typeof id === "string" && /^[\w-]{1,40}$/.test(id) ? { id } : {}),
    ...(isObject(metadata) ? { metadata } : {}),
    ...(isObject(attachments) ? { attachments } : {}),
    ...(cell_type === "raw" ? { cell_type } : {}),
  };
}

function readBundle(data: Json): MimeBundle {
  const values = Object.entries(data).map(([mime, value]) => {
    const structured = mime.endsWith("json") || mime.startsWith("e2b/");
    return [FROM_FILES[mime] ?? mime, structured ? value : joined(value)];
  });
  return Object.fromEntries(values);
}

/** Multi-line text: a string, or a list of lines. */
function joined(text: unknown): string {
  return Array.isArray(text) ? text.join("") : String(text ?? "");
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
