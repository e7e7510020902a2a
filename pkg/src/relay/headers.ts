// Headers on their way through. Both ways only those pass that are named here: a new trick needs no new rule.

/** Carries the session token of a request to a port. */
export const SESSION_HEADER = "x-sandbox-session";

/** What a request to a port may carry. `authorization` is the SandboxServer's token or envd's user; the page's own goes to `authorize`. */
const REQUEST = [
  "accept",
  "authorization",
  "connect-accept-encoding",
  "connect-content-encoding",
  "connect-protocol-version",
  "connect-timeout-ms",
  "content-encoding",
  "content-type",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "keepalive-ping-interval",
  "last-event-id",
  "range",
  "x-access-token",
];

/** What an answer from a port may carry. Others are instructions to the browser or to servers in front of the relay (`x-accel-redirect`). */
const ANSWER = [
  "accept-ranges",
  "connect-accept-encoding",
  "connect-content-encoding",
  "content-disposition",
  "content-language",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "retry-after",
];

/**
 * What every answer from a port carries. It comes from the application's own origin, and is anything that a sandbox says: opened as a page
 * it must not be one of that origin, and no cache may keep it for those who have no token.
 */
const GUARDS = {
  "cache-control": "no-store",
  "content-security-policy": "sandbox; default-src 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
  vary: SESSION_HEADER,
};

/** Headers that no policy lets through: those of the way, of the connection, and of the application. */
const NEVER =
  /^(?:connection|content-length|cookie2?|expect|forwarded|host|http2-settings|keep-alive|origin|referer|set-cookie2?|te|trailer|transfer-encoding|upgrade|via|x-api-key|x-real-ip|x-team-id|x-admin-token|true-client-ip|(?:proxy|sec|cf|x-forwarded|x-accel|x-sandbox|access-control)-.*|.*-(?:sandbox-id|sandbox-port|traffic-access-token))$/;

/** Whether a policy may name this header. */
export function mayPass(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]*$/.test(name) && !NEVER.test(name);
}

/** The headers of a request as they go on. */
export function onward(request: Request, more: readonly string[]): Record<string, string> {
  // Compressing is between the page and the relay.
  const headers: Record<string, string> = { "accept-encoding": "identity" };
  for (const name of [...REQUEST, ...more]) {
    const value = request.headers.get(name);
    if (value !== null) headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** The headers of an answer as they go back. */
export function back(answer: Response): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ANSWER) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  // What was compressed is not any more, and its length was another.
  const length = answer.headers.get("content-encoding") === null ? answer.headers.get("content-length") : null;
  if (length !== null) headers["content-length"] = length;
  return { ...headers, ...GUARDS };
}
