// Answers under the names of this package. What the wire leaves out because it is a default is filled in.

const FILE_TYPES = { FILE_TYPE_FILE: "file", FILE_TYPE_DIRECTORY: "directory", 1: "file", 2: "directory" };

/** A property as Rust reads it. */
export function option(of, name) {
  return (of !== null && typeof of === "object" ? of[name] : undefined) ?? undefined;
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
    size = 0,
    mode = 0,
    permissions = "",
    owner = "",
    group = "",
    modifiedTime,
    symlinkTarget,
    metadata,
  } = wire ?? {};
  const known = FILE_TYPES[type] ?? (symlinkTarget === undefined ? "other" : "symlink");
  const entry = { name, path, type: known, size: Number(size), mode, permissions, owner, group };
  const modified = modifiedTime instanceof Date ? modifiedTime : date(modifiedTime);
  if (modified) entry.modifiedTime = modified;
  if (symlinkTarget !== undefined) entry.symlinkTarget = symlinkTarget;
  if (metadata && Object.keys(metadata).length > 0) entry.metadata = metadata;
  return entry;
}

export function entryInfos(wire) {
  return Array.isArray(wire) ? wire.map(entryInfo) : [];
}

/** What `/files` says of a write. */
export function writeInfo(wire, path) {
  const made = (Array.isArray(wire) ? wire[0] : wire) ?? {};
  const where = made.path ?? path;
  return {
    name: made.name ?? where.slice(where.lastIndexOf("/") + 1),
    path: where,
    type: made.type === "directory" ? "directory" : "file",
  };
}

/** `ProcessInfo` of `process.Process`. */
export function processInfos(wire) {
  if (!Array.isArray(wire)) return [];
  return wire.map(({ pid = 0, tag, config: { cmd = "", args = [], envs = {}, cwd } = {} }) =>
    present({ pid, command: [cmd, ...args].join(" "), cmd, args, envs, cwd, tag }),
  );
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
    cpuCount: wire.cpuCount,
    memoryMB: wire.memoryMB,
    diskSizeMB: wire.diskSizeMB,
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
  return { snapshotId: wire.snapshotID, names: Array.isArray(wire.names) ? wire.names : [] };
}

/** A page of snapshots. */
export function snapshotInfos(wire) {
  return Array.isArray(wire) ? wire.filter((one) => typeof one?.snapshotID === "string").map(snapshotInfo) : [];
}

/** Measurements of a sandbox. */
export function metrics(wire) {
  if (!Array.isArray(wire)) return [];
  return wire.map(({ timestamp, timestampUnix, ...values }) => ({
    ...values,
    timestamp: typeof timestampUnix === "number" ? new Date(timestampUnix * 1000) : date(timestamp),
  }));
}

/** What a sandbox's own log says. */
export function logEntries(wire) {
  if (!Array.isArray(wire?.logs)) return [];
  return wire.logs.map(({ timestamp, level = "info", message = "", fields }) => ({
    timestamp: date(timestamp),
    level,
    message,
    fields: labels(fields),
  }));
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
    return { message, code, fromGateway: body && "sandboxId" in body ? ("port" in body ? "port" : "sandbox") : undefined };
  } catch {
    return {};
  }
}

/** Names that other SDKs have for options of this one. */
const MISSPELT = { timeout: "timeoutMs", requestTimeout: "requestTimeoutMs", env: "envs", environment: "envs" };

/** What to say of the first key that is known here under another name; undefined when there is none. */
export function misspelt(options) {
  for (const key in options) {
    const camel = key.replace(/(?<=[a-z])_([a-z])/g, (_, letter) => letter.toUpperCase());
    const name = Object.hasOwn(MISSPELT, camel) ? MISSPELT[camel] : camel;
    if (name !== key && options[key] !== undefined) return `There is no option ${key} here: it is called ${name}.`;
  }
  return undefined;
}
