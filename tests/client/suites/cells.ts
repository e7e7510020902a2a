// Code cells over a scripted interpreter: its lines byte for byte, what it refuses, and what ends a cell.
import type { CodeContext, CodeResult, SandboxHandoff } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, text, utf8 } from "../support/bytes.ts";
import { fastClock, heldTimers } from "../support/clock.ts";
import { Body, fakeFetch } from "../support/fake-fetch.ts";
import { accepted, END, executing, failed, line, result, run, stderr, stdout, TIMESTAMP } from "../support/interpreter.ts";
import { eventually, fakeSandbox, rejected, sceneSandbox, shown } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";

export const cells = suite("code cells", (test) => {
  test("a stream cut in two at any byte gives the same result", async (context) => {
    const raw = line(`{"type":"stdout","text":"é😀\\r\\n\\ud83d\\ude00\\u2028","timestamp":"${TIMESTAMP}"}\r`);
    const bytes = concat(accepted, raw, stderr("ß"), result({ text: "5", is_main_result: true }), failed, END);
    let body = new Body();
    const { sandbox } = await fakeSandbox(
      context,
      executing(() => body),
    );
    const cuts = Array.from({ length: bytes.length + 1 }, (_, at) => [bytes.slice(0, at), bytes.slice(at)]);
    for (const chunks of [...cuts, Array.from(bytes, (byte) => Uint8Array.of(byte))]) {
      body = new Body(chunks.filter(({ length }) => length > 0));
      const whole = await sandbox.runCode("anything");
      assert.deepEqual(JSON.parse(JSON.stringify({ ...whole, executionTime: 0 })), {
        text: "5",
        stdout: "é😀\r\n😀\u2028",
        stderr: "ß",
        exitCode: 1,
        executionTime: 0,
        outputFiles: [],
        results: [{ text: "5", extra: {}, isMainResult: true }],
        error: { name: "ValueError", value: "bad", traceback: "Traceback: bad" },
        executionCount: 3,
        logs: { stdout: ["é😀\r\n😀\u2028"], stderr: ["ß"] },
        truncated: false,
      });
    }
  });

  test("what is unknown is ignored: events, fields, empty lines, lines behind the end", async (context) => {
    const odd = [
      line({ type: "telepathy", text: "x" }),
      line("[1]"),
      line("null"),
      line(""),
      line(" \r"),
      line({ type: "keepalive" }),
    ];
    const chunks = [
      ...odd,
      stdout("a"),
      ...odd,
      line({ type: "stdout", text: "b", timestamp: "never", later: {} }),
      END,
      stdout("c"),
    ];
    const { stdout: seen, exitCode, executionCount } = await run(context, [concat(...chunks)]);
    assert.deepEqual({ seen, exitCode, executionCount }, { seen: "ab", exitCode: 0, executionCount: undefined });
  });

  test("a last line without its end still counts", async (context) => {
    const whole = concat(stdout("a"), END);
    assert.equal((await run(context, [whole.slice(0, -1)])).text, "a");
  });

  test("numbers that Python writes and JSON does not know arrive as those numbers", async (context) => {
    const forms = '"json":[NaN,Infinity,-Infinity,"NaN",1e999],"data":{"NaN":[NaN,1]},"text":"NaN \\" Infinity"';
    const { results } = await run(context, [line(`{"type":"result",${forms},"extra":{},"is_main_result":true}`), END]);
    assert.deepEqual(results[0]?.json, [Number.NaN, Infinity, -Infinity, "NaN", Infinity]);
    assert.deepEqual(results[0]?.data, { NaN: [Number.NaN, 1] });
    assert.equal(results[0]?.text, 'NaN " Infinity');
  });

  for (const [name, chunks] of [
    ["an empty 200", []],
    ["a stream that ends early", [accepted, stdout("a")]],
    ["a stream that ends inside a line", [stdout("a"), END.slice(0, -4)]],
    ["a line that is no JSON", [stdout("a"), line("{oops}"), END]],
    ["a page", [utf8("<!doctype html>\n<title>Welcome</title>\n")]],
  ] as [string, Uint8Array<ArrayBuffer>[]][]) {
    test(`${name} is a lost connection, never a result`, async (context) => {
      const error = await rejected(run(context, chunks), context.sdk.SandboxConnectionError, "E5001");
      assert.notInclude(shown(error), "Welcome");
    });
  }

  test("a connection that breaks is one typed error", async (context) => {
    const { sandbox } = await fakeSandbox(
      context,
      executing(() => new Body([stdout("a")], "fail")),
    );
    await rejected(sandbox.runCode("x"), context.sdk.SandboxConnectionError, "E5001");
  });

  test("refusals are typed, say what the server said, and are not repeated", async (context) => {
    const { sdk } = context;
    for (const [status, body, kind, code, message] of [
      [400, "Only one of context_id or language can be provided", sdk.InvalidArgumentError, "E0001", /Only one of/],
      [404, "Context abc not found", sdk.ExecutionError, "E3000", /Context abc not found/],
      [422, '{"detail":[{"type":"missing","loc":["body","code"],"msg":"Field required"}]}', sdk.InvalidArgumentError, "E0001", /./],
      [500, "Failed to create context: No such kernel named r", sdk.ExecutionError, "E3000", /No such kernel/],
      [403, "no token", sdk.AuthenticationError, "E1000", /no token/],
      [429, "slow down", sdk.RateLimitError, "E5003", /slow down/],
      [503, "<html><title>Unavailable</title></html>", sdk.UnreachableError, "E5004", /unreachable or not running/],
    ] as const) {
      const { sandbox, calls } = await fakeSandbox(
        context,
        executing(() => new Response(body, { status, headers: { "retry-after": "2" } })),
      );
      const error = await rejected(sandbox.runCode("x"), kind, code);
      assert.match(error.message, message);
      assert.notInclude(shown(error), "<html>");
      if (error instanceof sdk.RateLimitError) assert.equal(error.retryAfterMs, 2000);
      assert.equal(calls.length, 1, `${status}`);
    }
  });

  test("a request holds what was asked for, and no more", async (context) => {
    const { sandbox, calls } = await fakeSandbox(
      context,
      executing(() => new Body([END])),
    );
    const code = `${"#".repeat(70_000)}\n'é😀'`;
    const listed: CodeContext = { id: "c1", language: "python", cwd: "/tmp" };
    await sandbox.code.run(code);
    await sandbox.runCode("", { language: "bash", envs: { A_1: "x $y `z` é" } });
    await sandbox.runCode("1", { context: listed, language: "python" });
    await sandbox.runCode("1", { contextId: "c2" });
    assert.deepEqual(
      calls.map(({ body }) => JSON.parse(text(body))),
      [
        { code },
        { code: "", language: "bash", env_vars: { A_1: "x $y `z` é" } },
        { code: "1", context_id: "c1" },
        { code: "1", context_id: "c2" },
      ],
    );
    for (const { method, url, headers, init } of calls) {
      assert.equal(`${method} ${url}`, "POST https://sandbox.test/s/itest/49999/execute");
      assert.deepEqual([...headers.keys()].sort(), ["content-type", "x-access-token"]);
      // Browsers refuse such requests of more than 64 KiB.
      assert.isUndefined(init?.keepalive);
    }
  });

  test("a port that is not public gets its token, and a host without placeholders its routing", async (context) => {
    const fetch = fakeFetch(({ path }) => (path.endsWith("/execute") ? new Body([END]) : undefined));
    const handoff: SandboxHandoff = { sandboxId: "i1", sandboxUrl: "https://host.test", trafficAccessToken: "traffic-1" };
    const sandbox = await context.sdk.Sandbox.attach(handoff, { fetch });
    await sandbox.runCode("1");
    const [call] = fetch.calls;
    assert.equal(String(call?.url), "https://host.test/execute");
    const {
      "e2b-sandbox-id": id,
      "e2b-sandbox-port": port,
      "e2b-traffic-access-token": token,
    } = Object.fromEntries(call?.headers ?? []);
    assert.deepEqual({ id, port, token }, { id: "i1", port: "49999", token: "traffic-1" });
  });

  test("bad arguments are refused before any request, and values are not repeated", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, () => undefined);
    const bad = <T>(value: T) => value as never;
    for (const call of [
      () => sandbox.runCode(bad(5)),
      () => sandbox.runCode("1", { language: "" }),
      () => sandbox.runCode("1", { context: bad({}) }),
      () => sandbox.runCode("1", { context: "../x" }),
      () => sandbox.runCode("1", { timeoutMs: -1 }),
      () => sandbox.runCode("1", { capture: bad("yes") }),
      () => sandbox.runCode("1", { onResult: bad("print") }),
      () => sandbox.runCode("1", { envs: { A: bad(1) } }),
      ...["a-b", "1a", "", "a'] = 1 #"].map((name) => () => sandbox.runCode("1", { envs: { [name]: "x" } })),
      ...["'", '"', "\\", "\n", "\r", "\0"].map((end) => () => sandbox.runCode("1", { envs: { A: `hush${end}` } })),
      () => sandbox.code.createContext({ cwd: bad(1) }),
      () => sandbox.code.removeContext(""),
      () => sandbox.code.restartContext(".."),
    ]) {
      const error = await rejected(call(), context.sdk.InvalidArgumentError, "E0001");
      assert.notInclude(shown(error), "hush");
    }
    assert.equal(calls.length, 0);
  });

  test("callbacks get everything in order, each after the one before has settled", async (context) => {
    const seen: unknown[] = [];
    const slowly = async (...values: unknown[]) => {
      seen.push("…");
      await new Promise((later) => setTimeout(later, 5));
      seen.push(values);
    };
    const chunks = [accepted, stdout("a"), stderr("b"), result({ text: "r" }), stdout("c"), failed, failed, END];
    await run(context, [concat(...chunks)], {
      onStdout: (piece, { timestamp }) => slowly("out", piece, timestamp.toISOString()),
      onStderr: (piece, info) => slowly("err", piece, Object.keys(info)),
      onResult: (one) => slowly("result", one.text),
      onError: (error) => slowly("error", error),
    });
    assert.deepEqual(
      seen.filter((one) => one !== "…"),
      [
        ["out", "a", "2026-11-29T12:00:00.123Z"],
        ["err", "b", ["timestamp"]],
        ["result", "r"],
        ["out", "c", "2026-11-29T12:00:00.123Z"],
        ["error", { name: "ValueError", value: "bad", traceback: "Traceback: bad" }],
      ],
    );
    assert.isTrue(seen.every((one, at) => (one === "…") === (at % 2 === 0)));
  });

  test("a callback that throws or rejects ends the cell, and its error comes through", async (context) => {
    const mine = new Error("mine");
    for (const onStdout of [
      () => {
        throw mine;
      },
      () => Promise.reject(mine),
    ]) {
      const body = new Body([stdout("a"), stdout("b")], "stay");
      const { sandbox } = await fakeSandbox(
        context,
        executing(() => body),
      );
      let calls = 0;
      const running = sandbox.runCode("x", {
        onStdout: () => {
          calls += 1;
          return onStdout();
        },
      });
      assert.equal(await running.catch((error: unknown) => error), mine);
      await body.left;
      assert.equal(calls, 1);
    }
  });

  test("an abort from inside a callback is the last thing that a callback hears of", async (context) => {
    const controller = new AbortController();
    const seen: string[] = [];
    const running = run(context, [concat(stdout("a"), stdout("b"), END)], {
      signal: controller.signal,
      onStdout: (piece) => {
        seen.push(piece);
        controller.abort("enough");
      },
    });
    assert.equal(await running.catch((error: unknown) => error), "enough");
    assert.deepEqual(seen, ["a"]);
  });

  test("a cell that takes too long is given up with an error of its own, and the request timeout is another", async (context) => {
    const body = new Body([accepted, stdout("a")], "stay");
    const { sandbox, calls } = await fakeSandbox(
      context,
      executing(({ body: request }) => (text(request).includes("silent") ? new Promise<Response>(() => undefined) : body)),
    );
    const error = await rejected(sandbox.runCode("x", { timeoutMs: 300 }), context.sdk.CommandTimeoutError, "E3001");
    assert.match(error.message, /cell ran longer than 300 ms \(timeoutMs\)/);
    assert.include(error.suggestion, "timeoutMs");
    const silent = await rejected(
      sandbox.runCode("silent", { context: "other", requestTimeoutMs: 20 }),
      context.sdk.RequestTimeoutError,
      "E5002",
    );
    assert.include(silent.message, "requestTimeoutMs");
    await eventually(() => calls.length === 2 && calls.every(({ signal }) => signal.aborted), "both requests closed");
  });

  test("a cell outlives the request timeout once its answer has begun", async (context) => {
    const body = new Body([stdout("a")], "stay");
    const { sandbox } = await fakeSandbox(
      context,
      executing(() => body),
    );
    await heldTimers(10_001, async (pass) => {
      let running: Promise<CodeResult> | undefined;
      await new Promise<void>((begun) => {
        running = sandbox.runCode("x", { requestTimeoutMs: 10_001, onStdout: () => begun() });
        running.catch(() => begun());
      });
      pass();
      body.push(END);
      assert.equal((await running)?.text, "a");
    });
  });

  test("a callback that never settles does not outlive the cell's time", async (context) => {
    const running = run(context, [stdout("a"), END], { timeoutMs: 40, onStdout: () => new Promise(() => undefined) });
    await rejected(running, context.sdk.CommandTimeoutError, "E3001");
  });

  test("silence is no dead connection: a queued cell gets no keepalives", async (context) => {
    const body = new Body([], "stay");
    const { sandbox } = await fakeSandbox(
      context,
      executing(() => body),
    );
    await fastClock(1000, async (realDelay) => {
      const running = sandbox.runCode("x", { timeoutMs: 0, requestTimeoutMs: 0 });
      // Ten minutes of the fast clock.
      await realDelay(600);
      body.push(concat(stdout("at last"), END));
      assert.equal((await running).text, "at last");
    });
  });

  test("after an interrupt its context is left alone for a moment, and others are not", async (context) => {
    const { sandbox, calls } = await fakeSandbox(
      context,
      executing(({ body }) => (text(body).includes("endless") ? new Body([], "stay") : new Body([END]))),
    );
    const codes = () => calls.map(({ body }) => JSON.parse(text(body)).code);
    const given = async (code: string) => {
      const controller = new AbortController();
      const running = sandbox.runCode(code, { contextId: "a", signal: controller.signal });
      return async () => {
        controller.abort("enough");
        assert.equal(await running.catch((error: unknown) => error), "enough");
      };
    };
    await (await given("endless"))();
    // On a slow clock the moment is long.
    await fastClock(0.01, async () => {
      const giveUp = await given("too soon");
      await sandbox.runCode("elsewhere", { contextId: "b" });
      assert.deepEqual(codes(), ["endless", "elsewhere"]);
      await giveUp();
    });
    await sandbox.runCode("later", { contextId: "a" });
    assert.deepEqual(codes(), ["endless", "elsewhere", "later"]);
  });

  test("giving up closes the connection, which is what interrupts a cell", async (context) => {
    const { sandbox, scene } = await sceneSandbox(context, [
      { path: "/execute", answers: [{ steps: [{ text: text(stdout("a")) }, { hold: true }] }] },
    ]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const running = sandbox.runCode("x", { signal: controller.signal, onStdout: () => controller.abort(reason) });
    assert.equal(await running.catch((error: unknown) => error), reason);
    await scene.until((seen) => seen.some(({ path, aborted }) => path.endsWith("/execute") && aborted), "the client leaving");
    await scene.close();
  });
});
