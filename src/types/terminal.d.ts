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
  /** An empty object: what it holds is no text. */
  toJSON(): Record<string, never>;
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
  /** Ends the shell with SIGKILL. */
  kill(): Promise<boolean>;
  /** Ends a shell that this session started; detaches from one that it attached to. */
  close(): Promise<void>;
  /** The same as {@link TerminalSession.close}. */
  [Symbol.asyncDispose](): Promise<void>;
  /** What printing and JSON show. */
  toJSON(): { pid: number };
}
