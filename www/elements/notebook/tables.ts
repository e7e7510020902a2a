/** Data frames and charts as plain rows. */

import { parseInert } from "../trusted-html.js";
import type { MimeBundle } from "./outputs.js";

/** A table of values. */
export interface Table {
  /** What it shows; empty when nothing is known. */
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Whether the first column names the rows. */
  readonly indexed: boolean;
}

/** The table of a data frame, or of what the HTML of one holds. `undefined` when the result is none. */
export function frameTable(bundle: MimeBundle): Table | undefined {
  const html = bundle["text/html"];
  const written = typeof html === "string" ? writtenTable(html) : undefined;
  const data = bundle["e2b/data"];
  if (!isObject(data)) return written;
  const columns = Object.keys(data);
  const values = Object.values(data).map((column) => (Array.isArray(column) ? column : []));
  const length = Math.max(0, ...values.map((column) => column.length));
  const rows = Array.from({ length }, (_, at) => values.map((column) => column[at]));
  // The values come without the names of the rows; the HTML has both, but of a long frame only its two ends.
  const named = written?.indexed && written.rows.length === length && written.columns.length === columns.length + 1;
  if (!named) return { caption: "", columns, rows, indexed: false };
  return {
    caption: "",
    columns: [written.columns[0] ?? "", ...columns],
    rows: rows.map((row, at) => [written.rows[at]?.[0], ...row]),
    indexed: true,
  };
}

/** The one simple table of a pandas' HTML. Only its text is read. */
function writtenTable(html: string): Table | undefined {
  if (!html.includes("dataframe")) return undefined;
  const tables = parseInert(html).querySelectorAll("table");
  const table = tables.length === 1 && tables[0]?.classList.contains("dataframe") ? tables[0] : undefined;
  const [head, ...more] = table ? [...table.querySelectorAll("thead tr")] : [];
  if (!table || !head || more.length > 0 || table.querySelector("[colspan]:not([colspan='1']), [rowspan]:not([rowspan='1'])"))
    return undefined;
  const text = (cell: Element) => cell.textContent.trim();
  const body = [...table.querySelectorAll("tbody tr")];
  return {
    caption: "",
    columns: [...head.children].map(text),
    rows: body.map((row) => [...row.children].map(text)),
    indexed: body.every((row) => row.firstElementChild?.localName === "th"),
  };
}

/** What a chart shows, as tables: one for each chart of a figure. */
export function chartTables(chart: unknown): Table[] {
  if (!isObject(chart) || !Array.isArray(chart.elements)) return [];
  const elements = chart.elements.filter(isObject);
  if (chart.type === "superchart") return elements.flatMap(chartTables);
  const caption = typeof chart.title === "string" ? chart.title : "";
  const label = (name: string, otherwise: string) =>
    typeof chart[name] === "string" && chart[name] !== "" ? String(chart[name]) : otherwise;
  if (chart.type === "line" || chart.type === "scatter") {
    const columns = ["series", label("xLabel", "x"), label("yLabel", "y")];
    const rows = elements.flatMap(({ label, points }) =>
      Array.isArray(points) ? points.map((point: unknown[]) => [label, point[0], point[1]]) : [],
    );
    return rows.length > 0 ? [{ caption, columns, rows, indexed: false }] : [];
  }
  const columns = [...new Set(elements.flatMap((element) => Object.keys(element)))];
  return columns.length > 0
    ? [{ caption, columns, rows: elements.map((element) => columns.map((column) => element[column])), indexed: false }]
    : [];
}

/** Whether what a column holds are numbers, or nothing. */
export function isNumeric(values: readonly unknown[]): boolean {
  const there = values.filter((value) => value !== null && value !== undefined && value !== "");
  return there.every((value) => typeof value === "number" || (typeof value === "string" && !Number.isNaN(Number(value))));
}

/** Orders two values of a column: numbers by size, everything else as text, what is missing last. */
export function compare(a: unknown, b: unknown): number {
  const missing = (value: unknown) => value === null || value === undefined || value === "";
  if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
  const [x, y] = [Number(a), Number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return String(a).localeCompare(String(b));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
