// Names that the examples of the guides use without making them, as each guide says at its beginning.
import type { ConnectionOptions, Sandbox, SandboxHandoff, ServerClient } from "agent-sandbox-web";

declare global {
  /** A sandbox that runs. */
  const sandbox: Sandbox;
  /** Where it was made, and the key. */
  const connection: ConnectionOptions;
  /** The platform's key and URLs. Not at hand where blocks are run. */
  const apiKey: string;
  const apiUrl: string;
  const sandboxUrl: string;
  /** What somebody has picked in a page. Not at hand where blocks are run. */
  const file: File;
  /** A SandboxServer in it, and its token. Not at hand where blocks are run. */
  const server: ServerClient;
  const token: string;
  /** What a server gave a page. Not at hand where blocks are run. */
  const handoff: SandboxHandoff;
}
