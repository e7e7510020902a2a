// A clock that runs faster: timers fire earlier by that factor, and the time that can be read advances by it.

/** Runs `run` under a clock that is `factor` times as fast. `realDelay` waits for real milliseconds. */
export async function fastClock(factor: number, run: (realDelay: (ms: number) => Promise<void>) => Promise<void>): Promise<void> {
  const real = {
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    now: Date.now,
    performanceNow: performance.now.bind(performance),
  };
  const [date, since] = [real.now(), real.performanceNow()];
  for (const name of ["setTimeout", "setInterval"] as const) {
    const timer = real[name] as (...args: unknown[]) => unknown;
    globalThis[name] = ((handler: unknown, ms = 0, ...rest: unknown[]) => timer(handler, ms / factor, ...rest)) as never;
  }
  Date.now = () => date + (real.now() - date) * factor;
  performance.now = () => since + (real.performanceNow() - since) * factor;
  try {
    await run((ms) => new Promise((passed) => real.setTimeout.call(globalThis, passed, ms)));
  } finally {
    globalThis.setTimeout = real.setTimeout;
    globalThis.setInterval = real.setInterval;
    Date.now = real.now;
    // Uncovers the prototype's own.
    delete (performance as { now?: unknown }).now;
  }
}
