// Time that passes as a test wants it.

/**
 * Runs `run` under a clock that is `factor` times as fast: timers fire earlier by that factor. The time that can be read is what the last
 * of them was set for, so that what a busy machine adds is in no measurement. `realDelay` waits for real milliseconds.
 */
export async function fastClock(factor: number, run: (realDelay: (ms: number) => Promise<void>) => Promise<void>): Promise<void> {
  const real = {
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    now: Date.now,
  };
  const [date, since] = [real.now(), performance.now()];
  let passed = 0;
  for (const name of ["setTimeout", "setInterval"] as const) {
    const timer = real[name] as (...args: unknown[]) => unknown;
    globalThis[name] = ((handler: (...rest: unknown[]) => void, ms = 0, ...rest: unknown[]) => {
      let due = passed + ms;
      const fire = () => {
        passed = Math.max(passed, due);
        due += ms;
        handler(...rest);
      };
      return timer(fire, ms / factor);
    }) as never;
  }
  Date.now = () => date + passed;
  performance.now = () => since + passed;
  try {
    await run((ms) => new Promise((over) => setTimeout(over, ms * factor)));
  } finally {
    globalThis.setTimeout = real.setTimeout;
    globalThis.setInterval = real.setInterval;
    Date.now = real.now;
    // Uncovers the prototype's own.
    delete (performance as { now?: unknown }).now;
  }
}

/**
 * Runs `run` while timers of exactly so many ms wait for `pass`, which fires those that were not cleared. However slow the machine is, their
 * time is over when the test says so.
 */
export async function heldTimers(ms: number, run: (pass: () => number) => Promise<void>): Promise<void> {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const held = new Map<unknown, () => void>();
  globalThis.setTimeout = ((handler: () => void, after: number, ...rest: unknown[]) => {
    // One of days, for the sake of what it is: an object in Node, a number in a page.
    const timer = set(handler, after === ms ? 1e9 : after, ...rest);
    if (after === ms) held.set(timer, handler);
    return timer;
  }) as never;
  globalThis.clearTimeout = ((timer: never) => {
    held.delete(timer);
    clear(timer);
  }) as never;
  const pass = () => {
    const handlers = [...held.values()];
    for (const handler of handlers) handler();
    return handlers.length;
  };
  try {
    await run(pass);
  } finally {
    for (const timer of held.keys()) clear(timer as never);
    globalThis.setTimeout = set;
    globalThis.clearTimeout = clear;
  }
}
