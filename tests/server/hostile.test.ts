// What nobody should do, and somebody will: wrong types, use after the end, callbacks that throw, servers that talk nonsense.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import {
  ExecutionError,
  InvalidArgumentError,
  type PtyConnection,
  RequestTimeoutError,
  SandboxConnectionError,
  SandboxError,
  ServerClient,
} from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { collect, rejected } from "./support/failures.ts";
import { type RunningServer, startServer } from "./support/server.ts";

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.stop());

const NONSENSE = [undefined, null, 1, Number.NaN, "", [], {}, true, Symbol("s"), () => 1, 1n];

test("every method takes every kind of nonsense with a typed error or an answer", async () => {
  const client = server.client({ timeoutMs: 20_000 });
  const methods = Object.values(ServerClient.ENDPOINT_METHODS).flat();
  expect(methods.length).toBeGreaterThan(50);
  // Long answers to nonsense that makes sense: a list of packages, the wait for a process.
  const slow = ["system.packages", "health", "discover"];
  for (const path of methods.filter((name) => !slow.includes(name))) {
    const [group, name] = path.includes(".") ? path.split(".") : [undefined, path];
    const owner = (group === undefined ? client : Reflect.get(client, group)) as object;
    const method = Reflect.get(owner, name as string) as (...args: unknown[]) => unknown;
    for (const nonsense of NONSENSE) {
      const call = async () => {
        const result = await method.call(owner, nonsense, nonsense, nonsense);
        if (typeof result === "object" && result !== null && Symbol.asyncIterator in result)
          await collect(result as AsyncIterable<unknown>);
      };
      const error: unknown = await call().catch((reason: unknown) => reason);
      if (error !== undefined) expect(error, `${path}(${String(nonsense)})`).toBeInstanceOf(SandboxError);
    }
  }
});

test("what a callback throws comes back as it is, and the client goes on", async () => {
  const client = server.client();
  const thrown = new Error("mine");
  const run = client.process.runStream("echo a", {
    cwd: server.base,
    onStdout: () => {
      throw thrown;
    },
  });
  await expect(run).rejects.toBe(thrown);
  expect(await client.files.exists(server.base)).toBe(true);
});

test("a connection that was closed is closed, however often, and says so", async () => {
  const client = server.client();
  const { sessionId } = await client.pty.create();
  const terminal = await client.pty.connect(sessionId);
  await Promise.all([terminal.close(), terminal.close()]);
  await terminal.close();
  expect([terminal.isConnected, await terminal.closed]).toEqual([false, undefined]);
  for (const used of [
    () => terminal.send("x"),
    () => terminal.send(""),
    () => terminal.sendBytes(Uint8Array.of(1)),
    () => terminal.resize(1, 1),
    () => terminal.signal(),
  ])
    await rejected(used(), SandboxConnectionError, { code: "E5001" });
  await collect(terminal);
  expect(await terminal.receive()).toBeUndefined();
  await rejected(terminal.expect("x"), ExecutionError);
  await client.pty.delete(sessionId);
  await client.close();
  await client.close();
  expect(await client.health()).toBe(true);
});

describe("a server of terminals that talks nonsense", () => {
  const started = '{"type":"event","event":"started","session_id":"s","pid":1}';

  /** Attaches to a server that does this with its sockets. */
  async function attached(onSocket: (socket: WebSocket) => void, run: (client: ServerClient) => Promise<void>): Promise<void> {
    const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    sockets.on("connection", onSocket);
    await once(sockets, "listening");
    const ptyUrl = `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
    try {
      await run(new ServerClient("http://127.0.0.1", { ptyUrl, webSocket: WebSocket }));
    } finally {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    }
  }

  test("is read as far as it makes sense", () =>
    attached(
      (socket) => {
        socket.send(started);
        for (const text of ["null", "[1]", "5", '"x"', "{}", "no json", '{"type":"output","data":5}', '{"type":"output"}'])
          socket.send(text);
        socket.send(Buffer.from('{"type":"output","data":"ü"}'));
        socket.send(Buffer.of(0xff));
        socket.send('{"type":"event","event":"exited","session_id":"s"}');
        socket.send('{"type":"output","data":"late"}');
      },
      async (client) => {
        const messages = await collect(await client.pty.connect("s"));
        expect(messages.filter(({ type }) => type === "output").map((message) => Reflect.get(message, "data"))).toEqual(
          expect.arrayContaining(["no json", "5", "", "ü", "\ufffd"]),
        );
      },
    ));

  test("is left when it sends more than anybody reads", () =>
    attached(
      (socket) => {
        socket.send(started);
        socket.send(JSON.stringify({ type: "output", data: "x".repeat(20_000_000) }));
      },
      async (client) => {
        const terminal: PtyConnection = await client.pty.connect("s");
        expect(await terminal.closed).toBeInstanceOf(SandboxConnectionError);
      },
    ));

  test("is left when it floods with messages that hold nothing", async () => {
    let closed = 0;
    /** A socket that is flooded at once. */
    class Flooded extends EventTarget {
      readonly readyState = WebSocket.OPEN;
      constructor() {
        super();
        setImmediate(() => {
          this.#get(started);
          // So many at most: each takes room, and a little of it is enough.
          for (let left = 250_000; left > 0 && closed === 0; left--) this.#get("");
        });
      }
      #get(data: string) {
        this.dispatchEvent(Object.assign(new Event("message"), { data }));
      }
      close() {
        closed++;
        this.dispatchEvent(Object.assign(new Event("close"), { code: 1000, reason: "" }));
      }
    }
    const client = new ServerClient("http://127.0.0.1", { ptyUrl: "ws://127.0.0.1:9", webSocket: Flooded as never });
    const terminal = await client.pty.connect("s");
    expect(closed).toBe(1);
    const end = await terminal.closed;
    expect(end).toBeInstanceOf(SandboxConnectionError);
    expect(end?.message).toContain("was not read");
  });

  test("is given up when it says nothing", () =>
    attached(
      () => undefined,
      async (client) => {
        await rejected(client.pty.connect("s", { requestTimeoutMs: 200 }), RequestTimeoutError, { code: "E5002" });
        const reason = new Error("enough");
        const abort = new AbortController();
        const connecting = client.pty.connect("s", { signal: abort.signal });
        abort.abort(reason);
        await expect(connecting).rejects.toBe(reason);
      },
    ));
});

test("a WebSocket that is none is refused without its words", async () => {
  const ptyUrl = "ws://127.0.0.1:9/?k=geheim";
  const connect = (webSocket: unknown) =>
    new ServerClient("http://127.0.0.1", { ptyUrl, token: "geheim", webSocket: webSocket as never }).pty.connect("s");
  await rejected(connect("WebSocket"), InvalidArgumentError);
  class Broken {
    constructor(url: string) {
      throw new Error(url);
    }
  }
  for (const webSocket of [Broken, () => ({})]) {
    const error = await rejected(connect(webSocket), SandboxConnectionError, { code: "E5001" });
    expect(`${error} ${JSON.stringify(error)} ${error.cause}`).not.toContain("geheim");
  }
});
