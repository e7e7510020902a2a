import type { ReactiveController, ReactiveControllerHost } from "lit";

/** What a person does to go on elsewhere. */
const ACTS = ["pointerdown", "keydown"] as const;

/**
 * Tells an element whether the person has gone on elsewhere while it was opening something: what takes long to open must not take the keys
 * from what they type into meanwhile.
 */
export class Attention implements ReactiveController {
  private left = false;

  constructor(private readonly host: ReactiveControllerHost & Element) {
    host.addController(this);
  }

  /** Begins to look. */
  begin(): void {
    this.left = false;
  }

  /** Whether the person has done nothing outside of the element since the beginning. */
  get stayed(): boolean {
    return !this.left;
  }

  hostConnected(): void {
    for (const act of ACTS) window.addEventListener(act, this.note, true);
  }

  hostDisconnected(): void {
    for (const act of ACTS) window.removeEventListener(act, this.note, true);
  }

  private readonly note = (event: Event) => {
    if (!event.composedPath().includes(this.host)) this.left = true;
  };
}
