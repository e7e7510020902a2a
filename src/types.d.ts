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

/** Options of {@link Sandbox.create}. */
export interface SandboxCreateOptions extends ConnectionOptions {
  /** The template's name or id, or a snapshot's id. Default `"base"`. */
  template?: string | undefined;
  /** How long the sandbox lives unless extended, in ms: above 0, at most 86,400,000; sent in seconds, rounded up. Default 300,000. */
  timeoutMs?: number | undefined;
  /** Labels to find the sandbox by. */
  metadata?: Record<string, string> | undefined;
  /** Variables of every process in the sandbox. */
  envs?: Record<string, string> | undefined;
  /** Whether envd demands a token (`alibaba`: whether ports do, over https). Default `true`. */
  secure?: boolean | undefined;
  /** Whether the sandbox reaches the internet. Default `true`. `alibaba` has no `false`. */
  allowInternetAccess?: boolean | undefined;
  /** What the sandbox may reach, and who may reach it. `e2b` and `agentbox`. */
  network?: NetworkOptions | undefined;
  /** Workload tokens, for {@link NetworkTransformContext}. `e2b` and `agentbox`. */
  iam?: { tokens?: Record<string, { audience: string; tokenType: string }> } | undefined;
  /** What happens at the end of the sandbox's time. `e2b` and `agentbox`. */
  lifecycle?: SandboxLifecycle | undefined;
  /** Volumes by name, and the absolute paths where they appear. `e2b` and `alibaba`. */
  volumeMounts?: readonly { name: string; path: string }[] | undefined;
  /** Servers of the Model Context Protocol that the platform takes note of, as it wants them. `e2b`. */
  mcp?: object | undefined;
  /** Virtual CPUs. `alibaba`; elsewhere the template has its size. */
  cpu?: number | undefined;
  /** MiB. `alibaba`. */
  memory?: number | undefined;
  /** MiB. `alibaba`. */
  disk?: number | undefined;
  /** The kind of GPU, such as `"A10"`. `alibaba`. */
  gpu?: string | undefined;
}

/** Hosts and ranges: a list, or a function that is called before the request and returns one at once. */
export type NetworkSelector = readonly string[] | ((context: NetworkSelectorContext) => readonly string[]);

/** What a {@link NetworkSelector} gets. */
export interface NetworkSelectorContext {
  /** All of IPv4: `"0.0.0.0/0"`. */
  readonly allTraffic: string;
  /** The rules by host. */
  readonly rules: ReadonlyMap<string, readonly NetworkRule[]>;
}

/** What becomes of requests to a host. */
export interface NetworkRule {
  /** Changes to a request, or a function that is called before the sandbox's request and returns them at once. */
  transform?: NetworkTransform | ((context: NetworkTransformContext) => NetworkTransform) | undefined;
}

/** Changes to a request. */
export interface NetworkTransform {
  /** Headers to set. Values may hold placeholders. */
  headers?: Record<string, string> | undefined;
}

/** What a transform gets. */
export interface NetworkTransformContext {
  /** The workload's identity. */
  readonly iam: {
    /**
     * Placeholders of workload tokens by name: the platform puts a token in their place. At a creation, one that `iam.tokens` does not
     * have throws {@link InvalidArgumentError}.
     */
    readonly tokens: Readonly<Record<string, string>>;
  };
}

/** What a sandbox may reach. */
export interface NetworkEgress {
  /** IP addresses, ranges and hosts (`*.example.com` too) that may be reached. Counts over `denyOut`. */
  allowOut?: NetworkSelector | undefined;
  /** IP addresses and ranges that may not be reached. With a host in `allowOut` this must be `"0.0.0.0/0"`. */
  denyOut?: NetworkSelector | undefined;
  /** What becomes of requests, by host. */
  rules?: Readonly<Record<string, readonly NetworkRule[]>> | ReadonlyMap<string, readonly NetworkRule[]> | undefined;
  /** A SOCKS5 proxy, `host:port`, for everything. `e2b`. */
  egressProxy?: { address: string; username?: string; password?: string } | undefined;
}

/** What a sandbox may reach, and who may reach it. */
export interface NetworkOptions extends NetworkEgress {
  /** Whether ports but envd's are open to whoever knows the sandbox's id; else they want {@link Network.getAccessHeaders}. Default `true`. */
  allowPublicTraffic?: boolean | undefined;
  /** The `Host` header that servers in the sandbox see; `${PORT}` stands for the port. */
  maskRequestHost?: string | undefined;
}

/** A change of what a sandbox may reach: whatever is left out is open from then on. */
export interface NetworkUpdate extends NetworkEgress {
  /** Whether the sandbox reaches the internet. */
  allowInternetAccess?: boolean | undefined;
}

/** What happens at the end of a sandbox's time. */
export interface SandboxLifecycle {
  /**
   * `"kill"` (what platforms do unless told) or `"pause"`. `keepMemory: false` keeps the files alone: processes are lost, and only
   * {@link Sandbox.connect} resumes it.
   */
  onTimeout?: "kill" | "pause" | { action: "kill" | "pause"; keepMemory?: boolean | undefined } | undefined;
  /** Whether traffic resumes the paused sandbox. Goes with `"pause"`, and with the memory kept. */
  autoResume?: boolean | undefined;
}

/** Options of {@link Sandbox.connect}. */
export interface SandboxConnectOptions extends ConnectionOptions {
  /** The sandbox lives at least this long from now, in ms; never shortens. Default 300,000. */
  timeoutMs?: number | undefined;
}

/** What {@link Sandbox.attach} needs. It holds the sandbox's own tokens and never the API key: still hand it only to who may use the sandbox. */
export interface SandboxHandoff {
  /** The sandbox's id. */
  sandboxId: string;
  /** Where sandboxes are reached, with placeholders where the platform has them. */
  sandboxUrl?: string | undefined;
  /** The domain sandboxes are reached under, where there is no URL. */
  domain?: string | undefined;
  /** The cloud, unless it is `"e2b"`. */
  provider?: ConnectionOptions["provider"];
  /** The token of envd. Secret. */
  envdAccessToken?: string | undefined;
  /** The token of ports that are not public. Secret. */
  trafficAccessToken?: string | undefined;
  /** envd's version, which tells what it can do. */
  envdVersion?: string | undefined;
  /** The template's id, from which `capabilities` are derived. */
  template?: string | undefined;
}

/** The states of a sandbox, by name. */
export declare const SandboxStatus: {
  readonly CREATING: "creating";
  readonly RUNNING: "running";
  readonly PAUSED: "paused";
  readonly STOPPING: "stopping";
  readonly STOPPED: "stopped";
  readonly ERROR: "error";
};
/** A sandbox's state. Platforms may add others. */
export type SandboxStatus = "creating" | "running" | "pausing" | "paused" | "stopping" | "stopped" | "error" | (string & {});

/** What the control plane knows of a sandbox. */
export interface SandboxInfo {
  /** The sandbox's id. */
  sandboxId: string;
  /** The template's id. */
  template: string;
  /** Another name of the template. */
  alias?: string | undefined;
  /** Its state when this was read. */
  status: SandboxStatus;
  /** The labels it was made with; empty without any. */
  metadata: Record<string, string>;
  /** Start of the current run. */
  startedAt?: Date | undefined;
  /** When a running sandbox expires; of a paused one, when it was paused. */
  endAt?: Date | undefined;
  /** Virtual CPUs. */
  cpuCount?: number | undefined;
  /** MiB. */
  memoryMB?: number | undefined;
  /** MiB. */
  diskSizeMB?: number | undefined;
  /** envd's version, as in `0.6.13`. */
  envdVersion?: string | undefined;
  /** Where envd is reached. */
  envdUrl?: string | undefined;
  /** The token of envd, where the platform tells it. Secret: not enumerable, so that printing and JSON leave it out. */
  envdAccessToken?: string | undefined;
  /** `undefined` also when it was never set. */
  allowInternetAccess?: boolean | undefined;
  /** As the platform has it. */
  network?: { allowOut?: string[]; denyOut?: string[]; allowPublicTraffic?: boolean; maskRequestHost?: string } | undefined;
  /** As the platform has it. */
  lifecycle?: { onTimeout: "kill" | "pause"; autoResume: boolean } | undefined;
  /** Volumes by name, and where they appear. */
  volumeMounts?: { name: string; path: string }[] | undefined;
}

/** A snapshot: `Sandbox.create(snapshotId)` starts sandboxes from it. */
export interface SnapshotInfo {
  /** Its id, for {@link Sandbox.create} and {@link Sandbox.deleteSnapshot}. */
  snapshotId: string;
  /** Its names, with tags; empty without any. */
  names: string[];
  /** What it holds, where the platform says so: `"filesystem only"` on a local one, which keeps files and no processes. */
  contents?: string | undefined;
}

/** Options of {@link Sandbox.listSnapshots}. */
export interface SnapshotListOptions extends ConnectionOptions {
  /** Only those of this sandbox. */
  sandboxId?: string | undefined;
  /** Only those of this name. */
  name?: string | undefined;
  /** Snapshots a page, 1 to 100. Default 100. */
  limit?: number | undefined;
  /** Where to go on, from {@link SnapshotPaginator.nextToken}. */
  nextToken?: string | undefined;
}

/** What a sandbox used at one moment. */
export interface SandboxMetrics {
  /** When that was. */
  timestamp: Date;
  /** Virtual CPUs. */
  cpuCount: number;
  /** Of all its CPUs together, 0 to 100. */
  cpuUsedPct: number;
  /** Bytes. */
  memUsed: number;
  /** Bytes. */
  memTotal: number;
  /** Bytes. */
  memCache?: number | undefined;
  /** Bytes. */
  diskUsed: number;
  /** Bytes. */
  diskTotal: number;
}

/** Options of {@link Sandbox.getMetrics}. */
export interface MetricsOptions {
  /** Only from then on, to the second. */
  start?: Date | undefined;
  /** Only until then, to the second. */
  end?: Date | undefined;
}

/** Options of {@link Sandbox.logs}. */
export interface LogsOptions {
  /** Where to begin. Entries of this very millisecond come again. */
  start?: Date | undefined;
  /** Entries, 1 to 1,000. Default 1,000. */
  limit?: number | undefined;
  /** `"backward"`, the newest first, unless told. */
  direction?: "forward" | "backward" | undefined;
  /** Only entries of this level and above. */
  level?: "debug" | "info" | "warn" | "error" | undefined;
  /** Only entries that hold this text. */
  search?: string | undefined;
}

/** An entry of a sandbox's log. */
export interface SandboxLogEntry {
  /** When it was written. */
  timestamp: Date;
  /** Such as `"info"` or `"error"`. */
  level: string;
  /** The line. */
  message: string;
  /** What belongs to it, by name. */
  fields: Record<string, string>;
}

/** Options of {@link Sandbox.pause}. */
export interface PauseOptions {
  /** Whether processes go on after resuming; `false` keeps the files alone. Default: the platform's, which is `true`. `e2b` and `agentbox`. */
  keepMemory?: boolean | undefined;
}

/** Options of {@link Sandbox.fork}. */
export interface ForkOptions {
  /** How many, 1 to 100. Default 1. */
  count?: number | undefined;
  /** How long each lives unless extended, in ms. Default 300,000. */
  timeoutMs?: number | undefined;
}

/** Options of {@link Sandbox.createSnapshot}. */
export interface SnapshotOptions {
  /** A name, with an optional `:tag`. */
  name?: string | undefined;
}

/** Options of {@link Sandbox.list}. */
export interface SandboxListOptions extends ConnectionOptions {
  /** Only sandboxes in one of these states. Default: running and paused. */
  status?: SandboxStatus | SandboxStatus[] | undefined;
  /** Only sandboxes with all of these labels. */
  metadata?: Record<string, string> | undefined;
  /** Sandboxes a page, 1 to 100. Default 100. */
  limit?: number | undefined;
  /** How many to skip first. Default 0. */
  offset?: number | undefined;
  /** Where to go on, from {@link SandboxPaginator.nextToken}. */
  nextToken?: string | undefined;
}

/** Pages of sandboxes. */
export class SandboxPaginator implements AsyncIterable<SandboxInfo> {
  private constructor();
  /** Whether another page may follow. `true` before the first. */
  readonly hasNext: boolean;
  /** Where the next page starts, where the platform has tokens. */
  readonly nextToken: string | undefined;
  /** The next page; an empty array after the last. */
  nextItems(options?: CallOptions): Promise<SandboxInfo[]>;
  /** Every sandbox on the remaining pages. */
  toArray(options?: CallOptions): Promise<SandboxInfo[]>;
  /** The sandboxes of the remaining pages, one by one. */
  [Symbol.asyncIterator](): AsyncIterator<SandboxInfo>;
}

/** Pages of snapshots. */
export class SnapshotPaginator implements AsyncIterable<SnapshotInfo> {
  private constructor();
  /** Whether another page may follow. `true` before the first. */
  readonly hasNext: boolean;
  /** Where the next page starts. */
  readonly nextToken: string | undefined;
  /** The next page; an empty array after the last. */
  nextItems(options?: CallOptions): Promise<SnapshotInfo[]>;
  /** Every snapshot on the remaining pages. */
  toArray(options?: CallOptions): Promise<SnapshotInfo[]>;
  /** The snapshots of the remaining pages, one by one. */
  [Symbol.asyncIterator](): AsyncIterator<SnapshotInfo>;
}

/**
 * A sandbox in the cloud, on your own platform or on this machine.
 *
 * @example
 * ```ts
 * const sandbox = await Sandbox.create("base", { apiUrl, sandboxUrl, apiKey });
 * const { stdout } = await sandbox.commands.run("echo hello");
 * await sandbox.kill();
 * ```
 */
export class Sandbox {
  private constructor();
  /**
   * Starts a sandbox and gives it once envd answers.
   * @throws {InvalidArgumentError} E0001 for a bad option, before any request
   * @throws {AuthenticationError} E1000, or {@link InvalidAPIKeyError} E1001 without a key or with one of a wrong form
   * @throws {TemplateNotFoundError} E2001
   * @throws {QuotaExceededError} E2002 when the platform allows no more sandboxes
   */
  static create(options?: SandboxCreateOptions): Promise<Sandbox>;
  static create(template: string, options?: SandboxCreateOptions): Promise<Sandbox>;
  /**
   * Gives a running sandbox, resuming it when paused and extending its life (`alibaba`: reads it only).
   * @throws {SandboxNotFoundError} E2009
   */
  static connect(sandboxId: string, options?: SandboxConnectOptions): Promise<Sandbox>;
  /** Builds a sandbox from what {@link Sandbox.handoff} gave, without a request. Calls that need an API key then throw E1001. */
  static attach(handoff: SandboxHandoff, options?: ConnectionOptions): Promise<Sandbox>;
  /** Reads what the control plane knows of a sandbox. Changes nothing. */
  static getInfo(sandboxId: string, options?: ConnectionOptions): Promise<SandboxInfo>;
  /** Pages of the account's sandboxes. */
  static list(options?: SandboxListOptions): SandboxPaginator;
  /** Ends a sandbox. `false` when there is none of that id. */
  static kill(sandboxId: string, options?: ConnectionOptions): Promise<boolean>;
  /** The same as {@link Sandbox.kill}. */
  static killById(sandboxId: string, options?: ConnectionOptions): Promise<boolean>;
  /** Sets how long a sandbox lives from now, in ms. */
  static setTimeout(sandboxId: string, timeoutMs: number, options?: ConnectionOptions): Promise<void>;
  /** {@link Sandbox.pause} of any sandbox. */
  static pause(sandboxId: string, options?: ConnectionOptions & PauseOptions): Promise<boolean>;
  /** {@link Sandbox.fork} of any sandbox. */
  static fork(sandboxId: string, options?: ConnectionOptions & ForkOptions): Promise<(Sandbox | SandboxError)[]>;
  /** {@link Sandbox.createSnapshot} of any sandbox. */
  static createSnapshot(sandboxId: string, options?: ConnectionOptions & SnapshotOptions): Promise<SnapshotInfo>;
  /** Pages of the account's snapshots. `e2b` and `agentbox`. */
  static listSnapshots(options?: SnapshotListOptions): SnapshotPaginator;
  /** Deletes a snapshot with all its tags. `false` when there is none of that id. `e2b` and `agentbox`. */
  static deleteSnapshot(snapshotId: string, options?: ConnectionOptions): Promise<boolean>;
  /** {@link Sandbox.getMetrics} of any sandbox. */
  static getMetrics(sandboxId: string, options?: ConnectionOptions & MetricsOptions): Promise<SandboxMetrics[]>;
  /** {@link Sandbox.logs} of any sandbox. */
  static logs(sandboxId: string, options?: ConnectionOptions & LogsOptions): Promise<SandboxLogEntry[]>;
  /** {@link Sandbox.updateNetwork} of any sandbox. */
  static updateNetwork(sandboxId: string, network: NetworkUpdate, options?: ConnectionOptions): Promise<void>;

  /** The id that the platform gave it. */
  readonly sandboxId: string;
  /** The same as `sandboxId`. */
  readonly id: string;
  /** The state as last read, or as `pause`, `resume` and `connect` left it; {@link Sandbox.refreshInfo} reads it anew. */
  readonly status: SandboxStatus;
  /**
   * What the control plane said last. Its answers to `connect` and the static `fork` have no labels: `metadata` is empty until
   * {@link Sandbox.refreshInfo}.
   */
  readonly info: SandboxInfo;
  /** envd's URL. */
  readonly url: string;
  /** What the template is known to have, such as `"shell"`, `"files"`, `"terminal"`, `"ports"`, `"code"`. The first answer about code cells corrects it. */
  readonly capabilities: ReadonlySet<string>;
  /** Running commands. Always the same object. */
  readonly commands: Commands;
  /** The file system. Always the same object. */
  readonly files: Files;
  /** Pseudo-terminals, one call at a time; {@link Sandbox.getTerminal} gives a session. Always the same object. */
  readonly pty: Pty;
  /** Hosts and URLs of the sandbox's ports. Always the same object. */
  readonly network: Network;

  /** Ends the sandbox. `false` when it was gone already. */
  kill(options?: CallOptions): Promise<boolean>;
  /**
   * Sets how long the sandbox lives from now, in ms: above 0, at most 86,400,000.
   * @throws {SandboxNotFoundError} E2009
   */
  setTimeout(timeoutMs: number, options?: CallOptions): Promise<void>;
  /**
   * Reads what the control plane knows. Changes nothing.
   * @throws {SandboxNotFoundError} E2009
   */
  getInfo(options?: CallOptions): Promise<SandboxInfo>;
  /** {@link Sandbox.getInfo}, and updates `info` and `status`. */
  refreshInfo(options?: CallOptions): Promise<SandboxInfo>;
  /**
   * Whether the sandbox runs. With an API key the control plane is asked, which wakes nothing; without one envd is.
   * @throws {UnreachableError} E5004 when neither can be read: never `false` for that
   */
  isRunning(options?: CallOptions): Promise<boolean>;
  /**
   * Stops the sandbox and keeps it. `false` when it was paused already, or cannot be now. It may take tens of seconds; open streams end.
   * @throws {SandboxNotFoundError} E2009
   */
  pause(options?: CallOptions & PauseOptions): Promise<boolean>;
  /**
   * Goes on with a paused sandbox, which then lives at least `timeoutMs` (default 300,000; not on `alibaba`) from now, and gives this very
   * object.
   * @throws {SandboxNotFoundError} E2009
   */
  resume(options?: CallOptions & { timeoutMs?: number }): Promise<this>;
  /** {@link Sandbox.resume}, also of a running sandbox; on `alibaba` it reads only. */
  connect(options?: CallOptions & { timeoutMs?: number }): Promise<this>;
  /**
   * Makes copies that go on from here. Each is a sandbox, or an error that says why there is none. Never retried. `e2b` and `agentbox`.
   * @throws {SandboxNotFoundError} E2009
   */
  fork(options?: CallOptions & ForkOptions): Promise<(Sandbox | SandboxError)[]>;
  /**
   * Keeps the sandbox as it is now, to start others from. Never retried. `e2b` and `agentbox`.
   * @throws {SandboxNotFoundError} E2009
   */
  createSnapshot(options?: CallOptions & SnapshotOptions): Promise<SnapshotInfo>;
  /** Pages of the snapshots of this sandbox. `e2b` and `agentbox`. */
  listSnapshots(options?: CallOptions & Pick<SnapshotListOptions, "name" | "limit" | "nextToken">): SnapshotPaginator;
  /**
   * What the sandbox used, over time. `e2b` and `agentbox`.
   * @throws {SandboxNotFoundError} E2009
   */
  getMetrics(options?: CallOptions & MetricsOptions): Promise<SandboxMetrics[]>;
  /** The sandbox's log. `e2b` and `agentbox`. */
  logs(options?: CallOptions & LogsOptions): Promise<SandboxLogEntry[]>;
  /** Sets what the sandbox may reach, at once and as a whole: whatever is left out is open. `e2b` and `agentbox`. */
  updateNetwork(network: NetworkUpdate, options?: CallOptions): Promise<void>;
  /** What another process or page needs to use this sandbox: its address and its own tokens, never the API key. */
  handoff(): SandboxHandoff;
  /**
   * Opens a shell in a terminal of its own and gives a session with ordered input, resize, flow control and an end.
   * @throws {SandboxNotFoundError} E2009 when the sandbox is gone
   */
  getTerminal(options?: TerminalOptions): Promise<TerminalSession>;
  /** The host of a port. On a path platform there is none: {@link InvalidArgumentError} names {@link Sandbox.getUrl}. */
  getHost(port: number): string;
  /** The URL of a port. */
  getUrl(port: number): string;
  /** A URL that reads a file, for `path` seen from envd; signed where the platform accepts it. */
  downloadUrl(path: string, options?: FileUrlOptions): string;
  /** A URL that writes a file by POST; signed where the platform accepts it. */
  uploadUrl(path?: string, options?: FileUrlOptions): string;
  /** Gives the sandbox up: disposing of this object no longer ends it. It goes on, and the object still answers. */
  close(): Promise<void>;
  /** Ends a sandbox that {@link Sandbox.create} made; closes one that connect or attach gave. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The same class under the name of the Python SDKs. */
export { Sandbox as AsyncSandbox };

/** Options of file URLs. */
export interface FileUrlOptions {
  /** The user in whose home relative paths start. */
  user?: string | undefined;
  /** The signature's life from now, in ms; rounded up to seconds. Default: it does not expire before the token does. */
  expiresInMs?: number | undefined;
}

/** Hosts and URLs of the sandbox's ports. Computed here, without a request. */
export class Network {
  private constructor();
  /** The host of a port. On a path platform there is none: {@link InvalidArgumentError} names {@link Network.getUrl}. */
  getHost(port: number): string;
  /**
   * The URL of a port.
   * @throws {InvalidArgumentError} E0001 for what is no port
   */
  getUrl(port: number): string;
  /** The headers that a request to a port needs, if any. */
  getAccessHeaders(): Record<string, string>;
}

/** A command: text for `/bin/bash -l -c`, or a program with its arguments and no shell in between. */
export type Command = string | readonly [program: string, ...args: string[]];

/** Options of everything that starts a process. */
export interface CommandOptions extends CallOptions {
  /** The working directory. Relative ones start at the user's home. */
  cwd?: string | undefined;
  /** The Linux user. */
  user?: string | undefined;
  /** Variables on top of the sandbox's own. */
  envs?: Record<string, string> | undefined;
  /**
   * How long the process may run, in ms; then it is killed. Default 60,000; 0 = no limit. Only the process itself is: clouds signal no
   * group, so what it started in the background goes on. `["timeout", "60", "bash", "-c", text]` ends those too.
   */
  timeoutMs?: number | undefined;
  /** Keeps stdin open for {@link Commands.sendInput}. Default `false`: stdin is empty. */
  stdin?: boolean | undefined;
  /**
   * Fed to stdin, which is then closed. A stream is read no faster than the process reads; when it fails, the process is killed and
   * the command rejects with the stream's error. Leave a buffer as it is until the command runs.
   */
  input?: string | Uint8Array | ReadableStream<Uint8Array | string> | undefined;
}

/** Options of {@link Commands.run}; `Data` is what output comes as. */
export interface RunOptions<Data = string> extends CommandOptions {
  /** Gives a {@link CommandHandle} as soon as the process runs. */
  background?: boolean | undefined;
  /**
   * Rejects with {@link ProcessError} when the exit code is not 0; in the background, `wait` of the handle does. Default: what the
   * sandbox was made with, else `false`.
   */
  check?: boolean | undefined;
  /** Whether output is kept for the result, up to 64 MiB a stream. Default `true`; `false` keeps nothing. */
  capture?: boolean | undefined;
  /** Called with each piece of stdout and awaited before the next is read. */
  onStdout?: ((data: Data) => void | Promise<void>) | undefined;
  /** Called with each piece of stderr and awaited before the next is read. */
  onStderr?: ((data: Data) => void | Promise<void>) | undefined;
}

/** How a finished command went. */
export interface CommandResult<Data = string> {
  /** Whether the exit code is 0. */
  readonly success: boolean;
  /** The exit code; -1 when a signal ended the process. */
  readonly exitCode: number;
  /** Standard output, up to 64 MiB; empty with `capture: false`. */
  readonly stdout: Data;
  /** The error output, up to 64 MiB; empty with `capture: false`. */
  readonly stderr: Data;
  /** Whether stdout or stderr was longer than what is kept (64 MiB a stream). */
  readonly truncated: boolean;
  /** Seconds from when the process was seen to run until its end was read. */
  readonly executionTime: number;
  /** The end in words when it was not a success, such as `signal: killed`. */
  readonly error?: string | undefined;
}

/** One piece of a command's output, or its end. */
export type ProcessChunk<Data = string> =
  | { readonly type: "stdout" | "stderr"; readonly data: Data }
  | { readonly type: "exit"; readonly exitCode: number; readonly error?: string | undefined };

/** A running process. */
export interface ProcessInfo {
  /** Its process id in the sandbox. */
  readonly pid: number;
  /** The program and its arguments, joined for people. */
  readonly command: string;
  /** The program. */
  readonly cmd: string;
  /** Its arguments. */
  readonly args: string[];
  /** The variables that it was started with on top of the sandbox's. */
  readonly envs: Record<string, string>;
  /** The working directory that it was started in, where one was named. */
  readonly cwd?: string | undefined;
  /** A name that its starter gave it. */
  readonly tag?: string | undefined;
}

/** An async iterable that can be given up, and read as a `ReadableStream`. */
export interface ChunkStream<T> extends AsyncIterable<T> {
  /** Stops reading and lets go of the connection. */
  cancel(): Promise<void>;
  /** The same chunks as a web stream, so that `new Response(stream.readable)` works where they are bytes. */
  readonly readable: ReadableStream<T>;
  /** The same as {@link ChunkStream.cancel}. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A command that runs. Iterating gives its chunks; leaving the loop early disconnects and lets the process go on. */
export interface CommandHandle<Data = string> extends ChunkStream<ProcessChunk<Data>> {
  /** The process id in the sandbox. */
  readonly pid: number;
  /** Reads to the end. With `check`, by default as the command was started with, a non-zero exit code rejects with {@link ProcessError}. */
  wait(
    options?: { check?: boolean; onStdout?: RunOptions<Data>["onStdout"]; onStderr?: RunOptions<Data>["onStderr"] } & CallOptions,
  ): Promise<CommandResult<Data>>;
  /** Ends the process with SIGKILL. `false` when it had ended. */
  kill(options?: CallOptions): Promise<boolean>;
  /** Stops listening; the process goes on. No callback is called any more. */
  disconnect(): Promise<void>;
  /** Sends to stdin, which must have been kept open. Calls are sent in the order they were made. */
  sendInput(data: string | Uint8Array, options?: CallOptions): Promise<void>;
  /** Ends stdin. */
  closeStdin(options?: CallOptions): Promise<void>;
}

/** Running commands. */
export class Commands {
  private constructor();
  /**
   * Runs a command to its end. Any exit code resolves; see `check`. Aborting kills the process.
   * @throws {CommandTimeoutError} E3001 when `timeoutMs` passed; the process is killed
   * @throws {SandboxConnectionError} E5001 when the connection was lost
   */
  run(
    command: Command,
    options: RunOptions<Uint8Array<ArrayBuffer>> & { output: "bytes"; background: true },
  ): Promise<CommandHandle<Uint8Array<ArrayBuffer>>>;
  run(
    command: Command,
    options: RunOptions<Uint8Array<ArrayBuffer>> & { output: "bytes" },
  ): Promise<CommandResult<Uint8Array<ArrayBuffer>>>;
  run(command: Command, options: RunOptions & { output?: "text"; background: true }): Promise<CommandHandle>;
  run(command: Command, options?: RunOptions & { output?: "text" }): Promise<CommandResult>;
  /** Streams a command's output; the process starts with the first step and is killed when the loop is left early. */
  stream(command: Command, options: CommandOptions & { output: "bytes" }): ChunkStream<ProcessChunk<Uint8Array<ArrayBuffer>>>;
  stream(command: Command, options?: CommandOptions & { output?: "text" }): ChunkStream<ProcessChunk>;
  /**
   * Starts a command and gives a handle once it runs.
   * @throws {InvalidArgumentError} E0001 when there is no such working directory or user
   */
  start(
    command: Command,
    options: Omit<RunOptions<Uint8Array<ArrayBuffer>>, "background"> & { output: "bytes" },
  ): Promise<CommandHandle<Uint8Array<ArrayBuffer>>>;
  start(command: Command, options?: Omit<RunOptions, "background"> & { output?: "text" }): Promise<CommandHandle>;
  /**
   * Listens to a process that runs. Earlier output is not repeated.
   * @throws {ExecutionError} E3000 when there is no such process
   */
  connect(pid: number, options: CallOptions & { output: "bytes" }): Promise<CommandHandle<Uint8Array<ArrayBuffer>>>;
  connect(pid: number, options?: CallOptions & { output?: "text" }): Promise<CommandHandle>;
  /** The processes that were started through envd and run. */
  list(options?: CallOptions): Promise<ProcessInfo[]>;
  /** Ends a process with SIGKILL. `false` when there is none of that pid. */
  kill(pid: number, options?: CallOptions): Promise<boolean>;
  /** Sends SIGTERM (15, the default) or SIGKILL (9). `false` when there is no such process. */
  sendSignal(pid: number, signal?: 15 | 9 | "SIGTERM" | "SIGKILL", options?: CallOptions): Promise<boolean>;
  /**
   * Sends to the stdin of a process started with `stdin: true`. Calls for one pid are sent in the order they were made.
   * @throws {ExecutionError} E3000 when there is no such process
   * @throws {EnvdRpcError} E3006 when its stdin is not open
   */
  sendInput(pid: number, data: string | Uint8Array, options?: CallOptions): Promise<void>;
  /** @deprecated The old name of {@link Commands.sendInput}. */
  sendStdin(pid: number, data: string | Uint8Array, options?: CallOptions): Promise<void>;
  /**
   * Ends the stdin of a process. A terminal has none to close: send `"\x04"` there.
   * @throws {ExecutionError} E3000 when there is no such process
   */
  closeStdin(pid: number, options?: CallOptions): Promise<void>;
}

/** What an entry is: of a link, what its target is; `symlink` is a broken link. */
export type FileType = "file" | "directory" | "symlink" | "other";

/** A file, directory or link. */
export interface EntryInfo {
  /** The last part of the path. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** What it is; of a link, what its target is. */
  readonly type: FileType;
  /** Bytes; of the link itself for links. Above 2^53 - 1 the nearest number there is: `Number.isSafeInteger` tells. */
  readonly size: number;
  /** Permission bits, 0 to 0o777. */
  readonly mode: number;
  /** The mode in letters, such as `-rw-r--r--`. */
  readonly permissions: string;
  /** The user it belongs to. */
  readonly owner: string;
  /** The group it belongs to. */
  readonly group: string;
  /** When its content last changed. */
  readonly modifiedTime?: Date | undefined;
  /** Present exactly for links: where it leads. */
  readonly symlinkTarget?: string | undefined;
  /** What was stored with the file. */
  readonly metadata?: Record<string, string> | undefined;
}

/** What a write made. */
export interface WriteInfo {
  /** The last part of the path. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** What it is: `"file"`. */
  readonly type: FileType;
}

/** Options of file calls. */
export interface FileOptions extends CallOptions {
  /** The user in whose home relative paths start and who owns what is made. */
  user?: string | undefined;
}

/** What can be written. */
export type FileData = string | Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array>;

/** Options of {@link Files.read}. */
export interface ReadOptions extends FileOptions {
  /** The first byte that is read. Default 0. A part that begins behind the end of the file is empty. */
  start?: number | undefined;
  /** The byte before which reading stops, as in `slice`. Default: the end of the file. */
  end?: number | undefined;
}

/** Options of {@link Files.write}. */
export interface WriteOptions extends FileOptions {
  /**
   * Writes beside the file and moves that into its place: readers see the old content or the new, and a failed write leaves the old.
   * A link is replaced, not followed. Default `false`.
   */
  atomic?: boolean | undefined;
  /** Sends the content compressed; what is stored is the same. Ignored below envd 0.5.7. Default `false`. */
  gzip?: boolean | undefined;
  /**
   * Labels to store with the file, in place of those it had; {@link EntryInfo.metadata} has them, keys in lower case. Printable ASCII,
   * keys without spaces, at most 4096 bytes with 9 more for each key.
   */
  metadata?: Record<string, string> | undefined;
}

/** How far a transfer is. */
export interface TransferProgress {
  /** Bytes so far, from 0 up to the size. Never falls. */
  readonly loaded: number;
  /** Bytes in all, where that is known. */
  readonly total?: number | undefined;
}

/** What a transfer tells while it is under way. */
export interface TransferOptions {
  /** Called at the start, at the end and, where that can be known, in between. Not awaited; what it throws or rejects with ends the transfer. */
  onProgress?: ((progress: TransferProgress) => void) | undefined;
}

/** Options of {@link Files.upload}. There is no request timeout unless `requestTimeoutMs` is given. */
export interface UploadOptions extends WriteOptions, TransferOptions {}

/** Options of {@link Files.download}. `requestTimeoutMs` is how long the answer may take to begin. */
export interface DownloadOptions extends FileOptions, TransferOptions {}

/** What can be uploaded; a handle is a `FileSystemFileHandle`, of the user's disk or of the origin's private file system. */
export type UploadSource = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | { getFile(): Promise<Blob> };

/** Where a download can go; a handle is a `FileSystemFileHandle`. */
export type DownloadTarget = WritableStream<Uint8Array> | { createWritable(): Promise<WritableStream> };

/** Options of {@link Files.watch}. */
export interface WatchOptions extends FileOptions {
  /** Whether directories below count too. Default `false`. */
  recursive?: boolean | undefined;
  /** Whether events have an {@link WatchEvent.entry}, where something stands at the path. Default `false`. */
  includeEntry?: boolean | undefined;
  /** Whether a directory on a network file system may be watched, where changes by others are not told. Default `false`: refused. */
  allowNetworkMounts?: boolean | undefined;
}

/** A change below a watched directory. */
export interface WatchEvent {
  /**
   * `gap`: the connection was lost and the directory is watched again; what happened meanwhile was not told, so look anew at what you
   * know of it. Its path is that of the watched directory.
   */
  readonly type: "created" | "modified" | "deleted" | "renamed" | "gap";
  /** The absolute path; of a rename, the one that went away (the new one follows as `created`). */
  readonly path: string;
  /** What stands there now, with `includeEntry` and where the server could look. */
  readonly entry?: EntryInfo | undefined;
}

/** The file system of a sandbox. Relative paths start at the user's home. */
export class Files {
  private constructor();
  /**
   * Reads a file.
   * @throws {FileNotFoundError} E4001
   * @throws {InvalidArgumentError} E0001 for a directory, an empty path or one with a NUL
   */
  read(path: string, options: ReadOptions & { format: "bytes" }): Promise<Uint8Array<ArrayBuffer>>;
  read(path: string, options: ReadOptions & { format: "blob" }): Promise<Blob>;
  read(path: string, options: ReadOptions & { format: "stream" }): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** As text, decoded as `encoding` says: any label that `TextDecoder` knows. Default `"utf-8"`. A byte order mark stays in front of it. */
  read(path: string, options?: ReadOptions & { format?: "text"; encoding?: string }): Promise<string>;
  /**
   * Reads a file's bytes.
   * @throws {FileNotFoundError} E4001
   */
  readBytes(path: string, options?: ReadOptions): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Writes a file, replacing what was there and making parent directories. Not atomic unless asked for. In a page, a stream is sent in
   * parts that the sandbox joins (where the platform cannot, or metadata or compression is asked for, it is collected first). When a
   * stream fails, the call rejects with the stream's own error; what was sent before may stay in the file, unless `atomic` is set. Bytes are
   * not copied: leave a buffer as it is until the promise has settled.
   * @throws {PermissionDeniedError} E4002
   * @throws {InvalidArgumentError} E0001 when a directory stands there, and for a locked stream, a chunk that is no `Uint8Array`, a detached
   * buffer or shared memory, a text with a lone surrogate, and a picked file that was changed or deleted on disk since
   */
  write(path: string, data: FileData, options?: WriteOptions): Promise<WriteInfo>;
  /** Writes several files, a few at a time. When one fails no other is begun; those that were written stay. */
  write(files: readonly { path: string; data: FileData }[], options?: WriteOptions): Promise<WriteInfo[]>;
  /**
   * Writes a file and tells how far it is: by XMLHttpRequest in pages, elsewhere by parts of 8 MiB that the sandbox joins; compressed,
   * with metadata, or where neither can be, only at the start and the end.
   * @throws {InvalidArgumentError} E0001 for a string: there are no local paths here
   */
  upload(source: UploadSource, path: string, options?: UploadOptions): Promise<WriteInfo>;
  /**
   * Reads a file into a `Blob`, or without holding it into a target. A stream is closed at the end; when the download fails it is
   * aborted, and a handle's file stays as it was.
   */
  download(path: string, target?: undefined, options?: DownloadOptions): Promise<Blob>;
  download(path: string, target: DownloadTarget, options?: DownloadOptions): Promise<void>;
  /** Reads a file and hands it to the browser's downloads, under its own name. In pages only. */
  download(path: string, target: "save", options?: DownloadOptions): Promise<void>;
  /**
   * Lists a directory. `depth` is how many levels, 1 or more (default 1).
   * @throws {FileNotFoundError} E4001
   * @throws {InvalidArgumentError} E0001 for what is no directory
   */
  list(path?: string, options?: FileOptions & { depth?: number }): Promise<EntryInfo[]>;
  /** Whether something stands at a path. Errors other than "not found" are thrown. */
  exists(path: string, options?: FileOptions): Promise<boolean>;
  /**
   * What stands at a path.
   * @throws {FileNotFoundError} E4001
   */
  getInfo(path: string, options?: FileOptions): Promise<EntryInfo>;
  /**
   * Makes a directory and its parents. `false` when it existed.
   * @throws {InvalidArgumentError} E0001 when something else stands there
   * @throws {PermissionDeniedError} E4002
   */
  makeDir(path: string, options?: FileOptions): Promise<boolean>;
  /**
   * Moves or renames. Never retried.
   * @throws {FileNotFoundError} E4001
   * @throws {FileOperationError} E4000 when a directory stands in the way
   */
  move(source: string, destination: string, options?: FileOptions): Promise<EntryInfo>;
  /** @deprecated The old name of {@link Files.move}. */
  rename(source: string, destination: string, options?: FileOptions): Promise<EntryInfo>;
  /**
   * Deletes a file or a directory with everything in it. A missing path is no error.
   * @throws {PermissionDeniedError} E4002
   */
  remove(path: string, options?: FileOptions): Promise<void>;
  /**
   * Watches a directory; resolves once the server has confirmed. When the connection is lost it is attached again with growing pauses
   * and a `gap` is told; the loop throws when that is of no use, as when the sandbox was paused or has ended.
   * @throws {FileNotFoundError} E4001
   * @throws {InvalidArgumentError} E0001 for what is no directory
   */
  watch(path: string, options?: WatchOptions): Promise<ChunkStream<WatchEvent>>;
  /** A URL that reads a file; see {@link Sandbox.downloadUrl}. */
  downloadUrl(path: string, options?: FileUrlOptions): string;
  /** A URL that writes a file; see {@link Sandbox.uploadUrl}. */
  uploadUrl(path?: string, options?: FileUrlOptions): string;
}

/** Options of {@link Pty.create}. */
export interface PtyOptions extends CallOptions {
  /** Columns. Default 80. */
  cols?: number | undefined;
  /** Rows. Default 24. */
  rows?: number | undefined;
  /** The program: `shell -i -l` for bash, sh and zsh, else the program alone. Default `/bin/bash`. */
  shell?: string | undefined;
  /** The working directory. Default: the user's home. */
  cwd?: string | undefined;
  /** The Linux user. */
  user?: string | undefined;
  /** TERM, LANG and LC_ALL are set for UTF-8 unless named here. */
  envs?: Record<string, string> | undefined;
  /** How long it may live, in ms. Default 0: no limit. */
  timeoutMs?: number | undefined;
}

/** A terminal's output, byte for byte. */
export interface PtyHandle extends ChunkStream<Uint8Array<ArrayBuffer>> {
  /** The shell's process id in the sandbox. */
  readonly pid: number;
  /** Reads to the end, dropping what is left of the output. */
  wait(options?: CallOptions): Promise<{ readonly exitCode: number; readonly error?: string | undefined }>;
  /** Ends the shell with SIGKILL. `false` when it had ended. */
  kill(options?: CallOptions): Promise<boolean>;
  /** Stops listening; the shell goes on. */
  disconnect(): Promise<void>;
  /** Types. Calls are sent in the order they were made. */
  sendInput(data: string | Uint8Array, options?: CallOptions): Promise<void>;
  /** Sets the size. */
  resize(size: { cols: number; rows: number }, options?: CallOptions): Promise<void>;
}

/** Pseudo-terminals. */
export class Pty {
  private constructor();
  /** Starts a shell in a new terminal. */
  create(options?: PtyOptions): Promise<PtyHandle>;
  /**
   * Listens to a terminal that runs.
   * @throws {ExecutionError} E3000 when there is no such process
   */
  connect(pid: number, options?: CallOptions): Promise<PtyHandle>;
  /** Ends the shell with SIGKILL. `false` when there is none of that pid. */
  kill(pid: number, options?: CallOptions): Promise<boolean>;
  /**
   * Types into a terminal. Calls for one pid are sent in the order they were made.
   * @throws {ExecutionError} E3000 when there is no such process
   */
  sendInput(pid: number, data: string | Uint8Array, options?: CallOptions): Promise<void>;
  /**
   * Sets a terminal's size.
   * @throws {ExecutionError} E3000 when there is no such process
   */
  resize(pid: number, size: { cols: number; rows: number }, options?: CallOptions): Promise<void>;
}

/** Options of {@link Sandbox.getTerminal}. */
export interface TerminalOptions extends PtyOptions {
  /** Attaches to the terminal of this pid instead of starting a shell; with `cols` or `rows`, it is set to that size and drawn anew. */
  pid?: number | undefined;
  /** What is put into the output where some may be missing since the connection was lost; `""` for nothing. Default: a line that says so. */
  gapMarker?: string | undefined;
}

/** Why a terminal session ended. */
export interface TerminalEnd {
  /**
   * `exited`: the shell ended; `killed`: by {@link TerminalSession.kill} or close; `detached`: the shell goes on; `paused`: the sandbox
   * was paused, and after {@link Sandbox.connect} a session with the same `pid` goes on; `lost`: the sandbox went away, or the
   * network did for longer than about ten minutes of trying. That a sandbox is paused can be told only with an API key.
   */
  readonly reason: "exited" | "killed" | "detached" | "paused" | "lost";
  /** When the shell ended by itself and its end was seen. */
  readonly exitCode?: number | undefined;
  /** When the reason is `paused` or `lost`. */
  readonly error?: SandboxError | undefined;
}

/**
 * A shell in a terminal. When the connection is lost, as after sleep, the session attaches to the same shell again, with growing
 * pauses; it marks the place in the output and has the terminal drawn anew.
 */
export class TerminalSession {
  private constructor();
  /** The shell's process id in the sandbox, for attaching to it again. */
  readonly pid: number;
  /** Whether output can come: not after the end, and not while the connection is lost. */
  readonly isConnected: boolean;
  /** Resolves when the session ends, with the reason. Never rejects. */
  readonly closed: Promise<TerminalEnd>;
  /** Types. Order is kept, one request is under way at a time, and what waits is joined. Resolves when the bytes were taken. */
  send(data: string | Uint8Array): Promise<void>;
  /** The next output, or `undefined` when `timeoutMs` passed first or the session ended. */
  receive(timeoutMs?: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Output until the end. Not reading slows the shell down instead of filling memory. */
  outputStream(): ChunkStream<Uint8Array<ArrayBuffer>>;
  /** Sets the size; several calls in a row are joined into the last. */
  resize(cols: number, rows: number): Promise<void>;
  /** Lets go; the shell goes on and can be attached to by its pid. */
  detach(): Promise<void>;
  /** Ends the shell with SIGKILL, also one that this session was detached from. `false` when it had ended. */
  kill(): Promise<boolean>;
  /** Ends a shell that this session started; detaches from one that it attached to. */
  close(): Promise<void>;
  /** The same as {@link TerminalSession.close}. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The root of every error of this package. */
export class SandboxError extends Error {
  /** Such as `"E4001"`. */
  readonly code: string;
  /** What to do about it. */
  readonly suggestion: string;
  /** The page of the guide on this code. */
  readonly docsUrl: string;
  /** The HTTP status, when an answer caused it. */
  readonly status?: number | undefined;
  /** What led to it: an error of the runtime, or what a server answered. */
  override readonly cause?: unknown;
  /** What a log needs, and what else the class has, such as `exitCode`; without `cause` and stack. */
  toJSON(): {
    name: string;
    code: string;
    message: string;
    suggestion: string;
    docsUrl: string;
    status?: number;
    [detail: string]: unknown;
  };
}
/** E0001: an argument or option is wrong. No request was made, unless the server said so. */
export class InvalidArgumentError extends SandboxError {}
/** E0002: the client itself failed; create a new one. */
export class PanicError extends SandboxError {}
/** E1000: the key or token was refused. */
export class AuthenticationError extends SandboxError {}
/** E1001: there is no API key, or one of a wrong form. */
export class InvalidAPIKeyError extends AuthenticationError {}
/** E1004: cloud key pairs cannot be exchanged for an API key. */
export class TokenExchangeError extends AuthenticationError {}
/** E2000: the sandbox could not be started. */
export class SandboxCreationError extends SandboxError {}
/** E2001: no such template. */
export class TemplateNotFoundError extends SandboxCreationError {}
/** E2002: the platform allows no more. */
export class QuotaExceededError extends SandboxCreationError {}
/** E2009: no such sandbox, or it is gone. */
export class SandboxNotFoundError extends SandboxError {}
/** E3000: running something failed. */
export class ExecutionError extends SandboxError {}
/** E3001: a command ran longer than its `timeoutMs` and was killed, or a code cell and was interrupted. */
export class CommandTimeoutError extends ExecutionError {
  /** What the command had written until then, as in {@link CommandResult}; absent for code cells and where output was read by a loop. */
  readonly stdout?: string | undefined;
  /** The error output until then. */
  readonly stderr?: string | undefined;
}
/** E3002: a command ended with a non-zero exit code and `check` was asked for. */
export class ProcessError extends ExecutionError {
  /** The exit code; -1 when a signal ended the process. */
  readonly exitCode: number;
  /** Standard output, as in {@link CommandResult}. */
  readonly stdout: string;
  /** The error output, as in {@link CommandResult}. */
  readonly stderr: string;
}
/** E3004: the sandbox has no such ability. */
export class CapabilityNotSupportedError extends SandboxError {}
/** E3006: envd answered with an error that has no class of its own. */
export class EnvdRpcError extends SandboxError {
  /** The Connect code, such as `"internal"`. */
  readonly rpcCode: string;
}
/** E4000: a file operation failed. */
export class FileOperationError extends SandboxError {}
/** E4001: no such file or directory. */
export class FileNotFoundError extends FileOperationError {}
/** E4002: the file may not be touched. */
export class PermissionDeniedError extends FileOperationError {}
/** E5000: the network failed. */
export class NetworkError extends SandboxError {}
/** E5001: the connection was lost, or could not be made. */
export class SandboxConnectionError extends NetworkError {}
/** E5002: no answer within `requestTimeoutMs`. */
export class RequestTimeoutError extends NetworkError {}
/** E5003: too many requests. */
export class RateLimitError extends SandboxError {
  /** When to try again, in ms, if the server said so. */
  readonly retryAfterMs?: number | undefined;
}
/** E5004: the sandbox is unreachable or not running; in a page a gateway's answer cannot be told apart from no network. */
export class UnreachableError extends NetworkError {}
/** The same classes under the names of the Python SDK. */
export { FileNotFoundError as FileNotFoundError_, SandboxConnectionError as ConnectionError_ };
/** E8004: the provider cannot do this. Thrown before any request. */
export class ProviderFeatureNotSupportedError extends CapabilityNotSupportedError {}

/**
 * Loads the WebAssembly module. Called by itself on first use; call it to choose the source or the moment.
 * Calls at the same time load once; a failed load can be tried again.
 * @param source a URL, a `Response`, the bytes or a compiled module. Default: the file beside the package's own.
 */
export function init(
  source?: string | URL | Request | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module | Promise<Response>,
): Promise<void>;
