// WebSockets in the runtimes whose fetch handlers can hand them on: Workers, Deno, Bun. (Node has node.ts.)
import { RELAY_PROTOCOL } from "./protocol.js";
import { Refusal, unreachable } from "./refusal.js";
import type { RelayWebSocketHandlers } from "./types.d.ts";

/** How much may wait for a reader, in bytes: more is a reader that does not read, and its connection ends. */
const HELD = 16 * 1024 * 1024;

/** Where a socket leads. */
export interface Upstream {
  /** With `http:` or `https:`. */
  readonly url: string;
  readonly headers: Record<string, string>;
}

interface DenoLike {
  upgradeWebSocket(request: Request): { socket: WebSocket; response: Response };
}

interface BunServer {
  upgrade(request: Request, options: { data: BunData; headers: Record<string, string> }): boolean;
}

interface BunData {
  readonly upstream: Upstream;
  pump?: Pump;
}

interface BunSocket extends End {
  readonly data: BunData;
}

const runtime = globalThis as { Deno?: DenoLike; WebSocketPair?: unknown; Bun?: unknown; EdgeRuntime?: unknown };

/** Whether WebSockets can be handed on here. */
export function canHandOn(): boolean {
  const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
  // Next's routes get no upgrade, whatever runs them.
  return !("EdgeRuntime" in runtime) && environment?.NEXT_RUNTIME === undefined;
}

/** Answers a request for a WebSocket with one that is handed on. */
export async function handOn(
  request: Request,
  upstream: Upstream,
  fetch: typeof globalThis.fetch,
  server: unknown,
): Promise<Response | undefined> {
  if (canHandOn()) {
    if (runtime.WebSocketPair !== undefined) return await inWorker(upstream, fetch);
    if (typeof runtime.Deno?.upgradeWebSocket === "function") return inDeno(request, upstream, runtime.Deno);
    if (isBunServer(server)) {
      const headers = { "sec-websocket-protocol": RELAY_PROTOCOL };
      if (server.upgrade(request, { data: { upstream }, headers })) return undefined;
    }
  }
  throw new Refusal(
    501,
    "websocket_unsupported",
    "This runtime hands no WebSocket to the relay's fetch: see the relay's guide for those that do.",
  );
}

function isBunServer(server: unknown): server is BunServer {
  return typeof (server as Partial<BunServer> | undefined)?.upgrade === "function";
}

/** The Worker's own way: the socket is passed on as it is, and its bytes never come here. */
async function inWorker({ url, headers }: Upstream, fetch: typeof globalThis.fetch): Promise<Response> {
  let answer: Response & { webSocket?: unknown };
  try {
    answer = await fetch(url, { headers: { ...headers, upgrade: "websocket" }, redirect: "manual" });
  } catch {
    throw unreachable();
  }
  if (!answer.webSocket) throw new Refusal(502, "unreachable", "The sandbox's port opened no WebSocket.");
  const init = { status: 101, webSocket: answer.webSocket, headers: { "sec-websocket-protocol": RELAY_PROTOCOL } };
  return new Response(null, init as ResponseInit);
}

function inDeno(request: Request, upstream: Upstream, deno: DenoLike): Response {
  const { socket, response } = deno.upgradeWebSocket(request);
  // As its option, Deno would refuse the protocol to clients that write no space behind the comma, as the npm package ws does.
  response.headers.set("sec-websocket-protocol", RELAY_PROTOCOL);
  socket.binaryType = "arraybuffer";
  const pump = new Pump(socket, upstream);
  socket.addEventListener("message", ({ data }) => pump.send(data));
  socket.addEventListener("close", ({ code, reason }) => pump.close(code, reason));
  return response;
}

/** For Bun, whose server calls back. */
export const websocket: RelayWebSocketHandlers = {
  open(socket) {
    const { data } = socket as BunSocket;
    data.pump = new Pump(socket as BunSocket, data.upstream);
  },
  message(socket, data) {
    (socket as BunSocket).data.pump?.send(data as string | ArrayBuffer);
  },
  close(socket, code, reason) {
    (socket as BunSocket).data.pump?.close(code, reason);
  },
};

/** What is needed of the end that is the page's. */
interface End {
  send(data: string | ArrayBuffer): unknown;
  close(code?: number, reason?: string): unknown;
  readonly bufferedAmount?: number;
  getBufferedAmount?(): number;
}

/** Takes messages from one socket to the other, and the end of either. */
class Pump {
  readonly #page: End;
  readonly #sandbox: WebSocket;
  #early: (string | ArrayBuffer)[] | undefined = [];
  #held = 0;
  #ended = false;

  constructor(page: End, { url, headers }: Upstream) {
    this.#page = page;
    const Socket = WebSocket as unknown as new (url: string, options: object) => WebSocket;
    this.#sandbox = new Socket(url.replace(/^http/, "ws"), { headers });
    this.#sandbox.binaryType = "arraybuffer";
    this.#sandbox.addEventListener("open", () => {
      for (const data of this.#early ?? []) this.#sandbox.send(data);
      this.#early = undefined;
    });
    this.#sandbox.addEventListener("message", ({ data }) => {
      if (this.#ended) return;
      page.send(data);
      if ((page.bufferedAmount ?? page.getBufferedAmount?.() ?? 0) > HELD) this.#end(1008, "The output was not read.");
    });
    this.#sandbox.addEventListener("close", ({ code, reason }) => this.#end(code, reason));
    // The close that follows is what counts.
    this.#sandbox.addEventListener("error", () => {});
  }

  send(data: string | ArrayBuffer): void {
    if (this.#ended) return;
    if (this.#early === undefined) {
      this.#sandbox.send(data);
      if (this.#sandbox.bufferedAmount > HELD) this.#end(1008, "The input was not read.");
      return;
    }
    this.#held += data instanceof ArrayBuffer ? data.byteLength : data.length;
    if (this.#held > HELD) this.#end(1008, "The input was not read.");
    else this.#early.push(data);
  }

  /** The page's end has closed. */
  close(code: number, reason: string): void {
    this.#ended = true;
    closed(this.#sandbox, code, reason);
  }

  #end(code: number, reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    closed(this.#page, code, reason);
    closed(this.#sandbox, code, reason);
  }
}

/** Closes an end with a code, where it is one that may be sent. */
function closed(end: Pick<End, "close">, code: number, reason: string): void {
  const sendable =
    code === 1000 || (code >= 1001 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999);
  try {
    if (code === 1005) end.close();
    else end.close(sendable ? code : 1011, sendable ? reason : "The connection to the sandbox was lost.");
  } catch {
    // Browsers' sockets take 1000 and 3000 to 4999 alone, and so may others.
    end.close();
  }
}
