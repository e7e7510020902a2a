// The classes of the WebAssembly module that are part of the package's face. Passed on from a file of their own: where core.ts exports
// what it imports for itself, Next 16.4's bundler loses that import in an app whose routes take all of the package in one place and a part in another.
export { Code, Commands, Files, Network, Pty, Sandbox, Sandbox as AsyncSandbox, TerminalSession } from "./agent_sandbox_web.js";
