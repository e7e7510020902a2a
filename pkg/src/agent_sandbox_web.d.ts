// What the entries use of the glue that wasm-bindgen writes beside them; its own declarations exist only after a build.

export { Code } from "../../src/code.d.ts";
export { PtyConnection } from "../../src/server/groups.d.ts";
export { Commands, Files, Network, Pty, Sandbox, TerminalSession } from "../../src/types.d.ts";

/** Pages, of whatever they are asked for. */
export class Paginator {
  private constructor();
  readonly hasNext: boolean;
  readonly nextToken: string | undefined;
  nextItems<T>(options: unknown): Promise<T[]>;
}

/** The side of a `ServerClient` that makes requests. */
export class ServerCore {
  private constructor();
}

export default function instantiate(options: { module_or_path: unknown }): Promise<unknown>;
