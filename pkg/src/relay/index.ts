// The relay for Workers, Deno, Bun and routes of frameworks.
import { Core } from "./relay.js";
import { websocket } from "./sockets.js";
import type { Relay, RelayOptions } from "./types.d.ts";
import { onlyInNode } from "./unsupported.js";

export function createRelay(options: RelayOptions): Relay {
  const core = new Core(options);
  return {
    // Bun wants nothing back once it has taken a WebSocket over.
    fetch: (request, server) => core.fetch(request, server) as Promise<Response>,
    websocket,
    listener: onlyInNode,
    upgrade: onlyInNode,
  };
}
