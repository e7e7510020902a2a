// The e2b SDK as a reader of stdout. Runs in Node and, bundled, in pages.
import { Sandbox } from "e2b-latest";

/** @param {import("./settings.d.mts").Settings} settings */
export async function open(settings) {
  const { sandboxId, rootUrl, envdAccessToken, envdVersion } = settings;
  const sandbox = new Sandbox({ sandboxId, sandboxUrl: rootUrl, envdAccessToken, envdVersion, validateApiKey: false });
  return async (command, onText) => {
    await sandbox.commands.run(command, { timeoutMs: 0, onStdout: onText });
  };
}
