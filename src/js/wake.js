// Waking up: streams of a computer that slept, or that was away from the network, are dead and do not say so.
import { makeError } from "./errors.js";
import { Guard } from "./guard.js";
import { runtimeKind } from "./runtime.js";

/** How often the clock is looked at, and how late a look must come for the computer to have slept meanwhile, in ms. */
const LOOK_EVERY = 30_000;
const SLEPT = 90_000;

/** Who wants to hear of it. The first one in sets up what listens, the last one out takes it down. */
const sleepers = new Set();
let ticker;
let looked;

function wake() {
  for (const one of [...sleepers]) one.wake();
}

function look() {
  const late = Date.now() - looked - LOOK_EVERY;
  looked += late + LOOK_EVERY;
  if (late >= SLEPT) wake();
}

/** What ends something that attaches again after a loss, and meanwhile tells it when to attach at once. */
export class Wakeable extends Guard {
  #held;
  #woken = false;
  #rise;

  constructor() {
    super();
    // An edge worker is there for a request, which no sleep outlasts, and has no timers without one.
    if (runtimeKind() === 2) return;
    sleepers.add(this);
    if (ticker !== undefined) return;
    looked = Date.now();
    ticker = setInterval(look, LOOK_EVERY);
    ticker.unref?.();
    globalThis.addEventListener?.("online", wake);
  }

  /** Is attached again: this is the guard of the stream. */
  hold(guard) {
    this.#held = guard;
    this.#woken = false;
  }

  wake() {
    this.#woken = true;
    this.#held?.fire(makeError("SandboxConnectionError", "The computer slept, or was away from the network.", "", {}));
    this.#rise?.();
  }

  /** Waits, no longer than until the computer wakes; gives whether it did. */
  async sleep(ms) {
    await super.sleep(this.#woken ? 0 : ms, (rise) => {
      this.#rise = rise;
    });
    const woken = this.#woken;
    this.#woken = false;
    return woken;
  }

  release() {
    super.release();
    sleepers.delete(this);
    if (sleepers.size > 0 || ticker === undefined) return;
    clearInterval(ticker);
    ticker = undefined;
    globalThis.removeEventListener?.("online", wake);
  }
}
