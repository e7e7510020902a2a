import type { Sandbox } from "agent-sandbox-web";
import { describeError } from "../describe-error.js";
import { plainName } from "../names.js";
import { confirm, prompt } from "../sandbox-dialog.js";
import { looseShells } from "./shells.js";

/** Lets the person choose a shell that runs without a terminal in this page. Gives its process id; `undefined` for none. */
export async function attachChoice(sandbox: Sandbox): Promise<number | undefined> {
  const title = "Attach to a running shell";
  try {
    const shells = await looseShells(sandbox);
    if (shells.length === 0) {
      await confirm({ title, text: "Every shell of this sandbox has a terminal here already.", action: "Good" });
      return undefined;
    }
    const chosen = await prompt({
      title,
      text: "It goes on when its terminal is closed here. What it printed before is not shown again.",
      input: {
        label: "Shell",
        choices: shells.map(({ pid, command, cwd }) => ({
          value: String(pid),
          label: `${pid}: ${plainName(command)}${cwd ? `, in ${plainName(cwd)}` : ""}`,
        })),
      },
      action: "Attach",
    });
    return chosen === undefined ? undefined : Number(chosen);
  } catch (error) {
    const { title: what, message } = describeError(error);
    await confirm({ title, text: `${what}: ${message}`, action: "Close" });
    return undefined;
  }
}
