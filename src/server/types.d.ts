/** The SandboxServer's HTTP port unless another is chosen. */
export const DEFAULT_SERVER_PORT: 9000;
/** The SandboxServer's port for terminals unless another is chosen. */
export const DEFAULT_PTY_PORT: 9001;

/** A constructor of WebSockets, as browsers and the npm package `ws` have it. */
export type WebSocketConstructor = new (url: string, ...options: never[]) => object;

/** Options of {@link ServerClient}. */
export interface ServerClientOptions {
  /** The server's own token, sent as `Authorization: Bearer`. */
  token?: string | undefined;
  /** Further headers of every request, for a gateway in front of the server. */
  headers?: Record<string, string> | undefined;
  /**
   * Where terminals are reached, as `ws:`, `wss:`, `http:` or `https:` URL. Default: the base URL with port 9001 in place of 9000, whether the
   * port stands in the host's name, behind it or in the path; where none does, {@link ServerPty.connect} throws E0001 that names this option.
   */
  ptyUrl?: string | undefined;
  /** How long one request may take, in ms. Default 30,000; 0 = no limit. Calls with a timeout of their own get ten seconds on top of that. */
  timeoutMs?: number | undefined;
  /** An implementation of `fetch` to use instead of the global one. */
  fetch?: Fetch | undefined;
  /** An implementation of `WebSocket` to use instead of the global one. Node 20 has none: give the one of the npm package `ws`. */
  webSocket?: WebSocketConstructor | undefined;
  /** Receives a line for every request: method, path without query, status and duration in ms. Never a token. */
  logger?: Logger | undefined;
}

/** Options of {@link Sandbox.serverAt}. */
export interface SandboxServerOptions {
  /** The HTTP port. Default 9000. */
  port?: number | undefined;
  /** The port of terminals. Default 9001. */
  ptyPort?: number | undefined;
  /** The server's own token. The sandbox's token is not sent. */
  token?: string | undefined;
  /** Further headers of every request. */
  headers?: Record<string, string> | undefined;
  /** How long one request may take, in ms. Default 30,000. */
  timeoutMs?: number | undefined;
}

/** Options of {@link Sandbox.startServer}. */
export interface StartServerOptions {
  /**
   * The HTTP port. Default 9000. Pages need the default: the server answers no CORS, and gateways do for it on 9000 and 9001 alone, so in a page
   * the health of a server on another port cannot be seen.
   */
  port?: number | undefined;
  /** The port of terminals. Default 9001. */
  ptyPort?: number | undefined;
  /** A Python file or module in the sandbox that registers named commands. */
  commands?: string | undefined;
  /** A policy document, or the name of a preset: `default`, `transfer-only`, `read-only`, `hardened`, `locked`. */
  policy?: string | Record<string, unknown> | undefined;
  /** Protects the server with this token, and gives it to the client that is returned. */
  token?: string | undefined;
  /** Further variables of the server's process. */
  envs?: Record<string, string> | undefined;
  /** The whole command line, instead of `agent-sandbox-server serve …`. */
  command?: string | undefined;
  /** Whether to wait until the server answers. Default `true`. */
  wait?: boolean | undefined;
  /** How long to wait for that, in ms. Default 30,000. */
  timeoutMs?: number | undefined;
  /** Further headers of every request of the client that is returned. */
  headers?: Record<string, string> | undefined;
  /** Gives up waiting: the promise rejects with the signal's reason, and what was started is killed. */
  signal?: AbortSignal | undefined;
  /** How long the sandbox may take to run the command, in ms. Default 60,000; 0 = no limit. */
  requestTimeoutMs?: number | undefined;
}

/** What a connection takes on top for terminals over WebSocket. */
export interface ConnectionOptions {
  /** An implementation of `WebSocket` to use instead of the global one. Node 20 has none: give the one of the npm package `ws`. */
  webSocket?: WebSocketConstructor | undefined;
}

/** What a terminal over WebSocket takes on top. It has no `pid`, `cwd`, `user` and `timeoutMs`. */
export interface TerminalOptions {
  /** `"connect"`, the default, is a terminal of envd; `"websocket"` one of the SandboxServer. */
  transport?: "connect" | "websocket" | undefined;
  /** The server whose terminal it is. Default: {@link Sandbox.server}. */
  server?: ServerClient | undefined;
  /** Attaches to this terminal of the server instead of starting a shell. */
  sessionId?: string | undefined;
}

/** What a sandbox has on top when a SandboxServer runs in it. */
export interface Sandbox {
  /** A client of the SandboxServer on port 9000. Always the same object. */
  readonly server: ServerClient;
  /** A client of a SandboxServer on other ports or with a token. Makes no request. */
  serverAt(options?: SandboxServerOptions): ServerClient;
  /**
   * Starts `agent-sandbox-server` in the sandbox and gives a client of it once it answers. It runs for as long as the sandbox does. A local
   * platform makes the server when a sandbox first wants it: give that more time than the default.
   * @throws {SandboxConnectionError} E5001 when it ended at once or does not answer within `timeoutMs`; its last complaint is in the message.
   * Also when a server runs on that port already, one that was started at the same time included: a client never gets another one's policy
   */
  startServer(options?: StartServerOptions): Promise<ServerClient>;
  /** The named commands of the server on port 9000. */
  listCommands(options?: CallOptions & { serverPort?: number }): Promise<ServerCommand[]>;
  /**
   * Calls a named command of the server on port 9000. For a command line see {@link Commands.run}.
   * @throws {CommandNotFoundError} E3005
   * @throws {CommandArgumentError} E9000 when the arguments do not fit
   * @throws {CommandExecutionError} E9000 when the command failed
   */
  run<T = unknown>(name: string, args?: Record<string, unknown>, options?: CallOptions & { serverPort?: number }): Promise<T>;
}

/**
 * A client of the SandboxServer: files, processes, terminals, system, development tools, browser and named commands, under a policy.
 *
 * Reading calls (GET) are repeated after a lost connection, and after a rate limit that asks for no more than five seconds; others never are.
 *
 * @example
 * ```ts
 * const server = new ServerClient("http://127.0.0.1:9000", { token });
 * const { stdout } = await server.process.shell("uname -a");
 * ```
 */
export class ServerClient {
  /** @throws {InvalidArgumentError} E0001 for a bad URL or option */
  constructor(baseUrl: string, options?: ServerClientOptions);
  /** Every endpoint's id, and the methods here that use it. */
  static readonly ENDPOINT_METHODS: Readonly<Record<string, readonly string[]>>;

  /** The URL that it was made with. */
  readonly baseUrl: string;
  /** Files. */
  readonly files: ServerFiles;
  /** Commands and background processes. */
  readonly process: ServerProcesses;
  /** Terminals. */
  readonly pty: ServerPty;
  /** What the server knows of its machine. */
  readonly system: ServerSystem;
  /** Code and git. Off unless the policy turns them on. */
  readonly devtools: ServerDevtools;
  /** A browser beside the server. Off unless the policy turns it on. */
  readonly browser: ServerBrowser;
  /** Named commands. */
  readonly commands: ServerCommands;
  /** What {@link ServerClient.discover} found. While it is there, calls that the server would refuse are refused here, without a request. */
  readonly capabilities: ServerCapabilities | undefined;

  /** Whether the server answers that it is well. Never throws, unless `signal` aborts. */
  health(options?: CallOptions): Promise<boolean>;
  /**
   * Asks what this client may do, and keeps the answer in `capabilities`.
   * @throws {ServerAPIError} E9000 for an answer of another API version; every call is then refused until {@link ServerClient.forgetDiscovery}
   */
  discover(options?: CallOptions): Promise<ServerCapabilities>;
  /** Drops `capabilities`: nothing is refused here any more. */
  forgetDiscovery(): void;
  /** Asks whether a call would be let through. Limits, extensions and command lists are not looked at. */
  check(endpoint: string, options?: CallOptions & { path?: string; paths?: string[]; op?: PathOperation }): Promise<PathDecision>;
  /** A client of the same server with another token; without one when `undefined`. It has discovered nothing. */
  withToken(token: string | undefined): ServerClient;
  /** Ends what is under way: streams and terminals are closed. */
  close(): Promise<void>;
  /** The same as {@link ServerClient.close}. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What is done to a path. */
export type PathOperation = "read" | "write" | "delete" | "exec";

/** Whether a call would be let through. */
export interface PathDecision {
  /** The endpoint's id. */
  readonly endpoint: string;
  /** Whether it would be. */
  readonly allowed: boolean;
  /** Why not, such as `path_denied`, `endpoint_disabled`, `missing_scope`, `unknown_endpoint`. */
  readonly code?: string | undefined;
  /** Why not, in words. */
  readonly reason?: string | undefined;
  /** The part of the policy that decided. */
  readonly rule?: string | undefined;
}

/** One endpoint as the server describes it. */
export interface EndpointInfo {
  /** Its id. */
  readonly name: string;
  /** The HTTP method. */
  readonly method: string;
  /** The URL's path. */
  readonly path: string;
  /** The group it belongs to, such as `file_ops`. */
  readonly group: string;
  /** What it does, in words. */
  readonly summary: string;
  /** Whether its answer is a stream. */
  readonly streaming: boolean;
  /** Whether the policy has it on. */
  readonly enabled: boolean;
  /** Whether it is on and the identity holds every scope. */
  readonly allowed: boolean;
  /** Why it may not be called: `endpoint_disabled` or `missing_scope`. */
  readonly reason?: string | undefined;
  /** The part of the policy that has it off. */
  readonly rule?: string | undefined;
  /** The scopes that it needs, all of them. */
  readonly scopes: readonly string[];
  /** Configured limits under the server's names, such as `max_bytes`. Limits that are built in are not listed. */
  readonly limits: Readonly<Record<string, unknown>>;
  /** Configured parameters under the server's names. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Which paths it takes, where it takes any. */
  readonly paths?: EndpointPaths | undefined;
}

/** Which paths an endpoint takes. */
export interface EndpointPaths {
  /** Directories; empty for the server's base directory, which it does not name. */
  readonly allow: readonly string[];
  /** Whether nothing below them may be changed. */
  readonly readOnly: boolean;
  /** How many patterns are refused; which ones is not told. */
  readonly denyCount: number;
  /** Whether links are followed, as long as they lead below them, or never. */
  readonly symlinks: "within" | "never" | (string & {});
}

/** What a server offers to this client's identity, as it was when asked. */
export class ServerCapabilities {
  private constructor();
  /** The version of the document, 2. */
  readonly apiVersion: number;
  /** The server's own version. */
  readonly serverVersion: string;
  /** `anonymous`, `server`, or the name of a token in the policy. */
  readonly identityId: string;
  /** What the identity's token allows. */
  readonly scopes: ReadonlySet<string>;
  /** The preset that the policy stands on. */
  readonly preset: string;
  /** A hash of the policy document. */
  readonly revision: string;
  /** Whether there is a policy document. */
  readonly configured: boolean;
  /** What the server finds odd in its policy. */
  readonly warnings: readonly string[];
  /** Groups with at least one endpoint that is on. */
  readonly groups: Readonly<Record<string, boolean>>;
  /** Of each group, how many endpoints are on and how many there are. */
  readonly groupSummary: Readonly<Record<string, { readonly enabled: number; readonly total: number }>>;
  /** Whether a call of this endpoint is let through. */
  can(endpoint: string): boolean;
  /** Why it is not: `unknown_endpoint`, `endpoint_disabled` or `missing_scope`. */
  denial(endpoint: string): string | undefined;
  /** The part of the policy that has the endpoint off. */
  rule(endpoint: string): string | undefined;
  /**
   * The endpoint, which may be called.
   * @throws {EndpointNotAvailableError} E9003
   * @throws {PolicyDeniedError} E9002 when a scope is missing
   */
  require(endpoint: string): EndpointInfo;
  /** The endpoint as the server describes it; `undefined` when it has none of that id. */
  info(endpoint: string): EndpointInfo | undefined;
  /** A configured limit under the server's name, such as `max_bytes`. */
  limit(endpoint: string, key: string): unknown;
  limit<T>(endpoint: string, key: string, fallback: T): unknown | T;
  /** A configured parameter under the server's name. */
  param(endpoint: string, key: string): unknown;
  param<T>(endpoint: string, key: string, fallback: T): unknown | T;
  /** Which paths the endpoint takes; `undefined` when it takes none. */
  paths(endpoint: string): EndpointPaths | undefined;
  /** Ids of the endpoints that name this very scope, on or off, sorted. */
  endpointsFor(scope: string): string[];
  /** Ids of the endpoints that may be called, sorted. */
  available(): string[];
  /** Asks the server about a path. */
  checkPath(endpoint: string, path: string, op?: PathOperation, options?: CallOptions): Promise<PathDecision>;
}

/** E3005: the server has no command of that name. */
export class CommandNotFoundError extends ExecutionError {
  /** The name that was called. */
  readonly commandName: string;
}
/** E9000: the SandboxServer answered with an error that has no class of its own. */
export class ServerAPIError extends SandboxError {
  /** The HTTP status; 0 when there was none. */
  readonly statusCode: number;
  /** The class of the exception on the server, such as `ValueError`. */
  readonly errorType: string;
  /** Such as `invalid_path`; empty when the server gave none. */
  readonly errorCode: string;
  /** The endpoint's id. */
  readonly endpoint: string;
  /** The part of the policy that decided; empty when none did. */
  readonly rule: string;
}
/** E9000: the arguments of a named command do not fit. */
export class CommandArgumentError extends ServerAPIError {}
/** E9000: a named command failed; `errorType` says with what. */
export class CommandExecutionError extends ServerAPIError {}
/** E9001: the server's token is missing or wrong. Also `instanceof` {@link AuthenticationError}. */
export class ServerAuthError extends ServerAPIError {}
/** E9002: the policy does not let this identity do that. */
export class PolicyDeniedError extends ServerAPIError {
  /** The scope that is missing, if that is the reason. */
  readonly scope: string;
}
/** E9002: the policy does not let a path be used so. Also `instanceof` {@link PermissionDeniedError}. */
export class FilePolicyDeniedError extends PolicyDeniedError {}
/** E9003: the endpoint is off, or there is none of that id. Also `instanceof` {@link CapabilityNotSupportedError}. */
export class EndpointNotAvailableError extends ServerAPIError {
  /** The endpoint's id. */
  readonly capability: string;
}
/** E9004: more than the server takes or gives. */
export class PayloadTooLargeError extends ServerAPIError {
  /** Bytes, if known. */
  readonly limit?: number | undefined;
}
/** E9005: too many calls of this endpoint. */
export class RateLimitedError extends ServerAPIError {
  /** Seconds to wait. */
  readonly retryAfter?: number | undefined;
  /** The same in ms. */
  readonly retryAfterMs?: number | undefined;
}
