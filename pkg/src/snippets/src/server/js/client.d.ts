// What the entries use of the SandboxServer's classes; the build puts the files themselves beside the glue.
export * from "../../../../../../src/server/groups.d.ts";
export * from "../../../../../../src/server/types.d.ts";

/** Says how the module is loaded, and gives its class for requests. */
export function bindServer(load: () => Promise<void>, core: unknown): void;
/** Makes terminals over WebSocket instances of the first class, and gives the second its asynchronous disposal. */
export function bindTerminals(session: unknown, connection: unknown): void;
