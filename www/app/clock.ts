import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Updates an element every second, for ages and remaining times. */
export class Clock implements ReactiveController {
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly host: ReactiveControllerHost) {
    host.addController(this);
  }

  hostConnected(): void {
    this.timer = setInterval(() => this.host.requestUpdate(), 1000);
  }

  hostDisconnected(): void {
    clearInterval(this.timer);
  }
}
