// The SandboxServer's classes: JavaScript over the module, which the first call loads.
export {
  DEFAULT_PTY_PORT,
  DEFAULT_SERVER_PORT,
  PtyConnection,
  ServerBrowser,
  ServerCapabilities,
  ServerClient,
  ServerCommands,
  ServerDevtools,
  ServerFiles,
  ServerProcesses,
  ServerPty,
  ServerSystem,
} from "./agent_sandbox_web.js";
