/** In which forms a result can be shown, the best one first. */

import { type DrawableChart, readCharts } from "./charts.js";
import type { MimeBundle } from "./outputs.js";
import { plotlyHtml } from "./plotly.js";
import { chartTables, frameTable, type Table } from "./tables.js";

/** A form of a result. */
export type Form =
  | { readonly kind: "table"; readonly name: string; readonly tables: readonly Table[] }
  | { readonly kind: "chart"; readonly name: string; readonly charts: readonly DrawableChart[] }
  | { readonly kind: "html" | "formula" | "markdown" | "text" | "source"; readonly name: string; readonly text: string }
  | { readonly kind: "image"; readonly name: string; readonly url: string; readonly paper: boolean }
  | { readonly kind: "json"; readonly name: string; readonly value: unknown }
  | { readonly kind: "file"; readonly name: string; readonly mime: string; readonly data: string };

type Written = Extract<Form, { text: string }>;

const SHORT_LIST = /^[[{(].{0,200}$/;
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

/** All forms of a result. Every MIME type is in one of them, also those that nothing here can show. */
export function formsOf(bundle: MimeBundle): Form[] {
  const forms: Form[] = [];
  const text = (mime: string) => (typeof bundle[mime] === "string" ? (bundle[mime] as string) : undefined);
  const add = (form: Form | undefined) => form && forms.push(form);
  const written = (kind: Written["kind"], name: string, mime: string): Written | undefined => {
    const value = text(mime);
    return value === undefined ? undefined : { kind, name, text: value };
  };
  const table = frameTable(bundle);
  if (table) add({ kind: "table", name: "Table", tables: [table] });
  add(written("html", "HTML", "text/html"));
  const figure = bundle["application/vnd.plotly.v1+json"];
  if (figure !== undefined) add({ kind: "html", name: "Plotly", text: plotlyHtml(figure) });
  add(written("formula", "Formula", "text/latex"));
  const svg = text("image/svg+xml");
  // As an image, an SVG runs nothing and loads nothing.
  if (svg !== undefined) {
    add({
      kind: "image",
      name: "SVG",
      url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg.replace(/[\ud800-\udfff]/gu, "\ufffd"))}`,
      paper: true,
    });
  }
  for (const [name, mime] of Object.entries({ PNG: "image/png", JPEG: "image/jpeg", GIF: "image/gif", WebP: "image/webp" })) {
    const data = text(mime);
    if (data !== undefined && BASE64.test(data))
      add({ kind: "image", name, url: `data:${mime};base64,${data.replace(/\s/g, "")}`, paper: false });
  }
  add(written("markdown", "Markdown", "text/markdown"));
  const plain = written("text", "Text", "text/plain");
  const json =
    "application/json" in bundle ? ({ kind: "json", name: "JSON", value: bundle["application/json"] } as const) : undefined;
  // A short list is best read as it is written.
  const short = plain !== undefined && SHORT_LIST.test(plain.text);
  if (json && !short) add(json);
  add(plain);
  if (json && short) add(json);
  const charts = chartTables(bundle["e2b/chart"]);
  if (charts.length > 0) add({ kind: "table", name: "Data", tables: charts });
  const drawable = readCharts(bundle["e2b/chart"]);
  if (drawable.length > 0) add({ kind: "chart", name: "Chart", charts: drawable });
  add(written("source", "JavaScript", "application/javascript"));
  return [...forms, ...others(bundle)];
}

/** MIME types that are shown by none of the forms above. */
const SHOWN =
  /^(text\/(plain|html|latex|markdown)|image\/(svg\+xml|png|jpeg|gif|webp)|application\/(json|javascript|vnd\.plotly\.v1\+json)|e2b\/(data|chart))$/;

function others(bundle: MimeBundle): Form[] {
  const broken = (mime: string, value: unknown) =>
    /^image\/(?!svg)/.test(mime) && !(typeof value === "string" && BASE64.test(value));
  const unknown = Object.entries(bundle).filter(([mime, value]) => !SHOWN.test(mime) || broken(mime, value));
  return unknown.map(([mime, value]) => ({
    kind: "file",
    name: mime === "application/pdf" ? "PDF" : mime,
    mime,
    data: typeof value === "string" ? value : JSON.stringify(value),
  }));
}

/** The bytes of a form that is no text: decoded when it is base64, else as it is. */
export function bytesOf(mime: string, data: string): Uint8Array<ArrayBuffer> {
  if (!mime.startsWith("text/") && !mime.endsWith("json") && BASE64.test(data)) {
    try {
      return Uint8Array.from(atob(data.replace(/\s/g, "")), (character) => character.charCodeAt(0));
    } catch {
      // It only looked like base64.
    }
  }
  return new TextEncoder().encode(data);
}
