/** How long a run is: what `cargo xtask soak` was told. */

/** A whole number from the environment. */
function whole(name: string, usual: number): number {
  const value = Number(process.env[name] ?? usual);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number above 0`);
  return value;
}

/** Sandboxes that are made, used and ended, if time allows. */
export const TURNS = whole("SOAK_TURNS", 10_000);

/** MiB that go up and down. */
export const MEBIBYTES = whole("SOAK_MEBIBYTES", 1_024);

/** After how many minutes no further turn begins. */
export const MINUTES = whole("SOAK_MINUTES", 24 * 60);

/** Frames of output that the console shows. */
export const FRAMES = whole("SOAK_FRAMES", 50_000);

/** Turns of the console's tabs. */
export const TAB_TURNS = whole("SOAK_TAB_TURNS", 500);
