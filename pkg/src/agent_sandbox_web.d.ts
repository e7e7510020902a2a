// What the entries use of the glue that wasm-bindgen writes beside them; its own declarations exist only after a build.
export { Commands, Files, Network, Pty, Sandbox, SandboxPaginator, TerminalSession } from "../../src/types.d.ts";

export default function instantiate(options: { module_or_path: unknown }): Promise<unknown>;
