// The page's side of a relay: it has no API key, and shows the relay session tokens for the ports of its sandboxes.
import { makeError } from "./errors.js";
import { parsed } from "./shape.js";

/** How much of a token's life passes before another is asked for. */
const RENEW = 0.8;

/** The header by which a relay's refusal is known. */
export const REFUSAL = "x-sandbox-refusal";

export class Relay {
  #send;
  #headers;
  #sessions = new Map();

  /** Throws what `URL` throws. `fetch` is the caller's own, `headers` are those of calls about sandboxes. */
  constructor(url, fetch, headers) {
    this.url = new URL(url, globalThis.location?.href).href.replace(/\/+$/, "");
    this.#send = (...args) => (fetch ?? globalThis.fetch)(...args);
    this.#headers = headers;
  }

  /** A `fetch` whose requests to ports have a token. */
  get fetch() {
    return async (url, init) => {
      if (!url.startsWith(`${this.url}/s/`)) return this.#answerOf(await this.#send(url, init));
      for (let again = !(init.body instanceof ReadableStream); ; again = false) {
        const session = await this.#session(url, init.headers);
        if (session.refusal) return session.refusal.clone();
        const answer = await this.#send(url, { ...init, headers: { ...init.headers, "x-sandbox-session": session.token } });
        // The relay's secret may have changed, or this computer's clock.
        if (!again || answer.status !== 401 || !answer.headers.has(REFUSAL)) return answer;
        session.until = 0;
      }
    };
  }

  /** An answer about sandboxes; where there is no relay, one that says so: a 404 would be a template or a sandbox that does not exist. */
  #answerOf(answer) {
    const { status, headers } = answer;
    const isNone = /^40[45]$/.test(status) && !/json/.test(headers.get("content-type"));
    if (!isNone && headers.get(REFUSAL) !== "no_route") return answer;
    const message = `There is no relay at ${this.url}: the answer was HTTP status ${status}.`;
    const suggestion = "Check the option relay, and that the server hands what is below this path to a relay with the same path.";
    return new Response(JSON.stringify({ message, suggestion }), { status: 400, headers: { [REFUSAL]: "no_route" } });
  }

  /** The subprotocols of a WebSocket, of which the second is the token; undefined for one that goes elsewhere. */
  async protocols(socketUrl, headers) {
    const url = socketUrl.replace(/^ws/, "http");
    if (!url.startsWith(`${this.url}/s/`)) return undefined;
    const { refusal, token, webSockets } = await this.#session(url, headers);
    if (refusal) {
      const {
        message = "The relay refused.",
        suggestion = "",
        code = refusal.status,
      } = await refusal
        .clone()
        .json()
        .catch(() => ({}));
      const isDenied = code === 401 || code === 403;
      throw makeError(isDenied ? "AuthenticationError" : "SandboxConnectionError", message, suggestion, { status: code });
    }
    if (webSockets) return ["agent-sandbox-relay", token];
    const suggestion = 'Use getTerminal() without transport: "websocket", or another runtime for the relay.';
    throw makeError("CapabilityNotSupportedError", "The relay's runtime hands on no WebSockets.", suggestion, {});
  }

  /** The session of a sandbox, or how the relay refused one. Calls at the same time share one. */
  async #session(url, headers) {
    const id = url.slice(this.url.length + 3).split("/")[0];
    // The token of ports that are not public goes into the session, and is not there for envd.
    const traffic = Object.entries(headers).filter(([name]) => /-traffic-access-token$/i.test(name));
    const key = id + traffic;
    let kept = this.#sessions.get(key);
    if (!kept || (await kept).until < Date.now()) {
      kept = this.#open(id, traffic);
      this.#sessions.set(key, kept);
      kept.catch(() => this.#sessions.delete(key));
    }
    return kept;
  }

  async #open(id, traffic) {
    const answer = await this.#send(`${this.url}/sandboxes/${id}/session`, {
      method: "POST",
      headers: { ...this.#headers, ...Object.fromEntries(traffic), "x-sandbox-relay": "1" },
    });
    if (!answer.ok) return { refusal: answer, until: 0 };
    const { expiresInMs, ...session } = parsed(await answer.text());
    return { ...session, until: Date.now() + expiresInMs * RENEW };
  }
}
