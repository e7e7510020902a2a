// What ends a wait early: the caller's signal, a timer, a cancel. All of it is JavaScript's own, so it is done here and not in Rust.
import { makeError } from "./errors.js";
import { isHttpPage } from "./runtime.js";

/** The longest time a runtime's timer keeps, in ms; longer ones would fire at once. */
const LONGEST = 2_147_483_647;

/** Who is told of each signal's abort. A signal has one listener of ours however many calls it is given to: runtimes warn of many. */
const followers = new WeakMap();

function follow(signal, guard) {
  let entry = followers.get(signal);
  if (!entry) {
    const guards = new Set();
    const listener = () => {
      for (const one of [...guards]) one.fireBy(signal);
    };
    signal.addEventListener("abort", listener);
    entry = { guards, listener };
    followers.set(signal, entry);
  }
  entry.guards.add(guard);
}

function unfollow(signal, guard) {
  const entry = followers.get(signal);
  if (!entry?.guards.delete(guard) || entry.guards.size > 0) return;
  followers.delete(signal);
  try {
    signal.removeEventListener("abort", entry.listener);
  } catch {
    // Not a real signal: what it keeps is its maker's affair.
  }
}

/** Is fired once, with what a waiting call then gives its caller. */
export class Guard {
  #fired = false;
  #error;
  #then = new Set();
  #links = [];

  get isFired() {
    return this.#fired;
  }

  get error() {
    return this.#error;
  }

  /** Ends the waits that are under way and all later ones. The first call counts. */
  fire(error) {
    if (this.#fired) return;
    this.#fired = true;
    this.#error = error;
    this.release();
    const then = [...this.#then];
    this.#then.clear();
    for (const one of then) one(error);
  }

  /** Calls `callback` with what the guard is fired with; at once when it has been. */
  onFire(callback) {
    if (this.#fired) callback(this.#error);
    else this.#then.add(callback);
  }

  /** The promise's value, unless the guard is fired first. */
  race(promise) {
    return new Promise((resolve, reject) => {
      this.onFire(reject);
      Promise.resolve(promise).then(
        (value) => {
          this.#then.delete(reject);
          resolve(value);
        },
        (error) => {
          this.#then.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** Is fired by a signal, with its reason. One that only looks like a signal may throw, which nobody here would catch. */
  follow(signal) {
    try {
      if (signal.aborted) return this.fireBy(signal);
      follow(signal, this);
      this.#links.push(() => unfollow(signal, this));
    } catch (cause) {
      this.fire(makeError("InvalidArgumentError", "signal does not work as an AbortSignal does.", "", { cause }));
    }
  }

  /** Is fired with a signal's reason. */
  fireBy(signal) {
    let reason;
    try {
      reason = signal.reason;
    } catch (error) {
      reason = error;
    }
    this.fire(reason);
  }

  /** A signal that aborts when this is fired. */
  signal() {
    const controller = new AbortController();
    this.onFire((error) => controller.abort(error));
    return controller.signal;
  }

  /** Is fired by another guard too. */
  followGuard(other) {
    const pass = (error) => this.fire(error);
    other.onFire(pass);
    this.#links.push(() => other.#then.delete(pass));
  }

  /** Is fired after a time, with what `error` then gives, unless what this returns is called before. `keeps` a program running until then. */
  after(ms, error, keeps = true) {
    const timer = this.#fired ? undefined : setTimeout(() => this.fire(error()), Math.min(ms, LONGEST));
    if (!keeps) timer?.unref?.();
    const unlink = () => clearTimeout(timer);
    this.#links.push(unlink);
    return unlink;
  }

  /** Is fired after a time, with an error of that class. What is limited keeps a program running, by its connection, and not the limit. */
  afterWith(ms, className, message, suggestion) {
    this.after(ms, () => (className ? makeError(className, message, suggestion, {}) : undefined), false);
  }

  /** Waits, unless the guard is fired first. `early` is given what ends the wait before its time. */
  async sleep(ms, early) {
    let timer;
    try {
      await this.race(
        new Promise((resolve) => {
          timer = setTimeout(resolve, Math.min(ms, LONGEST));
          early?.(resolve);
        }),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  /** Takes timers and listeners down. */
  release() {
    for (const unlink of this.#links) unlink();
    this.#links = [];
  }
}

/** Calls under way. */
const calls = new Set();

/** Ends every call under way. */
export function endCalls(error) {
  for (const call of [...calls]) call.fire(error);
}

/** A call under way: the caller's signal and the request timeout, for all of its requests together. */
export class Limits extends Guard {
  /** Whether the headers of an answer have come. */
  begun = false;
  /** Says that the answer has begun, and that this is all that the timeout was for. */
  lift = () => {};
  #deadline = Number.POSITIVE_INFINITY;

  constructor(signal, ms) {
    super();
    calls.add(this);
    if (signal) this.follow(signal);
    if (this.isFired) throw this.error;
    if (ms === undefined) return;
    this.#deadline = performance.now() + ms;
    this.lift = this.after(ms, () =>
      makeError(
        "RequestTimeoutError",
        `${this.begun ? "The answer was not complete within" : "No answer within"} ${Math.trunc(ms)} ms (requestTimeoutMs).`,
        this.begun || !isHttpPage()
          ? ""
          : "On http: a browser opens six connections a host, for all tabs together: close streams that are not needed, or serve page and platform over https. Else raise requestTimeoutMs (0 = no limit).",
        {},
      ),
    );
  }

  release() {
    calls.delete(this);
    super.release();
  }

  /** How much time is left, in ms; infinite without a timeout. */
  left() {
    return this.#deadline - performance.now();
  }
}

/** Something that several can wait for, again and again. */
export class Bell {
  #waiting;
  #ring;

  /** Wakes all who wait now. */
  ring() {
    this.#ring?.();
    this.#waiting = this.#ring = undefined;
  }

  /** Waits for the next ring. */
  rung() {
    this.#waiting ??= new Promise((resolve) => {
      this.#ring = resolve;
    });
    return this.#waiting;
  }
}
