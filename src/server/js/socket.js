// WebSockets of any maker: a browser's, a runtime's, or one that the caller gave.
import { runtimeKind } from "../../js/runtime.js";

const SERVER_RUNTIME = 1;

/** How long a close waits for the server to confirm it, in ms. */
const CLOSE_WAIT = 2000;

/** What WebSocket calls an open connection. */
const OPEN = 1;

/** Which terminal a URL names. */
const SESSION = /session_id=[^&]*/;

/**
 * Opens a socket; undefined where there is no constructor, null when it could not be made. Runtimes on servers send headers with it,
 * browsers and edge workers cannot: there the token goes into the URL.
 */
export function openSocket(own, url, headers, token, protocols, onText, onClose) {
  const Socket = own ?? globalThis.WebSocket;
  if (Socket === undefined) return undefined;
  const open = (whole, ...more) => {
    const make = (to) => new Socket(to, ...more);
    return new Connection(make(whole), () => make(whole.replace(SESSION, "session_id=-")), onText, onClose);
  };
  if (!protocols && runtimeKind() === SERVER_RUNTIME && Object.keys(headers).length > 0) {
    try {
      return open(url, { headers });
    } catch {
      // A constructor that knows protocols as second argument and nothing else.
    }
  }
  try {
    const whole = token === undefined ? url : `${url}&token=${encodeURIComponent(token)}`;
    return protocols ? open(whole, protocols) : open(whole);
  } catch {
    return null;
  }
}

/** What Rust needs of a socket, the same for every maker: messages are text, nothing throws, and nothing comes after `close`. */
class Connection {
  #socket;
  #another;
  #onText;
  #onClose;
  #closed;
  #sent = false;

  /** `another` opens a socket that the server refuses. */
  constructor(socket, another, onText, onClose) {
    this.#socket = socket;
    this.#another = another;
    this.#onText = onText;
    this.#onClose = onClose;
    socket.binaryType = "arraybuffer";
    this.#closed = new Promise((resolve) => {
      socket.addEventListener("close", ({ code, reason }) => {
        resolve();
        this.#onClose?.(code ?? 1006, String(reason ?? ""));
      });
    });
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.#onText?.(data);
      else if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) this.#onText?.(new TextDecoder().decode(data));
      // Anything else is no message of this protocol, and its bytes would come too late to keep the order.
      else end(socket);
    });
    // The close that follows says why; makers exist that throw an error event without a listener.
    socket.addEventListener("error", () => {});
  }

  send(text) {
    try {
      if (this.#socket.readyState !== OPEN) return false;
      this.#socket.send(text);
      this.#sent = true;
      return true;
    } catch {
      return false;
    }
  }

  /** Resolves when the server has confirmed and done what was sent before, or after a while. */
  async close() {
    this.#onText = this.#onClose = undefined;
    end(this.#socket);
    let timer;
    const passed = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSE_WAIT);
    });
    await Promise.race([this.#closed, passed]);
    if (this.#sent) await this.#turn(passed);
    clearTimeout(timer);
  }

  /**
   * Waits for a turn of the server. It confirms a close before it types what came with it, and were the terminal deleted just then, that would go
   * into whichever connection gets its descriptor's number.
   */
  async #turn(passed) {
    try {
      const socket = this.#another();
      const refused = new Promise((resolve) => {
        for (const event of ["close", "error"]) socket.addEventListener(event, resolve);
      });
      await Promise.race([refused, passed]);
      end(socket);
    } catch {
      // What could not be asked need not be waited for.
    }
  }
}

function end(socket) {
  try {
    socket.close();
  } catch {}
}
