/** A relay in front of a scripted platform, on which alice and bob have a sandbox each. */
import { createRelay, type Relay, type RelayLogEntry, type RelayOptions } from "agent-sandbox-web/relay";
import { type ScriptedServer, scriptedServer } from "../support/scripted-server.ts";

export const API_KEY = "platform-key-0123456789abcdef";

/** Sandboxes and their owners. */
const OWNERS: Record<string, string> = { ialice: "alice", ialice2: "alice", ibob: "bob" };

export interface RelayUnderTest extends AsyncDisposable {
  readonly relay: Relay;
  readonly upstream: ScriptedServer;
  readonly log: RelayLogEntry[];
  /** Asks as a page of the relay's own origin whose user is named; `user: ""` for nobody. */
  ask(method: string, path: string, request?: Ask): Promise<Response>;
  /** A token for alice's sandbox. */
  token(id?: string): Promise<string>;
}

export interface Ask {
  user?: string;
  headers?: Record<string, string>;
  body?: RequestInit["body"];
  origin?: string;
}

export const RELAY = { "x-sandbox-relay": "1" };

/** How a page shows a session token. */
export const session = (token: string) => ({ "x-sandbox-session": token });

const json = { "content-type": "application/json" };

/** What a relay says when it says no. */
export async function refusal(answer: Response): Promise<{ status: number; reason: string; message: string }> {
  const { code, reason, message } = (await answer.json()) as { code: number; reason: string; message: string };
  return { status: answer.status, reason: code === answer.status ? reason : "the code is another than the status", message };
}

export async function relayUnderTest(options: Partial<RelayOptions> = {}): Promise<RelayUnderTest> {
  const upstream = await scriptedServer({ cors: false });
  const describe = (id: string) => ({
    sandboxID: id,
    templateID: "base",
    state: "running",
    metadata: { "agent-sandbox-owner": OWNERS[id], theirs: "kept" },
    envdAccessToken: `envd-token-of-${id}`,
  });
  const answer = (status: number, body: unknown) => [status, json, JSON.stringify(body)] as const;
  for (const id of Object.keys(OWNERS))
    upstream.on("GET", `/sandboxes/${id}`, (exchange) => exchange.answer(...answer(200, describe(id))));
  upstream.on("GET", "/v2/sandboxes", (exchange) => exchange.answer(...answer(200, Object.keys(OWNERS).map(describe))));
  upstream.on("POST", "/sandboxes", async (exchange) => {
    const wished = JSON.parse(String(await exchange.body)) as Record<string, unknown>;
    exchange.answer(...answer(201, { ...describe("ialice"), metadata: wished.metadata, trafficAccessToken: "traffic" }));
  });
  const log: RelayLogEntry[] = [];
  const relay = createRelay({
    apiKey: API_KEY,
    apiUrl: upstream.address,
    sandboxUrl: `${upstream.address}/s/{sandboxId}/{port}`,
    authorize: (request) => {
      const owner = request.headers.get("x-user");
      return owner ? { owner } : null;
    },
    policy: { templates: ["base"], ports: [9000, 8080, 49983] },
    logger: (entry) => log.push(entry),
    ...options,
  });
  const ask = (method: string, path: string, { user = "alice", headers = {}, body, origin }: Ask = {}) => {
    const init = { method, headers: { ...(user ? { "x-user": user } : {}), ...(origin ? { origin } : {}), ...headers } };
    const streams = body instanceof ReadableStream ? { duplex: "half" } : {};
    return relay.fetch(new Request(`https://app.test/api/sandbox${path}`, { ...init, ...streams, body: body ?? null }));
  };
  const token = async (id = "ialice") => {
    const answer = await ask("POST", `/sandboxes/${id}/session`, { headers: RELAY, user: OWNERS[id] ?? "" });
    return ((await answer.json()) as { token: string }).token;
  };
  return { relay, upstream, log, ask, token, [Symbol.asyncDispose]: () => upstream.close() };
}
