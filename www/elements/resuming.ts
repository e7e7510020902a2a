/** What elements have in common when their sandbox is paused. */

import { confirm } from "./sandbox-dialog.js";

/** How something ended that ran until the pause. */
export const CUT_OFF = "cut off by the pause";

/**
 * Asks whether the sandbox may be resumed, since that costs something.
 * @param waiting what is done once it goes on, such as "The cell runs"
 */
export function mayResume(waiting: string): Promise<boolean> {
  return confirm({
    title: "Resume this sandbox?",
    text: `It is paused. ${waiting} as soon as it goes on.`,
    action: "Resume and run",
  });
}
