// What servers, gateways and networks answer when something is wrong, and what the caller then gets.
import type { ConnectionOptions } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, utf8 } from "../support/bytes.ts";
import { fastClock } from "../support/clock.ts";
import { type Answerer, Body, fakeFetch } from "../support/fake-fetch.ts";
import { fakeSandbox, rejected, SECRETS, START, shown, thrown } from "../support/sandboxes.ts";
import { type Context, suite } from "../support/suite.ts";
import { data, end, endOfStream, envelope, failure, start } from "../support/wire.ts";

const HTML = "<html><body><h1>502 Bad Gateway</h1><hr>nginx-internal-7</body></html>";

const html = (status: number) => () => new Response(HTML, { status, headers: { "content-type": "text/html" } });
const jsonAnswer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
const stream = (...chunks: Uint8Array<ArrayBuffer>[]) => new Body(chunks);

/** One call of every kind, by name. */
const CALLS: [string, (context: Context, answer: Answerer) => Promise<unknown>][] = [
  ["a stream", async (context, answer) => (await fakeSandbox(context, answer)).sandbox.commands.run("anything")],
  ["a unary call", async (context, answer) => (await fakeSandbox(context, answer)).sandbox.commands.list()],
  ["a file operation", async (context, answer) => (await fakeSandbox(context, answer)).sandbox.files.getInfo("a")],
  ["a file read", async (context, answer) => (await fakeSandbox(context, answer)).sandbox.files.read("a")],
  ["a file write", async (context, answer) => (await fakeSandbox(context, answer)).sandbox.files.write("a", "x")],
  ["a control-plane call", async ({ sdk }, answer) => sdk.Sandbox.getInfo("i1", control(answer))],
];

/** Options of control-plane calls whose requests go to `answer`. */
function control(answer: Answerer, options: ConnectionOptions = {}): ConnectionOptions {
  return { apiUrl: "https://api.test", apiKey: SECRETS.apiKey, validateApiKey: false, fetch: fakeFetch(answer), ...options };
}

export const errors = suite("errors", (test) => {
  for (const [name, call] of CALLS) {
    test(`${name}: the stack of its error leads to the line that made the call`, async (context) => {
      const whoMadeTheCall = async () => await call(context, () => new Response("", { status: 400 }));
      const error = await rejected(whoMadeTheCall(), context.sdk.SandboxError);
      assert.match(error.stack ?? "", /whoMadeTheCall/);
      assert.notMatch(error.stack ?? "", /wasm/);
    });
  }

  for (const [name, call] of CALLS) {
    test(`${name}: 429 is a rate limit`, async (context) => {
      const limited = () => new Response("slow down", { status: 429, headers: { "retry-after": "0" } });
      await rejected(call(context, limited), context.sdk.RateLimitError, "E5003");
    });

    test(`${name}: a 502 page of a gateway gives a short error without the page`, async (context) => {
      const error = await rejected(call(context, html(502)), context.sdk.SandboxError);
      assert.notMatch(shown(error), /nginx-internal-7|<html|<h1>/);
      assert.isBelow(error.message.length, 300);
    });

    test(`${name}: a network failure is a connection error with its cause, in the same class whatever its words`, async (context) => {
      const words = [
        "Failed to fetch",
        "NetworkError when attempting to fetch resource.",
        "Load failed",
        "fetch failed",
        "error sending request",
      ];
      const failed = words.map((word) =>
        rejected(
          call(context, () => Promise.reject(new TypeError(word))),
          context.sdk.NetworkError,
        ),
      );
      const classes = new Set((await Promise.all(failed)).map(({ name: kind }) => kind));
      assert.equal(classes.size, 1, [...classes].join());
    });

    test(`${name}: 401 is an authentication error`, async (context) => {
      const refused = () => jsonAnswer(401, { code: 401, message: "unauthorized access, please provide a valid access token" });
      await rejected(call(context, refused), context.sdk.AuthenticationError);
    });
  }

  for (const [name, call] of CALLS.slice(1, 3)) {
    test(`${name}: resource_exhausted is a rate limit`, async (context) => {
      const exhausted = () => jsonAnswer(429, { code: "resource_exhausted", message: "too many" }, { "retry-after": "0" });
      await rejected(call(context, exhausted), context.sdk.RateLimitError, "E5003");
    });
  }

  test("resource_exhausted in a trailer is a rate limit", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => stream(failure("resource_exhausted", "too many")));
    await rejected(sandbox.commands.run("anything"), context.sdk.RateLimitError, "E5003");
  });

  test("Retry-After is given in milliseconds", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => new Response("", { status: 429, headers: { "retry-after": "7" } }));
    const error = await rejected(sandbox.commands.run("anything"), context.sdk.RateLimitError, "E5003");
    assert.equal(error.retryAfterMs, 7_000);
  });

  test("a moment in Retry-After is seen from the server's own clock, however wrong the one here is", async (context) => {
    for (const date of ["Mon, 05 Jan 2015 10:00:00 GMT", "Thu, 05 Jan 2090 10:00:00 GMT"]) {
      const headers = { date, "retry-after": date.replace("10:00:00", "10:00:07") };
      const { sandbox } = await fakeSandbox(context, () => new Response("", { status: 429, headers }));
      const error = await rejected(sandbox.commands.run("anything"), context.sdk.RateLimitError, "E5003");
      assert.equal(error.retryAfterMs, 7_000);
    }
  });

  test("a quota of sandboxes is told from a rate", async (context) => {
    const answered = (headers: Record<string, string>) => control(() => jsonAnswer(429, { code: 429, message: "limit" }, headers));
    await rejected(context.sdk.Sandbox.create(answered({})), context.sdk.QuotaExceededError, "E2002");
    await rejected(context.sdk.Sandbox.create(answered({ "retry-after": "1" })), context.sdk.RateLimitError, "E5003");
  });

  for (const [name, answer] of [
    ["503", () => new Response("", { status: 503 })],
    ["502", html(502)],
    ["429 with Retry-After", () => new Response("", { status: 429, headers: { "retry-after": "0" } })],
    ["a network failure", () => Promise.reject(new TypeError("Failed to fetch"))],
  ] as [string, Answerer][]) {
    test(`starting a command is not retried: ${name}`, async (context) => {
      const { sandbox, calls } = await fakeSandbox(context, (call) => (call.path.endsWith(START) ? answer(call) : undefined));
      await rejected(sandbox.commands.run("anything"), context.sdk.SandboxError);
      assert.equal(calls.filter(({ path }) => path.endsWith(START)).length, 1);
    });
  }

  test("input, a move and a create are not retried", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, (call) =>
      call.path.endsWith("/health") ? undefined : new Response("", { status: 503 }),
    );
    await rejected(sandbox.commands.sendInput(1, "x"), context.sdk.SandboxError);
    await rejected(sandbox.files.move("a", "b"), context.sdk.SandboxError);
    assert.deepEqual(
      ["/SendInput", "/Move"].map((name) => calls.filter(({ path }) => path.endsWith(name)).length),
      [1, 1],
    );
    const options = control(() => new Response("", { status: 503 }));
    await rejected(context.sdk.Sandbox.create(options), context.sdk.SandboxCreationError);
    assert.equal((options.fetch as ReturnType<typeof fakeFetch>).calls.length, 1);
  });

  test("a call that is safe to repeat is, on 503, and its answer counts", async (context) => {
    let attempts = 0;
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (!call.path.endsWith("/Stat")) return undefined;
      attempts += 1;
      return attempts < 3 ? new Response("", { status: 503 }) : jsonAnswer(404, { code: "not_found", message: "file not found" });
    });
    assert.isFalse(await sandbox.files.exists("a"));
    assert.equal(attempts, 3);
  });

  test("a 429 without Retry-After is a quota and not retried", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, () => new Response("", { status: 429 }));
    await rejected(sandbox.files.exists("a"), context.sdk.RateLimitError);
    assert.equal(calls.length, 1);
  });

  test("exists throws what is not 'not found'", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => jsonAnswer(500, { code: "internal", message: "the disk is gone" }));
    await rejected(sandbox.files.exists("a"), context.sdk.SandboxError);
  });

  test("a sandbox that is killed while a command streams gives one typed error, however it shows", async (context) => {
    // What the control plane knows tells it from a network that failed.
    const key = { apiKey: SECRETS.apiKey, apiUrl: "https://api.test", validateApiKey: false };
    const gone = () => jsonAnswer(404, { code: 404, message: "no such sandbox" });
    const codes: string[] = [];
    for (const body of [
      () => new Body([start(), data("stdout", "one")], "fail"),
      () => stream(start(), data("stdout", "one"), failure("unavailable", "the sandbox is gone")),
      () => stream(start(), data("stdout", "one")),
    ]) {
      const { sandbox } = await fakeSandbox(context, (call) => (call.path.endsWith(START) ? body() : gone()), key);
      codes.push((await rejected(sandbox.commands.run("anything"), context.sdk.SandboxError)).name);
    }
    assert.deepEqual(codes, ["SandboxNotFoundError", "SandboxNotFoundError", "SandboxNotFoundError"]);
  });

  test("without a key, a stream that had begun and is lost is one typed error, however it shows", async (context) => {
    for (const body of [
      () => new Body([start(), data("stdout", "one")], "fail"),
      () => stream(start(), data("stdout", "one"), failure("unavailable", "the sandbox is gone")),
      () => stream(start(), data("stdout", "one")),
    ]) {
      const { sandbox } = await fakeSandbox(context, (call) => (call.path.endsWith(START) ? body() : undefined));
      await rejected(sandbox.commands.run("anything"), context.sdk.SandboxConnectionError, "E5001");
    }
  });

  /** A platform that makes sandboxes which nobody reaches. */
  const silent = (sandboxUrl: string) => {
    const info = { sandboxID: "i1", templateID: "base", state: "running" };
    let ended = false;
    const options = control(
      ({ url, method }) => {
        if (url.host !== "api.test") return Promise.reject(new TypeError("fetch failed"));
        ended ||= method === "DELETE";
        return ended ? jsonAnswer(404, { code: 404, message: "no such sandbox" }) : jsonAnswer(200, info);
      },
      { sandboxUrl },
    );
    const { calls } = options.fetch as ReturnType<typeof fakeFetch>;
    return { options, asked: () => calls.filter(({ path }) => path.endsWith("/health")).length };
  };

  test("a new sandbox behind a dead port is unreachable, also when the request timeout ends the wait for it", async (context) => {
    const { options } = silent("https://sandbox.test/s/{sandboxId}/{port}");
    const error = await rejected(
      context.sdk.Sandbox.create({ ...options, requestTimeoutMs: 2_000 }),
      context.sdk.UnreachableError,
      "E5004",
    );
    assert.include(error.suggestion, "sandboxUrl");
  });

  test("a new sandbox that gives no answer at all is given up soon, with the advice to check the URL", async (context) => {
    const { options, asked } = silent("https://sandbox.test/s/{sandboxId}/{port}");
    await fastClock(50, async () => {
      const began = performance.now();
      const error = await rejected(context.sdk.Sandbox.create(options), context.sdk.UnreachableError, "E5004");
      assert.isBelow(performance.now() - began, 60_000);
      assert.include(error.suggestion, "sandboxUrl");
      assert.notInclude(error.suggestion, "getInfo");
    });
    assert.isAbove(asked(), 1);
  });

  test.inNode("a host below .localhost that a server cannot resolve fails at once and names the path form", async (context) => {
    const { options, asked } = silent("http://{port}-{sandboxId}.localhost:7300");
    const created = await rejected(context.sdk.Sandbox.create(options), context.sdk.UnreachableError, "E5004");
    assert.equal(asked(), 1);
    const attached = await context.sdk.Sandbox.attach({ sandboxId: "i1" }, { ...options, apiKey: undefined });
    const called = await rejected(attached.files.exists("a"), context.sdk.UnreachableError, "E5004");
    for (const error of [created, called]) assert.include(error.suggestion, "/s/{sandboxId}/{port}");
  });

  test("the gateway's 'not found' names the sandbox as gone", async (context) => {
    const { sandbox } = await fakeSandbox(context, () =>
      jsonAnswer(502, { sandboxId: "itest", message: "The sandbox was not found", code: 502 }),
    );
    await rejected(sandbox.commands.run("anything"), context.sdk.SandboxNotFoundError, "E2009");
  });

  for (const [code, status, kind] of [
    ["not_found", 404, "FileNotFoundError"],
    ["invalid_argument", 400, "InvalidArgumentError"],
    ["permission_denied", 403, "PermissionDeniedError"],
    ["unauthenticated", 401, "AuthenticationError"],
  ] as const) {
    test(`a file operation's ${code} is ${kind}`, async (context) => {
      const { sandbox } = await fakeSandbox(context, () => jsonAnswer(status, { code, message: "as the server says" }));
      const error = await rejected(sandbox.files.getInfo("a"), context.sdk[kind]);
      assert.include(error.message, "as the server says");
    });
  }

  test("what envd says in words counts over the code it puts it under", async (context) => {
    const { InvalidArgumentError, PermissionDeniedError, FileOperationError, SandboxError } = context.sdk;
    let answer: () => Response = () => assert.fail("nothing is answered yet");
    const { sandbox } = await fakeSandbox(context, () => answer());
    const internal = (message: string) => () => jsonAnswer(500, { code: "internal", message });
    answer = () => jsonAnswer(401, { code: "unauthenticated", message: "invalid username: 'nobody2'" });
    const user = await rejected(sandbox.commands.run("x", { user: "nobody2" }), InvalidArgumentError, "E0001");
    assert.match(user.suggestion, /\buser\b/);
    answer = internal("error creating directory: mkdir /sys/a: Read-only file system (os error 30)");
    await rejected(sandbox.files.makeDir("/sys/a"), PermissionDeniedError, "E4002");
    answer = () => jsonAnswer(500, { code: 500, message: "error opening file: open /root/a: permission denied" });
    await rejected(sandbox.files.write("/root/a", "x"), PermissionDeniedError, "E4002");
    for (const [words, advice] of [
      ["File name too long", /shorter/],
      ["Not a directory", /file and not a directory/],
    ] as const) {
      answer = internal(`error creating directory: ${words}`);
      assert.match((await rejected(sandbox.files.makeDir("a"), FileOperationError, "E4000")).suggestion, advice);
    }
    answer = internal("error writing to stdin: stdin not enabled or closed");
    assert.include((await rejected(sandbox.commands.sendInput(1, "x"), SandboxError)).suggestion, "stdin: true");
  });

  test("envd's own 401, whose code is a number, is an authentication error on streams too", async (context) => {
    const refused = () => jsonAnswer(401, { code: 401, message: "unauthorized access" });
    const { sandbox } = await fakeSandbox(context, refused);
    const error = await rejected(sandbox.commands.run("anything"), context.sdk.AuthenticationError, "E1000");
    assert.equal(error.status, 401);
  });

  test("control-plane errors have their classes", async (context) => {
    const { Sandbox, AuthenticationError, SandboxNotFoundError, TemplateNotFoundError } = context.sdk;
    const answered = (status: number) => control(() => jsonAnswer(status, { code: status, message: "as the server says" }));
    await rejected(Sandbox.create("none", answered(404)), TemplateNotFoundError, "E2001");
    await rejected(Sandbox.create(answered(401)), AuthenticationError, "E1000");
    await rejected(Sandbox.connect("i1", answered(404)), SandboxNotFoundError, "E2009");
    await rejected(Sandbox.getInfo("i1", answered(404)), SandboxNotFoundError, "E2009");
    await rejected(Sandbox.setTimeout("i1", 1_000, answered(404)), SandboxNotFoundError, "E2009");
    assert.isFalse(await Sandbox.kill("i1", answered(404)));
    await rejected(Sandbox.list(answered(401)).nextItems(), AuthenticationError, "E1000");
  });

  test("an answer that is no JSON, or JSON of another shape, is an error", async (context) => {
    for (const body of ["", "<p>", "[]", "null", '{"sandboxID": 5}']) {
      const options = control(() => new Response(body, { status: 200, headers: { "content-type": "application/json" } }));
      await rejected(context.sdk.Sandbox.getInfo("i1", options), context.sdk.SandboxError);
    }
  });

  test("an answer that is no JSON is quoted nowhere, since it may hold a token", async (context) => {
    const { Sandbox, SandboxError } = context.sdk;
    const broken = (status: number) => async () => new Response('{"token":#hush', { status });
    const quiet = async (call: Promise<unknown>) => {
      const error = await rejected(call, SandboxError);
      assert.notInclude(shown(error), "hush");
      return error;
    };
    for (const status of [200, 400, 403, 500]) await quiet(Sandbox.getInfo("i1", control(broken(status))));
    const relayed = await Sandbox.attach({ sandboxId: "i1" }, { relay: "http://127.0.0.1:9/relay", fetch: broken(200) });
    assert.instanceOf((await quiet(relayed.commands.run("x"))).cause, SyntaxError);
    for (const status of [200, 403, 500]) {
      const server = new context.sdk.ServerClient("http://127.0.0.1:9", { fetch: broken(status) });
      await quiet(server.pty.list());
    }
  });

  test("no answer is told with the origin it did not come from, and the system's own word", async (context) => {
    // What Node's fetch fails with.
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
    const fetch = async () => {
      throw new TypeError("fetch failed", { cause: refused });
    };
    const { Sandbox, UnreachableError, SandboxConnectionError } = context.sdk;
    const sandboxUrl = "http://127.0.0.1:9/s/{sandboxId}/{port}";
    const sandbox = await Sandbox.attach({ sandboxId: "i1", sandboxUrl, envdAccessToken: SECRETS.envdToken }, { fetch });
    const unreachable = await rejected(sandbox.commands.run("x"), UnreachableError, "E5004");
    const key = { apiUrl: "http://127.0.0.1:9/api", apiKey: SECRETS.apiKey, validateApiKey: false, sandboxUrl, fetch };
    const unanswered = await rejected(Sandbox.create(key), SandboxConnectionError, "E5001");
    for (const error of [unreachable, unanswered]) {
      assert.match(error.message, /There was no answer from http:\/\/127\.0\.0\.1:9 \(ECONNREFUSED\)\.$/);
      assert.equal(error.cause, refused);
      assert.notMatch(shown(error), /itoken|\?|\/s\//);
      for (const secret of Object.values(SECRETS)) assert.notInclude(shown(error), secret);
    }
  });

  test.inNode("in Node the system says why there was no answer", async ({ sdk }) => {
    // A port that nobody has any more.
    const server = process.getBuiltinModule("node:net").createServer().listen(0, "127.0.0.1");
    await new Promise((listening) => server.once("listening", listening));
    const { port } = server.address() as { port: number };
    await new Promise((closed) => server.close(closed));
    const nowhere = { sandboxId: "i1", sandboxUrl: `http://127.0.0.1:${port}/s/{sandboxId}/{port}` };
    const error = await rejected((await sdk.Sandbox.attach(nowhere)).files.read("f"), sdk.UnreachableError, "E5004");
    assert.include(error.message, `http://127.0.0.1:${port} (ECONNREFUSED)`);
    assert.equal((error.cause as { code?: string }).code, "ECONNREFUSED");
  });

  test("bad arguments are refused before any request", async (context) => {
    const { Sandbox, InvalidArgumentError } = context.sdk;
    const options = control(() => assert.fail("a request was made"));
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 86_400_001]) {
      await rejected(Sandbox.create({ ...options, timeoutMs }), InvalidArgumentError, "E0001");
      await rejected(Sandbox.setTimeout("i1", timeoutMs, options), InvalidArgumentError, "E0001");
    }
    await rejected(Sandbox.connect("", options), InvalidArgumentError, "E0001");
    await rejected(Sandbox.create(5 as never), InvalidArgumentError, "E0001");
    await rejected(Sandbox.list({ ...options, limit: 0 }).nextItems(), InvalidArgumentError, "E0001");
    const { sandbox, calls } = await fakeSandbox(context, () => assert.fail("a request was made"));
    for (const path of ["", "a\0b"]) {
      await rejected(sandbox.files.read(path), InvalidArgumentError, "E0001");
      await rejected(sandbox.files.write(path, "x"), InvalidArgumentError, "E0001");
      await rejected(sandbox.files.makeDir(path), InvalidArgumentError, "E0001");
    }
    await rejected(sandbox.files.move("a", "b\0"), InvalidArgumentError, "E0001");
    await rejected(sandbox.files.list("a", { depth: 0 }), InvalidArgumentError, "E0001");
    await rejected(sandbox.commands.run(5 as never), InvalidArgumentError, "E0001");
    await rejected(sandbox.commands.run([] as never), InvalidArgumentError, "E0001");
    await rejected(sandbox.commands.run("x", { timeoutMs: -1 }), InvalidArgumentError, "E0001");
    await rejected(sandbox.commands.run("x", { envs: { A: 5 as never } }), InvalidArgumentError, "E0001");
    await rejected(sandbox.commands.run("x", { onStdout: "no" as never }), InvalidArgumentError, "E0001");
    await rejected(sandbox.commands.run(["x", "a\0b"]), InvalidArgumentError, "E0001");
    await rejected(sandbox.commands.kill("one" as never), InvalidArgumentError, "E0001");
    await rejected(sandbox.files.write("a", 5 as never), InvalidArgumentError, "E0001");
    await rejected(sandbox.pty.resize(1, { cols: 0, rows: 24 }), InvalidArgumentError, "E0001");
    for (const [timeoutMs, what] of [
      [-1, "a negative or infinite number"],
      [Number.POSITIVE_INFINITY, "a negative or infinite number"],
      [Number.NaN, "NaN"],
    ] as const) {
      const error = await rejected(sandbox.commands.run("x", { timeoutMs }), InvalidArgumentError, "E0001");
      assert.equal(error.message, `timeoutMs must be a duration in ms, 0 or more, not ${what}.`);
    }
    thrown(() => sandbox.getUrl(70_000), InvalidArgumentError, "E0001");
    assert.lengthOf(calls, 0);
  });

  test("a key is asked for, and cloud key pairs are refused, before any request", async (context) => {
    const { Sandbox, InvalidAPIKeyError, TokenExchangeError } = context.sdk;
    const options = control(() => assert.fail("a request was made"));
    const error = await rejected(Sandbox.create({ ...options, apiKey: "" }), InvalidAPIKeyError, "E1001");
    assert.match(`${error.message} ${error.suggestion}`, /apiKey/);
    await rejected(Sandbox.create({ ...options, accessKeyId: "a", accessKeySecret: "b" }), TokenExchangeError, "E1004");
    const malformed = await rejected(
      Sandbox.create({ ...options, apiKey: "sk-mine", validateApiKey: true, domain: "e2b.app" }),
      InvalidAPIKeyError,
      "E1001",
    );
    assert.notInclude(shown(malformed), "sk-mine");
    const { sandbox } = await fakeSandbox(context, () => undefined);
    await rejected(sandbox.kill(), InvalidAPIKeyError, "E1001");
  });

  test("another control plane's sandboxes are not looked for under the provider's domain", async (context) => {
    const { Sandbox, InvalidArgumentError } = context.sdk;
    const options = { ...control(() => assert.fail("a request was made")), apiUrl: "https://127.0.0.1:1", sandboxUrl: undefined };
    const error = await rejected(Sandbox.create(options), InvalidArgumentError, "E0001");
    assert.match(error.message, /sandboxUrl/);
    await rejected(Sandbox.connect("i1", options), InvalidArgumentError, "E0001");
    const named = await Sandbox.attach({ sandboxId: "i1" }, { ...options, apiUrl: "https://api.sandboxes.test" });
    assert.equal(named.getUrl(80), "https://80-i1.sandboxes.test");
  });

  test("without a key, a page is sent to the server and told of no environment", async (context) => {
    const { Sandbox, InvalidAPIKeyError } = context.sdk;
    const keyless = control(() => assert.fail("a request was made"), { apiKey: undefined });
    const { apiKey: _, ...unmentioned } = keyless;
    const { message, suggestion } = await rejected(Sandbox.kill("i1", keyless), InvalidAPIKeyError, "E1001");
    assert.include(message, "option apiKey is undefined. Is the variable set");
    assert.equal(
      (await rejected(Sandbox.kill("i1", unmentioned), InvalidAPIKeyError, "E1001")).message,
      "This call needs an API key, and there is none.",
    );
    if (context.runtime === "page") {
      assert.include(suggestion, "on a server");
      assert.notMatch(suggestion, /environment|E2B_/);
    } else assert.include(suggestion, "E2B_API_KEY");
  });

  test("a sandbox that was handed over leaves what needs a key to who created it", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => undefined);
    const { suggestion } = await rejected(sandbox.kill(), context.sdk.InvalidAPIKeyError, "E1001");
    assert.match(suggestion, /created it.*relay/);
    assert.notInclude(suggestion, "E2B_");
  });

  test("an API key may come from a function, asked anew for every request", async (context) => {
    let asked = 0;
    const options = control(() => jsonAnswer(404, { code: 404, message: "no" }), {
      apiKey: async () => {
        asked += 1;
        return `key-${asked}`;
      },
    });
    await context.sdk.Sandbox.kill("i1", options);
    await context.sdk.Sandbox.kill("i1", options);
    assert.deepEqual(
      (options.fetch as ReturnType<typeof fakeFetch>).calls.map(({ headers }) => headers.get("x-api-key")),
      ["key-1", "key-2"],
    );
  });

  test("no key, token, signature or page is in any error or log line", async (context) => {
    const lines: string[] = [];
    const note = (...line: unknown[]) => void lines.push(JSON.stringify(line));
    const logger = { debug: note, info: note, warn: note, error: note };
    const failures: Answerer[] = [
      html(500),
      html(404),
      () => new Response("", { status: 401 }),
      () => jsonAnswer(403, { code: "permission_denied", message: "no" }),
      () => Promise.reject(new TypeError("Failed to fetch")),
      () => stream(start(), data("stdout", "one")),
    ];
    const found: string[] = [];
    const tried = failures.map(async (answer) => {
      const { sandbox } = await fakeSandbox(context, answer, {
        logger,
        apiKey: SECRETS.apiKey,
        apiUrl: "https://api.test",
        validateApiKey: false,
      });
      const calls = [
        sandbox.files.read("a"),
        sandbox.files.write("a", "x"),
        sandbox.commands.run("anything"),
        sandbox.commands.list(),
        sandbox.getInfo(),
      ];
      await Promise.all(calls.map((call) => call.catch((error: unknown) => found.push(shown(error)))));
    });
    await Promise.all(tried);
    assert.isAbove(found.length, 20);
    assert.isAbove(lines.length, 20, "requests are logged");
    for (const secret of [SECRETS.apiKey, SECRETS.envdToken, "signature=", "v1_", "nginx-internal-7"]) {
      assert.notInclude(found.join("\n"), secret);
      assert.notInclude(lines.join("\n"), secret);
    }
    assert.match(lines.join("\n"), /POST/);
    assert.match(lines.join("\n"), /Start/);
  });

  test("a handoff has the sandbox's tokens and not the API key", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => undefined, { apiKey: SECRETS.apiKey, validateApiKey: false });
    const handoff = sandbox.handoff();
    assert.equal(handoff.envdAccessToken, SECRETS.envdToken);
    assert.notInclude(JSON.stringify(handoff), SECRETS.apiKey);
  });

  test("after every kind of failure the client goes on working", async (context) => {
    let broken = true;
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (broken) return Promise.reject(new TypeError("Failed to fetch"));
      return call.path.endsWith(START) ? stream(start(), data("stdout", "fine"), end(), endOfStream()) : undefined;
    });
    await rejected(sandbox.commands.run("anything"), context.sdk.NetworkError);
    broken = false;
    assert.equal((await sandbox.commands.run("anything")).stdout, "fine");
  });

  test("an exit code other than 0 rejects when asked to, with all there is to know", async (context) => {
    const { sandbox } = await fakeSandbox(context, () =>
      stream(start(), data("stdout", "out"), data("stderr", "err"), end({ exitCode: 4 }), endOfStream()),
    );
    const error = await rejected(sandbox.commands.run("anything", { check: true }), context.sdk.ProcessError, "E3002");
    assert.deepInclude(error, { exitCode: 4, stdout: "out", stderr: "err" });
  });

  test("an error's JSON form has what support needs", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => jsonAnswer(404, { code: "not_found", message: "no such file" }));
    const error = await rejected(sandbox.files.getInfo("a"), context.sdk.FileNotFoundError, "E4001");
    assert.hasAllKeys(JSON.parse(JSON.stringify(error)), ["name", "code", "message", "suggestion", "docsUrl", "status"]);
    assert.instanceOf(error, context.sdk.FileOperationError);
    assert.instanceOf(error, context.sdk.SandboxError);
    assert.equal(error.name, "FileNotFoundError");
  });

  test("an envd that speaks only the other codec is asked once in that one, which is remembered", async (context) => {
    const types: (string | null)[] = [];
    const messages = [
      { event: { start: { pid: 9 } } },
      { event: { data: { stdout: btoa("from JSON"), addedLater: 1 } } },
      { event: { end: { exited: true, status: "exit status 0" } } },
    ];
    const { sandbox } = await fakeSandbox(context, (call) => {
      types.push(call.headers.get("content-type"));
      if (call.headers.get("content-type") !== "application/connect+json") return new Response("", { status: 415 });
      const body = concat(...messages.map((message) => envelope(utf8(JSON.stringify(message)))), endOfStream());
      return new Response(body, { headers: { "content-type": "application/connect+json" } });
    });
    assert.deepInclude(await sandbox.commands.run("x"), { stdout: "from JSON", exitCode: 0 });
    await sandbox.commands.run("x");
    assert.deepEqual(types, ["application/connect+proto", "application/connect+json", "application/connect+json"]);
  });
});
