/**
 * An HTTP server that says exactly what a test tells it to: bytes with chosen chunk borders, and faults.
 *
 * ```ts
 * await using server = await scriptedServer();
 * server.on("POST", "/process.Process/Start", async (exchange) => {
 *   exchange.head(200, { "content-type": "application/connect+proto" });
 *   await exchange.chunks(everyByte(envelope(0, payload)));
 *   exchange.cut();
 * });
 * ```
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { type Listening, listen } from "./listen.ts";

/** A request as it came, kept for assertions. */
export interface Recorded {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The whole body; complete when the client has sent it. */
  readonly body: Promise<Buffer>;
  /** Resolves when the connection or the answer is over: `true` when the client went away before the answer's end. */
  readonly abandoned: Promise<boolean>;
}

/** One request and the means to answer it. */
export interface Exchange extends Recorded {
  /** Sends status and headers. Without a content-length the body is chunked. */
  head(status: number, headers?: Record<string, string>): void;
  /** Sends one piece of the body as a write of its own, and waits until the kernel took it. */
  chunk(bytes: Uint8Array | string): Promise<void>;
  /** Sends pieces one after another, each as a write of its own. */
  chunks(pieces: Iterable<Uint8Array>): Promise<void>;
  /** Ends the answer as HTTP wants it. */
  end(): void;
  /** Whole answer in one call. */
  answer(status: number, headers?: Record<string, string>, body?: Uint8Array | string): void;
  /** Writes to the connection behind HTTP's back: the status line, headers, anything. */
  raw(bytes: Uint8Array | string): Promise<void>;
  /** Closes the connection without ending the answer. */
  cut(): void;
  /** Resets the connection (RST). */
  reset(): void;
}

export type Script = (exchange: Exchange) => void | Promise<void>;

export interface ScriptedServer extends Listening, AsyncDisposable {
  /** Every request but preflights, oldest first. */
  readonly requests: Recorded[];
  /** Preflights, oldest first. */
  readonly preflights: Recorded[];
  /** How to answer a method and path from now on; a path ending in `*` stands for every path that begins like it. */
  on(method: string, path: string, script: Script): void;
  /** Resolves with the next request that matches, also one that came before and was not awaited yet. */
  next(method: string, path: string): Promise<Recorded>;
}

export interface ScriptedOptions {
  /** Whether answers carry CORS headers, and preflights are allowed. Default: true. */
  cors?: boolean;
}

/** Starts a scripted server. What has no script is answered 404. Errors of scripts end their connection and fail `close`. */
export async function scriptedServer(options: ScriptedOptions = {}): Promise<ScriptedServer> {
  const scripts: { method: string; path: string; script: Script }[] = [];
  const requests: Recorded[] = [];
  const preflights: Recorded[] = [];
  const awaited = new Set<Recorded>();
  const waiters: { matches: (request: Recorded) => boolean; resolve: (request: Recorded) => void }[] = [];
  const failures: unknown[] = [];
  const cors: Record<string, string> =
    options.cors === false ? {} : { "access-control-allow-origin": "*", "access-control-expose-headers": "*" };

  const server = createServer(async (request, response) => {
    const exchange = makeExchange(request, response, cors);
    if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined) {
      preflights.push(exchange);
      const allowed = {
        "access-control-allow-methods": request.headers["access-control-request-method"],
        "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "",
      };
      return exchange.answer(options.cors === false ? 405 : 204, options.cors === false ? {} : allowed);
    }
    requests.push(exchange);
    const waiter = waiters.findIndex((waiter) => waiter.matches(exchange));
    if (waiter >= 0) {
      awaited.add(exchange);
      waiters.splice(waiter, 1)[0]?.resolve(exchange);
    }
    const found = scripts.findLast(({ method, path }) => method === exchange.method && matches(path, exchange.path));
    if (found === undefined) return exchange.answer(404, { "content-type": "text/plain" }, "no script for this request");
    try {
      await found.script(exchange);
    } catch (error) {
      // A client that goes away while the script writes is what many scripts are about.
      if (!response.destroyed) failures.push(error);
      exchange.cut();
    }
  });
  const listening = await listen(server);
  const close = async () => {
    await listening.close();
    if (failures.length > 0) throw new AggregateError(failures, "a script failed");
  };
  return {
    ...listening,
    close,
    [Symbol.asyncDispose]: close,
    requests,
    preflights,
    on: (method, path, script) => scripts.push({ method, path, script }),
    next: (method, path) => {
      const wanted = (request: Recorded) => request.method === method && matches(path, request.path);
      const earlier = requests.find((request) => wanted(request) && !awaited.has(request));
      if (earlier !== undefined) {
        awaited.add(earlier);
        return Promise.resolve(earlier);
      }
      return new Promise((resolve) => waiters.push({ matches: wanted, resolve }));
    },
  };
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

function makeExchange(request: IncomingMessage, response: ServerResponse, cors: Record<string, string>): Exchange {
  const url = new URL(request.url ?? "/", "http://localhost");
  const socket = request.socket;
  socket.setNoDelay(true);
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  const body = once(request, "end").then(() => Buffer.concat(pieces));
  // A test that looks at neither must not end on a rejection of them.
  body.catch(() => undefined);
  const abandoned = new Promise<boolean>((resolve) => response.once("close", () => resolve(!response.writableFinished)));
  const head = (status: number, headers: Record<string, string> = {}) => {
    response.writeHead(status, { ...cors, ...headers });
    response.flushHeaders();
  };
  const written = (write: (done: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => write((error) => (error ? reject(error) : resolve())));
  const chunk = async (bytes: Uint8Array | string) => {
    await written((done) => response.write(bytes, done));
    // Lets the reader have this piece before the next is on its way; the kernel may still join them.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    method: request.method ?? "GET",
    path: decodeURI(url.pathname),
    query: url.searchParams,
    headers: request.headers,
    body,
    abandoned,
    head,
    chunk,
    chunks: async (all) => {
      for (const piece of all) await chunk(piece);
    },
    end: () => void response.end(),
    answer: (status, headers = {}, content = "") => {
      head(status, { ...headers, "content-length": String(Buffer.byteLength(content)) });
      response.end(content);
    },
    raw: (bytes) => written((done) => socket.write(bytes, done)),
    cut: () => void socket.destroySoon(),
    reset: () => void socket.resetAndDestroy(),
  };
}
