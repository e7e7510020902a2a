// How a WebSocket brings its session token: browsers send no headers with one, and a URL is logged. So it is the second of two subprotocols.

/** The first, and the one that is agreed on. */
export const RELAY_PROTOCOL = "agent-sandbox-relay";

/** The token of a request for a WebSocket. */
export function tokenOf(protocols: string | null): string | null {
  const [name, token, ...more] = (protocols ?? "").split(",").map((part) => part.trim());
  return name === RELAY_PROTOCOL && token && more.length === 0 ? token : null;
}
