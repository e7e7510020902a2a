// What kind of runtime this is, and what only some of them have.

const agent = globalThis.navigator?.userAgent ?? "";
const edge = agent === "Cloudflare-Workers" || "EdgeRuntime" in globalThis;
const isDeno = typeof globalThis.Deno?.version?.deno === "string";
const isServer =
  !edge && (isDeno || typeof globalThis.process?.versions?.node === "string") && !("document" in globalThis && !isDeno);
const isBrowser = !edge && !isServer;

/** 0: a page or a worker of one; 1: Node, Bun, Deno; 2: an edge worker. */
export function runtimeKind() {
  return isBrowser ? 0 : isServer ? 1 : 2;
}

/** Whether this page came over plain HTTP, where a browser opens six connections a host and no more. */
export function isHttpPage() {
  return isBrowser && globalThis.location?.protocol === "http:";
}

/** Lets a promise go: a rejection that nobody handles would be reported. */
export function ignore(promise) {
  promise.catch(() => {});
}

/** An environment variable, in the runtimes whose environment belongs to the person who runs the program. */
export function environment(name) {
  if (!isServer) return undefined;
  try {
    return (globalThis.process?.env ? globalThis.process.env[name] : globalThis.Deno.env.get(name)) || undefined;
  } catch {
    // Deno without --allow-env.
    return undefined;
  }
}

/** Hands a line to the caller's logger, whose own failures are not ours. */
export function log(logger, failed, method, path, status, durationMs) {
  try {
    logger[failed ? "warn" : "debug"]?.(`${method} ${path}`, { method, path, status, durationMs: Math.round(durationMs) });
  } catch {}
}

/** Milliseconds of a Retry-After header, in either of its forms. */
export function retryAfterMs(value) {
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms));
}
