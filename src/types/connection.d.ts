/** The runtime's own `fetch`, or one like it. */
export type Fetch = typeof globalThis extends { fetch: infer F } ? F : (url: string, init?: object) => Promise<Response>;

/** Options that every call takes. */
export interface CallOptions {
  /**
   * Gives up the call: its promise rejects with the signal's reason, and what the call waited for on the server is cancelled. What it had
   * begun to make (a sandbox, a process, a code context, a snapshot without a name) is ended once it is known; the same goes for
   * `requestTimeoutMs`.
   */
  signal?: AbortSignal | undefined;
  /**
   * How long one request may take until its answer has begun (and, unless it streams, ended), in ms; 0 = no limit. Default 60,000, and
   * 90,000 for creating, connecting, pausing, resuming, forking and snapshots.
   */
  requestTimeoutMs?: number | undefined;
}

/** What differs between two clouds that speak the same protocol. */
export interface ProviderProfile {
  /** A name for messages. */
  name: string;
  /** The cloud whose calls and options the platform has, and whose other settings hold where this profile has none. Default `"e2b"`. */
  like?: "e2b" | "agentbox" | "alibaba" | undefined;
  /** The domain sandboxes are reached under, as in `https://{port}-{sandboxId}.{domain}`. */
  domain?: string | undefined;
  /** The control plane's URL. Default `https://api.{domain}`. */
  apiUrl?: string | undefined;
  /** How the API key is sent. Default `"x-api-key"`. */
  keyHeader?: "x-api-key" | "bearer" | undefined;
  /** Prefix of the routing headers, as in `{prefix}-Sandbox-Id` and `{prefix}-Sandbox-Port`. Default `"E2b"`. */
  routingPrefix?: string | undefined;
  /** The header that carries the token of ports that are not public. */
  trafficTokenHeader?: string | undefined;
  /** What stands in front of `.identity.tokens.` in the placeholders of workload tokens. Default `"e2b"`. */
  placeholderPrefix?: string | undefined;
  /** How envd streams are encoded. Default `"proto"`. After a 415 the other one is tried once and remembered. */
  codec?: "proto" | "json" | undefined;
  /** Whether `/files` URLs may carry a signature instead of a token header. Default `true`. */
  signedUrls?: boolean | undefined;
}

/** Where to connect and as whom. */
export interface ConnectionOptions extends CallOptions {
  /** The cloud, or a description of one. Default `"e2b"`, which is also what `agent-sandbox-local` and self-hosted platforms speak. */
  provider?: "e2b" | "agentbox" | "alibaba" | ProviderProfile | undefined;
  /**
   * The API key, or a function that gives one. A page should not hold one: let a server create the sandbox and hand it over
   * ({@link Sandbox.handoff}). In Node, Bun and Deno the provider's environment variable is read when this is absent.
   */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * The URL of a relay (`agent-sandbox-web/relay`) on your server, which has the API key; in a page a path such as `"/api/sandbox"` does.
   * It replaces `apiKey` and `apiUrl`, and tells where sandboxes are. What cannot be reached from a page (the SandboxServer, ports that are not
   * public) goes through it, with session tokens that the client asks for and renews by itself. `apiHeaders` go to it too.
   */
  relay?: string | undefined;
  /** The control plane's URL, without user name, password and query. Default: the provider's. */
  apiUrl?: string | undefined;
  /**
   * Where sandboxes are reached. It may hold `{sandboxId}` and `{port}`: `http://127.0.0.1:7300/s/{sandboxId}/{port}` or
   * `http://{port}-{sandboxId}.localhost:7300`. Without placeholders it is used as it is, with routing headers.
   * Default `https://{port}-{sandboxId}.{domain}`. With an `apiUrl` of your own whose host is not `api.{domain}`, this or `domain` is needed.
   */
  sandboxUrl?: string | undefined;
  /** The domain of the sandboxes and, unless `apiUrl` is given, of the control plane. Default: the provider's. */
  domain?: string | undefined;
  /** Further headers of control-plane requests. In a page each may need the server's CORS consent. */
  apiHeaders?: Record<string, string> | undefined;
  /** Whether keys of `e2b` are checked for their form before the first request. Default `true`; other platforms' keys have other forms. */
  validateApiKey?: boolean | undefined;
  /** Whether commands whose exit code is not 0 reject with {@link ProcessError}, unless a call says otherwise. Default `false`. */
  check?: boolean | undefined;
  /** Receives a line for every request: method, path without query, status and duration in ms. Never a key or a token. */
  logger?: Logger | undefined;
  /** An implementation of `fetch` to use instead of the global one. */
  fetch?: Fetch | undefined;
  /**
   * The URL of an HTTP proxy that all requests go through. In Node only, and with the package `undici` installed; elsewhere
   * {@link InvalidArgumentError}.
   */
  proxy?: string | undefined;
  /**
   * Whether control plane and sandboxes are on this machine: `http://localhost:3000`, and each port at `http://localhost:{port}`. Given
   * URLs count over it. Default `false`, or the provider's environment variable (`E2B_DEBUG`, `AGENTBOX_DEBUG`).
   */
  debug?: boolean | undefined;
  /** Not supported by any platform's sandbox calls; giving one throws {@link TokenExchangeError} (E1004). */
  accessKeyId?: string | undefined;
  /** Not supported by any platform's sandbox calls; giving one throws {@link TokenExchangeError} (E1004). */
  accessKeySecret?: string | undefined;
}

/** Receives log lines. Methods that are absent are not called. */
export interface Logger {
  /** What is of interest when looking for a fault: a line for each request. */
  debug?(message: string, fields?: Record<string, unknown>): void;
  /** What is worth a line. */
  info?(message: string, fields?: Record<string, unknown>): void;
  /** What may become a fault. */
  warn?(message: string, fields?: Record<string, unknown>): void;
  /** What went wrong. */
  error?(message: string, fields?: Record<string, unknown>): void;
}
