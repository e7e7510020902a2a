// Terminals through the server.
import { makeError } from "../../js/errors.js";
import { disposable, makeStream } from "../../js/stream.js";
import { camel } from "./answers.js";
import { define, fields, Group, linkOf, pause } from "./link.js";

export class ServerPty extends Group {
  connect(sessionId, options) {
    return linkOf(this).attach(sessionId, options);
  }

  async delete(sessionId, options) {
    const link = linkOf(this);
    link.capabilities?.require("pty_delete_session");
    // The server forgets that the terminal's descriptor is closed: what is still typed goes into whichever connection gets its number.
    await link.detach(sessionId);
    await link.call("pty_delete_session", fields(options, { sessionId }));
  }
}

define(ServerPty, "pty.", {
  create: ["pty_create_session", [], camel],
  list: ["pty_list_sessions", [], (answer) => camel(answer.sessions ?? [])],
  get: ["pty_detail", ["sessionId"], camel],
  resize: ["pty_resize", ["sessionId", "cols", "rows"], camel],
  delete: "pty_delete_session",
  connect: "pty_connect",
});

/** What programs need to know of the terminal, unless the caller says otherwise. */
const TERMINAL_ENVS = { TERM: "xterm-256color", LANG: "C.UTF-8", LC_ALL: "C.UTF-8" };

/** How much unread output is held, in bytes, before the connection has to hold it. */
const HELD = 256 * 1024;

/** How long the end of a shell that was killed is waited for, in ms. */
const KILL_WAIT = 2000;

/** Opens a terminal of a server with the interface of `TerminalSession`. */
export async function openTerminal(client, options) {
  const { server = client, sessionId, shell, cols, rows, envs, signal, requestTimeoutMs } = options;
  for (const name of ["cwd", "user", "pid", "timeoutMs"]) {
    if (options[name] !== undefined) {
      throw makeError(
        "InvalidArgumentError",
        `A terminal over WebSocket has no ${name}.`,
        "Leave it out, or use the other transport.",
        {},
      );
    }
  }
  const call = { signal, requestTimeoutMs };
  const created =
    sessionId === undefined
      ? await server.pty.create({ ...call, shell, cols, rows, envs: { ...TERMINAL_ENVS, ...envs } })
      : undefined;
  const id = created?.sessionId ?? sessionId;
  try {
    if (!created && (cols ?? rows) !== undefined) await server.pty.resize(id, cols ?? 80, rows ?? 24, call);
    return new ServerTerminal(server, await server.pty.connect(id, call), created !== undefined);
  } catch (error) {
    // Nobody else knows of the shell.
    if (created) server.pty.delete(id).catch(() => {});
    throw error;
  }
}

class ServerTerminal {
  #server;
  #connection;
  #owned;
  #output = [];
  #held = 0;
  #killed = false;
  #end;
  #closed;
  #resolveClosed;
  #waiting = new Set();

  constructor(server, connection, owned) {
    this.#server = server;
    this.#connection = connection;
    this.#owned = owned;
    this.#closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#read();
  }

  async #read() {
    const encoder = new TextEncoder();
    try {
      for await (const message of this.#connection) {
        if (message.type !== "output") continue;
        const bytes = encoder.encode(message.data);
        this.#output.push(bytes);
        this.#held += bytes.length;
        this.#wake();
        while (this.#held >= HELD && !this.#end && !this.#killed) await this.#woken();
      }
      this.#finish({ reason: this.#killed ? "killed" : "exited" });
    } catch (error) {
      this.#finish({ reason: "lost", error });
    }
  }

  #wake() {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  #woken() {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #finish(end) {
    if (this.#end) return;
    this.#end = end;
    this.#connection.close();
    this.#resolveClosed(end);
    this.#wake();
  }

  #pop() {
    const bytes = this.#output.shift();
    if (bytes) {
      this.#held -= bytes.length;
      this.#wake();
    }
    return bytes;
  }

  get pid() {
    return this.#connection.pid;
  }

  get sessionId() {
    return this.#connection.sessionId;
  }

  get isConnected() {
    return this.#end === undefined;
  }

  get closed() {
    return this.#closed;
  }

  send(data) {
    return typeof data === "string" ? this.#connection.send(data) : this.#connection.sendBytes(data);
  }

  async receive(timeoutMs) {
    let passed = false;
    let timer;
    try {
      for (;;) {
        const bytes = this.#pop();
        if (bytes || this.#end || passed) return bytes;
        const woken = this.#woken();
        timer ??=
          timeoutMs === undefined
            ? undefined
            : setTimeout(() => {
                passed = true;
                this.#wake();
              }, timeoutMs);
        await woken;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  outputStream() {
    let cancelled = false;
    const next = async () => {
      while (!cancelled) {
        const bytes = this.#pop();
        if (bytes || this.#end) return bytes;
        await this.#woken();
      }
      return undefined;
    };
    const cancel = () => {
      cancelled = true;
      this.#wake();
    };
    return makeStream({ take: () => (cancelled ? undefined : this.#pop()), next, cancel, leave: cancel });
  }

  resize(cols, rows) {
    return this.#connection.resize(cols, rows);
  }

  async detach() {
    this.#finish({ reason: "detached" });
    await this.#connection.close();
  }

  async kill() {
    if (this.#end || this.#killed) return false;
    await this.#connection.signal("SIGKILL");
    this.#killed = true;
    this.#wake();
    // When its end has come back, nothing is on its way into the terminal any more, nor out of it.
    const waited = new AbortController();
    await Promise.race([this.#closed, pause(KILL_WAIT, waited.signal)]);
    waited.abort();
    this.#finish({ reason: "killed" });
    try {
      await this.#server.pty.delete(this.sessionId);
    } catch (error) {
      // The server forgets a shell that has ended when it is next asked about terminals.
      if (error?.statusCode !== 404) throw error;
    }
    return true;
  }

  async close() {
    if (this.#owned) await this.kill();
    else await this.detach();
  }

  async __dispose() {
    await this.close();
  }
}

/** Makes the terminals here instances of the class that callers know, and connections disposable before there is one. */
export function bindTerminals(TerminalSession, PtyConnection) {
  Object.setPrototypeOf(ServerTerminal.prototype, TerminalSession.prototype);
  disposable(Object.create(PtyConnection.prototype));
}
