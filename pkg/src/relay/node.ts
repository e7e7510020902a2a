// The relay for Node: also a listener for its servers, and WebSockets, which reach it as raw connections.
import { type IncomingMessage, request as requestHttp, type Server, type ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { RELAY_PROTOCOL } from "./protocol.js";
import { Refusal, unreachable } from "./refusal.js";
import { Core } from "./relay.js";
import { type Upstream, websocket } from "./sockets.js";
import type { Relay, RelayOptions } from "./types.d.ts";

export function createRelay(options: RelayOptions): Relay {
  const core = new Core(options);
  return {
    fetch: (request, server) => core.fetch(request, server) as Promise<Response>,
    websocket,
    listener: (request, response, next) => listen(core, request as IncomingMessage, response as ServerResponse, next),
    upgrade: (request, socket, head) => upgrade(core, request as IncomingMessage, socket as Duplex, head),
  };
}

/** A request as the web's. Its URL is where it came to, and nothing that its path could say besides. It is refused where the web has none like it. */
function webRequest(request: IncomingMessage, signal: AbortSignal): Request | Response {
  try {
    return converted(request, signal);
  } catch {
    return new Refusal(400, "bad_request", "The request's method or host is none that can be passed on.").response();
  }
}

function converted(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    headers.append(request.rawHeaders[at] ?? "", request.rawHeaders[at + 1] ?? "");
  }
  const scheme = "encrypted" in request.socket ? "https" : "http";
  const host = /^[\w.:[\]-]+$/.test(request.headers.host ?? "") ? request.headers.host : "localhost";
  const path = pathOf(request);
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  return new Request(`${scheme}://${host}${path}`, {
    method: request.method ?? "GET",
    headers,
    signal,
    ...(hasBody ? { body: bodyOf(request), duplex: "half" } : {}),
  } as RequestInit);
}

/** Where a request came to; what a router in front has cut off is put back. */
function pathOf(request: IncomingMessage & { originalUrl?: string }): string {
  const path = request.originalUrl ?? request.url;
  return path?.startsWith("/") ? path : "/";
}

/** How long a peer may take to end what is over for us, in ms: the rest of a body that nobody wants, or a connection that we have ended. */
const LINGER_MS = 30_000;

/** After how long a silence a WebSocket's peer is asked whether it is still there, in ms. One that lost its network never says goodbye. */
const SILENCE_MS = 60_000;

/** Closes what its peer does not. */
function closeSoon(connection: Readable | Duplex): void {
  if (connection.closed) return;
  const timer = setTimeout(() => connection.destroy(), LINGER_MS);
  timer.unref();
  connection.once("close", () => clearTimeout(timer));
}

/**
 * A request's body as the web's stream. Node's own way there ends the connection when the stream is cancelled, and who still sends would read of
 * a reset in place of the answer. So the rest is taken in and thrown away, for a while.
 */
function bodyOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  const pieces = request.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = (await pieces.next()) as IteratorResult<Uint8Array, undefined>;
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      closeSoon(request);
      await pieces.return?.();
      request.resume();
    },
  });
}

async function listen(core: Core, incoming: IncomingMessage, outgoing: ServerResponse, next?: () => void): Promise<void> {
  if (next && !core.isBelow(pathOf(incoming))) return next();
  const gone = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  const request = webRequest(incoming, gone.signal);
  const answer = request instanceof Response ? request : ((await core.fetch(request)) as Response);
  if (outgoing.destroyed) return void answer.body?.cancel().catch(() => undefined);
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) return void outgoing.end();
  // A stream's first bytes may be long in coming: that it has begun is news too.
  outgoing.flushHeaders();
  // Either side may go away: the other is closed, and there is nobody left to tell.
  await pipeline(Readable.fromWeb(answer.body as NodeStream), outgoing).catch(() => outgoing.destroy());
}

async function upgrade(core: Core, incoming: IncomingMessage, socket: Duplex, head: Uint8Array): Promise<void> {
  // Another listener's, such as that of a development server for its own page. Where nobody else listens, nobody else would answer.
  const { server } = incoming.socket as { server?: Server };
  if (!core.isBelow(pathOf(incoming)) && (server?.listenerCount("upgrade") ?? 0) > 1) return;
  socket.on("error", () => socket.destroy());
  const request = webRequest(incoming, new AbortController().signal);
  const upstream = request instanceof Response ? request : await core.upstream(request);
  if (upstream instanceof Response) return await refuse(socket, upstream);
  if (socket.destroyed) return;
  join(incoming, socket, head, upstream);
}

/** Says no as HTTP, on a connection that has no answer of Node's. */
async function refuse(socket: Duplex, answer: Response): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer());
  const headers = { ...Object.fromEntries(answer.headers), "content-length": String(body.length), connection: "close" };
  socket.end(Buffer.concat([Buffer.from(headOf(`HTTP/1.1 ${answer.status} Refused`, headers)), body]));
  closeSoon(socket);
}

function headOf(line: string, headers: Record<string, string>): string {
  return `${line}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
}

/** Joins the page's connection with one to the sandbox. WebSocket's frames pass as they are: neither side needs them read. */
function join(incoming: IncomingMessage, socket: Duplex, head: Uint8Array, { url, headers }: Upstream): void {
  const handshake: Record<string, string> = { connection: "Upgrade", upgrade: "websocket" };
  for (const name of ["sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"]) {
    const value = incoming.headers[name];
    if (typeof value === "string") handshake[name] = value;
  }
  const open = url.startsWith("https:") ? requestHttps : requestHttp;
  const outgoing = open(url, { headers: { ...headers, ...handshake } });
  const close = () => outgoing.destroy();
  socket.once("close", close);
  outgoing.on("error", () => void refuse(socket, unreachable().response()));
  outgoing.on("response", (answer) => {
    answer.resume();
    void refuse(socket, new Refusal(502, "unreachable", "The sandbox's port opened no WebSocket.").response());
  });
  outgoing.on("upgrade", (answer, remote, early) => {
    socket.off("close", close);
    const agreed: Record<string, string> = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-protocol": RELAY_PROTOCOL,
    };
    for (const name of ["sec-websocket-accept", "sec-websocket-extensions"]) {
      const value = answer.headers[name];
      if (typeof value === "string") agreed[name] = value;
    }
    socket.write(headOf("HTTP/1.1 101 Switching Protocols", agreed));
    if (early.length > 0) socket.write(early);
    if (head.length > 0) remote.write(head);
    const end = () => {
      socket.destroy();
      remote.destroy();
    };
    // An end of either side is passed on first, with what stood before it; the other may answer it, for a while.
    for (const [from, to] of [
      [socket, remote],
      [remote, socket],
    ] as const) {
      from.on("error", end);
      from.on("close", () => to.end());
      from.on("end", () => closeSoon(to));
      from.pipe(to);
      // A stream that is no connection of the system's has nobody to ask.
      (from as Partial<Socket>).setKeepAlive?.(true, SILENCE_MS);
    }
  });
  outgoing.end();
}
