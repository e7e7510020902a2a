// How much of everything one owner gets. What is counted here is counted by this instance of the relay alone; only the number of sandboxes
// is the platform's own.
import { Refusal } from "./refusal.js";

/** Owners whose requests are counted at a time; the ones seen longest ago are forgotten first. */
const OWNERS = 10_000;

/** A bucket of requests for each owner, refilled steadily. */
export class Rate {
  readonly #buckets = new Map<string, { left: number; at: number }>();

  /** Takes a request from an owner's bucket. */
  take(owner: string, perMinute: number, now = Date.now()): void {
    const bucket = this.#buckets.get(owner) ?? { left: perMinute, at: now };
    const perMs = perMinute / 60_000;
    bucket.left = Math.min(perMinute, bucket.left + Math.max(0, now - bucket.at) * perMs);
    bucket.at = now;
    this.#buckets.delete(owner);
    this.#buckets.set(owner, bucket);
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= OWNERS) break;
      this.#buckets.delete(oldest);
    }
    if (bucket.left < 1) {
      const seconds = Math.max(1, Math.ceil((1 - bucket.left) / perMs / 1000));
      throw new Refusal(429, "rate_limit", "Too many requests of this user: wait a moment.", { "retry-after": String(seconds) });
    }
    bucket.left -= 1;
  }
}

/** How long a creation waits for the one before it, in ms. A Worker's request that is given up never tells that it has ended. */
const TURN_MS = 30_000;

/** Lets an owner make sandboxes up to a number. One after the other: then those that are there are all that there are. */
export class Quota {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Makes sandboxes, unless they would be too many. `count` tells how many there are. */
  async making<T>(owner: string, more: number, most: number, count: () => Promise<number>, make: () => Promise<T>): Promise<T> {
    const before = this.#last.get(owner);
    const made = (async () => {
      if (before !== undefined) await ended(before);
      if ((await count()) + more > most) {
        // No Retry-After: it is no matter of time.
        throw new Refusal(429, "too_many_sandboxes", `This user may have ${most} sandboxes at a time: end one that is not needed.`);
      }
      return await make();
    })();
    this.#last.set(owner, made);
    try {
      return await made;
    } finally {
      if (this.#last.get(owner) === made) this.#last.delete(owner);
    }
  }
}

/** Resolves when a promise is settled, or when it has been waited for long enough. */
async function ended(promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise((resolve) => {
    timer = setTimeout(resolve, TURN_MS);
  });
  await Promise.race([promise.catch(() => undefined), passed]);
  clearTimeout(timer);
}
