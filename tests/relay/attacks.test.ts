/** What the relay refuses. Each test is an attack, against a scripted platform that records whatever reaches it. */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { createRelay } from "agent-sandbox-web/relay";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../support/listen.ts";
import { API_KEY, RELAY, refusal, relayUnderTest } from "./upstream.ts";

const session = (token: string) => ({ "x-sandbox-session": token });
const creation = (body: object) => ({ headers: RELAY, body: JSON.stringify({ templateID: "base", timeout: 60, ...body }) });

describe("who asks", () => {
  test("nobody, and a user without the right", async () => {
    await using under = await relayUnderTest({
      authorize: (request) => (request.headers.get("x-user") ? { owner: "alice", rights: ["getInfo"] } : null),
    });
    const nobody = await under.ask("GET", "/sandboxes/ialice", { user: "", headers: RELAY });
    expect(await nobody.clone().json()).toMatchObject({ suggestion: expect.stringMatching(/^Sign in/) });
    expect(await refusal(nobody)).toMatchObject({ status: 401, reason: "unauthenticated" });
    for (const [method, path] of [
      ["DELETE", "/sandboxes/ialice"],
      ["POST", "/sandboxes/ialice/session"],
      ["POST", "/sandboxes"],
    ] as const) {
      expect(await refusal(await under.ask(method, path, { headers: RELAY }))).toMatchObject({
        status: 403,
        reason: "right_missing",
      });
    }
    expect(under.upstream.requests).toEqual([]);
    expect((await under.ask("GET", "/sandboxes/ialice", { headers: RELAY })).status).toBe(200);
  });

  test("an owner asks for another's sandbox, which is not told from one that is not there", async () => {
    await using under = await relayUnderTest({
      authorize: () => ({ owner: "alice", rights: ["getInfo", "kill", "connect", "pause", "ports", "createSnapshot", "logs"] }),
    });
    const answers = [];
    for (const id of ["ibob", "inobody"]) {
      for (const [method, path] of [
        ["GET", `/sandboxes/${id}`],
        ["DELETE", `/sandboxes/${id}`],
        ["POST", `/sandboxes/${id}/connect`],
        ["POST", `/sandboxes/${id}/pause`],
        ["POST", `/sandboxes/${id}/session`],
        ["GET", `/v2/sandboxes/${id}/logs`],
        ["GET", `/snapshots?sandboxID=${id}`],
        ["POST", `/sandboxes/${id}/snapshots`],
      ] as const) {
        const { status, reason, message } = await refusal(await under.ask(method, path, { headers: RELAY }));
        answers.push(`${status} ${reason} ${message.replace(id, "ID")}`);
      }
    }
    expect(new Set(answers)).toEqual(new Set(["404 not_found There is no sandbox ID of yours."]));
    expect(under.upstream.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("a sandbox that changed hands in this relay's memory is asked for by both", async () => {
    await using under = await relayUnderTest();
    expect((await under.ask("GET", "/sandboxes/ialice", { headers: RELAY })).status).toBe(200);
    expect(await refusal(await under.ask("GET", "/sandboxes/ialice", { headers: RELAY, user: "bob" }))).toMatchObject({
      reason: "not_found",
    });
  });

  test("a list holds the owner's sandboxes alone, whatever the platform lists and the page filters by", async () => {
    await using under = await relayUnderTest();
    const label = encodeURIComponent(`${encodeURIComponent("a b")}=${encodeURIComponent("c&d=e")}`);
    const answer = await under.ask("GET", `/v2/sandboxes?metadata=${label}&limit=7&teamID=other`, { headers: RELAY });
    const list = (await answer.json()) as { sandboxID: string; metadata: object }[];
    expect(list.map(({ sandboxID }) => sandboxID)).toEqual(["ialice", "ialice2"]);
    expect(list[0]?.metadata).toEqual({ theirs: "kept" });
    const asked = under.upstream.requests.at(-1)?.query;
    expect(asked?.get("metadata")).toBe("a%20b=c%26d%3De&agent-sandbox-owner=alice");
    expect([...(asked?.keys() ?? [])].sort()).toEqual(["limit", "metadata"]);
    const forged = encodeURIComponent("agent-sandbox-owner=bob");
    expect(await refusal(await under.ask("GET", `/v2/sandboxes?metadata=${forged}`, { headers: RELAY }))).toMatchObject({
      status: 400,
    });
  });
});

describe("session tokens", () => {
  test("none, another sandbox's, another port's, a forged one, one of another key", async () => {
    await using under = await relayUnderTest();
    await using other = await relayUnderTest({ apiKey: "another-key-0123456789abcdef" });
    const token = await under.token();
    const [version, claims = "", signature] = token.split(".");
    const changed = btoa(atob(claims).replace("ialice", "ibob"));
    const unsigned = btoa(JSON.stringify({ sandbox: "ialice", owner: "alice", ports: [9000], exp: 9e12 })).replace(/=+$/, "");
    for (const [wrong, path, status, reason] of [
      ["", "/s/ialice/9000/", 401, "no_session"],
      [token, "/s/ibob/9000/", 403, "other_sandbox"],
      [token, "/s/ialice/22/", 403, "right_missing"],
      [`${version}.${changed.replace(/=+$/, "")}.${signature}`, "/s/ibob/9000/", 401, "session_invalid"],
      [`${version}.${unsigned}.`, "/s/ialice/9000/", 401, "session_invalid"],
      [`${version}.${claims}`, "/s/ialice/9000/", 401, "session_invalid"],
      [`${version}.${claims}.${"A".repeat(43)}`, "/s/ialice/9000/", 401, "session_invalid"],
      [`none.${claims}.${signature}`, "/s/ialice/9000/", 401, "session_invalid"],
      [`${token}.${signature}`, "/s/ialice/9000/", 401, "session_invalid"],
      ["x".repeat(10_000), "/s/ialice/9000/", 401, "session_invalid"],
      [await other.token(), "/s/ialice/9000/", 401, "session_invalid"],
    ] as const) {
      expect(await refusal(await under.ask("GET", path, { headers: wrong ? session(wrong) : {} }))).toMatchObject({
        status,
        reason,
      });
    }
    expect(under.upstream.requests.map(({ path }) => path)).toEqual(["/sandboxes/ialice"]);
  });

  test("an expired one, with the named allowance for clocks; and one without an end", async () => {
    const secret = "a secret of at least 32 characters";
    await using under = await relayUnderTest({ secret });
    under.upstream.on("GET", "/s/ialice/9000/", (exchange) => exchange.answer(200));
    const key = createHmac("sha256", secret).update("agent-sandbox-web relay session v1").digest();
    const sign = (claims: object) => {
      const signed = `v1.${Buffer.from(JSON.stringify({ sandbox: "ialice", owner: "alice", ports: [9000], ...claims })).toString("base64url")}`;
      return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
    };
    const reasonOf = async (claims: object) => {
      const answer = await under.ask("GET", "/s/ialice/9000/", { headers: session(sign(claims)) });
      return answer.ok ? "let in" : (await refusal(answer)).reason;
    };
    expect(await reasonOf({ exp: Date.now() + 60_000 })).toBe("let in");
    expect(await reasonOf({ exp: Date.now() - 20_000 })).toBe("let in");
    expect(await reasonOf({ exp: Date.now() - 40_000 })).toBe("session_expired");
    for (const exp of [undefined, null, "9e12", Number.POSITIVE_INFINITY]) expect(await reasonOf({ exp })).toBe("session_invalid");
  });
});

describe("pages of other origins", () => {
  test("a foreign page's fetch, form and preflight", async () => {
    await using under = await relayUnderTest();
    const token = await under.token();
    const before = under.upstream.requests.length;
    for (const request of [
      { method: "GET", path: "/sandboxes/ialice", origin: "https://evil.test", headers: RELAY },
      { method: "POST", path: "/sandboxes/ialice/pause", origin: "null", headers: RELAY },
      { method: "POST", path: "/s/ialice/9000/shell", origin: "https://evil.test", headers: session(token) },
      { method: "POST", path: "/sandboxes/ialice/pause", headers: { ...RELAY, "sec-fetch-site": "cross-site" } },
      { method: "GET", path: "/sandboxes/ialice", headers: { ...RELAY, "sec-fetch-site": "same-site" } },
      { method: "OPTIONS", path: "/sandboxes", origin: "https://evil.test", headers: { "access-control-request-method": "POST" } },
    ]) {
      const answer = await under.ask(request.method, request.path, request);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect(await refusal(answer)).toMatchObject({ status: 403, reason: "foreign_origin" });
    }
    // A form of the same origin's other pages has no header of ours.
    const form = await under.ask("POST", "/sandboxes/ialice/pause", { origin: "https://app.test" });
    expect(await refusal(form)).toMatchObject({ status: 403, reason: "header_missing" });
    expect(under.upstream.requests).toHaveLength(before);
  });

  test("an origin that is named gets CORS, on refusals too, and the relay's own address is then none", async () => {
    await using under = await relayUnderTest({ origins: ["https://page.test"] });
    const preflight = await under.ask("OPTIONS", "/sandboxes", {
      origin: "https://page.test",
      headers: { "access-control-request-method": "POST", "access-control-request-headers": "x-sandbox-relay,content-type" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("x-sandbox-relay");
    for (const id of ["ialice", "ibob"]) {
      const answer = await under.ask("GET", `/sandboxes/${id}`, { origin: "https://page.test", headers: RELAY });
      expect(answer.headers.get("access-control-allow-origin")).toBe("https://page.test");
    }
    const own = await under.ask("GET", "/sandboxes/ialice", { origin: "https://app.test", headers: RELAY });
    expect(await refusal(own)).toMatchObject({ reason: "foreign_origin" });
  });
});

describe("requests to ports", () => {
  test("headers that would route, forward or authenticate elsewhere stay behind", async () => {
    await using under = await relayUnderTest({ policy: { templates: [], ports: [9000], headers: ["x-mine"] } });
    under.upstream.on("POST", "/s/ialice/9000/run", (exchange) => exchange.answer(200));
    const smuggled = {
      "x-api-key": "mine",
      "x-user": "alice",
      cookie: "session=application",
      forwarded: "host=evil",
      "x-forwarded-host": "evil",
      "x-real-ip": "1.2.3.4",
      "e2b-sandbox-id": "ibob",
      "e2b-sandbox-port": "49983",
      "e2b-traffic-access-token": "guessed",
      "agentbox-sandbox-id": "ibob",
      "proxy-authorization": "Basic x",
      "x-sandbox-relay": "1",
      "x-http-method-override": "DELETE",
      "x-original-url": "/sandboxes",
      te: "trailers",
    };
    const passed = { authorization: "Bearer of the SandboxServer", "content-type": "application/json", "x-mine": "yes" };
    const headers = { ...smuggled, ...passed, ...session(await under.token()) };
    expect((await under.ask("POST", "/s/ialice/9000/run?x=1", { headers, body: "{}" })).status).toBe(200);
    const got = under.upstream.requests.at(-1);
    expect(got?.headers).toMatchObject({ ...passed, "content-length": "2" });
    expect(Object.keys(got?.headers ?? {})).not.toEqual(expect.arrayContaining([expect.stringMatching(/session|sandbox/)]));
    for (const name of Object.keys(smuggled)) expect(got?.headers[name], name).toBeUndefined();
    expect(got?.headers.host).toBe(new URL(under.upstream.address).host);
    for (const name of ["Cookie", "Host", "X-Forwarded-For", "E2b-Sandbox-Id", "Transfer-Encoding", "a b", "X-Api-Key"]) {
      const policy = { templates: [], headers: [name] };
      expect(() => createRelay({ apiKey: API_KEY, authorize: () => null, policy }), name).toThrow(/never passed on/);
    }
  });

  test("an answer cannot instruct the browser or servers in front of the relay", async () => {
    await using under = await relayUnderTest();
    under.upstream.on("GET", "/s/ialice/8080/page", (exchange) =>
      exchange.answer(
        200,
        {
          "content-type": "text/html",
          "set-cookie": "session=stolen",
          "x-accel-redirect": "/etc/passwd",
          "clear-site-data": '"*"',
          "service-worker-allowed": "/",
          "access-control-allow-origin": "*",
          "cache-control": "public, max-age=9999",
          refresh: "0; url=https://evil.test",
        },
        "<script>alert(1)</script>",
      ),
    );
    const answer = await under.ask("GET", "/s/ialice/8080/page", { headers: session(await under.token()) });
    expect(Object.fromEntries(answer.headers)).toEqual({
      "content-type": "text/html",
      "content-length": "25",
      "cache-control": "no-store",
      "content-security-policy": "sandbox; default-src 'none'",
      "cross-origin-resource-policy": "same-origin",
      "x-content-type-options": "nosniff",
      vary: "x-sandbox-session",
    });
  });

  test("paths that climb out, in every encoding", async () => {
    await using under = await relayUnderTest();
    const token = await under.token();
    const before = under.upstream.requests.length;
    for (const path of [
      "/s/ialice/9000/%2e%2e%2f%2e%2e%2fibob/9000/x",
      "/s/ialice/9000/..%2f..%2fsandboxes",
      "/s/ialice/9000/%252e%252e/x",
      "/s/ialice/9000/a/%2e%2e%5cx",
      "/s/ialice/9000/a%5c..%5cb",
      "/s/ialice/9000//evil.test/x",
      "/s/ialice/9000/a%2f%2fb",
      "/s/ialice/9000/a%00b",
      "/s/ialice/9000/%ff",
      "/s/ialice/9000/..;/x",
      "/s/ialice/0/x",
      "/s/ialice/65536/x",
      "/s/ialice/9000@evil.test/x",
      "/s/ialice%2f..%2fibob/9000/x",
      "/s//9000/x",
    ]) {
      const answer = await under.ask("GET", path, { headers: session(token) });
      expect(await refusal(answer), path).toMatchObject({ status: 400, reason: "bad_path" });
    }
    // What URLs resolve by themselves leads to another sandbox, whose token this is not, or out of the relay.
    expect(await refusal(await under.ask("GET", "/s/ialice/9000/../../ibob/9000/x", { headers: session(token) }))).toMatchObject({
      reason: "other_sandbox",
    });
    expect(
      await refusal(await under.ask("GET", "/s/ialice/9000/../../../../../sandboxes", { headers: session(token) })),
    ).toMatchObject({
      reason: "no_route",
    });
    expect(under.upstream.requests).toHaveLength(before);
  });

  test("names with dots, spaces and encoded slashes pass as they are", async () => {
    await using under = await relayUnderTest();
    under.upstream.on("GET", "/s/ialice/8080/*", (exchange) => exchange.answer(200, {}, exchange.path));
    const token = await under.token();
    for (const path of ["/.hidden/a..b", "/a%20b%2Fc", "/%E2%82%AC"]) {
      const answer = await under.ask("GET", `/s/ialice/8080${path}?q=../x`, { headers: session(token) });
      expect(await answer.text()).toBe(decodeURI(`/s/ialice/8080${path}`));
    }
  });

  test("a redirect is not followed, and where it leads is not told", async () => {
    await using under = await relayUnderTest();
    await using elsewhere = await relayUnderTest();
    const location = `${elsewhere.upstream.address}/steal?token=secret`;
    for (const [method, path] of [
      ["GET", "/s/ialice/8080/moved"],
      ["POST", "/sandboxes/ialice/pause"],
    ] as const) {
      under.upstream.on(method, path, (exchange) => exchange.answer(307, { location }));
      const headers = { ...RELAY, ...session(await under.token()) };
      const answer = await under.ask(method, path, { headers });
      expect(answer.headers.get("location")).toBeNull();
      const said = await answer.text();
      expect(said).not.toContain("steal");
      expect(JSON.parse(said)).toMatchObject({ code: 502, reason: "redirect" });
    }
    expect(elsewhere.upstream.requests).toEqual([]);
  });

  test("bodies over a limit, told beforehand or not", async () => {
    await using under = await relayUnderTest({ policy: { templates: ["base"], ports: [9000, 8080], maxBodyBytes: 100_000 } });
    const token = await under.token();
    const before = under.upstream.requests.length;
    const large = () => new Blob([new Uint8Array(200_000)]).stream();
    for (const [path, headers] of [
      ["/s/ialice/9000/x", session(token)],
      ["/s/ialice/9000/x", { ...session(token), "content-length": "200000" }],
      ["/s/ialice/8080/x", { ...session(token), "content-length": "200000" }],
    ] as const) {
      expect(await refusal(await under.ask("POST", path, { headers, body: large() }))).toMatchObject({
        status: 413,
        reason: "body_too_large",
      });
    }
    expect(under.upstream.requests).toHaveLength(before);
    // One that streams has begun by then: the upstream request breaks off.
    expect(await refusal(await under.ask("POST", "/s/ialice/8080/x", { headers: session(token), body: large() }))).toMatchObject({
      status: 413,
    });
    const call = { headers: RELAY, body: JSON.stringify({ templateID: "x".repeat(2_000_000) }) };
    expect(await refusal(await under.ask("POST", "/sandboxes", call))).toMatchObject({ status: 413 });
  });

  test("bodies for the SandboxServer arrive with their length, 10 MiB at most", async () => {
    await using under = await relayUnderTest();
    under.upstream.on("POST", "/s/ialice/9000/files", async (exchange) =>
      exchange.answer(200, {}, `${exchange.headers["content-length"]} ${(await exchange.body).length}`),
    );
    const headers = session(await under.token());
    const send = (size: number) =>
      under.ask("POST", "/s/ialice/9000/files", { headers, body: new Blob([new Uint8Array(size)]).stream() });
    expect(await (await send(3_000_000)).text()).toBe("3000000 3000000");
    expect(await refusal(await send(10 * 1024 * 1024 + 1))).toMatchObject({ status: 413, reason: "body_too_large" });
  });
});

test("who is refused by a Node relay while still sending reads why", async () => {
  await using under = await relayUnderTest({ policy: { templates: ["base"], ports: [9000, 8080], maxBodyBytes: 100_000 } });
  const server = await listen(createServer(under.relay.listener));
  try {
    const token = await under.token();
    for (const [path, headers, status] of [
      ["/sandboxes", { ...RELAY, "x-user": "alice" }, 413],
      ["/s/ialice/9000/x", session(token), 413],
      ["/s/ialice/8080/x", session(token), 413],
      ["/s/ialice/9000/x", {}, 401],
    ] as const) {
      // In pieces, so that its length is not told; more than the buffers on the way hold.
      const body = new Blob([new Uint8Array(16 << 20)]).stream();
      const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
      const answer = await fetch(`${server.address}/api/sandbox${path}`, init);
      expect(await refusal(answer), path).toMatchObject({ status });
    }
  } finally {
    await server.close();
  }
});

test("a port that hangs up while a body is being sent is told from one that is not there", async () => {
  await using under = await relayUnderTest();
  under.upstream.on("POST", "/s/ialice/8080/x", (exchange) => exchange.reset());
  const headers = session(await under.token());
  const body = new Blob([new Uint8Array(16 << 20)]).stream();
  const answer = await refusal(await under.ask("POST", "/s/ialice/8080/x", { headers, body }));
  expect(answer).toMatchObject({ status: 502, reason: "unreachable" });
  expect(answer.message).toContain("while the request's body was being sent");
});

describe("what may be made", () => {
  test("what the policy has no place for", async () => {
    await using under = await relayUnderTest({ policy: { templates: ["base"], internet: false, maxTimeoutMs: 60_000 } });
    for (const [body, message] of [
      [{ templateID: "gpu-large" }, /this template/],
      [{ timeout: 61 }, /60000 ms/],
      [{ secure: false }, /secure/],
      [{ secure: null }, /secure/],
      [{ metadata: { "agent-sandbox-owner": "bob" } }, /relay's own/],
      [{ iam: { tokens: {} } }, /no place for iam/],
      [{ volumeMounts: [] }, /no place for volumeMounts/],
      [{ cpuCount: 64 }, /no place for cpuCount/],
      [{ network: { rules: {} } }, /no place for rules/],
      [{ network: { egressProxy: {} } }, /no place for egressProxy/],
      [{ network: { allowOut: ["10.0.0.1"] } }, /what a sandbox reaches/],
    ] as const) {
      const said = await refusal(await under.ask("POST", "/sandboxes", creation(body)));
      expect(said, JSON.stringify(body)).toMatchObject({ status: 403, reason: "policy" });
      expect(said.message).toMatch(message);
    }
    for (const body of [{ timeout: "1e9" }, { timeout: -1 }, { metadata: { a: 1 } }, { metadata: [] }]) {
      expect(await refusal(await under.ask("POST", "/sandboxes", creation(body)))).toMatchObject({ status: 400 });
    }
    expect(under.upstream.requests.filter(({ method }) => method === "POST")).toEqual([]);
    const made = await under.ask("POST", "/sandboxes", creation({ metadata: { mine: "yes" }, allow_internet_access: true }));
    expect(await made.json()).toMatchObject({ metadata: { mine: "yes" } });
    expect(JSON.parse(String(await under.upstream.requests.at(-1)?.body))).toEqual({
      templateID: "base",
      timeout: 60,
      metadata: { mine: "yes", "agent-sandbox-owner": "alice" },
      allow_internet_access: false,
    });
    for (const [path, body] of [
      ["/sandboxes/ialice/timeout", { timeout: 61 }],
      ["/sandboxes/ialice/connect", { timeout: 3600 }],
      ["/sandboxes/ialice/pause", { memory: true, other: 1 }],
    ] as const) {
      const answer = await under.ask("POST", path, { headers: RELAY, body: JSON.stringify(body) });
      expect(await refusal(answer)).toMatchObject({ status: 403, reason: "policy" });
    }
  });

  test("too many sandboxes, also when they are asked for at once, and by forks", async () => {
    await using under = await relayUnderTest({ policy: { templates: ["base"], maxSandboxes: 3 } });
    let there = 1;
    const list = () =>
      Array.from({ length: there }, (_, at) => ({ sandboxID: `i${at}`, metadata: { "agent-sandbox-owner": "alice" } }));
    under.upstream.on("GET", "/v2/sandboxes", (exchange) =>
      exchange.answer(200, { "content-type": "application/json" }, JSON.stringify(list())),
    );
    under.upstream.on("POST", "/sandboxes", (exchange) => {
      there += 1;
      exchange.answer(201, { "content-type": "application/json" }, JSON.stringify({ sandboxID: `i${there}` }));
    });
    const fork = { headers: RELAY, body: JSON.stringify({ count: 3 }) };
    expect(await refusal(await under.ask("POST", "/sandboxes/ialice/fork", fork))).toMatchObject({ reason: "too_many_sandboxes" });
    const answers = await Promise.all(Array.from({ length: 5 }, () => under.ask("POST", "/sandboxes", creation({}))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429) as Response;
    // It is no matter of waiting: the client makes a QuotaExceededError of it.
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(await refusal(refused)).toMatchObject({ reason: "too_many_sandboxes" });
  });

  test("calls that the client does not make, and methods", async () => {
    await using under = await relayUnderTest();
    for (const [method, path] of [
      ["DELETE", "/templates/base"],
      ["GET", "/templates"],
      ["POST", "/v2/sandboxes"],
      ["GET", "/sandboxes/metrics/../../admin"],
      ["POST", "/sandboxes/ialice/exec"],
      ["GET", "/sandboxes/ialice%2Ffork"],
      ["PATCH", "/sandboxes/ialice"],
      ["GET", ""],
    ] as const) {
      expect(await refusal(await under.ask(method, path, { headers: RELAY })), path).toMatchObject({
        status: 404,
        reason: "no_route",
      });
    }
    expect(under.upstream.requests).toEqual([]);
  });
});

test("rate limits are each owner's own, for calls and for ports", async () => {
  await using under = await relayUnderTest({ policy: { templates: [], ports: [8080], callsPerMinute: 3, requestsPerMinute: 2 } });
  under.upstream.on("GET", "/s/*", (exchange) => exchange.answer(200));
  const [alice, bob] = [await under.token(), await under.token("ibob")];
  for (let call = 0; call < 2; call++) expect((await under.ask("GET", "/sandboxes/ialice", { headers: RELAY })).status).toBe(200);
  const limited = await under.ask("GET", "/sandboxes/ialice", { headers: RELAY });
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refusal(limited)).toMatchObject({ status: 429, reason: "rate_limit" });
  expect((await under.ask("GET", "/sandboxes/ibob", { headers: RELAY, user: "bob" })).status).toBe(200);
  const port = async (id: string, token: string) => (await under.ask("GET", `/s/${id}/8080/`, { headers: session(token) })).status;
  expect([await port("ialice", alice), await port("ialice", alice), await port("ialice", alice)]).toEqual([200, 200, 429]);
  expect(await port("ibob", bob)).toBe(200);
});

test("failures inside tell pages and logs nothing, and the operator what it was", async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  await using under = await relayUnderTest({
    onError,
    authorize: () => {
      throw new Error(`database at postgres://user:${API_KEY}@db`);
    },
  });
  const answer = await under.ask("GET", "/sandboxes/ialice", { headers: RELAY });
  const said = await answer.text();
  expect(answer.status).toBe(500);
  expect(said + JSON.stringify(under.log)).not.toContain(API_KEY);
  expect(String(errors[0])).toContain("postgres");
  await using refused = await relayUnderTest();
  refused.upstream.on("GET", "/sandboxes/ialice", (exchange) => exchange.answer(401, {}, `bad key ${API_KEY}`));
  expect(await refusal(await refused.ask("GET", "/sandboxes/ialice", { headers: RELAY }))).toMatchObject({
    status: 502,
    message: "The platform refuses the relay's API key.",
  });
  refused.upstream.on("GET", "/sandboxes/ialice", (exchange) => exchange.cut());
  expect(await refusal(await refused.ask("GET", "/sandboxes/ialice", { headers: RELAY }))).toMatchObject({ reason: "unreachable" });
});

test("the log has routes and reasons, and no id, query or secret", async () => {
  await using under = await relayUnderTest();
  under.upstream.on("GET", "/s/*", (exchange) => exchange.answer(200));
  const token = await under.token();
  await under.ask("GET", "/s/ialice/8080/private/path?secret=1", { headers: session(token) });
  await under.ask("GET", "/s/ialice/22/", { headers: session(token) });
  expect(under.log).toMatchObject([
    { method: "POST", route: "/sandboxes/:id/session", status: 200 },
    { method: "GET", route: "/s/:id/:port", status: 200 },
    { method: "GET", route: "/s/:id/:port", status: 403, reason: "right_missing" },
  ]);
  for (const secret of ["ialice", "private", "secret=1", token, API_KEY]) expect(JSON.stringify(under.log)).not.toContain(secret);
});

describe("behind a server of Node's", () => {
  /** Sends bytes as they are, and gives what came back until the connection ended. */
  async function raw(port: number, head: string): Promise<string> {
    const socket = connect(port, "127.0.0.1");
    socket.write(head);
    const timer = setTimeout(() => socket.destroy(), 20_000);
    return await text(socket).finally(() => clearTimeout(timer));
  }

  test("request lines that name another host, and two lengths, lead nowhere", async () => {
    await using under = await relayUnderTest();
    const server = await listen(createServer(under.relay.listener));
    try {
      const token = await under.token();
      const before = under.upstream.requests.length;
      const head = (line: string, more = "") =>
        `${line} HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nx-sandbox-session: ${token}\r\n${more}\r\n`;
      expect(await raw(server.port, head("GET http://evil.test/api/sandbox/s/ialice/8080/x"))).toContain("404 Not Found");
      expect(await raw(server.port, head("GET //evil.test/api/sandbox/s/ialice/8080/x"))).toContain("404 Not Found");
      expect(await raw(server.port, head("GET /api/sandbox/s/ialice/8080/%2e%2e%2fx"))).toContain("bad_path");
      expect(
        await raw(
          server.port,
          `${head("POST /api/sandbox/s/ialice/8080/x", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")}0\r\n\r\n`,
        ),
      ).toContain("400 Bad Request");
      expect(under.upstream.requests).toHaveLength(before);
    } finally {
      await server.close();
    }
  });

  test("among other listeners it takes what is below its path, and leaves the rest to them", async () => {
    await using under = await relayUnderTest();
    const { listener, upgrade } = under.relay;
    const http = createServer((request, response) => {
      // As a router does that has cut off the path below which it hands requests on.
      Object.assign(request, { originalUrl: request.url, url: "/cut" });
      void listener(request, response, () => response.end("theirs"));
    });
    let relayed: Promise<void>;
    http.on("upgrade", (request, socket, head) => {
      relayed = upgrade(request, socket, head);
    });
    const server = await listen(http);
    const open = (path: string) =>
      raw(
        server.port,
        `GET ${path} HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Sec-WebSocket-Key: ${btoa("0123456789abcdef")}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      );
    try {
      const asked = { headers: { ...RELAY, "x-user": "alice" } };
      expect(await (await fetch(`${server.address}/api/sandbox/sandboxes/ialice`, asked)).json()).toMatchObject({
        sandboxID: "ialice",
      });
      expect(await (await fetch(`${server.address}/api/sandboxes`, asked)).text()).toBe("theirs");
      // Alone, it is the only one to answer.
      expect(await open("/hot-reload")).toContain("no_route");
      http.on("upgrade", async ({ url }, socket) => {
        // After all that the relay may have said.
        await relayed;
        if (url === "/hot-reload") socket.end("HTTP/1.1 101 theirs\r\n\r\n");
      });
      expect(await open("/hot-reload")).toBe("HTTP/1.1 101 theirs\r\n\r\n");
      expect(await open("/api/sandbox/s/ialice/9000/pty")).toContain("no_session");
    } finally {
      await server.close();
    }
  });

  test("a WebSocket of a foreign page, without a token, or with one in the URL", async () => {
    await using under = await relayUnderTest();
    const http = createServer(under.relay.listener);
    http.on("upgrade", under.relay.upgrade);
    const server = await listen(http);
    try {
      const token = await under.token();
      const before = under.upstream.requests.length;
      const open = (path: string, more: string) =>
        raw(
          server.port,
          `GET /api/sandbox${path} HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
            `Sec-WebSocket-Key: ${btoa("0123456789abcdef")}\r\nSec-WebSocket-Version: 13\r\n${more}\r\n`,
        );
      const protocol = `Sec-WebSocket-Protocol: agent-sandbox-relay, ${token}\r\n`;
      expect(await open("/s/ialice/9000/pty", `Origin: https://evil.test\r\n${protocol}`)).toContain("foreign_origin");
      expect(await open("/s/ialice/9000/pty", "Origin: http://app.test\r\n")).toContain("no_session");
      expect(await open(`/s/ialice/9000/pty?token=${token}`, "Origin: http://app.test\r\n")).toContain("no_session");
      expect(await open("/s/ibob/9000/pty", `Origin: http://app.test\r\n${protocol}`)).toContain("other_sandbox");
      expect(await open("/sandboxes", `Origin: http://app.test\r\n${protocol}`)).toContain("no_route");
      expect(under.upstream.requests).toHaveLength(before);
    } finally {
      await server.close();
    }
  });
});

test("a route that is handed no WebSocket refuses it by name, and pages are told before they try", async () => {
  await using under = await relayUnderTest({ webSockets: false });
  const token = await under.token();
  const headers = { upgrade: "websocket", connection: "Upgrade", "sec-websocket-protocol": `agent-sandbox-relay, ${token}` };
  const asked = { url: "https://app.test/api/sandbox/s/ialice/9000/pty", method: "GET", headers: new Headers(headers) };
  expect(await refusal(await under.relay.fetch(asked as Request))).toMatchObject({ status: 501, reason: "websocket_unsupported" });
  const opened = await under.ask("POST", "/sandboxes/ialice/session", { headers: RELAY });
  expect(await opened.json()).toMatchObject({ webSockets: false });
  // Next says that it is Next.
  await using next = await relayUnderTest();
  const told = async () =>
    ((await (await next.ask("POST", "/sandboxes/ialice/session", { headers: RELAY })).json()) as { webSockets: boolean })
      .webSockets;
  expect(await told()).toBe(true);
  vi.stubEnv("NEXT_RUNTIME", "nodejs");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await told()).toBe(false);
});

test("options that would open what was not meant are refused", () => {
  const good = { apiKey: API_KEY, authorize: () => null, policy: { templates: ["base"] } };
  for (const [bad, message] of [
    [{ authorize: undefined }, /authorize/],
    [{ policy: undefined }, /policy/],
    [{ policy: {} }, /templates/],
    [{ policy: { templates: "base" } }, /templates/],
    [{ policy: { templates: [], maxSandboxes: Number.NaN } }, /maxSandboxes/],
    [{ policy: { templates: [], ports: ["9000"] } }, /ports/],
    [{ path: "api/" }, /path/],
    [{ secret: "short" }, /secret/],
    [{ origins: ["https://app.test/"] }, /origins/],
    [{ sessionMs: 1 }, /sessionMs/],
    [{ ownerTag: "a=b" }, /ownerTag/],
  ] as const) {
    expect(() => createRelay({ ...good, ...bad } as never), JSON.stringify(bad)).toThrow(message);
  }
});
