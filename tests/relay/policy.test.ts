/**
 * What the relay's policy refuses, what it counts, and what its failures and log tell. Each test is an attack, against a scripted platform
 * that records whatever reaches it.
 */
import { createRelay } from "agent-sandbox-web/relay";
import { describe, expect, test } from "vitest";
import { API_KEY, RELAY, refusal, relayUnderTest, session } from "./upstream.ts";

const creation = (body: object) => ({ headers: RELAY, body: JSON.stringify({ templateID: "base", timeout: 60, ...body }) });

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
