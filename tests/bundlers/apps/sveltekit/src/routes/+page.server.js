import { Sandbox } from "agent-sandbox-web";

/** The package works on the server too: this is what the page shows before any script of it ran. */
export async function load() {
  const sandbox = await Sandbox.attach({ sandboxId: "i1", sandboxUrl: "https://sandbox.test/{port}" });
  return { url: sandbox.getUrl(80) };
}
