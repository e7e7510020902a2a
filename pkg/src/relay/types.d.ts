/**
 * A relay: the server's side of pages that use sandboxes without an API key. It runs in Cloudflare Workers, Deno, Bun, Node and in routes
 * of frameworks that hand over a `Request`.
 */
import type { ConnectionOptions, Fetch } from "agent-sandbox-web";

/** What a signed-in user may do, named as the client's own calls. `ports` is the way to ports of a sandbox through the relay. */
export type RelayRight =
  | "create"
  | "list"
  | "getInfo"
  | "connect"
  | "setTimeout"
  | "pause"
  | "kill"
  | "fork"
  | "getMetrics"
  | "logs"
  | "ports"
  | "createSnapshot"
  | "updateNetwork";

/** Who makes a request. */
export interface RelayIdentity {
  /** The user's id in your application, 1 to 256 printable characters. Sandboxes are tagged with it, and only their owner reaches them. */
  owner: string;
  /** What this user may do. Default: everything but `createSnapshot` and `updateNetwork`. */
  rights?: readonly RelayRight[] | undefined;
}

/** What users may make, and how much of it. */
export interface RelayPolicy {
  /** Templates that may be used; or a function that says so of one. Snapshot ids count as templates. */
  templates: readonly string[] | ((template: string, identity: RelayIdentity) => boolean | Promise<boolean>);
  /** The longest lifetime that one call may ask for, in ms. Default 3,600,000 (one hour). */
  maxTimeoutMs?: number | undefined;
  /** Sandboxes of one owner, running and paused together. Default 5. */
  maxSandboxes?: number | undefined;
  /** Ports that are reached through the relay. Default: envd (49983), the interpreter (49999), the SandboxServer (9000, 9001). */
  ports?: readonly number[] | undefined;
  /** `false` makes every sandbox without internet, whatever a page asks for. Default `true`: the page may choose. */
  internet?: boolean | undefined;
  /** Whether pages may choose `network.allowOut` and `network.denyOut`. Default `false`. */
  network?: boolean | undefined;
  /** Whether pages may choose CPUs, memory, disk and GPU, where the provider lets them. Default `false`. */
  resources?: boolean | undefined;
  /** Calls about sandboxes that one owner may make in a minute. Default 120. Each instance of the relay counts by itself. */
  callsPerMinute?: number | undefined;
  /** Requests to ports that one owner may make in a minute. Default 6,000. Each instance of the relay counts by itself. */
  requestsPerMinute?: number | undefined;
  /** The largest request body to a port, in bytes. Default: no limit; for the SandboxServer never more than 10 MiB. */
  maxBodyBytes?: number | undefined;
  /** Further request headers that pages may send to ports. Hop-by-hop, routing and forwarding headers, cookies and keys never pass. */
  headers?: readonly string[] | undefined;
}

/** Why the relay said no. It is the `reason` of the JSON body `{code, message, suggestion?, reason}`, whose `code` is the HTTP status. */
export type RelayRefusal =
  | "unauthenticated"
  | "right_missing"
  | "no_session"
  | "session_invalid"
  | "session_expired"
  | "other_sandbox"
  | "not_found"
  | "no_route"
  | "foreign_origin"
  | "header_missing"
  | "bad_request"
  | "bad_path"
  | "policy"
  | "too_many_sandboxes"
  | "rate_limit"
  | "body_too_large"
  | "redirect"
  | "unreachable"
  | "websocket_unsupported"
  | "internal";

/** One request, for a log. It holds no id, no query and no secret. */
export interface RelayLogEntry {
  /** The HTTP method. */
  method: string;
  /** Which call it was, with placeholders: `/sandboxes/:id/connect`, `/s/:id/:port`. */
  route: string;
  /** The answer's HTTP status. */
  status: number;
  /** Until the answer began, in ms. */
  ms: number;
  /** Why the relay itself said no. */
  reason?: RelayRefusal | undefined;
}

/** Options of {@link createRelay}. Those of a connection say which cloud it is and where; the API key stays here. */
export interface RelayOptions
  extends Pick<
    ConnectionOptions,
    "provider" | "apiKey" | "apiUrl" | "sandboxUrl" | "domain" | "apiHeaders" | "validateApiKey" | "debug"
  > {
  /**
   * Says who makes a request, from its cookies or headers; nothing for nobody, who then gets 401. It is asked for calls about sandboxes, and
   * not for requests to ports: those carry a session token.
   */
  authorize(request: Request): RelayIdentity | null | undefined | Promise<RelayIdentity | null | undefined>;
  /** What users may make; a function when it differs among them. For requests to ports it gets the owner alone. */
  policy: RelayPolicy | ((identity: RelayIdentity) => RelayPolicy);
  /** Where the relay is mounted. Default `"/api/sandbox"`. */
  path?: string | undefined;
  /**
   * Origins of pages that may use the relay, such as `"https://app.example.com"`. Default: the relay's own. Needed where the relay does not
   * see its own public address, as behind a proxy that ends TLS, and for pages of other origins, which are then let in by CORS.
   */
  origins?: readonly string[] | undefined;
  /** Where pages reach sandboxes, when it is not where the relay does, such as `http://{port}-{sandboxId}.localhost:7300`. */
  pageSandboxUrl?: string | undefined;
  /** `false` lets pages reach envd and public interpreters through the relay too, and nothing straight. Default `true`. */
  direct?: boolean | undefined;
  /** How long a session token is good for, in ms: 60,000 to 86,400,000. Default 900,000 (15 minutes). */
  sessionMs?: number | undefined;
  /** What session tokens are signed with: 32 characters or more. Default: derived from the API key. */
  secret?: string | undefined;
  /** The metadata key of the owner's tag. Default `"agent-sandbox-owner"`; applications that share an account take one each. */
  ownerTag?: string | undefined;
  /** Whether this runtime can hand WebSockets on. Default: found out. */
  webSockets?: boolean | undefined;
  /** Receives a line for every request. What it throws is ignored. */
  logger?: ((entry: RelayLogEntry) => void) | undefined;
  /** Hears what failed inside, such as an exception of `authorize`. Pages are told nothing but that something did. */
  onError?: ((error: unknown) => void) | undefined;
  /** An implementation of `fetch` to use instead of the global one. It must not follow redirects when told so. */
  fetch?: Fetch | undefined;
}

/** Bun's handlers of WebSockets, for `Bun.serve({ websocket: relay.websocket })`. */
export interface RelayWebSocketHandlers {
  /** A page has connected. */
  open(socket: object): void;
  /** A page has sent something. */
  message(socket: object, data: string | Uint8Array): void;
  /** A page has left. */
  close(socket: object, code: number, reason: string): void;
}

/** A relay. */
export interface Relay {
  /**
   * Answers a request below the relay's path. It never throws: what fails is an answer.
   * @param server in Bun the server that `fetch` gets, for WebSockets
   */
  fetch(request: Request, server?: unknown): Promise<Response>;
  /** For Bun. */
  readonly websocket: RelayWebSocketHandlers;
  /**
   * For Node: `http.createServer(relay.listener)`, or `app.use(relay.listener)` in Express, Connect and Vite's development server, before what
   * reads bodies. Elsewhere it throws `CapabilityNotSupportedError` (E3004).
   * @param next called for requests that are not below the relay's path; without it they get 404
   */
  listener(request: object, response: object, next?: () => void): Promise<void>;
  /**
   * For Node: `server.on("upgrade", relay.upgrade)`. What is not below the relay's path is left to the server's other listeners, and refused
   * where there are none. Elsewhere it throws `CapabilityNotSupportedError` (E3004).
   */
  upgrade(request: object, socket: object, head: Uint8Array): Promise<void>;
}

/**
 * Makes a relay.
 *
 * @example
 * ```ts
 * const relay = createRelay({
 *   apiKey: env.AGENT_SANDBOX_API_KEY,
 *   authorize: async (request) => ({ owner: await userOf(request) }),
 *   policy: { templates: ["base"], maxSandboxes: 2 },
 * });
 * export default { fetch: relay.fetch };
 * ```
 * @throws {InvalidArgumentError} E0001 for a bad option
 */
export function createRelay(options: RelayOptions): Relay;
