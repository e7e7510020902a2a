/** A file or directory in a list: its name alone, also in a recursive one. Links count as files. */
export interface ServerFileEntry {
  /** Its name, without its directory. */
  readonly name: string;
  /** What it is; a link is a `file`. */
  readonly type: "file" | "directory";
  /** Bytes; of the link itself for links. */
  readonly size: number;
  /** When its content last changed. */
  readonly modified?: Date | undefined;
}

/** What stands at a path; of a link, its target. */
export interface ServerFileInfo {
  /** The last part of the path. */
  readonly name: string;
  /** The path with links resolved. */
  readonly path: string;
  /** What it is; `unknown` when there is nothing. */
  readonly type: "file" | "directory" | "unknown";
  /** Bytes; 0 when there is nothing. */
  readonly size: number;
  /** In octal, such as `"644"`; empty when there is nothing. */
  readonly permissions: string;
  /** When its content last changed. */
  readonly modified?: Date | undefined;
  /** When it was last read. */
  readonly accessed?: Date | undefined;
  /** When the entry was last changed: the server reads the ctime. */
  readonly created?: Date | undefined;
  /** Whether there is something. */
  readonly exists: boolean;
}

/** A change below a watched directory. A rename is a deletion and a creation; what comes and goes between two looks is not seen. */
export interface ServerWatchEvent {
  /** What happened. */
  readonly type: "created" | "modified" | "deleted";
  /** Where, absolute. */
  readonly path: string;
  /** Whether it is, or was, a directory. */
  readonly isDir: boolean;
}

/**
 * Files, through the server. Paths are best absolute; answers hold them with links resolved. Contents travel as base64 in JSON, whole: with
 * the server's usual limit of 10 MiB a request, uploads end at about 7.8 MB.
 */
export class ServerFiles {
  private constructor();
  /** Lists a directory, or with `recursive` three levels of it, flat. */
  list(path: string, options?: CallOptions & { recursive?: boolean; maxEntries?: number }): Promise<ServerFileEntry[]>;
  /** What stands at a path. Where nothing does, `exists` is `false`. */
  stat(path: string, options?: CallOptions): Promise<ServerFileInfo>;
  /** Whether something stands at a path. */
  exists(path: string, options?: CallOptions): Promise<boolean>;
  /** Makes a directory and its parents. `created` is `true` also where it existed. */
  mkdir(path: string, options?: CallOptions): Promise<{ readonly path: string; readonly created: boolean }>;
  /** Deletes a file, or a directory with everything in it; of a link, its target. */
  delete(path: string, options?: CallOptions): Promise<{ readonly path: string; readonly deleted: boolean }>;
  /** Moves. Into an existing directory it moves inside, and `destination` is still that directory. */
  move(
    source: string,
    destination: string,
    options?: CallOptions,
  ): Promise<{ readonly source: string; readonly destination: string }>;
  /** Finds files by name; `pattern` is a glob for names alone. */
  search(
    path: string,
    pattern: string,
    options?: CallOptions & { maxDepth?: number; maxResults?: number },
  ): Promise<{ readonly results: readonly { readonly name: string; readonly path: string }[]; readonly timedOut: boolean }>;
  /** Packs files and directories. */
  archive(
    paths: string[],
    format?: "tar.gz" | "zip",
    options?: CallOptions,
  ): Promise<{ readonly data: Uint8Array; readonly format: string; readonly size: number }>;
  /** Changes below a directory, until `timeoutMs` (default 300,000, and at most that). The server looks every `intervalMs` (default 500, 100 to 5,000). */
  watch(
    path: string,
    options?: CallOptions & { recursive?: boolean; intervalMs?: number; timeoutMs?: number },
  ): ChunkStream<ServerWatchEvent>;
  /** The changes of the next `durationMs`. */
  watchFor(
    path: string,
    durationMs: number,
    options?: CallOptions & { recursive?: boolean; intervalMs?: number },
  ): Promise<ServerWatchEvent[]>;
  /**
   * Writes a file, making parent directories. Not atomic. The server takes no empty contents: E0001.
   * @throws {PayloadTooLargeError} E9004
   */
  upload(
    path: string,
    data: string | Uint8Array | ArrayBuffer | Blob,
    options?: CallOptions,
  ): Promise<{ readonly path: string; readonly size: number }>;
  /** Reads a file's bytes. */
  download(path: string, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** Reads a file as text; `encoding` is any that `TextDecoder` knows. Default `"utf-8"`; bytes that are none are an error. */
  readText(path: string, encoding?: string, options?: CallOptions): Promise<string>;
  /** Uploads a `File` or `Blob`. */
  uploadFile(file: Blob, remotePath: string, options?: CallOptions): Promise<{ readonly path: string; readonly size: number }>;
  /** Downloads into a file handle or a stream, or gives a `Blob`. */
  downloadFile(remotePath: string, options?: CallOptions): Promise<Blob>;
  downloadFile(remotePath: string, target: DownloadTarget, options?: CallOptions): Promise<number>;
  /** @throws {EndpointNotAvailableError} E9003, always: this server has no such endpoint. Use {@link ServerFiles.upload}. */
  uploadLegacy(path: string, data: string | Uint8Array): Promise<never>;
  /** @throws {EndpointNotAvailableError} E9003, always: this server has no such endpoint. Use {@link ServerFiles.download}. */
  downloadLegacy(path: string): Promise<never>;
}

/** Options of everything that runs a command through the server. There is no shell in between: `|`, `>`, `$X` and `*` are plain text. */
export interface ServerCommandOptions extends CallOptions {
  /** The working directory. Default: the server's own. */
  cwd?: string | undefined;
  /** Variables on top of the server's own. */
  envs?: Record<string, string> | undefined;
  /** How long the command may run, in ms. Default 300,000. Only the command itself is killed then, not what it started. */
  timeoutMs?: number | undefined;
}

/** How a command went. */
export interface ShellResult {
  /** Standard output. */
  readonly stdout: string;
  /** The error output. */
  readonly stderr: string;
  /** Negative when a signal ended it: minus its number. */
  readonly exitCode: number;
  /** Whether output was cut at the server's limit. */
  readonly truncated: boolean;
}

/** A line of output without its line feed, the end, or what went wrong. */
export type ServerShellEvent =
  | { readonly event: "stdout" | "stderr"; readonly data: string }
  | { readonly event: "exit"; readonly exitCode: number }
  | { readonly event: "error"; readonly error: "timeout" | "output_limit" | (string & {}) };

/** A background process that the server started. */
export interface ServerProcess {
  /** Its process id. */
  readonly pid: number;
  /** The command line it was started with. */
  readonly command: string;
  /** Whether it runs. */
  readonly state: "running" | "exited" | (string & {});
  /** When it was started. */
  readonly startedAt?: Date | undefined;
  /** Once it has ended: its exit code, or minus the number of the signal that ended it. */
  readonly exitCode?: number | undefined;
}

/** A piece of a background process's output. */
export interface ProcessOutputEvent {
  /** Its place in the output, for `since`. */
  readonly seq: number;
  /** Where it was written. */
  readonly stream: "stdout" | "stderr";
  /** What was written. */
  readonly data: string;
}

/** What a background process wrote since. */
export interface ProcessOutput {
  /** The process. */
  readonly pid: number;
  /** The pieces, in order. */
  readonly events: readonly ProcessOutputEvent[];
  /** Where to go on, for `since`. */
  readonly next: number;
  /** Whether the process runs. */
  readonly state: "running" | "exited" | (string & {});
  /** Once it has ended. */
  readonly exitCode?: number | undefined;
  /** Whether output was dropped at some time because nobody fetched it. */
  readonly dropped: boolean;
}

/** A signal that the server sends. */
export type ServerSignal = 2 | 9 | 15 | 18 | 20 | "SIGINT" | "SIGKILL" | "SIGTERM" | "SIGCONT" | "SIGTSTP";

/** Commands and background processes, through the server. */
export class ServerProcesses {
  private constructor();
  /**
   * Runs a command to its end. CR LF and CR in its output become LF; output that is no UTF-8 is an error of the server.
   * @throws {CommandTimeoutError} E3001
   */
  shell(command: string, options?: ServerCommandOptions): Promise<ShellResult>;
  /** Runs a command and gives its output line by line. Leaving the loop early does not end the command. */
  shellStream(command: string, options?: ServerCommandOptions): ChunkStream<ServerShellEvent>;
  /**
   * {@link ServerProcesses.shellStream}, collected. Every line of the result ends with a line feed.
   * @throws {CommandTimeoutError} E3001
   * @throws {PayloadTooLargeError} E9004 when the output met the server's limit
   */
  runStream(
    command: string,
    options?: ServerCommandOptions & { onStdout?: (line: string) => void; onStderr?: (line: string) => void },
  ): Promise<ShellResult>;
  /** Starts a background process. It outlives the server. */
  start(
    command: string,
    options?: CallOptions & { cwd?: string; envs?: Record<string, string>; captureOutput?: boolean; stdin?: boolean },
  ): Promise<ServerProcess>;
  /** The background processes that run. The server forgets those that have ended when it is asked this. */
  list(options?: CallOptions): Promise<ServerProcess[]>;
  /** @throws {ServerAPIError} E9000 with `statusCode` 404 for one that the server does not know or has forgotten */
  get(pid: number, options?: CallOptions): Promise<ServerProcess>;
  /** Sends a signal, SIGTERM by default. */
  signal(pid: number, signal?: ServerSignal, options?: CallOptions): Promise<{ readonly pid: number; readonly signal: number }>;
  /** Sends SIGTERM. */
  terminate(pid: number, options?: CallOptions): Promise<{ readonly pid: number; readonly signal: number }>;
  /** Sends SIGKILL. */
  kill(pid: number, options?: CallOptions): Promise<{ readonly pid: number; readonly signal: number }>;
  /** Writes to the stdin of a process started with `stdin`. The call ends when the program has read enough. */
  sendStdin(
    pid: number,
    data: string | Uint8Array,
    options?: CallOptions & { eof?: boolean },
  ): Promise<{ readonly pid: number; readonly written: number; readonly closed: boolean }>;
  /** Ends stdin. */
  closeStdin(
    pid: number,
    options?: CallOptions,
  ): Promise<{ readonly pid: number; readonly written: number; readonly closed: boolean }>;
  /** Output of a process started with `captureOutput`. With `waitMs` (at most 30,000) the server waits for some. */
  output(pid: number, options?: CallOptions & { since?: number; waitMs?: number }): Promise<ProcessOutput>;
  /** Output until the process has ended. Each question waits `pollMs` for it (default 5,000). */
  follow(pid: number, options?: CallOptions & { since?: number; pollMs?: number }): ChunkStream<ProcessOutputEvent>;
  /**
   * Waits for the end and gives the exit code; `undefined` when the server forgot it before it could be read. Looks every `pollMs` (default 1,000).
   * @throws {CommandTimeoutError} E3001 when `timeoutMs` passed first; the process goes on
   */
  wait(pid: number, options?: CallOptions & { timeoutMs?: number; pollMs?: number }): Promise<number | undefined>;
}

/** A terminal of the server. */
export interface PtySessionInfo {
  /** Its id, for {@link ServerPty.connect}. */
  readonly id: string;
  /** The shell's process id. */
  readonly pid?: number | undefined;
  /** When it was made. */
  readonly createdAt?: Date | undefined;
  /** Columns. */
  readonly cols: number;
  /** Rows. */
  readonly rows: number;
  /** Whether the shell runs. */
  readonly alive: boolean;
}

/** A terminal that was made. */
export interface PtyCreated {
  /** Its id, for {@link ServerPty.connect}. */
  readonly sessionId: string;
  /** The shell's process id. */
  readonly pid?: number | undefined;
  /** What the server calls its URL. It is wrong behind gateways and on other ports: {@link ServerPty.connect} does not use it. */
  readonly wsUrl: string;
}

/** What a terminal sends. */
export type PtyMessage =
  | { readonly type: "output"; readonly data: string }
  | {
      readonly type: "event";
      readonly event: "started" | "exited" | (string & {});
      readonly sessionId: string;
      readonly pid?: number | undefined;
    };

/** Terminals, through the server. */
export class ServerPty {
  private constructor();
  /** Starts a shell in a new terminal: `shell` (default `/bin/bash`), `cols` (80), `rows` (24). */
  create(
    options?: CallOptions & { shell?: string; cols?: number; rows?: number; envs?: Record<string, string> },
  ): Promise<PtyCreated>;
  /** The terminals that there are. */
  list(options?: CallOptions): Promise<PtySessionInfo[]>;
  /** One terminal. */
  get(sessionId: string, options?: CallOptions): Promise<PtySessionInfo>;
  /** Sets a terminal's size: columns and rows from 1 to 1,000. */
  resize(sessionId: string, cols: number, rows: number, options?: CallOptions): Promise<PtySessionInfo>;
  /** Ends a terminal, and this client's connections to it first. Takes three seconds for an idle shell. */
  delete(sessionId: string, options?: CallOptions): Promise<void>;
  /**
   * Attaches to a terminal over WebSocket; resolves when the server has confirmed. Two clients on one terminal share its output: each gets a
   * part. In a page the token travels in the URL, since browsers send no headers with WebSockets.
   * @throws {ServerAuthError} E9001
   * @throws {PolicyDeniedError} E9002
   * @throws {ServerAPIError} E9000 with `statusCode` 404 for an unknown session
   * @throws {CapabilityNotSupportedError} E3004 where there is no WebSocket; it names the option `webSocket`
   */
  connect(sessionId: string, options?: CallOptions): Promise<PtyConnection>;
}

/**
 * A terminal that is attached. Iterating gives its messages, until the shell has exited or the connection is closed.
 *
 * The server stops for everybody when it cannot write to one terminal, so input is paced: messages of at most 4 kB, and at most 8 kB ahead of
 * the output that comes back. What is more waits for output, and is refused when none comes: long texts for a program without echo are better
 * written to a file. A program that writes all the time and reads nothing can still stop the server. Bytes of characters that the server cut arrive as U+FFFD: it decodes each piece of output by itself.
 */
export class PtyConnection implements AsyncIterable<PtyMessage> {
  private constructor();
  /** The terminal's id. */
  readonly sessionId: string;
  /** The shell's process id. */
  readonly pid: number | undefined;
  /** Whether it is attached. */
  readonly isConnected: boolean;
  /** Resolves when the connection has ended: with the error when it was lost, else `undefined`. */
  readonly closed: Promise<SandboxError | undefined>;
  /**
   * Types. Order is kept. Resolves when everything was sent.
   * @throws {PayloadTooLargeError} E9004 when the program did not read within `timeoutMs` (default 10,000); the message says how much was sent
   */
  send(data: string, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<void>;
  /** Types bytes, which must be UTF-8; a character may be cut between two calls. Else E0001: the server takes text alone. */
  sendBytes(data: Uint8Array, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<void>;
  /** Sets the size: columns and rows from 1 to 1,000. */
  resize(cols: number, rows: number): Promise<void>;
  /** Signals the shell's own process group. Ctrl-C for what runs in it is `send("\x03")`. */
  signal(name?: "SIGINT" | "SIGTERM" | "SIGKILL" | "SIGHUP" | "SIGQUIT"): Promise<void>;
  /** The next message; `undefined` when `timeoutMs` passed first, or the connection has ended well. */
  receive(timeoutMs?: number): Promise<PtyMessage | undefined>;
  /**
   * Reads until `text` has appeared in the output, and gives all output read by this call.
   * @throws {CommandTimeoutError} E3001 when it does not appear within `timeoutMs` (default 10,000)
   */
  expect(text: string, timeoutMs?: number): Promise<string>;
  /** Lets go; the shell goes on. Resolves when the server has read what was sent, after two seconds at most. */
  close(): Promise<void>;
  /** The messages, until the end. */
  [Symbol.asyncIterator](): AsyncIterator<PtyMessage>;
  /** The same as {@link PtyConnection.close}. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the server knows of its machine. */
export interface SystemInfo {
  /** The operating system, such as `Linux`. */
  readonly os: string;
  /** The processor's architecture, such as `x86_64`. */
  readonly arch: string;
  /** Processors. */
  readonly cpuCount: number;
  /** MiB. */
  readonly memoryTotalMb: number;
  /** MiB. */
  readonly memoryAvailableMb: number;
  /** GiB. */
  readonly diskTotalGb: number;
  /** GiB. */
  readonly diskFreeGb: number;
  /** Of the Python that runs the server. */
  readonly pythonVersion: string;
  /** The machine's name. */
  readonly hostname: string;
}

/** How busy the machine is. */
export interface SystemMetrics {
  /** Processes that ran or waited for a processor, averaged over a minute. */
  readonly cpuLoad1m: number;
  /** The same over five minutes. */
  readonly cpuLoad5m: number;
  /** The same over fifteen minutes. */
  readonly cpuLoad15m: number;
  /** MiB. */
  readonly memoryUsedMb: number;
  /** MiB. */
  readonly memoryTotalMb: number;
  /** 0 to 100. */
  readonly memoryPercent: number;
  /** GiB. */
  readonly diskUsedGb: number;
  /** GiB. */
  readonly diskTotalGb: number;
  /** 0 to 100. */
  readonly diskPercent: number;
  /** Of the server's process. */
  readonly uptimeSeconds: number;
}

/** A port on which something listens. */
export interface ListeningPort {
  /** Its number. */
  readonly port: number;
  /** Over IPv4 or IPv6. */
  readonly protocol: "tcp" | "tcp6" | (string & {});
  /** The address it listens on. */
  readonly address: string;
  /** The process that listens, where that can be seen. */
  readonly pid?: number | undefined;
}

/** The machine behind the server. */
export class ServerSystem {
  private constructor();
  /** What machine it is. */
  info(options?: CallOptions): Promise<SystemInfo>;
  /** How busy it is. */
  metrics(options?: CallOptions): Promise<SystemMetrics>;
  /** Variables, all or those named. The server hides names that look secret. */
  env(names?: string[], options?: CallOptions): Promise<Record<string, string>>;
  /** Sets variables of processes started later; gives their names. */
  setEnv(vars: Record<string, string>, options?: CallOptions): Promise<string[]>;
  /** The ports on which something listens. */
  ports(options?: CallOptions): Promise<ListeningPort[]>;
  /** Installed packages of `pip` (the default) or `npm`. Can take ten seconds. */
  packages(
    manager?: "pip" | "npm",
    options?: CallOptions,
  ): Promise<{ readonly manager: string; readonly packages: readonly { readonly name: string; readonly version: string }[] }>;
}

/** Code and git, through the server. Off unless the policy turns the group `dev_tools` on. */
export class ServerDevtools {
  private constructor();
  /**
   * Runs code in a process of its own; nothing is kept between calls. `timeoutMs` is sent in whole seconds, rounded up.
   * @throws {CommandTimeoutError} E3001
   */
  runCode(
    code: string,
    language?: "python" | "node" | "bash",
    options?: CallOptions & { timeoutMs?: number },
  ): Promise<{
    readonly stdout: string;
    readonly stderr: string;
    readonly exitCode: number;
    readonly language: string;
    readonly executionTimeMs: number;
  }>;
  /** The branch of a repository and what has changed in it. `path` is its directory. */
  gitStatus(
    path?: string,
    options?: CallOptions,
  ): Promise<{
    readonly branch: string;
    readonly clean: boolean;
    readonly files: readonly { readonly path: string; readonly status: string }[];
  }>;
  /** The changes of a repository, or of one file, as a patch; with `staged`, those that are staged. */
  gitDiff(
    path?: string,
    options?: CallOptions & { staged?: boolean; file?: string },
  ): Promise<{
    readonly diff: string;
    readonly stats: { readonly filesChanged: number; readonly insertions: number; readonly deletions: number };
  }>;
}

/**
 * A browser beside the server. Off unless the policy turns the group `browser` on. This release of the server answers the first call after
 * its start and none after that: later ones fail with `errorType` `TargetClosedError`.
 */
export class ServerBrowser {
  private constructor();
  /** Opens a page. */
  navigate(
    url: string,
    options?: CallOptions & { waitUntil?: "load" | "domcontentloaded" | "networkidle" | "commit"; timeoutMs?: number },
  ): Promise<{ readonly url: string; readonly title: string; readonly status: number }>;
  /** A picture as PNG or JPEG. */
  screenshot(
    options?: CallOptions & { selector?: string; fullPage?: boolean; format?: "png" | "jpeg" },
  ): Promise<Uint8Array<ArrayBuffer>>;
  /** The page as HTML, or its text. */
  content(
    type?: "html" | "text",
    options?: CallOptions,
  ): Promise<{ readonly content: string; readonly url: string; readonly title: string }>;
  /** Clicks the first element that the CSS selector finds. */
  click(
    selector: string,
    options?: CallOptions & { timeoutMs?: number },
  ): Promise<{ readonly clicked: boolean; readonly selector: string }>;
  /** Types into the first element that the CSS selector finds, with `clear` in place of what it held. */
  type(
    selector: string,
    text: string,
    options?: CallOptions & { clear?: boolean; delayMs?: number },
  ): Promise<{ readonly typed: boolean; readonly selector: string; readonly text: string }>;
  /** Evaluates JavaScript in the page. NaN and Infinity come back as such. */
  evaluate<T = unknown>(script: string, options?: CallOptions & { timeoutMs?: number }): Promise<T>;
  /** The page as PDF. */
  pdf(options?: CallOptions & { format?: string; landscape?: boolean }): Promise<Uint8Array<ArrayBuffer>>;
  /** Lines of the page's console since the last call. */
  console(options?: CallOptions): Promise<{ readonly type: string; readonly text: string; readonly timestamp?: unknown }[]>;
}

/** A named command. */
export interface ServerCommand {
  /** Its name, for {@link ServerCommands.run}. */
  readonly name: string;
  /** What it does, in words. */
  readonly description: string;
  /** Its arguments. */
  readonly args: readonly {
    readonly name: string;
    readonly type: "string" | "integer" | "float" | "boolean" | "string_array" | (string & {});
    readonly required: boolean;
    /** The default as Python writes it. */
    readonly default?: string | undefined;
    readonly description: string;
  }[];
}

/** Named commands: Python functions registered with the server. */
export class ServerCommands {
  private constructor();
  /** The commands that this identity may call, without hidden ones. */
  list(options?: CallOptions): Promise<ServerCommand[]>;
  /**
   * Calls a command. Leave arguments out rather than sending `null`. The result is what the function returned; NaN and Infinity come back as such,
   * whole numbers above 2^53 lose digits.
   * @throws {CommandNotFoundError} E3005
   * @throws {CommandArgumentError} E9000 when the arguments do not fit
   * @throws {CommandExecutionError} E9000 when the function failed
   */
  run<T = unknown>(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<T>;
}
