import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Tells an element whether it is shown dark, and asks it to update when that changes. */
export class Appearance implements ReactiveController {
  private readonly media = matchMedia("(prefers-color-scheme: dark)");
  private readonly root = new MutationObserver(() => this.host.requestUpdate());
  private readonly update = () => this.host.requestUpdate();

  constructor(private readonly host: ReactiveControllerHost & Element) {
    host.addController(this);
  }

  /** Whether the host is shown dark, by the `color-scheme` it inherits. */
  get dark(): boolean {
    const scheme = getComputedStyle(this.host).colorScheme;
    const light = scheme.includes("light");
    return scheme.includes("dark") && (!light || this.media.matches);
  }

  hostConnected(): void {
    this.media.addEventListener("change", this.update);
    this.root.observe(document.documentElement, { attributes: true });
  }

  hostDisconnected(): void {
    this.media.removeEventListener("change", this.update);
    this.root.disconnect();
  }
}
