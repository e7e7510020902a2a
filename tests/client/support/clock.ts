// A clock that runs faster: timers fire earlier by that factor, and the time that can be read advances by it.

/** Runs `run` under a clock that is `factor` times as fast. `realDelay` waits for real milliseconds. */
export async function fastClock(factor: number, run: (realDelay: (ms: number) => Promise<void>) => Promise<void>): Promise<void> {
  const real = { setTimeout: globalThis.setTimeout, now: Date.now, performanceNow: performance.now.bind(performance) };
  const [date, since] = [real.now(), real.performanceNow()];
  globalThis.setTimeout = ((handler: TimerHandler, ms = 0, ...rest: unknown[]) =>
    (real.setTimeout as (...args: unknown[]) => unknown)(handler, ms / factor, ...rest)) as typeof setTimeout;
  Date.now = () => date + (real.now() - date) * factor;
  performance.now = () => since + (real.performanceNow() - since) * factor;
  try {
    await run((ms) => new Promise((passed) => real.setTimeout.call(globalThis, passed, ms)));
  } finally {
    globalThis.setTimeout = real.setTimeout;
    Date.now = real.now;
    // Uncovers the prototype's own.
    delete (performance as { now?: unknown }).now;
  }
}
