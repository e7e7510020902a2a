// This project's client as a reader of stdout. Runs in Node and, bundled, in pages.
import { attach } from "./attach.mjs";

/** @param {import("./settings.d.mts").Settings} settings */
export async function open(settings) {
  const sandbox = await attach(settings);
  return async (command, onText) => {
    await sandbox.commands.run(command, { capture: false, timeoutMs: 0, onStdout: onText });
  };
}
