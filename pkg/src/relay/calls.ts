// The calls about sandboxes that a page can make through the relay: those of the control plane that the client makes, and no others.
import type { RelayRight } from "./types.d.ts";

/** A call. */
export interface Call {
  readonly method: string;
  /** Below the relay's path, `:id` for a sandbox of the caller's. */
  readonly path: string;
  readonly right: RelayRight;
  /** What is done besides passing it on. */
  readonly kind: "create" | "list" | "pages" | "fork" | "network" | "session" | "snapshots" | "plain";
  /** Fields of its body. */
  readonly fields?: readonly string[];
  /** Parameters of its query. */
  readonly query?: readonly string[];
}

const at = (path: string) => `/sandboxes/:id${path}`;
const PAGE = ["limit", "nextToken"];

export const CALLS: readonly Call[] = [
  { method: "POST", path: "/sandboxes", right: "create", kind: "create" },
  { method: "GET", path: "/v2/sandboxes", right: "list", kind: "list", query: ["metadata", "state", ...PAGE] },
  { method: "GET", path: "/sandboxes", right: "list", kind: "pages", query: ["status", "limit", "offset"] },
  { method: "GET", path: at(""), right: "getInfo", kind: "plain" },
  { method: "DELETE", path: at(""), right: "kill", kind: "plain" },
  { method: "POST", path: at("/connect"), right: "connect", kind: "plain", fields: ["timeout"] },
  { method: "POST", path: at("/resume"), right: "connect", kind: "plain", fields: ["timeout"] },
  { method: "POST", path: at("/timeout"), right: "setTimeout", kind: "plain", fields: ["timeout"] },
  { method: "POST", path: at("/pause"), right: "pause", kind: "plain", fields: ["memory"] },
  { method: "POST", path: at("/fork"), right: "fork", kind: "fork", fields: ["timeout", "count"] },
  { method: "GET", path: at("/metrics"), right: "getMetrics", kind: "plain", query: ["start", "end"] },
  {
    method: "GET",
    path: "/v2/sandboxes/:id/logs",
    right: "logs",
    kind: "plain",
    query: ["cursor", "limit", "direction", "level", "search"],
  },
  { method: "PUT", path: at("/network"), right: "updateNetwork", kind: "network" },
  { method: "POST", path: at("/snapshots"), right: "createSnapshot", kind: "plain", fields: ["name"] },
  { method: "GET", path: "/snapshots", right: "createSnapshot", kind: "snapshots", query: ["sandboxID", "name", ...PAGE] },
  { method: "POST", path: at("/session"), right: "ports", kind: "session" },
];

/** An id as platforms give them. */
const ID = /^[\w-]{1,128}$/;

/** The call that a request makes, and about which sandbox. */
export function callOf(method: string, path: string): { call: Call; id: string } | undefined {
  const parts = path.split("/");
  for (const call of CALLS) {
    const wanted = call.path.split("/");
    if (call.method !== method || wanted.length !== parts.length) continue;
    const at = wanted.indexOf(":id");
    if (!wanted.every((part, index) => index === at || part === parts[index])) continue;
    const id = at < 0 ? "" : (parts[at] ?? "");
    if (at < 0 || ID.test(id)) return { call, id };
  }
  return undefined;
}
