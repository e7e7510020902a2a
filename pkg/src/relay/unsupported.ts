// What only Node has a use for.
import { makeError } from "../agent_sandbox_web.js";

export async function onlyInNode(): Promise<never> {
  const suggestion = "Elsewhere the relay's fetch takes requests and WebSockets.";
  throw makeError("CapabilityNotSupportedError", "This member of a relay is for Node alone.", suggestion, {});
}
