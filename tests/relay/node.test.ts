/** A relay in Node in front of a real platform: streams both ways, private ports, quotas, and sandboxes that end. */
import { createServer } from "node:http";
import { connect } from "node:net";
import { QuotaExceededError, Sandbox } from "agent-sandbox-web";
import { createRelay } from "agent-sandbox-web/relay";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Listening, listen } from "../support/listen.ts";
import { FIRST_USE_MS, prepareRuntime } from "../support/runtime.ts";

let server: Listening;
let relay: string;
const routes: string[] = [];

beforeAll(async () => {
  await prepareRuntime();
  const { apiKey, apiUrl, sandboxUrl } = inject("platform");
  const made = createRelay({
    ...{ apiKey, apiUrl, sandboxUrl },
    // Everything through the relay, as where pages reach nothing else.
    direct: false,
    authorize: (request) => {
      const owner = request.headers.get("x-user") ?? "nobody";
      return owner === "dora" ? { owner, rights: ["create", "getInfo", "kill", "createSnapshot"] } : { owner };
    },
    policy: { templates: ["base", "code-interpreter-v1"], maxSandboxes: 2 },
    logger: ({ method, route }) => routes.push(`${method} ${route}`),
  });
  server = await listen(createServer(made.listener));
  relay = `${server.address}/api/sandbox`;
}, FIRST_USE_MS);
afterAll(() => server?.close());

const of = (user: string) => ({ relay, apiHeaders: { "x-user": user } });

test("uploads and downloads stream, output comes as it is written, and leaving early ends the command", async () => {
  await using sandbox = await Sandbox.create("base", of("alice"));
  const piece = new Uint8Array(65_536).fill(7);
  let sent = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent++ < 128) controller.enqueue(piece);
      else controller.close();
    },
  });
  await sandbox.files.write("large", source);
  const download = await sandbox.files.read("large", { format: "stream" });
  let bytes = 0;
  for await (const chunk of download) bytes += chunk.length;
  expect(bytes).toBe(128 * 65_536);

  const stream = sandbox.commands.stream("echo first; exec sleep 600");
  for await (const chunk of stream) {
    expect(chunk).toMatchObject({ type: "stdout", data: "first\n" });
    break;
  }
  await expect.poll(async () => (await sandbox.commands.list()).some(({ command }) => command.includes("sleep 600"))).toBe(false);
  expect(routes).toContain("POST /s/:id/:port");
});

test("what the web has no request for is refused, and the server lives", async () => {
  const { hostname, port } = new URL(relay);
  for (const [line, host] of [
    ["TRACE /x", "a"],
    ["GET /api/sandbox/x", "a:99999"],
    ["GET /api/sandbox/x", "[::"],
  ]) {
    const socket = connect(Number(port), hostname);
    socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(String(Buffer.concat(await socket.toArray()))).toMatch(/^HTTP\/1\.1 400 /);
  }
});

test("a snapshot without a name is made", async () => {
  await using sandbox = await Sandbox.create("base", of("dora"));
  const { snapshotId } = await sandbox.createSnapshot();
  expect(snapshotId).toBeTruthy();
});

test("cells of a private interpreter run through the relay", async () => {
  const options = { ...of("carol"), network: { allowPublicTraffic: false } };
  await using sandbox = await Sandbox.create("code-interpreter-v1", options);
  const { text } = await sandbox.runCode("6 * 7");
  expect(text).toBe("42");
});

test("more sandboxes than the policy allows are a quota, an ended one is not found, and another's life cannot be prolonged", async () => {
  await using one = await Sandbox.create("base", of("dave"));
  await using two = await Sandbox.create("base", of("dave"));
  await expect(Sandbox.create("base", of("dave"))).rejects.toThrow(QuotaExceededError);
  await expect(Sandbox.create("base", { ...of("dave"), timeoutMs: 7_200_000 })).rejects.toMatchObject({
    name: "AuthenticationError",
    code: "E1000",
    status: 403,
    message: expect.stringMatching(/3600000 ms at a time/),
  });
  await expect(Sandbox.connect(one.sandboxId, of("erin"))).rejects.toMatchObject({ code: "E2009" });
  await one.setTimeout(120_000);
  expect(await one.pause()).toBe(true);
  expect((await Sandbox.connect(one.sandboxId, of("dave"))).status).toBe("running");
  expect(await two.kill()).toBe(true);
  await expect(two.commands.run("true")).rejects.toMatchObject({ code: "E2009" });
});
