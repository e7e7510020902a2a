/** What `<sandbox-editor>` asks before text is lost. */

import { plainName } from "../names.js";
import { confirm, prompt } from "../sandbox-dialog.js";

/** Whether a file that has changed in the sandbox is written over: `""` for yes, `compare` to look first, `undefined` for no. */
export function askToOverwrite(path: string): Promise<string | undefined> {
  return prompt({
    title: "The file has changed in the sandbox",
    text: "It was changed there after it was opened here. Saving replaces that change.",
    detail: plainName(path),
    action: "Replace it",
    danger: true,
    others: [{ value: "compare", label: "Compare" }],
  });
}

/** Whether a file is closed without its changes. */
export function askToClose(path: string): Promise<boolean> {
  return confirm({
    title: "Close without saving?",
    text: "The changes to this file are lost.",
    detail: plainName(path),
    action: "Close",
    danger: true,
  });
}
