// One attempt at a request, and the bodies of answers. What an answer means, and whether to try again, is Rust's to say.
import { makeError } from "./errors.js";
import { REFUSAL } from "./relay.js";
import { log, retryAfterMs } from "./runtime.js";
import { errorBody, parsed } from "./shape.js";

/** What is wanted of a good answer, by its number in Rust: the method of `Response` that reads it. The last one is the answer itself. */
const READS = ["text", "arrayBuffer", "blob"];

/** Flags of a request: the HTTP cache must stay out of it; it goes to a SandboxServer, whose redirects are not followed. */
const FRESH = 1;
const SERVER = 2;

/** A request that has an answer, and is aborted when it is let go before its end. */
class Exchange {
  #controller;

  constructor(controller, fields) {
    this.#controller = controller;
    Object.assign(this, fields);
  }

  /** Says that the body was read to its end. */
  finish() {
    this.#controller = undefined;
  }

  close() {
    this.#controller?.abort();
    this.finish();
  }

  /** The JSON of a text body; undefined when it is empty. */
  json() {
    return answered(this.body);
  }

  header(name) {
    return this.response.headers.get(name) ?? undefined;
  }

  /** The body's chunks; undefined for an answer without a body. */
  chunks(guard) {
    return this.response.body ? new Chunks(this.response.body, guard) : undefined;
  }
}

/** An object of names and values that stand one after the other. */
function paired(texts) {
  const object = {};
  for (let at = 1; at < texts.length; at += 2) object[texts[at - 1]] = texts[at];
  return object;
}

/** Headers as Rust writes them: there is a NUL behind each name and each value. */
export const headersOf = (text) => paired(text.split("\0"));

/** Headers as Rust takes them. */
export const headerText = (headers) =>
  Object.entries(headers)
    .flat()
    .map((text) => `${text}\0`)
    .join("");

/**
 * Sends a request: `head` holds its method, its path, what stands before and behind the path in its URL, and its headers. Throws nothing
 * but what `limits` was fired with; a request without an answer has a `cause`, and `begun` says whether there was the beginning of one.
 */
export async function attempt(fetch, limits, want, head, body, flags, logger) {
  const [method, path, base, query, ...pairs] = head.split("\0");
  const url = base + path + query;
  const headers = paired(pairs);
  const controller = new AbortController();
  const init = { method, headers, signal: controller.signal };
  const sends = typeof body === "function";
  if (body !== undefined && !sends) init.body = body;
  if (body instanceof ReadableStream) init.duplex = "half";
  if (flags & FRESH) init.cache = "no-store";
  if (flags & SERVER) init.redirect = "manual";
  const started = performance.now();
  const logged = (status) => {
    if (logger) log(logger, status < 200 || status >= 400, method, path, status, performance.now() - started);
  };
  let response;
  try {
    response = await limits.race(sends ? body(url, init) : fetch ? fetch(url, init) : globalThis.fetch(url, init));
  } catch (cause) {
    logged(0);
    return failed(cause, false);
  }
  limits.begun = true;
  if (typeof response?.status !== "number") {
    controller.abort();
    throw makeError("InvalidArgumentError", "fetch must give a Response, and gave something else.", "", {});
  }
  const { status, ok } = response;
  logged(status);
  const exchange = new Exchange(controller, { response, status, ok: Boolean(ok) });
  try {
    if (ok) {
      const read = READS[want];
      if (read === undefined) return exchange;
      exchange.body = await limits.race(response[read]());
    } else {
      const after = exchange.header("retry-after");
      exchange.retryAfter = after === undefined ? undefined : retryAfterMs(after, exchange.header("date"));
      let text = "";
      try {
        text = await limits.race(response.text());
      } catch (cause) {
        // A body that breaks off leaves the status, which says most of it.
        if (limits.isFired) throw cause;
      }
      const { message = text, suggestion, code, fromGateway } = errorBody(text);
      Object.assign(exchange, { message, code, fromGateway, body: flags & SERVER ? text : undefined });
      // A relay knows better than the table of platforms' answers, which speaks of keys.
      if (response.headers.has(REFUSAL)) exchange.suggestion = suggestion;
    }
    exchange.finish();
    return exchange;
  } catch (cause) {
    return failed(cause, true);
  }

  function failed(error, begun) {
    controller.abort();
    if (limits.isFired) throw limits.error;
    // Node wraps the system's own error, which says more.
    const cause = typeof error?.cause?.code === "string" ? error.cause : error;
    return { cause, begun, said: begun ? "" : `There was no answer from ${originOf(url)}${codeOf(cause)}.` };
  }
}

/** The JSON of a body; undefined when it is empty. A page in its place comes from somewhere else, and is not quoted. */
function answered(text) {
  const given = text.trim();
  if (given[0] === "<") {
    throw makeError(
      "SandboxConnectionError",
      "A web page came in place of an answer.",
      "Check that apiUrl and sandboxUrl lead to the platform and not to a website, and that no proxy or sign-in page stands between.",
      {},
    );
  }
  return given === "" ? undefined : parsed(given);
}

/** Where a URL leads: what stands behind the host may hold a token. */
function originOf(url) {
  try {
    return new URL(url).origin;
  } catch {
    return "there";
  }
}

/** What the system calls a failure, where it has a name. */
function codeOf(error) {
  return typeof error?.code === "string" ? ` (${error.code})` : "";
}

/** The chunks of a body. */
export class Chunks {
  #reader;
  #guard;
  #waiting = false;
  #looks = 0;
  #ticker;

  constructor(body, guard) {
    this.#reader = body.getReader();
    this.#guard = guard;
  }

  /** The next chunk; undefined at the end. */
  async next() {
    this.#looks = 0;
    this.#waiting = true;
    try {
      const { done, value } = await this.#guard.race(this.#reader.read());
      if (done) this.release();
      return value;
    } finally {
      this.#waiting = false;
    }
  }

  /**
   * Fires the guard when nothing came during a wait for several looks in a row. Looks are counted and the clock is not read, so that a
   * computer that slept does not find its streams dead on waking.
   */
  watchSilence(every, looks, className, message) {
    this.#ticker = setInterval(() => {
      if (!this.#waiting || ++this.#looks < looks) return;
      this.#guard.afterWith(0, className, message, "");
      this.release();
    }, every);
    // What is waited for keeps a program running, and not that it is looked at.
    this.#ticker.unref?.();
  }

  /** Stops watching. */
  release() {
    clearInterval(this.#ticker);
  }

  /** Reads what is left, which gives the connection back. */
  drain() {
    this.release();
    this.#reader.read().catch(() => {});
  }

  /** Wants no more. */
  cancel() {
    this.release();
    this.#reader.cancel().catch(() => {});
  }
}
