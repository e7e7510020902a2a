/**
 * Whom the relay serves: its users, session tokens, and pages of other origins. Each test is an attack, against a scripted platform
 * that records whatever reaches it.
 */
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { RELAY, refusal, relayUnderTest, session } from "./upstream.ts";

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
