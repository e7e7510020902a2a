// What a client's groups of methods share: the way to the server, what it said it offers, and what is open.
import { makeError } from "../../js/errors.js";
import { makeStream } from "../../js/stream.js";

let load = async () => {};
let Core;

/** Says how the module is loaded, and gives its class for requests, which can be made only then. */
export function bindServer(loader, ServerCore) {
  load = loader;
  Core = ServerCore;
}

export class Link {
  capabilities;
  #make;
  #core;
  #open = new Set();
  #attached = new Set();

  /** `make` gives the core for a class of cores. */
  constructor(make) {
    this.#make = make;
  }

  async core() {
    await load();
    this.#core ??= this.#make(Core);
    return this.#core;
  }

  /** Calls an endpoint, unless the server has said that it would refuse. */
  async call(id, args) {
    this.capabilities?.require(id);
    return (await this.core()).call(id, args);
  }

  async attach(sessionId, options) {
    this.capabilities?.require("pty_connect");
    const connection = await (await this.core()).attach(sessionId, options);
    const release = this.track(() => connection.close());
    this.#attached.add(connection);
    connection.closed.then(() => {
      release();
      this.#attached.delete(connection);
    });
    return connection;
  }

  /** Lets go of a terminal wherever this client is attached to it. */
  async detach(sessionId) {
    const attached = [...this.#attached].filter((connection) => connection.sessionId === sessionId);
    await Promise.all(attached.map((connection) => connection.close()));
  }

  /** A stream of an endpoint's events, which opens with the first step. */
  events(id, args) {
    let stream;
    return this.stream({
      next: async () => {
        if (stream === undefined) {
          this.capabilities?.require(id);
          stream = (await this.core()).events(id, args);
        }
        return (await stream[Symbol.asyncIterator]().next()).value;
      },
      cancel: () => void stream?.cancel(),
    });
  }

  /** A stream whose items `next` gives, undefined at the end. It is cancelled when the client is closed. */
  stream({ next, cancel }) {
    let release;
    let cancelled = false;
    const stop = () => {
      cancelled = true;
      release?.();
      cancel();
    };
    const step = async () => {
      if (cancelled) return undefined;
      release ??= this.track(stop);
      try {
        const item = await next();
        if (item === undefined) release();
        if (!cancelled) return item;
        // The source was opened while it was being cancelled.
        cancel();
        return undefined;
      } catch (error) {
        release();
        if (cancelled) return undefined;
        throw error;
      }
    };
    return makeStream({ take: () => undefined, next: step, cancel: stop, leave: stop });
  }

  /** Keeps what must be closed with the client; gives the function that forgets it. */
  track(close) {
    this.#open.add(close);
    return () => this.#open.delete(close);
  }

  /** Ends what is open, and resolves when terminals know. */
  async closeAll() {
    await Promise.all([...this.#open].map((close) => close()));
  }
}

/** A link of a group of methods. */
export let linkOf;

/** A group of methods. */
export class Group {
  #link;

  constructor(link) {
    if (!(link instanceof Link))
      throw makeError("InvalidArgumentError", "This belongs to a ServerClient and is not made by itself.", "", {});
    this.#link = link;
  }

  static {
    linkOf = (group) => group.#link;
  }
}

/** Fields and options of a call in one object: `options` under what the arguments say. */
export function fields(options, named) {
  if (options !== undefined && options !== null && typeof options !== "object") {
    throw makeError("InvalidArgumentError", `options must be an object, not ${typeof options}.`, "", {});
  }
  return { ...options, ...named };
}

/** Every endpoint's id with the methods that use it. */
export const ENDPOINT_METHODS = {};

/**
 * Gives a class its methods. A row holds the endpoint, the names of the arguments in front of the options, and what becomes of the answer.
 * Where the class has the method itself, the row is the endpoint alone.
 */
export function define(Class, group, rows) {
  for (const [name, row] of Object.entries(rows)) {
    const [id, names, shape] = typeof row === "string" ? [row] : row;
    ENDPOINT_METHODS[id] ??= [];
    ENDPOINT_METHODS[id].push(group + name);
    if (!shape) continue;
    const value = async function (...args) {
      const named = Object.fromEntries(names.map((field, at) => [field, args[at]]));
      return shape(await linkOf(this).call(id, fields(args[names.length], named)));
    };
    Object.defineProperty(Class.prototype, name, { value, writable: true, configurable: true });
  }
}

/** Waits, unless the signal aborts first. */
export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    function done() {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }
    function aborted() {
      clearTimeout(timer);
      reject(signal.reason);
    }
    if (signal?.aborted) return aborted();
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

/** A signal that aborts with another one, or by itself. */
export function linked(signal) {
  const controller = new AbortController();
  const follow = () => controller.abort(signal.reason);
  if (signal?.aborted) follow();
  else signal?.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    release: () => signal?.removeEventListener("abort", follow),
  };
}
