/** What a terminal or a command shows where it goes on after a reload of its page. */
export const RELOADED = gap("The page was loaded anew");

/** What a command shows where it goes on after a pause of its sandbox. */
export const RESUMED = gap("The sandbox was paused");

function gap(why: string): string {
  return `\x1b[33m[${why}: output may be missing]\x1b[0m`;
}
