// The end of a panic: what cannot go on is said to everybody who waits, and the module goes on for the next call.
import { leadTo, makeError } from "./errors.js";
import { endCalls } from "./guard.js";
import { place } from "./place.js";

/** Promises of calls under way. */
const waiting = new Set();
let last;

/** A promise for Rust to settle. */
export class Deferred {
  constructor(watched) {
    const here = watched ? place() : undefined;
    this.promise = new Promise((resolve, reject) => {
      this.settle = (failed, value) => {
        waiting.delete(this);
        if (failed && here) leadTo(value, here);
        (failed ? reject : resolve)(value);
      };
    });
    if (watched) waiting.add(this);
  }
}

/** Fails every call under way, and whoever called into WebAssembly now. */
export function panicked() {
  last = makeError("PanicError", "The client failed inside: this is a fault of its own.", "", {
    // Its stack leads into the module, where the fault is.
    cause: new Error("panic"),
  });
  for (const deferred of [...waiting]) deferred.settle(true, last);
  endCalls(last);
  throw last;
}

/** The error of the last panic. A callback that ends with it has nobody left to tell. */
export function panic() {
  return last;
}
