// The SandboxServer's classes: JavaScript over the module, which the first call loads.
export { PtyConnection } from "./agent_sandbox_web.js";
export {
  DEFAULT_PTY_PORT,
  DEFAULT_SERVER_PORT,
  ServerBrowser,
  ServerCapabilities,
  ServerClient,
  ServerCommands,
  ServerDevtools,
  ServerFiles,
  ServerProcesses,
  ServerPty,
  ServerSystem,
} from "./snippets/src/server/js/client.js";
