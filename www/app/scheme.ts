import type { ReactiveController, ReactiveControllerHost } from "lit";

const KEY = "agent-sandbox-console.scheme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** Light or dark: what the system says, or what was chosen by hand until the system changes. A choice outlives the page. */
export class Scheme implements ReactiveController {
  /** Whether the page is dark. */
  dark = (localStorage.getItem(KEY) ?? (system.matches ? "dark" : "light")) === "dark";
  private readonly changed = () => this.set(system.matches);

  constructor(private readonly host: ReactiveControllerHost) {
    host.addController(this);
    this.apply();
  }

  hostConnected(): void {
    system.addEventListener("change", this.changed);
  }

  hostDisconnected(): void {
    system.removeEventListener("change", this.changed);
  }

  /** Changes to the other one. */
  toggle(): void {
    this.set(!this.dark);
  }

  private set(dark: boolean): void {
    this.dark = dark;
    if (dark === system.matches) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, dark ? "dark" : "light");
    this.apply();
    this.host.requestUpdate();
  }

  private apply(): void {
    document.documentElement.style.colorScheme = this.dark === system.matches ? "" : this.dark ? "dark" : "light";
  }
}
