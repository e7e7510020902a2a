// Streams of events: every way in which they can be written, cut, ended and left.
import { SandboxConnectionError, ServerAPIError, ServerClient, type ServerShellEvent } from "agent-sandbox-web";
import { describe, expect, test } from "vitest";
import { everyByte } from "../support/connect.ts";
import { scriptedServer } from "../support/scripted-server.ts";
import { collect, rejected } from "./support/failures.ts";
import { startServer } from "./support/server.ts";

const sse = { "content-type": "text/event-stream" };
const encode = (text: string) => new TextEncoder().encode(text);

/** Reads what a server writes in these pieces. */
async function read(...pieces: Uint8Array[]): Promise<ServerShellEvent[]> {
  await using server = await scriptedServer();
  server.on("POST", "/shell/stream", async (exchange) => {
    exchange.head(200, sse);
    await exchange.chunks(pieces);
    exchange.end();
  });
  return await collect(new ServerClient(server.address).process.shellStream("x"));
}

const exit: ServerShellEvent = { event: "exit", exitCode: 0 };

test.each(["\n", "\r\n", "\r"])(
  "lines may end with %j, in chunks of one byte, with comments and several data lines",
  async (end) => {
    const text = [
      ": ping",
      "event: stdout",
      'data: {"data":',
      'data: "ü中😀"}',
      "",
      "id: 4",
      "event: exit",
      'data: {"exit_code": 0}',
      "",
      "",
    ].join(end);
    expect(await read(...everyByte(encode(text)))).toEqual([{ event: "stdout", data: "ü中😀" }, exit]);
  },
);

test("an end without its blank line counts, half an event does not", async () => {
  expect(await read(encode('event: exit\ndata: {"exit_code": 0}'))).toEqual([exit]);
  await rejected(read(encode('event: stdout\ndata: {"data": "a"}\n\nevent: exit\ndata: {"exi')), SandboxConnectionError, {
    code: "E5001",
  });
});

test("a stream that ends without its end is a lost connection", async () => {
  await rejected(read(encode('event: stdout\ndata: {"data": "a"}\n\n')), SandboxConnectionError);
  await rejected(read(), SandboxConnectionError);
  await rejected(read(encode('event: error\ndata: {"error": "timeout"}\n\n')), SandboxConnectionError);
});

test("a command that could not be started has an error and no exit", async () => {
  expect(await read(encode('event: error\ndata: {"error": "no such file"}\n\n'))).toEqual([
    { event: "error", error: "no such file" },
  ]);
});

test("unknown events are skipped; what is no JSON and what is no stream are errors", async () => {
  expect(await read(encode('event: news\ndata: {}\n\nevent: exit\ndata: {"exit_code": 0}\n\n'))).toEqual([exit]);
  await rejected(read(encode("event: stdout\ndata: {\n\n")), ServerAPIError, { errorType: "ProtocolError" });
  await using server = await scriptedServer();
  server.on("POST", "/shell/stream", (exchange) => exchange.answer(200, { "content-type": "application/json" }, "{}"));
  await rejected(collect(new ServerClient(server.address).process.shellStream("x")), ServerAPIError, {
    errorType: "ProtocolError",
  });
});

describe("leaving", () => {
  test.each(["break", "cancel", "abort", "close"])("by %s closes the request", async (how) => {
    await using server = await scriptedServer();
    server.on("POST", "/shell/stream", async (exchange) => {
      exchange.head(200, sse);
      await exchange.chunk('event: stdout\ndata: {"data": "a"}\n\n');
    });
    const client = new ServerClient(server.address);
    const abort = new AbortController();
    const stream = client.process.shellStream("x", { signal: abort.signal });
    const reading = (async () => {
      for await (const _ of stream) {
        if (how === "break") break;
        if (how === "cancel") setTimeout(() => stream.cancel());
        if (how === "abort") setTimeout(() => abort.abort(new Error("enough")));
        if (how === "close") setTimeout(() => client.close());
      }
    })();
    if (how === "abort") await expect(reading).rejects.toThrow("enough");
    else await reading;
    expect(await (await server.next("POST", "/shell/stream")).abandoned).toBe(true);
  });
});

test.each(["cut", "reset"] as const)("a connection that is %s mid-stream is a typed error at once", async (fault) => {
  await using server = await scriptedServer();
  server.on("POST", "/shell/stream", async (exchange) => {
    exchange.head(200, sse);
    await exchange.chunk('event: stdout\ndata: {"data": "a"}\n\n');
    exchange[fault]();
  });
  await rejected(collect(new ServerClient(server.address).process.shellStream("x")), SandboxConnectionError);
});

test("killing the server mid-stream is a typed error at once", async () => {
  await using server = await startServer();
  const client = server.client();
  const streams = [
    client.process.shellStream("sh -c 'echo a; sleep 60'", { cwd: server.base }),
    client.files.watch(server.base, { intervalMs: 100 }),
  ].map((stream) => collect(stream as AsyncIterable<unknown>));
  const failed = Promise.all(streams.map((stream) => rejected(stream, SandboxConnectionError, { code: "E5001" })));
  const { value } = await client.process.shellStream("echo ready", { cwd: server.base })[Symbol.asyncIterator]().next();
  expect(value).toEqual({ event: "stdout", data: "ready" });
  await server.stop();
  await failed;
});
