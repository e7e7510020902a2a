/** The page's side: session tokens are asked for when one is needed, shared, renewed before they end, and asked for again when refused. */
import { Sandbox } from "agent-sandbox-web";
import { expect, test } from "vitest";
import { type Exchange, type ScriptedServer, scriptedServer } from "../support/scripted-server.ts";

const json = { "content-type": "application/json" };

interface Scripted extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly sandbox: Sandbox;
  /** Tokens that requests to the port came with. */
  readonly tokens: unknown[];
  sessions(): number;
}

/** A relay that gives tokens `t1`, `t2`, … of a life, and lets `accept` judge requests to a port. */
async function scripted(expiresInMs: number, accept: (exchange: Exchange) => void): Promise<Scripted> {
  const server = await scriptedServer();
  const tokens: unknown[] = [];
  let given = 0;
  server.on("POST", "/api/sandboxes/i1/session", async (exchange) => {
    given += 1;
    // Late enough for calls at the same time to meet.
    await new Promise((later) => setImmediate(later));
    exchange.answer(200, json, JSON.stringify({ token: `t${given}`, expiresInMs, webSockets: true }));
  });
  server.on("GET", "/api/s/i1/9000/health", (exchange) => {
    tokens.push(exchange.headers["x-sandbox-session"]);
    accept(exchange);
  });
  const sandbox = await Sandbox.attach(
    { sandboxId: "i1", sandboxUrl: server.address },
    { relay: `${server.address}/api`, apiHeaders: { "x-user": "alice" } },
  );
  return { server, sandbox, tokens, sessions: () => given, [Symbol.asyncDispose]: () => server.close() };
}

const well = (exchange: Exchange) => exchange.answer(200, json, '{"status":"ok"}');

test("one token serves calls at the same time and after, and none is asked for before it is needed", async () => {
  await using under = await scripted(60_000, well);
  expect(under.sessions()).toBe(0);
  const { server } = under.sandbox;
  expect(await Promise.all([server.health(), server.health(), server.health()])).toEqual([true, true, true]);
  expect(await server.health()).toBe(true);
  expect(under.tokens).toEqual(["t1", "t1", "t1", "t1"]);
  const asked = under.server.requests[0];
  expect(asked?.headers).toMatchObject({ "x-sandbox-relay": "1", "x-user": "alice" });
});

test("a token is renewed before it ends", async () => {
  await using under = await scripted(0, well);
  for (let call = 0; call < 3; call++) {
    // Its end is a moment of the clock: the next millisecond is behind it.
    const now = Date.now();
    while (Date.now() === now) await new Promise((later) => setImmediate(later));
    expect(await under.sandbox.server.health()).toBe(true);
  }
  expect(under.tokens).toEqual(["t1", "t2", "t3"]);
});

test("a token that the relay refuses is replaced once; a 401 of the server's own is the caller's to see", async () => {
  const refuse = { ...json, "x-sandbox-refusal": "session_expired" };
  await using under = await scripted(60_000, (exchange) =>
    exchange.headers["x-sandbox-session"] === "t1"
      ? exchange.answer(401, refuse, '{"code":401,"message":"expired"}')
      : well(exchange),
  );
  expect(await under.sandbox.server.health()).toBe(true);
  expect(under.tokens).toEqual(["t1", "t2"]);
  await using never = await scripted(60_000, (exchange) => exchange.answer(401, refuse, "{}"));
  expect(await never.sandbox.server.health()).toBe(false);
  expect(never.tokens).toEqual(["t1", "t2"]);
  await using own = await scripted(60_000, (exchange) => exchange.answer(401, json, "{}"));
  expect(await own.sandbox.server.health()).toBe(false);
  expect(own.tokens).toEqual(["t1"]);
});

test("a relay that gives no token says why, and a runtime without WebSockets is known before one is tried", async () => {
  await using server = await scriptedServer();
  const sandbox = await Sandbox.attach({ sandboxId: "i1", sandboxUrl: server.address }, { relay: `${server.address}/api` });
  const answer = (status: number, body: object) =>
    server.on("POST", "/api/sandboxes/i1/session", (exchange) => exchange.answer(status, json, JSON.stringify(body)));
  answer(403, { code: 403, message: "the right ports is missing" });
  await expect(sandbox.server.pty.connect("s1")).rejects.toMatchObject({ code: "E1000", message: "the right ports is missing" });
  answer(200, { token: "t", expiresInMs: 60_000, webSockets: false });
  await expect(sandbox.server.pty.connect("s1")).rejects.toMatchObject({ code: "E3004" });
  expect(server.requests.every(({ path }) => path.endsWith("/session"))).toBe(true);
});

test("an error says what is to be done about the relay, and not about a key that a page does not have", async () => {
  await using server = await scriptedServer();
  const refuse = { ...json, "x-sandbox-refusal": "unauthenticated" };
  const body = JSON.stringify({ code: 401, message: "who is it?", suggestion: "Sign in." });
  server.on("POST", "/api/sandboxes", (exchange) => exchange.answer(401, refuse, body));
  const making = () => Sandbox.create("base", { relay: `${server.address}/api` });
  await expect(making()).rejects.toMatchObject({ code: "E1000", message: "who is it?", suggestion: "Sign in." });
  // Behind the relay stands a platform, whose words are no relay's.
  server.on("POST", "/api/sandboxes", (exchange) => exchange.answer(401, json, body));
  await expect(making()).rejects.toMatchObject({ code: "E1000", suggestion: expect.stringContaining("apiKey") });
  server.on("POST", "/api/sandboxes", (exchange) => exchange.answer(404, json, '{"message":"no such template"}'));
  await expect(making()).rejects.toMatchObject({ code: "E2001", message: "no such template" });
});

test("where no relay answers, the error says so, and speaks of no template", async () => {
  await using server = await scriptedServer();
  const message = `There is no relay at ${server.address}/api: the answer was HTTP status 404.`;
  const making = () => Sandbox.create("base", { relay: `${server.address}/api/` });
  for (const headers of [{ "content-type": "text/html" }, { ...json, "x-sandbox-refusal": "no_route" }]) {
    server.on("POST", "/api/sandboxes", (exchange) => exchange.answer(404, headers, "<h1>Not found</h1>"));
    await expect(making()).rejects.toMatchObject({ code: "E0001", message, suggestion: expect.stringContaining("option relay") });
  }
});

test("a relay has the key, so none goes with it, and a path alone is for pages", async () => {
  for (const [options, message] of [
    [{ relay: "http://localhost/api", apiKey: "key" }, /relay and apiKey exclude/],
    [{ relay: "http://localhost/api", apiUrl: "http://localhost" }, /relay and apiUrl exclude/],
    [{ relay: "/api/sandbox" }, /relay must be a URL/],
    [{ relay: 7 as never }, /relay must be a string/],
  ] as const) {
    await expect(Sandbox.create("base", options)).rejects.toThrow(message);
  }
});
