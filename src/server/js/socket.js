// WebSockets of any maker: a browser's, a runtime's, or one that the caller gave.
import { runtimeKind } from "../../js/runtime.js";

const SERVER_RUNTIME = 1;

/**
 * Opens a socket; undefined where there is no constructor, null when it could not be made. Runtimes on servers send headers with it,
 * browsers and edge workers cannot: there the token goes into the URL.
 */
export function openSocket(own, url, headers, token) {
  const Socket = own ?? globalThis.WebSocket;
  if (Socket === undefined) return undefined;
  if (runtimeKind() === SERVER_RUNTIME && Object.keys(headers).length > 0) {
    try {
      return new Adapter(new Socket(url, { headers }));
    } catch {
      // A constructor that knows protocols as second argument and nothing else.
    }
  }
  try {
    return new Adapter(new Socket(token === undefined ? url : `${url}&token=${encodeURIComponent(token)}`));
  } catch {
    return null;
  }
}

/** What Rust needs of a socket, the same for every maker: messages are text or an ArrayBuffer, and closing never throws. */
class Adapter {
  #socket;
  #listeners = [];

  constructor(socket) {
    this.#socket = socket;
  }

  get readyState() {
    return this.#socket.readyState;
  }

  set binaryType(type) {
    this.#socket.binaryType = type;
  }

  send(message) {
    this.#socket.send(message);
  }

  close() {
    try {
      this.#socket.close();
    } catch {}
  }

  addEventListener(type, listener) {
    const wrapped = (event) => {
      if (type !== "message")
        return listener(
          type === "close"
            ? { code: event.code ?? 1006, reason: String(event.reason ?? ""), wasClean: event.wasClean === true }
            : event,
        );
      const { data } = event;
      if (typeof data === "string" || data instanceof ArrayBuffer) listener({ data });
      else if (ArrayBuffer.isView(data))
        listener({ data: Uint8Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)).buffer });
      // Anything else is no message of this protocol, and its bytes would come too late to keep the order.
      else this.close();
    };
    this.#listeners.push([type, wrapped]);
    this.#socket.addEventListener(type, wrapped);
  }

  removeEventListener() {
    for (const [type, listener] of this.#listeners) this.#socket.removeEventListener(type, listener);
    this.#listeners = [];
    // What still comes while it closes must find somebody: makers exist that throw an error event without a listener.
    this.#socket.addEventListener("error", () => {});
  }

  dispatchEvent() {
    return true;
  }
}
