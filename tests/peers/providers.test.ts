// What this client asks of each cloud's control plane, beside what the cloud's own SDK asks for the same call: method, path, query, body, and
// the headers that say who asks and what is sent. Every difference is named, with its reason.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ConnectionOptions, Sandbox } from "agent-sandbox-web";
import * as e2b from "e2b";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Exchange, type ScriptedServer, scriptedServer } from "../support/scripted-server.ts";

const KEY = "key-of-the-peer";

const MADE = { sandboxID: "i1", templateID: "t1", clientID: "c", envdVersion: "0.6.13", envdAccessToken: "token" };
const DETAIL = {
  ...MADE,
  state: "running",
  startedAt: "2026-01-01T00:00:00Z",
  endAt: "2026-01-01T01:00:00Z",
  cpuCount: 1,
  memoryMB: 512,
  diskSizeMB: 512,
  metadata: {},
};

interface Asked {
  line: string;
  query: Record<string, string>;
  body?: unknown;
  key: string | undefined;
  type?: string | undefined;
}

type Recording = Record<string, Asked>;

/** A control plane that keeps what it is asked, under the name that was marked last. */
async function recorder(): Promise<{
  server: ScriptedServer;
  of(make: (mark: (name: string) => void) => Promise<void>): Promise<Recording>;
}> {
  const server = await scriptedServer();
  let recording: Recording = {};
  let name = "";
  const answer = async (exchange: Exchange) => {
    const { method, path, headers, query } = exchange;
    if (path.startsWith("/mark/")) {
      name = path.slice("/mark/".length);
      return exchange.answer(204);
    }
    if (path === "/health") return exchange.answer(204);
    const body = (await exchange.body).toString();
    // The first request of a call is the one that is meant; what follows cleans up.
    recording[name] ??= {
      line: `${method} ${path}`,
      query: Object.fromEntries([...query].sort(([a], [b]) => (a < b ? -1 : 1))),
      ...(body && { body: JSON.parse(body), type: headers["content-type"]?.split(";")[0] }),
      key: headers["x-api-key"] === undefined ? headers.authorization : `x-api-key ${headers["x-api-key"]}`,
    };
    const [status, value] = said(method, path);
    exchange.answer(status, { "content-type": "application/json" }, value === undefined ? "" : JSON.stringify(value));
  };
  for (const method of ["GET", "POST", "PUT", "DELETE"]) server.on(method, "/*", answer);
  return {
    server,
    of: async (make) => {
      recording = {};
      await make((next) => {
        name = next;
      });
      return recording;
    },
  };
}

function said(method: string, path: string): [number, unknown?] {
  if (method === "DELETE" || /\/(timeout|pause|network)$/.test(path)) return [204];
  if (path.endsWith("/fork")) return [201, [{ sandbox: MADE }, { sandbox: MADE }]];
  if (path.endsWith("/snapshots")) return method === "POST" ? [201, { snapshotID: "s", names: [] }] : [200, []];
  if (path.endsWith("/metrics") || path === "/v2/sandboxes") return [200, []];
  if (path === "/sandboxes") return method === "POST" ? [201, MADE] : [200, []];
  return [path.endsWith("/resume") ? 201 : 200, DETAIL];
}

const iam = { tokens: { id: { audience: "a", tokenType: "JWT-SVID" } } };

type Calls = Record<string, () => Promise<unknown>>;

/** The calls that this client and the e2b SDK for JavaScript name alike, typed as e2b has them. */
function commonCalls(Peer: typeof e2b.Sandbox, options: e2b.SandboxOpts): Calls {
  return {
    create: () => Peer.create(options),
    createFull: () =>
      Peer.create("t", {
        ...options,
        timeoutMs: 60_000,
        metadata: { a: "b" },
        envs: { C: "d" },
        secure: false,
        allowInternetAccess: false,
      }),
    createPausing: () => Peer.create({ ...options, lifecycle: { onTimeout: "pause", autoResume: true } }),
    createWalled: () =>
      Peer.create({
        ...options,
        network: {
          allowOut: ["a.test"],
          denyOut: ({ allTraffic }) => [allTraffic],
          allowPublicTraffic: false,
          maskRequestHost: "h",
        },
      }),
    createTransforming: () =>
      Peer.create({
        ...options,
        iam: iam as never,
        network: { rules: { "a.test": [{ transform: ({ iam: { tokens } }) => ({ headers: { A: String(tokens.id) } }) }] } },
      }),
    connect: () => Peer.connect("i1", { ...options, timeoutMs: 60_000 }),
    getInfo: () => Peer.getInfo("i1", options),
    kill: () => Peer.kill("i1", options),
    setTimeout: () => Peer.setTimeout("i1", 60_000, options),
    pause: () => Peer.pause("i1", options),
    pauseFiles: () => Peer.pause("i1", { ...options, keepMemory: false }),
    fork: () => Peer.fork("i1", { ...options, timeoutMs: 60_000, count: 2 }),
    createSnapshot: () => Peer.createSnapshot("i1", { ...options, name: "snap" }),
    listSnapshots: () => Peer.listSnapshots({ ...options, sandboxId: "i1" }).nextItems(),
    deleteSnapshot: () => Peer.deleteSnapshot("team/snap:v1", options),
    getMetrics: () => Peer.getMetrics("i1", { ...options, start: new Date(10_000) }),
    updateNetwork: () => Peer.updateNetwork("i1", { denyOut: ["0.0.0.0/0"] }, options),
    list: () => Peer.list({ ...options, limit: 5 }).nextItems(),
  };
}

const FILTER = { metadata: { "a b": "ü&=" }, nextToken: "t=" };

/** The calls of this client. */
function ours(options: ConnectionOptions): Calls {
  return {
    ...commonCalls(Sandbox as unknown as typeof e2b.Sandbox, options as e2b.SandboxOpts),
    // What Alibaba's cloud does not take is left out.
    ...(options.provider === "alibaba" && {
      createFull: () => Sandbox.create("t", { ...options, timeoutMs: 60_000, metadata: { a: "b" }, envs: { C: "d" } }),
    }),
    createMounted: () => Sandbox.create({ ...options, volumeMounts: [{ name: "v", path: "/v" }] }),
    createSized: () => Sandbox.create({ ...options, cpu: 2, memory: 1024, disk: 512, gpu: "A10" }),
    resume: async () => (await Sandbox.attach({ sandboxId: "i1" }, options)).resume(),
    listFiltered: () => Sandbox.list({ ...options, ...FILTER, status: "paused" }).nextItems(),
  };
}

/** The calls of the e2b SDK for JavaScript. */
function e2bCalls(url: string): Calls {
  const options = { apiKey: KEY, apiUrl: url, sandboxUrl: url, validateApiKey: false };
  const { metadata, nextToken } = FILTER;
  return {
    ...commonCalls(e2b.Sandbox, options),
    createMounted: () => e2b.Sandbox.create({ ...options, volumeMounts: { "/v": "v" } }),
    listFiltered: () => e2b.Sandbox.list({ ...options, query: { metadata, state: ["paused"] }, nextToken }).nextItems(),
  };
}

/** Where this client asks otherwise: what it makes of what the peer asks, and why. */
interface Difference {
  ours(peer: Asked): Asked;
  why: string;
}

const asks = (other: Partial<Asked>, why: string): Difference => ({ ours: (peer) => ({ ...peer, ...other }), why });

/** The same without parts of the body that say nothing. */
const unsaid = (...names: string[]): Difference => ({
  ours: (peer) => ({ ...peer, body: without(peer.body as object, names) }),
  why: "empty maps and defaults stay unsaid",
});

function without(body: object, names: string[]): object {
  const kept = Object.entries(body).filter(([name]) => !names.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, name === "network" ? without(value, names) : value]));
}

const PLATFORM_DECIDES = asks({ body: {} }, "memory is kept unless told: what is a default stays unsaid");
const PAGE_SIZE = "the page size is said, so that it is the same everywhere";
const BOTH_STATES = "the states are said, since a platform of the first version lists running sandboxes only";

const DIFFERENCES: Record<string, Record<string, Difference>> = {
  e2b: {
    pause: PLATFORM_DECIDES,
    list: asks({ query: { limit: "5", state: "running,paused" } }, BOTH_STATES),
    listFiltered: asks({ query: { limit: "100", metadata: "a%20b=%C3%BC%26%3D", nextToken: "t=", state: "paused" } }, PAGE_SIZE),
    listSnapshots: asks({ query: { limit: "100", sandboxID: "i1" } }, PAGE_SIZE),
  },
  agentbox: {
    create: unsaid("envVars", "metadata"),
    createPausing: unsaid("envVars", "metadata"),
    createWalled: unsaid("envVars", "metadata"),
    createTransforming: unsaid("envVars", "metadata", "allowPublicTraffic"),
    pause: PLATFORM_DECIDES,
    list: asks({ query: { limit: "5", state: "running,paused" } }, BOTH_STATES),
    listSnapshots: asks({ query: { limit: "100", sandboxID: "i1" } }, PAGE_SIZE),
  },
  alibaba: {},
};

let recording: Awaited<ReturnType<typeof recorder>>;
beforeAll(async () => {
  recording = await recorder();
});
afterAll(() => recording.server.close());

const environments = process.env.PEER_ENVIRONMENTS ?? new URL("../../target/peers", import.meta.url).pathname;
const script = new URL("python/providers.py", import.meta.url).pathname;

const python = (environment: string, module: string, host: string) => async () => {
  const url = `http://${host}:${new URL(recording.server.address).port}`;
  const { stderr } = await promisify(execFile)(join(environments, environment, "bin/python"), [script, module, url], {
    env: { PATH: process.env.PATH, HOME: "/nonexistent" },
  });
  // What failed in a peer is a call that it did not make: better seen than compared with nothing.
  expect(stderr).toBe("");
};

const made = (calls: Calls) => async (mark: (name: string) => void) => {
  for (const [name, call] of Object.entries(calls)) {
    mark(name);
    // What a cloud has not is refused without a request, and so not recorded.
    await call().catch(() => undefined);
  }
};

const PEERS: [provider: "e2b" | "agentbox" | "alibaba", make: (mark: (name: string) => void) => Promise<void>][] = [
  ["e2b", (mark) => made(e2bCalls(recording.server.address))(mark)],
  ["agentbox", python("agentbox", "agentbox", "localhost")],
  ["alibaba", python("alibaba", "alibaba", "127.0.0.1")],
];

describe.each(PEERS)("%s", (provider, make) => {
  test("this client asks what the cloud's own SDK asks, but for the differences that are named", async () => {
    const peer = await recording.of(make);
    const url = recording.server.address;
    const own = await recording.of(made(ours({ provider, apiKey: KEY, apiUrl: url, sandboxUrl: url, validateApiKey: false })));
    expect(Object.keys(peer).length).toBeGreaterThan(7);
    const expected: Recording = {};
    for (const [name, asked] of Object.entries(peer)) {
      const difference = DIFFERENCES[provider]?.[name];
      expected[name] = difference ? difference.ours(asked) : asked;
      // A difference that has gone must not stay in the table.
      if (difference) expect(own[name], name).not.toEqual(asked);
    }
    expect(Object.fromEntries(Object.keys(peer).map((name) => [name, own[name]]))).toEqual(expected);
  });
});
