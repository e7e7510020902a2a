import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Does something again and again while its element can be seen: not in hidden tabs, and never twice at a time. */
export class Poller implements ReactiveController {
  /** Why it failed the last time. */
  error: unknown;
  /** Whether it has succeeded at least once since it was reset. */
  known = false;
  private seen = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private attempt: AbortController | undefined;
  private readonly sight = new IntersectionObserver((entries) => {
    this.seen = entries.at(-1)?.isIntersecting ?? false;
    if (this.seen) this.now();
    else this.rest();
  });
  private readonly shown = () => {
    if (document.visibilityState === "visible") this.now();
  };

  /**
   * @param work is done each time; it may throw
   * @param intervalMs from one end to the next beginning, in ms
   * @param wanted whether there is anything to do; asked before each time, and again after each update of the element
   */
  constructor(
    private readonly host: ReactiveControllerHost & HTMLElement,
    private readonly work: (signal: AbortSignal) => Promise<void>,
    private readonly intervalMs: number,
    private readonly wanted: () => boolean,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    this.sight.observe(this.host);
    document.addEventListener("visibilitychange", this.shown);
  }

  hostDisconnected(): void {
    this.sight.disconnect();
    this.seen = false;
    document.removeEventListener("visibilitychange", this.shown);
    this.rest();
  }

  hostUpdated(): void {
    if (this.timer === undefined && !this.attempt) this.now();
  }

  /** Forgets what was, as for another sandbox. */
  reset(): void {
    this.rest();
    this.error = undefined;
    this.known = false;
  }

  /** Does it at once, unless it is under way. */
  now(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.attempt || !this.seen || document.visibilityState !== "visible" || !this.wanted()) return;
    const attempt = new AbortController();
    this.attempt = attempt;
    void this.once(attempt);
  }

  private async once(attempt: AbortController): Promise<void> {
    try {
      await this.work(attempt.signal);
      if (attempt.signal.aborted) return;
      this.error = undefined;
      this.known = true;
    } catch (error) {
      if (attempt.signal.aborted) return;
      this.error = error;
    }
    this.attempt = undefined;
    this.timer = setTimeout(() => this.now(), this.intervalMs);
    this.host.requestUpdate();
  }

  private rest(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.attempt?.abort();
    this.attempt = undefined;
  }
}
