// An implementation of `fetch` with scripted bodies: chunk borders are exact, and reads and cancellations can be counted.
// What it does on abort is what browsers do: before the headers the promise rejects, behind them the body fails, with the signal's reason.

/** One request, as the client made it. */
export interface Call {
  method: string;
  url: URL;
  path: string;
  headers: Headers;
  body: Uint8Array;
  signal: AbortSignal;
  init: RequestInit | undefined;
}

/** A body under the test's control. */
export class Body {
  /** How often the reader cancelled. */
  cancels = 0;
  /** How many chunks the reader asked for beyond those given. */
  pulls = 0;
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  #cancelled!: () => void;
  /** Resolves when the reader cancels or the request is aborted. */
  readonly left = new Promise<void>((left) => {
    this.#cancelled = left;
  });

  constructor(chunks: Uint8Array<ArrayBuffer>[] = [], then: "close" | "stay" | "fail" = "close") {
    const waiting = [...chunks];
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: (controller) => {
          this.pulls += 1;
          const chunk = waiting.shift();
          if (chunk) controller.enqueue(chunk);
          else if (then === "close") controller.close();
          else if (then === "fail") controller.error(new TypeError("network error"));
          else return new Promise(() => undefined);
          return undefined;
        },
        cancel: () => {
          this.cancels += 1;
          this.#cancelled();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Gives a chunk now; for bodies that stay open. */
  push(chunk: Uint8Array<ArrayBuffer>): void {
    this.#controller.enqueue(chunk);
  }

  close(): void {
    this.#controller.close();
  }

  fail(reason: unknown = new TypeError("network error")): void {
    try {
      this.#controller.error(reason);
    } catch {
      // It was over already.
    }
    this.#cancelled();
  }
}

/** Something that answers. */
export type Answerer = (call: Call) => Response | Body | undefined | Promise<Response | Body | undefined>;

/** A `fetch` that asks `answer`; where that has none, `/health` says that all is well and everything else is 404. */
export function fakeFetch(answer: Answerer): typeof fetch & { calls: Call[] } {
  const calls: Call[] = [];
  const fake = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    // The signal is listened to here and by nobody else.
    const { signal: given, ...rest } = init ?? {};
    const request = new Request(input, rest);
    const signal = given ?? request.signal;
    const url = new URL(request.url);
    const body = new Uint8Array(await request.clone().arrayBuffer());
    const call: Call = { method: request.method, url, path: url.pathname, headers: request.headers, body, signal, init };
    calls.push(call);
    signal.throwIfAborted();
    const answered = await Promise.race([
      Promise.resolve(answer(call)),
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    ]);
    if (answered instanceof Response) return answered;
    if (answered instanceof Body) {
      signal.addEventListener("abort", () => answered.fail(signal.reason), { once: true });
      return new Response(answered.stream, { headers: { "content-type": "application/connect+proto" } });
    }
    return url.pathname.endsWith("/health")
      ? new Response(null, { status: 204 })
      : new Response("404 page not found", { status: 404 });
  };
  return Object.assign(fake as typeof fetch, { calls });
}

/** A body of one chunk that ends. */
export function whole(...messages: Uint8Array<ArrayBuffer>[]): Body {
  return new Body(messages);
}
