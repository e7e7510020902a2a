// This project's client as a reader of stdout. Runs in Node and, bundled, in pages.
import { Sandbox } from "agent-sandbox-web";

/** @param {import("./settings.d.mts").Settings} settings */
export async function open(settings) {
  const { sandboxId, sandboxUrl, envdAccessToken, envdVersion } = settings;
  const sandbox = await Sandbox.attach({ sandboxId, sandboxUrl, envdAccessToken, envdVersion });
  return async (command, onText) => {
    await sandbox.commands.run(command, { capture: false, timeoutMs: 0, onStdout: onText });
  };
}
