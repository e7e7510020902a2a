// The sandbox that is measured, by this project's client.
import { Sandbox } from "agent-sandbox-web";

/** @param {import("./settings.d.mts").Settings} settings */
export const attach = ({ sandboxId, sandboxUrl, envdAccessToken, envdVersion }) =>
  Sandbox.attach({ sandboxId, sandboxUrl, envdAccessToken, envdVersion });
