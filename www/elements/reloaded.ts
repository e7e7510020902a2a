/** What a terminal or a command shows where it goes on after a reload of its page. */
export const RELOADED = "\x1b[7m[The page was loaded anew: output may be missing]\x1b[0m";
