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
