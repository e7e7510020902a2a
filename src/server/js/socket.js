// WebSockets of any maker: a browser's, a runtime's, or one that the caller gave.
import { runtimeKind } from "../../js/runtime.js";

const SERVER_RUNTIME = 1;

/** How long a close waits for the server to confirm it, in ms. */
const CLOSE_WAIT = 2000;

/** What WebSocket calls an open connection. */
const OPEN = 1;

/**
 * Opens a socket; undefined where there is no constructor, null when it could not be made. Runtimes on servers send headers with it,
 * browsers and edge workers cannot: there the token goes into the URL.
 */
export function openSocket(own, url, headers, token, protocols, onText, onClose) {
  const Socket = own ?? globalThis.WebSocket;
  if (Socket === undefined) return undefined;
  const open = (...args) => new Connection(new Socket(...args), onText, onClose);
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
  #onText;
  #onClose;
  #closed;

  constructor(socket, onText, onClose) {
    this.#socket = socket;
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
      else this.#end();
    });
    // The close that follows says why; makers exist that throw an error event without a listener.
    socket.addEventListener("error", () => {});
  }

  send(text) {
    try {
      if (this.#socket.readyState !== OPEN) return false;
      this.#socket.send(text);
      return true;
    } catch {
      return false;
    }
  }

  /** Resolves when the server has confirmed, and with it read what was sent before, or after a while. */
  async close() {
    this.#onText = this.#onClose = undefined;
    this.#end();
    let timer;
    const passed = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSE_WAIT);
    });
    await Promise.race([this.#closed, passed]);
    clearTimeout(timer);
  }

  #end() {
    try {
      this.#socket.close();
    } catch {}
  }
}
