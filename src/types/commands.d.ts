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
  onStdout?: ((data: Data) => unknown) | undefined;
  /** Called with each piece of stderr and awaited before the next is read. */
  onStderr?: ((data: Data) => unknown) | undefined;
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
  /** An empty object: what it holds is no text. */
  toJSON(): Record<string, never>;
}
