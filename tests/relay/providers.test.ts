/** Clouds that differ: what the relay sends them is what the client would. */
import { expect, test } from "vitest";
import { API_KEY, RELAY, refusal, relayUnderTest } from "./upstream.ts";

const json = { "content-type": "application/json" };

test("a platform that finds nothing by metadata: its pages are looked through for the owner's sandboxes", async () => {
  await using under = await relayUnderTest({ provider: "alibaba", policy: { templates: ["base"], maxSandboxes: 52 } });
  // Every third is alice's: 34 among the first hundred, 16 among the fifty behind.
  const all = Array.from({ length: 150 }, (_, at) => ({
    sandboxID: `i${at}`,
    status: "running",
    metadata: { "agent-sandbox-owner": at % 3 === 0 ? "alice" : "bob" },
  }));
  under.upstream.on("GET", "/sandboxes", ({ query, answer }) => {
    const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
    answer(200, json, JSON.stringify({ data: all.slice(offset, offset + limit) }));
  });
  const ids = async (query: string) => {
    const list = (await (await under.ask("GET", `/sandboxes?${query}`, { headers: RELAY })).json()) as { sandboxID: string }[];
    return list.map(({ sandboxID }) => sandboxID);
  };
  expect(await ids("limit=2&offset=0")).toEqual(["i0", "i3"]);
  expect(await ids("limit=3&offset=33&status=running")).toEqual(["i99", "i102", "i105"]);
  expect(await ids("limit=100&offset=0")).toHaveLength(50);
  expect(under.upstream.requests.every(({ headers }) => headers.authorization === `Bearer ${API_KEY}`)).toBe(true);

  const create = () =>
    under.ask("POST", "/sandboxes", { headers: RELAY, body: JSON.stringify({ templateID: "base", timeout: 60 }) });
  expect((await create()).status).toBe(201);
  all.push(...[1, 2].map((at) => ({ sandboxID: `n${at}`, status: "paused", metadata: { "agent-sandbox-owner": "alice" } })));
  expect(await refusal(await create())).toMatchObject({ reason: "too_many_sandboxes" });
});

test("the traffic token of private ports goes into the session, and from there to the port", async () => {
  await using under = await relayUnderTest({
    provider: { name: "own", keyHeader: "bearer", trafficTokenHeader: "X-Own-Traffic-Access-Token" },
  });
  under.upstream.on("GET", "/s/ialice/8080/", (exchange) => exchange.answer(200));
  const opened = await under.ask("POST", "/sandboxes/ialice/session", {
    headers: { ...RELAY, "x-own-traffic-access-token": "of-the-ports" },
  });
  const { token } = (await opened.json()) as { token: string };
  expect((await under.ask("GET", "/s/ialice/8080/", { headers: { "x-sandbox-session": token } })).status).toBe(200);
  expect(under.upstream.requests.at(-1)?.headers).toMatchObject({ "x-own-traffic-access-token": "of-the-ports" });
});

test("a platform that tells ports apart by headers gets them, and pages reach its sandboxes through the relay alone", async () => {
  await using platform = await relayUnderTest();
  await using under = await relayUnderTest({
    provider: "agentbox",
    apiUrl: platform.upstream.address,
    sandboxUrl: platform.upstream.address,
  });
  platform.upstream.on("POST", "/run", (exchange) => exchange.answer(200));
  const info = await (await under.ask("GET", "/sandboxes/ialice", { headers: RELAY })).json();
  expect(info).not.toHaveProperty("sandboxUrl");
  await under.ask("POST", "/s/ialice/8080/run", { headers: { "x-sandbox-session": await under.token() }, body: "x" });
  expect(platform.upstream.requests.at(-1)?.headers).toMatchObject({
    "agentbox-sandbox-id": "ialice",
    "agentbox-sandbox-port": "8080",
  });
});
