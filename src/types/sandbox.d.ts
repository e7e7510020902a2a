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
 *
 * Its objects are made by {@link Sandbox.create}, {@link Sandbox.connect} and {@link Sandbox.attach}, not by `new`, and not of a class that
 * extends it: these three then reject with {@link InvalidArgumentError} (E0001). Keep a sandbox in an object of your own instead.
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
  /** {@link Sandbox.fork} of any sandbox. The `info.metadata` of its copies is empty until {@link Sandbox.refreshInfo}. */
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
  /** What printing and JSON show: no URL, no token. */
  toJSON(): { sandboxId: string; status: SandboxStatus; template: string };
}

/** The same class under the name of the Python SDKs. */
export { Sandbox as AsyncSandbox };
