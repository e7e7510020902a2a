// The option proxy: every request goes through it, in Node.
import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { InvalidArgumentError, Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Listening, listen } from "../support/listen.ts";
import { type ScriptedServer, scriptedServer } from "../support/scripted-server.ts";

/** What the proxy was asked to reach. */
const reached: string[] = [];
let proxy: Listening;
let server: ScriptedServer;

beforeAll(async () => {
  server = await scriptedServer();
  server.on("GET", "/sandboxes/i1", (exchange) => exchange.answer(200, {}, JSON.stringify({ sandboxID: "i1", state: "running" })));
  const forward = createServer((asked, answer) => {
    reached.push(asked.url ?? "");
    asked.pipe(request(asked.url ?? "", { method: asked.method ?? "GET", headers: asked.headers }, (from) => from.pipe(answer)));
  });
  forward.on("connect", async ({ url = "" }, client) => {
    reached.push(url);
    const [host, port] = url.split(":");
    const upstream = connect(Number(port), host);
    await once(upstream, "connect");
    client.write("HTTP/1.1 200 OK\r\n\r\n");
    upstream.pipe(client).pipe(upstream);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  });
  proxy = await listen(forward);
});
afterAll(async () => {
  await Promise.all([proxy.close(), server.close()]);
});

test("requests go through the proxy", async () => {
  const info = await Sandbox.getInfo("i1", { apiUrl: server.address, apiKey: "k", proxy: proxy.address });
  expect(info.status).toBe("running");
  expect(reached).toEqual([new URL(server.address).host]);
});

test("a proxy that is not there is a connection error, and its password in no error", async () => {
  const options = { apiUrl: server.address, apiKey: "k", proxy: "http://me:hunter2@127.0.0.1:9" };
  const failed = (await Sandbox.createSnapshot("i1", options).catch((caught: unknown) => caught)) as Error & { code: string };
  expect(failed.code).toBe("E5001");
  expect(JSON.stringify([failed, String(failed.stack), String(failed.cause)])).not.toContain("hunter2");
});

test("a proxy and a fetch of one's own exclude each other", async () => {
  const options = { apiUrl: server.address, apiKey: "k", proxy: proxy.address, fetch: globalThis.fetch };
  await expect(Sandbox.getInfo("i1", options)).rejects.toBeInstanceOf(InvalidArgumentError);
});
