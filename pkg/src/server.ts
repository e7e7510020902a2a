// The SandboxServer's classes: JavaScript over the module, which the first call loads.
import { PtyConnection, ServerCore, TerminalSession } from "./agent_sandbox_web.js";
import { init } from "./loading.js";
import { bindServer, terminalsAre } from "./snippets/src/server/js/client.js";

bindServer(init, ServerCore);
terminalsAre(TerminalSession);

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
export { PtyConnection };
