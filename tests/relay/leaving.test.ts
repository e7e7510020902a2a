/** WebSockets through the example's relay, in each runtime, of which one side goes away: the other hears of it, and the relay keeps nothing. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { listen } from "../support/listen.ts";
import type { PlatformInfo } from "../support/platform.ts";
import { type ScriptedServer, scriptedServer } from "../support/scripted-server.ts";
import { type Runtime, signedIn, startExample } from "./example.ts";
import { API_KEY, RELAY } from "./upstream.ts";

/** One end of a WebSocket, and the connection below it. */
interface End {
  readonly socket: WebSocket;
  readonly connection: Socket;
}

let platform: ScriptedServer;
beforeAll(async () => {
  platform = await scriptedServer({ cors: false });
  const sandbox = { sandboxID: "ialice", templateID: "base", state: "running", metadata: { "agent-sandbox-owner": "alice" } };
  platform.on("GET", "/sandboxes/ialice", (exchange) =>
    exchange.answer(200, { "content-type": "application/json" }, JSON.stringify(sandbox)),
  );
});
afterAll(() => platform?.close());

/** A relay in front of a sandbox whose server is the test's. */
async function opened(runtime: Runtime) {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const { port: inside, close, address } = await listen(server);
  onTestFinished(() => close());
  const sandboxUrl = `${address}/s/{sandboxId}/{port}`;
  const info = { apiKey: API_KEY, apiUrl: platform.address, sandboxUrl, sandboxHostUrl: sandboxUrl } as PlatformInfo;
  const example = await startExample(runtime, info);
  onTestFinished(() => example.stop());
  const { apiHeaders } = await signedIn(example, "alice", sandboxUrl);
  const { origin, port: relay } = new URL(example.url);
  const session = await fetch(`${example.url}/api/sandbox/sandboxes/ialice/session`, {
    method: "POST",
    headers: { ...RELAY, ...apiHeaders, origin },
  });
  const { token } = (await session.json()) as { token: string };

  const open = async (): Promise<{ page: End; sandbox: End }> => {
    const arrived = once(sockets, "connection") as Promise<[WebSocket, IncomingMessage]>;
    const connection = connect({ port: Number(relay), host: "127.0.0.1" });
    const socket = new WebSocket(`${origin.replace("http", "ws")}/api/sandbox/s/ialice/9001/`, ["agent-sandbox-relay", token], {
      origin,
      createConnection: () => connection,
    });
    onTestFinished(() => socket.terminate());
    const [[served, request]] = await Promise.all([arrived, once(socket, "open")]);
    // A connection that is reset is an error of its end, too.
    for (const end of [socket, served]) end.on("error", () => {});
    return { page: { socket, connection }, sandbox: { socket: served, connection: request.socket } };
  };
  /** How many of the relay's connections with pages and with the sandbox are still somebody's. */
  const held = () => {
    const rows = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((row) => row.trim().split(/\s+/));
    const [near, far] = [Number(relay), inside].map((port) => `:${port.toString(16).toUpperCase().padStart(4, "0")}`);
    return rows.filter(([, local = "", remote = "", state, , , , , , inode]) => {
      const theirs = local.endsWith(String(near)) || remote.endsWith(String(far));
      return theirs && state !== LISTENING && inode !== "0";
    }).length;
  };
  return { open, held };
}

/** The state of a socket that is no connection. */
const LISTENING = "0A";

const ways: Record<string, (end: End) => void> = {
  "closes its connection": ({ connection }) => connection.destroy(),
  "resets its connection": ({ connection }) => connection.resetAndDestroy(),
  "ends its connection": ({ connection }) => connection.end(),
  "says goodbye": ({ socket }) => socket.close(4000, "enough"),
};

const runtimes: Runtime[] = ["worker", "node", "deno", "bun"];

describe.each(runtimes)("%s", (runtime) => {
  test("whoever goes, the other side is told, and nothing is kept", async () => {
    const { open, held } = await opened(runtime);
    for (const [way, leave] of Object.entries(ways)) {
      for (const side of ["page", "sandbox"] as const) {
        const ends = await open();
        expect(held(), way).toBeGreaterThanOrEqual(2);
        const other = ends[side === "page" ? "sandbox" : "page"];
        const told = once(other.socket, "close");
        leave(ends[side]);
        await told;
        await expect.poll(held, { message: `${side} ${way}` }).toBe(0);
      }
    }
  });
});
