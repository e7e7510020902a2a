/**
 * What passes through the relay to a sandbox's ports and back. Each test is an attack, against a scripted platform
 * that records whatever reaches it.
 */
import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { createRelay } from "agent-sandbox-web/relay";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../support/listen.ts";
import { API_KEY, RELAY, refusal, relayUnderTest, session } from "./upstream.ts";

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

describe("behind a server of Node's", () => {
  /** Sends bytes as they are, and gives what came back until the connection ended. */
  async function raw(port: number, head: string): Promise<string> {
    const socket = connect(port, "127.0.0.1");
    socket.write(head);
    const timer = setTimeout(() => socket.destroy(), 60_000);
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
