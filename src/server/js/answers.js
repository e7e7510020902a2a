// What the server sends, under the names of this package.
import { plain } from "../../js/shape.js";

/** How deep names are looked at: no answer of a server's is nested like this, and what is must not exhaust the stack. */
const DEEPEST = 100;

/** JSON as Python writes it: NaN and the infinities stand bare. Strings are matched too, so that those words inside them stay. */
const BEYOND_JSON = /"[^"\\]*(?:\\.[^"\\]*)*"|-?Infinity|NaN/gs;

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    let mark;
    do mark = `${Math.random()}:`;
    while (text.includes(mark));
    const marked = text.replace(BEYOND_JSON, (match) => (match[0] === '"' ? match : `"${mark}${match}"`));
    return JSON.parse(marked, (_, value) =>
      typeof value === "string" && value.startsWith(mark) ? Number(value.slice(mark.length)) : value,
    );
  }
}

function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object that a text holds as JSON, with what Python writes beyond JSON; undefined when it holds none. */
export function parseAnswer(text) {
  try {
    const value = parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function camelKey(key) {
  return key.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

/** The same in the names of this package: null is absent, seconds since 1970 are dates, and what begins with an underscore is not for us. */
export function camel(value) {
  return camelAt(value, 0);
}

function camelAt(value, depth) {
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return value.map((one) => camelAt(one, depth + 1));
  if (!isRecord(value)) return value;
  const renamed = {};
  for (const [key, inner] of Object.entries(value)) {
    if (inner === null || key.startsWith("_")) continue;
    renamed[camelKey(key)] = key.endsWith("_at") && typeof inner === "number" ? new Date(inner * 1000) : camelAt(inner, depth + 1);
  }
  return renamed;
}

/** An entry whose times are texts. */
export function withDates(wire) {
  const entry = camel(wire);
  for (const key of ["modified", "accessed", "created"]) {
    if (!(key in entry)) continue;
    const date = new Date(entry[key]);
    if (Number.isNaN(date.getTime())) delete entry[key];
    else entry[key] = date;
  }
  return entry;
}

/** An event as its caller gets it; undefined for one to skip, null when its data is no JSON. */
export function shapeEvent(endpoint, name, data) {
  let wire;
  try {
    wire = parse(data);
  } catch {
    return null;
  }
  if (!isRecord(wire)) wire = { data: wire };
  if (endpoint === "files_watch") return name === "change" ? camel(wire) : undefined;
  if (name === "stdout" || name === "stderr") return { event: name, data: plain(wire.data) };
  if (name === "exit") return { event: name, exitCode: wire.exit_code ?? 0 };
  if (name === "error") return { event: name, error: plain(wire.error) };
  return undefined;
}

/** A message of a terminal as its caller gets it. */
export function ptyMessage(text) {
  const wire = parseAnswer(text);
  if (wire === undefined) return { type: "output", data: text };
  return wire.type === "output" ? { type: "output", data: plain(wire.data) } : camel(wire);
}

/** The iterator of an async iterable. */
export function iterate(stream) {
  return stream[Symbol.asyncIterator]();
}
