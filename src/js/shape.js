// Answers under the names of this package. What the wire leaves out because it is a default is filled in.
import { makeError } from "./errors.js";

const FILE_TYPES = { FILE_TYPE_FILE: "file", FILE_TYPE_DIRECTORY: "directory", 1: "file", 2: "directory" };

/** What the caller's object gives; what a getter of it throws is the cause of an error that names what was read. */
export function readable(name, read) {
  try {
    return read();
  } catch (cause) {
    throw makeError("InvalidArgumentError", `${name} cannot be read.`, "", { cause });
  }
}

/** A property as Rust reads it. */
export function option(of, name) {
  return readable(name, () => (of !== null && typeof of === "object" ? of[name] : undefined)) ?? undefined;
}

/** A property of an answer, if it is of this type. */
function typed(of, name, type) {
  const value = option(of, name);
  return typeof value === type ? value : undefined;
}

/** A property that is text. */
export const textIn = (of, name) => typed(of, name, "string");

/** A property that is a number. */
export const numberIn = (of, name) => typed(of, name, "number");

/** Names and values, one after the other, of an object that must hold texts. */
export function texts(of, name) {
  const pairs = readable("An object that was given", () => Object.entries(of));
  for (const [key, value] of pairs) {
    if (typeof value === "string") continue;
    throw makeError("InvalidArgumentError", `${name}.${key} must be a string, not ${kind(value)}.`, "", {});
  }
  return pairs.flat();
}

/** What JSON makes of what the caller gave, made once and here. */
export function sendable(name, value) {
  return readable(name, () => JSON.parse(JSON.stringify(value)));
}

/** What a value is, for people. */
export function kind(value) {
  if (value === null) return "null";
  try {
    if (Array.isArray(value)) return "an array";
    if (typeof value?.pipe === "function") return "a stream of Node's (Readable.toWeb makes a web stream of it)";
    // A view of what is gone has no length, and would be sent as nothing.
    if (ArrayBuffer.isView(value)) new Uint8Array(value.buffer);
  } catch {
    return ArrayBuffer.isView(value) ? "a view of a detached buffer" : "a revoked proxy";
  }
  if (Number.isNaN(value)) return "NaN";
  if (typeof value === "number")
    return value < 0 || value === Number.POSITIVE_INFINITY ? "a negative or infinite number" : "a number";
  return typeof value;
}

/** Whether it is an object and no array. */
export function isRecord(value) {
  const what = kind(value);
  return what === "object" || what.startsWith("a view");
}

/** What a value was made as, in whatever realm: the classes of a frame or of another context are not ours. */
export function madeAs(value) {
  try {
    return Object.prototype.toString.call(value).slice(8, -1);
  } catch {
    return "";
  }
}

export function isUint8Array(value) {
  return ArrayBuffer.isView(value) && madeAs(value) === "Uint8Array";
}

/** Whether it can be called: a class can not, though it is a function. */
export function isCallable(value) {
  return typeof value === "function" && !/^class\b/.test(Function.prototype.toString.call(value));
}

/** The items of an array, in an array of ours; undefined for anything else. */
export function items(value) {
  return readable("An array that was given", () => (Array.isArray(value) ? [...value] : undefined));
}

/** The bytes of a `Uint8Array`; undefined for anything else, and where the memory is gone. */
export function bytesIn(value) {
  try {
    return isUint8Array(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined;
  } catch {
    return undefined;
  }
}

/** The time of a `Date` in ms since 1970; NaN of anything else. */
export function timeOf(value) {
  try {
    return Date.prototype.getTime.call(value);
  } catch {
    return Number.NaN;
  }
}

/** Sets a property. */
export function set(object, name, value) {
  object[name] = value;
}

/** Sets what is set in an object, if it is one, in a plain object too. */
export function layOver(of, under) {
  if (of !== null && typeof of === "object") Object.assign(under, present({ ...of }));
}

/** A date, or undefined where there is none that can be read. */
export function date(text) {
  const value = typeof text === "string" ? new Date(text) : undefined;
  return value && !Number.isNaN(value.getTime()) ? value : undefined;
}

/** Leaves out what is undefined, so that `in` and printing tell the truth. */
export function present(object) {
  for (const key of Object.keys(object)) if (object[key] === undefined) delete object[key];
  return object;
}

/** A count of something, whatever came; large ones come as text. Undefined for what is none. */
function count(value) {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && number >= 0 && number < Number.POSITIVE_INFINITY ? number : undefined;
}

/** What came as text, whatever it is. */
export function plain(value) {
  try {
    return String(value ?? "");
  } catch {
    return "";
  }
}

/** The objects in what came as a list. What reads answers must not throw: Rust has no way on from there. */
function records(wire) {
  return Array.isArray(wire) ? wire.filter((one) => one && typeof one === "object") : [];
}

/** A string map, whatever came. */
function labels(value) {
  return value && typeof value === "object" ? value : {};
}

/** `EntryInfo` of `filesystem.Filesystem`. */
export function entryInfo(wire) {
  const {
    name = "",
    path = "",
    type,
    size,
    mode,
    permissions = "",
    owner = "",
    group = "",
    modifiedTime,
    symlinkTarget,
    metadata,
  } = wire ?? {};
  const known = FILE_TYPES[type] ?? (symlinkTarget === undefined ? "other" : "symlink");
  const entry = { name, path, type: known, size: count(size) ?? 0, mode: count(mode) ?? 0, permissions, owner, group };
  const modified = modifiedTime instanceof Date ? modifiedTime : date(modifiedTime);
  if (modified) entry.modifiedTime = modified;
  if (symlinkTarget !== undefined) entry.symlinkTarget = symlinkTarget;
  if (metadata && Object.keys(metadata).length > 0) entry.metadata = metadata;
  return entry;
}

export function entryInfos(wire) {
  return records(wire).map(entryInfo);
}

/** What `/files` says of a write. */
export function writeInfo(wire, path) {
  const made = (Array.isArray(wire) ? wire[0] : wire) ?? {};
  const where = typeof made.path === "string" ? made.path : path;
  return {
    name: made.name ?? where.slice(where.lastIndexOf("/") + 1),
    path: where,
    type: made.type === "directory" ? "directory" : "file",
  };
}

/** `ProcessInfo` of `process.Process`. */
export function processInfos(wire) {
  return records(wire).map(({ pid = 0, tag, config }) => {
    const { cmd, args, envs = {}, cwd } = config ?? {};
    const [first, ...rest] = [cmd, ...(Array.isArray(args) ? args : [])].map(plain);
    return present({ pid: count(pid) ?? 0, command: [first, ...rest].join(" "), cmd: first, args: rest, envs, cwd, tag });
  });
}

/** What the control plane says of a sandbox; `known` holds what this client knows when the answer is silent. */
export function sandboxInfo(wire, known) {
  const info = present({
    sandboxId: wire.sandboxID ?? known?.sandboxId,
    template: wire.templateID ?? known?.template ?? "",
    alias: wire.alias || undefined,
    status: wire.state ?? wire.status ?? known?.status ?? "running",
    metadata: labels(wire.metadata ?? known?.metadata),
    startedAt: date(wire.startedAt),
    endAt: date(wire.endAt),
    cpuCount: count(wire.cpuCount),
    memoryMB: count(wire.memoryMB),
    diskSizeMB: count(wire.diskSizeMB),
    envdVersion: wire.envdVersion || known?.envdVersion,
    envdUrl: wire.envdUrl || undefined,
    allowInternetAccess: wire.allowInternetAccess ?? undefined,
    network: wire.network ?? undefined,
    lifecycle: wire.lifecycle ?? undefined,
    volumeMounts: wire.volumeMounts ?? undefined,
  });
  // To be read by name, and not by whoever prints or stores the rest.
  if (wire.envdAccessToken) Object.defineProperty(info, "envdAccessToken", { value: wire.envdAccessToken });
  return info;
}

/** A page of sandboxes: platforms answer with a bare array, `{data}` or `{sandboxes}`. */
export function sandboxInfos(wire) {
  const page = Array.isArray(wire) ? wire : (wire?.data ?? wire?.sandboxes);
  return Array.isArray(page) ? page.filter((one) => typeof one?.sandboxID === "string").map((one) => sandboxInfo(one)) : [];
}

export function snapshotInfo(wire) {
  const { snapshotID: snapshotId, names, contents } = wire ?? {};
  return present({
    snapshotId,
    names: Array.isArray(names) ? names : [],
    contents: typeof contents === "string" ? contents : undefined,
  });
}

/** A page of snapshots. */
export function snapshotInfos(wire) {
  return Array.isArray(wire) ? wire.filter((one) => typeof one?.snapshotID === "string").map(snapshotInfo) : [];
}

/** Measurements of a sandbox. */
export function metrics(wire) {
  return records(wire).map(({ timestamp, timestampUnix, ...values }) => ({
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, count(value) ?? 0])),
    timestamp: typeof timestampUnix === "number" ? new Date(timestampUnix * 1000) : date(timestamp),
  }));
}

/** What a sandbox's own log says. */
export function logEntries(wire) {
  return records(wire?.logs).map(({ timestamp, level = "info", message = "", fields }) => ({
    timestamp: date(timestamp),
    level,
    message,
    fields: labels(fields),
  }));
}

/** What a text holds as JSON. The runtime's own error would quote the text, which may hold a token. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError("The answer is no JSON.");
  }
}

/** The message of an error body, in the forms that platforms use; its code when that is a word. */
export function errorBody(text) {
  try {
    const body = JSON.parse(text);
    const error = body?.error;
    const inner = error && typeof error === "object" ? error : body;
    const message = [inner?.message, typeof error === "string" ? error : undefined, body?.message, body?.detail].find(
      (one) => typeof one === "string",
    );
    const code = [inner?.code, body?.code].find((one) => typeof one === "string");
    const gateway = body && "sandboxId" in body && ("port" in body ? "port" : body.state === "paused" ? "paused" : "sandbox");
    return { message, suggestion: body?.suggestion, code, fromGateway: gateway || undefined };
  } catch {
    // A text is for people; JSON that broke off is not, and may hold a token.
    return /^\s*[{[]/.test(text) ? { message: "" } : {};
  }
}
