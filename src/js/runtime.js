// What kind of runtime this is, and what only some of them have.
import { makeError } from "./errors.js";

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

/** Whether a sandbox URL's host is a name that only browsers resolve by themselves. */
export function isUnresolvable(url) {
  return isServer && /^https?:\/\/[^/]*\.localhost([:/]|$)/i.test(url);
}

/** What to do about a sandbox that gives no answer; `runs` when the control plane says that it runs. Empty when nothing special. */
export function reachSuggestion(url, runs) {
  if (isUnresolvable(url)) {
    return "Names below .localhost resolve in browsers: here, take a sandboxUrl in the path form, http://127.0.0.1:PORT/s/{sandboxId}/{port}.";
  }
  if (!runs) return "";
  return isBrowser
    ? "Check sandboxUrl, the network, and that the platform lets this page's origin in (CORS)."
    : "Check sandboxUrl, and that the network leads there from here.";
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

let makeProxyFetch;

/** Says how to make a `fetch` that goes through a proxy; called by the entry of the one runtime that can. */
export function setProxyFetch(make) {
  makeProxyFetch = make;
}

/** A `fetch` that goes through a proxy. */
export function proxyFetch(proxy) {
  if (makeProxyFetch) return makeProxyFetch(proxy);
  throw makeError(
    "InvalidArgumentError",
    "The option proxy works in Node only.",
    "Leave it out; browsers, Deno, Bun and edge workers have settings of their own, and the option fetch takes any implementation.",
    {},
  );
}

/** Hands a line to the caller's logger, whose own failures are not ours. */
export function log(logger, failed, method, path, status, durationMs) {
  try {
    const details = { method, path, status, durationMs: Math.round(durationMs) };
    Promise.resolve(logger[failed ? "warn" : "debug"]?.(`${method} ${path}`, details)).catch(() => {});
  } catch {}
}

/** Milliseconds of a Retry-After header, in either of its forms. A moment is the server's: `date` says, where it can be read, what its clock is. */
export function retryAfterMs(value, date) {
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - (Date.parse(date) || Date.now()) : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms));
}
