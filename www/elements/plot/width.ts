import type { ReactiveController, ReactiveControllerHost } from "lit";

/** How wide an element is, in CSS pixels and whole ones; asks it to update when that changes. */
export class Width implements ReactiveController {
  /** The width; 0 until it was measured, and while the element is hidden. */
  value = 0;
  private readonly sizes = new ResizeObserver(([entry]) => {
    const value = Math.round(entry?.contentRect.width ?? 0);
    if (value === this.value) return;
    this.value = value;
    this.host.requestUpdate();
  });

  constructor(private readonly host: ReactiveControllerHost & Element) {
    host.addController(this);
  }

  hostConnected(): void {
    this.sizes.observe(this.host);
  }

  hostDisconnected(): void {
    this.sizes.disconnect();
  }
}
