/** WebSockets through the relay in Node whose peers do not end as they should: no connection is held for ever. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../support/listen.ts";
import { relayUnderTest } from "./upstream.ts";

const AGREED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/** A relay as a server of its own, in front of a sandbox whose port agrees to every WebSocket and is then the test's. */
async function opened() {
  const inside: Socket[] = [];
  const port = await listening(
    createTcpServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => {}).once("data", () => socket.write(AGREED));
      inside.push(socket);
    }),
  );
  const under = await relayUnderTest({ sandboxUrl: `http://127.0.0.1:${port}/s/{sandboxId}/{port}` });
  const outside: Socket[] = [];
  const inward: Socket[] = [];
  const connecting = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    socket.once("connect", () => {
      if (socket.remotePort === port) inward.push(socket);
    });
  };
  subscribe("net.client.socket", connecting);
  onTestFinished(() => void unsubscribe("net.client.socket", connecting));
  const server = createServer(under.relay.listener);
  server.on("upgrade", under.relay.upgrade).on("connection", (socket: Socket) => outside.push(socket));
  const { port: relay, close } = await listen(server);
  const token = await under.token();
  onTestFinished(async () => {
    for (const socket of [...inside, ...outside]) socket.destroy();
    await close();
    await under[Symbol.asyncDispose]();
  });
  // From here on: what has begun before is not waited for.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());

  /** Opens a WebSocket as a page does; this one ends nothing by itself. Gives the page's end, the relay's two and the sandbox's. */
  const open = async (protocols = `agent-sandbox-relay, ${token}`) => {
    const page = connect({ port: relay, host: "127.0.0.1", allowHalfOpen: true });
    onTestFinished(() => void page.destroy());
    page.on("error", () => {});
    page.write(
      `GET /api/sandbox/s/ialice/8080/ HTTP/1.1\r\nHost: app.test\r\nOrigin: http://app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Key: ${btoa("0123456789abcdef")}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: ${protocols}\r\n\r\n`,
    );
    const [answer] = await once(page, "data");
    const last = (sockets: Socket[]) => sockets.at(-1) as Socket;
    return { page, answer: String(answer), relay: last(outside), onward: last(inward), sandbox: last(inside) };
  };
  return { open, port: relay };
}

async function listening(server: ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Lets the relay's patience end: it has not before. */
async function patience(held: Socket): Promise<void> {
  const closed = once(held, "close");
  expect(held.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(held.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  await closed;
}

test("a page that does not close after the sandbox did, and one that was refused", async () => {
  const { open } = await opened();
  const { page, answer, relay, sandbox } = await open();
  expect(answer).toMatch(/^HTTP\/1\.1 101 /);
  let heard = "";
  page.on("data", (piece) => {
    heard += piece;
  });
  const ended = once(page, "end");
  sandbox.end("the last words");
  await ended;
  expect(heard).toBe("the last words");
  await patience(relay);

  const refused = await open("agent-sandbox-relay, none");
  expect(refused.answer).toMatch(/^HTTP\/1\.1 401 /);
  await once(refused.page, "end");
  await patience(refused.relay);
});

test("a server in the sandbox that does not close after the page did", async () => {
  const { open } = await opened();
  const { page, onward, sandbox } = await open();
  const told = once(sandbox, "end");
  sandbox.resume();
  page.destroy();
  await told;
  await patience(onward);
});

test("a peer that says nothing is asked by the system whether it is still there", async () => {
  const { open, port } = await opened();
  const { page, sandbox } = await open();
  /** Which timer runs for a connection of this machine: 2 is the one of silence. Before it stand addresses, state and queues. */
  const timer = (near = 0, far = 0) => {
    const [local, remote] = [near, far].map((number) => number.toString(16).toUpperCase().padStart(4, "0"));
    return new RegExp(`:${local} \\w+:${remote} 01 \\w+:\\w+ (\\d\\d):`).exec(readFileSync("/proc/net/tcp", "utf8"))?.[1];
  };
  await expect.poll(() => timer(port, page.localPort)).toBe("02");
  await expect.poll(() => timer(sandbox.remotePort, sandbox.localPort)).toBe("02");
});
