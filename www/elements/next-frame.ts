/**
 * The next frame after `rest` ms, or a moment later in a tab that is not drawn: there frames never come, but what comes from a sandbox
 * must still be read.
 */
export async function nextFrame(rest: number): Promise<void> {
  if (rest > 5) await new Promise((resolve) => setTimeout(resolve, rest));
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 250);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

// Characters read ahead of the drawing.
const UNDRAWN_LIMIT = 512 * 1024;

/** Draws what comes once a frame, and tells who brings it to wait when drawing falls behind. */
export class DrawPacer {
  private undrawn = 0;
  private rest = 0;
  private frame: Promise<void> | undefined;

  constructor(private readonly draw: () => void) {}

  /** Notes that `length` characters have come. Gives what to wait for when too many are not drawn yet. */
  wrote(length: number): Promise<void> | undefined {
    this.undrawn += length;
    this.frame ??= nextFrame(this.rest).then(() => {
      const begun = performance.now();
      this.frame = undefined;
      this.undrawn = 0;
      this.draw();
      // Drawing takes at most a third of the time, so that clicks and keys come through.
      this.rest = 2 * (performance.now() - begun);
    });
    return this.undrawn > UNDRAWN_LIMIT ? this.frame : undefined;
  }
}
