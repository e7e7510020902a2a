// Terminals over WebSocket against the real server.
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  CapabilityNotSupportedError,
  CommandTimeoutError,
  EndpointNotAvailableError,
  InvalidArgumentError,
  PayloadTooLargeError,
  PolicyDeniedError,
  type PtyConnection,
  type PtyMessage,
  SandboxConnectionError,
  ServerAPIError,
  ServerAuthError,
  ServerClient,
} from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { collect, rejected } from "./support/failures.ts";
import { type RunningServer, startServer } from "./support/server.ts";

const token = "to+ken/=";
let server: RunningServer;
let client: ServerClient;
beforeAll(async () => {
  server = await startServer({ token });
  client = server.client();
});
afterAll(() => server?.stop());

/** Runs with a terminal of its own. */
async function withTerminal(run: (terminal: PtyConnection, sessionId: string) => Promise<void>): Promise<void> {
  const { sessionId, pid } = await client.pty.create({ envs: { PS1: "$ ", TERM: "dumb" } });
  const terminal = await client.pty.connect(sessionId);
  try {
    expect([terminal.sessionId, terminal.pid, terminal.isConnected]).toEqual([sessionId, pid, true]);
    await run(terminal, sessionId);
  } finally {
    await terminal.close();
    endNow(pid);
    await client.pty.delete(sessionId).catch(() => undefined);
  }
}

/** Ends a shell at once, where DELETE alone waits three seconds. */
function endNow(pid: number | undefined): void {
  try {
    if (pid) process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** A server of sockets that says what a test wants. */
async function sockets(
  onConnection: (socket: WebSocket, request: IncomingMessage) => void,
): Promise<AsyncDisposable & { port: number }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", onConnection);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

test("send, sendBytes, resize, signal, expect and iteration", () =>
  withTerminal(async (terminal) => {
    await terminal.send("echo he''llo\n");
    expect(await terminal.expect("hello\r\n")).toContain("he''llo");
    const bytes = new TextEncoder().encode("echo ü''中😀\n");
    for (const byte of bytes) await terminal.sendBytes(Uint8Array.of(byte));
    await terminal.expect("ü中😀");
    await terminal.resize(101, 41);
    await terminal.send("stty size\n");
    await terminal.expect("41 101");
    await rejected(terminal.expect("never", 100), CommandTimeoutError);
    await rejected(terminal.resize(0, 1), InvalidArgumentError);
    await rejected(terminal.signal("SIGSTOP" as never), InvalidArgumentError);
    await rejected(terminal.send(1 as never), InvalidArgumentError);
    await rejected(terminal.sendBytes(Uint8Array.of(0xff)), InvalidArgumentError);
    expect(await terminal.receive(50)).toBeUndefined();
    await terminal.signal("SIGKILL");
    const rest: PtyMessage[] = await collect(terminal);
    expect(rest.at(-1)).toMatchObject({ type: "event", event: "exited" });
    expect([await terminal.closed, terminal.isConnected, await terminal.receive()]).toEqual([undefined, false, undefined]);
    await rejected(terminal.send("x"), SandboxConnectionError);
  }));

test("the first message says that the terminal is there, also to who attaches again", () =>
  withTerminal(async (terminal, sessionId) => {
    expect(await terminal.receive()).toEqual({ type: "event", event: "started", sessionId, pid: terminal.pid });
    await terminal.close();
    const again = await client.pty.connect(sessionId);
    expect(await again.receive()).toMatchObject({ event: "started" });
    // The server drops what it was reading for the connection that has gone (quirk 24), so an answer may be lost.
    const seen = async () => {
      await again.send("echo a''gain\n");
      return again.expect("again", 1_000).then(
        () => true,
        () => false,
      );
    };
    while (!(await seen()));
    await client.close();
    expect(again.isConnected).toBe(false);
  }));

describe("a paste of 1 MB", () => {
  const line = `${"x".repeat(98)}\n`;
  const paste = line.repeat(10_592);

  test("arrives whole where it is read", () =>
    withTerminal(async (terminal) => {
      const file = join(server.base, "paste");
      // What is typed while the shell still owns the terminal may reach the program in pieces.
      await terminal.send(`echo re''ady; cat > ${file}; echo do''ne\n`);
      await terminal.expect("ready\r\n");
      const reading = (async () => {
        for await (const message of terminal) if (message.type === "output" && message.data.includes("done")) return;
      })();
      await terminal.send(paste);
      await terminal.send("\u0004");
      await reading;
      expect(readFileSync(file, "utf8") === paste).toBe(true);
    }));

  test("is refused where it is not read, and wedges nothing", () =>
    withTerminal(async (terminal) => {
      const gate = join(server.base, "go-on");
      // Its own word and not the echo of the line: a shell that still reads takes the paste.
      await terminal.send(`echo bu''sy; until [ -e ${gate} ]; do sleep 0.1; done\n`);
      await terminal.expect("busy\r\n");
      const error = await rejected(terminal.send(paste, { timeoutMs: 500 }), PayloadTooLargeError, { code: "E9004" });
      expect(error.message).toMatch(/\d+ of 1048608 bytes/);
      await withTerminal(async (other) => {
        await other.send("echo un''harmed\n");
        await other.expect("unharmed");
      });
      // Its own terminal reads on when its program has ended.
      writeFileSync(gate, "");
      await terminal.send("\n");
      await terminal.send("echo ba''ck\n");
      await terminal.expect("\nback\r\n", 60_000);
    }));

  test("is given up by its signal, and the next one in line goes on", () =>
    withTerminal(async (terminal) => {
      await terminal.send("stty -echo; sleep 600; true\n");
      await terminal.expect("sleep 600");
      const abort = new AbortController();
      const [first, second] = [terminal.send(paste, { signal: abort.signal, timeoutMs: 0 }), terminal.send("\u0003")];
      abort.abort(new Error("enough"));
      await expect(first).rejects.toThrow("enough");
      await second;
    }));
});

test("what was typed goes nowhere else when its terminal is deleted", async () => {
  // The server writes on into the number of a descriptor that it has closed, which the next connection may have got.
  const line = `${"x".repeat(98)}\n`;
  for (let round = 0; round < 15; round += 1) {
    const { sessionId, pid } = await client.pty.create({ envs: { PS1: "$ " } });
    const terminal = await client.pty.connect(sessionId);
    // When nothing comes back for what is typed, which would make room for more.
    await terminal.send("stty -echo; echo re''ady; sleep 600; true\n");
    await terminal.expect("ready\r\n");
    await rejected(terminal.send(line.repeat(100), { timeoutMs: 1 }), PayloadTooLargeError);
    await terminal.send("\u0003");
    const closing = round % 2 === 0 ? terminal.close() : undefined;
    await closing;
    endNow(pid);
    await client.pty.delete(sessionId);
    expect(terminal.isConnected).toBe(false);
  }
});

test("keys arrive in order", () =>
  withTerminal(async (terminal) => {
    const text = Array.from({ length: 300 }, (_, i) => String.fromCharCode(97 + (i % 26))).join("");
    // Without echo, and when the shell has let go of the terminal: else the line comes in pieces.
    await terminal.send("stty -echo; echo re''ady; cat\n");
    await terminal.expect("ready\r\n");
    await Promise.all([...text].map((key) => terminal.send(key)));
    await terminal.send("\n");
    await terminal.expect(text);
  }));

test("output that nobody reads is bounded", async () => {
  await withTerminal(async (terminal, sessionId) => {
    await terminal.send("yes | head -c 60000000\n");
    const end = await terminal.closed;
    expect(end).toBeInstanceOf(SandboxConnectionError);
    await client.pty.delete(sessionId);
  });
});

describe("refusals are typed although the socket opens", () => {
  test("a wrong token, an unknown session", async () => {
    const { sessionId } = await client.pty.create();
    await rejected(client.withToken("wrong").pty.connect(sessionId), ServerAuthError, { code: "E9001", statusCode: 401 });
    await rejected(client.withToken(undefined).pty.connect(sessionId), ServerAuthError);
    await rejected(client.pty.connect("0".repeat(12)), ServerAPIError, { statusCode: 404 });
    await rejected(client.pty.connect("../x"), InvalidArgumentError);
    await client.pty.delete(sessionId);
  });

  test("a scope that is missing, an endpoint that is off", async () => {
    await using without = await startServer({
      policy: { version: 1, auth: { allow_anonymous: true, anonymous_scopes: ["files:*"] } },
    });
    await rejected(without.client().pty.connect("x"), PolicyDeniedError, { statusCode: 403, scope: "terminal:use" });
    await using off = await startServer({ policy: { version: 1, endpoints: { pty_connect: { enabled: false } } } });
    await rejected(off.client().pty.connect("x"), EndpointNotAvailableError, { code: "E9003", capability: "pty_connect" });
  });

  test("no WebSocket, no address, nobody there", async () => {
    const without = new ServerClient(server.url, { ptyUrl: server.ptyUrl });
    if (globalThis.WebSocket === undefined) {
      const error = await rejected(without.pty.connect("x"), CapabilityNotSupportedError, { code: "E3004" });
      expect(error.suggestion).toContain("webSocket");
    }
    const error = await rejected(new ServerClient(server.url, { webSocket: WebSocket }).pty.connect("x"), InvalidArgumentError);
    expect(error.suggestion).toContain("ptyUrl");
    await rejected(
      new ServerClient(server.url, { ptyUrl: "ws://127.0.0.1:9", webSocket: WebSocket }).pty.connect("x"),
      SandboxConnectionError,
    );
  });
});

test.each([
  [1009, PayloadTooLargeError],
  [1011, ServerAPIError],
  [1001, SandboxConnectionError],
])("a close with %d is typed", async (code, kind) => {
  await using server = await sockets((socket) => {
    socket.send('{"type":"event","event":"started","session_id":"s","pid":1}');
    socket.close(code);
  });
  const ptyUrl = `ws://127.0.0.1:${server.port}`;
  const terminal = await new ServerClient("http://127.0.0.1", { ptyUrl, webSocket: WebSocket }).pty.connect("s");
  await terminal.receive();
  await rejected(terminal.receive(), kind);
  expect(await terminal.closed).toBeInstanceOf(kind);
});

test("the token goes into a header where it can, else into the URL, form-encoded; base paths and queries stay", async () => {
  const seen: [string | undefined, string | undefined][] = [];
  await using server = await sockets((socket, request) => {
    seen.push([request.url, request.headers.authorization]);
    socket.send('{"type":"event","event":"started","session_id":"s"}');
  });
  const ptyUrl = `http://127.0.0.1:${server.port}/s/i/9001?k=1`;
  class UrlOnly extends WebSocket {
    constructor(url: string, options?: unknown) {
      if (options !== undefined) throw new SyntaxError("protocols are text");
      super(url);
    }
  }
  for (const webSocket of [WebSocket, UrlOnly as never]) {
    const terminal = await new ServerClient("http://x", { ptyUrl, token, webSocket }).pty.connect("s");
    await terminal.close();
  }
  expect(seen).toEqual([
    ["/s/i/9001/pty?k=1&session_id=s", `Bearer ${token}`],
    ["/s/i/9001/pty?k=1&session_id=s&token=to%2Bken%2F%3D", undefined],
  ]);
});

test("killing the server is a typed error at once, to who reads, who waits and who asks", async () => {
  const own = await startServer();
  const { sessionId } = await own.client().pty.create();
  const terminal = await own.client().pty.connect(sessionId);
  const reading = rejected(collect(terminal), SandboxConnectionError, { code: "E5001" });
  await own.stop();
  await reading;
  expect(await terminal.closed).toBeInstanceOf(SandboxConnectionError);
});
