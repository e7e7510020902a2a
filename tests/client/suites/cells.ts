// Code cells over a scripted interpreter: its lines byte for byte, what it refuses, and what ends a cell.
import type { CodeContext, RunCodeOptions, SandboxHandoff } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, text, utf8 } from "../support/bytes.ts";
import { fastClock } from "../support/clock.ts";
import { Body, type Call, fakeFetch } from "../support/fake-fetch.ts";
import { eventually, fakeSandbox, rejected, sceneSandbox, shown } from "../support/sandboxes.ts";
import { type Context, suite } from "../support/suite.ts";
import { entry } from "../support/wire.ts";

const EXECUTE = "/49999/execute";
const TIMESTAMP = "2026-11-29T12:00:00.123456Z";

type Event = Record<string, unknown> & { type: string };

/** A line of the stream. */
function line(event: Event | string): Uint8Array<ArrayBuffer> {
  return utf8(`${typeof event === "string" ? event : JSON.stringify(event)}\n`);
}

const stdout = (piece: string) => line({ type: "stdout", text: piece, timestamp: TIMESTAMP });
const stderr = (piece: string) => line({ type: "stderr", text: piece, timestamp: TIMESTAMP });
const accepted = line({ type: "number_of_executions", execution_count: 3 });
const failed = line({ type: "error", name: "ValueError", value: "bad", traceback: "Traceback: bad" });
const RULE = "-".repeat(75);
const result = (forms: Record<string, unknown>) => line({ type: "result", extra: {}, is_main_result: false, ...forms });
const END = line({ type: "end_of_execution" });

/** Answers cells, and everything else as usual. */
const executing = (answer: (call: Call) => Body | Response | Promise<Response>) => (call: Call) =>
  call.path.endsWith(EXECUTE) ? answer(call) : undefined;

async function run(context: Context, chunks: Uint8Array<ArrayBuffer>[], options?: RunCodeOptions) {
  const { sandbox } = await fakeSandbox(
    context,
    executing(() => new Body(chunks)),
  );
  return sandbox.runCode("anything", options);
}

/** Where a kernel's picture would be. */
const PIXEL = "iVBORw0KGgo=";
const PIXEL_BYTES = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

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
    const body = new Body([], "stay");
    const { sandbox } = await fakeSandbox(
      context,
      executing(() => body),
    );
    await fastClock(20, async (realDelay) => {
      const running = sandbox.runCode("x", { requestTimeoutMs: 10_000 });
      await realDelay(600);
      body.push(concat(stdout("a"), END));
      assert.equal((await running).text, "a");
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

  test("a result keeps every form", async (context) => {
    const forms = {
      text: "t",
      html: "<b>",
      markdown: "*m*",
      svg: "<svg/>",
      png: `${PIXEL.slice(0, 4)}\n${PIXEL.slice(4)}`,
      jpeg: PIXEL,
      pdf: PIXEL,
      latex: "$x$",
      json: 0,
      javascript: "alert(1)",
      data: { a: [1, null] },
    };
    const extra = { "image/gif": PIXEL, "application/vnd.x+json": { a: 1 }, "text/x": "no base64!" };
    const chunks = [
      result({ ...forms, chart: null, extra, hologram: "h", is_main_result: true }),
      result({ png: PIXEL }),
      result({ chart: { type: "pie", title: null, elements: [{ label: "a", angle: 90, radius: 1 }] } }),
      result({ extra: { "model/unheard-of": [1] } }),
      result({ chart: {} }),
      END,
    ];
    const seen: string[][] = [];
    const { results, text: main } = await run(context, [concat(...chunks)], { onResult: (one) => void seen.push(one.formats()) });
    const [all, picture, chart, unheard, blank] = results;
    assert.equal(main, "t");
    assert.deepEqual(JSON.parse(JSON.stringify(all)), { ...forms, extra: { hologram: "h", ...extra }, isMainResult: true });
    assert.deepEqual(all?.formats(), [...Object.keys(forms), "hologram", ...Object.keys(extra)]);
    assert.deepEqual(
      seen,
      results.map((one) => one.formats()),
    );
    for (const format of ["png", "jpeg", "pdf", "image/gif"])
      assert.deepEqual([...(all?.bytes(format) ?? [])], PIXEL_BYTES, format);
    for (const format of ["video/mp4", "constructor", "extra", "isMainResult"]) assert.isUndefined(all?.bytes(format), format);
    for (const format of ["text/x", "data"]) {
      assert.throws(() => all?.bytes(format), context.sdk.InvalidArgumentError as never, format);
    }
    assert.deepEqual(JSON.parse(JSON.stringify(picture)), { png: PIXEL, extra: {}, isMainResult: false });
    assert.isUndefined(picture?.bytes("jpeg"));
    assert.deepEqual(chart?.chart, { type: "pie", elements: [{ label: "a", angle: 90, radius: 1 }] });
    assert.deepEqual(unheard?.formats(), ["model/unheard-of"]);
    assert.deepEqual(blank?.chart, { type: "unknown", elements: [] });
  });

  test("charts come under the names of this package, nested ones too", async (context) => {
    const line = { type: "line", x_label: "t (s)", x_unit: "s", y_label: null, x_ticks: [0, 1], x_tick_labels: ["0", "1"] };
    const box = { label: "a", min: 1, first_quartile: 2, median: 3, third_quartile: 4, max: 5, outliers: [9] };
    const chart = {
      type: "superchart",
      elements: [
        { ...line, elements: [{ label: "Line 0", points: [[0, null]] }] },
        { type: "box_and_whisker", elements: [box] },
      ],
    };
    const { results } = await run(context, [concat(result({ chart }), END)]);
    const points = { label: "Line 0", points: [[0, null]] };
    const { first_quartile: firstQuartile, third_quartile: thirdQuartile, ...rest } = box;
    assert.deepEqual(results[0]?.chart as unknown, {
      type: "superchart",
      elements: [
        { type: "line", xLabel: "t (s)", xUnit: "s", xTicks: [0, 1], xTickLabels: ["0", "1"], elements: [points] },
        { type: "box_and_whisker", elements: [{ ...rest, firstQuartile, thirdQuartile }] },
      ],
    });
  });

  test("the text is the main result's, else the output without white space at its end", async (context) => {
    const printed = stdout("a \n\n");
    assert.equal((await run(context, [printed, result({ text: "shown" }), END])).text, "a");
    assert.equal((await run(context, [printed, result({ text: "", is_main_result: true }), END])).text, "");
    assert.equal((await run(context, [printed, result({ html: "h", is_main_result: true }), END])).text, "a");
  });

  test("output that is not captured reaches callbacks alone", async (context) => {
    const seen: string[] = [];
    const whole = await run(context, [concat(stdout("a"), result({ text: "r" }), END)], {
      capture: false,
      onStdout: (piece) => void seen.push(piece),
    });
    assert.deepEqual(seen, ["a"]);
    assert.deepInclude(whole, { text: "", stdout: "", truncated: false });
    assert.deepEqual(whole.logs, { stdout: [], stderr: [] });
    assert.equal(whole.results.length, 1);
  });

  test.inNode("64 MiB of each output are kept, and not a character more", async (context) => {
    const piece = "x".repeat(24 * 1024 * 1024);
    const printed = stdout(piece);
    let heard = 0;
    const whole = await run(context, [printed, printed, printed, stderr("e"), END], {
      onStdout: ({ length }) => {
        heard += length;
      },
    });
    assert.equal(whole.stdout.length, 64 * 1024 * 1024);
    assert.equal(heard, 3 * piece.length);
    assert.deepInclude(whole, { stderr: "e", truncated: true });
  });

  test.inNode("a line takes time in proportion to its length", async (context) => {
    const megabyte = utf8("y".repeat(1024 * 1024));
    // Time of this process's processors, not of the clock: what else the machine does is not counted.
    const worked = () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    const work = async (megabytes: number) => {
      const [head, tail] = [utf8('{"type":"stdout","text":"'), utf8('"}\n')];
      // In small chunks: a reader that looks at all of the line with each of them takes time in proportion to the square.
      const chunks = Array.from({ length: megabytes * 64 }, (_, at) =>
        megabyte.subarray((at % 64) * 16_384, ((at % 64) + 1) * 16_384),
      );
      const before = worked();
      const { stdout: printed } = await run(context, [head, ...chunks, tail, END], { timeoutMs: 0 });
      assert.equal(printed.length, megabytes * 1024 * 1024);
      return worked() - before;
    };
    const best = async (megabytes: number) => Math.min(await work(megabytes), await work(megabytes));
    const [short, long] = [await best(4), await best(32)];
    assert.isBelow(long / short, 20, `4 MB: ${short} ms, 32 MB: ${long} ms; the square would be 64 times`);
  });

  test("a traceback whose parts came glued together is told in lines", async (context) => {
    const heads = "ValueError                                Traceback (most recent call last)";
    const frame = "Cell In[1], line 1\n----> 1 f()\n\nValueError: bad";
    const traceback = `${RULE}${heads}${frame}`;
    const { sandbox } = await fakeSandbox(
      context,
      executing(() => new Body([line({ type: "error", name: "ValueError", value: "bad", traceback }), END])),
    );
    assert.equal((await sandbox.runCode("f()")).error?.traceback, [RULE, heads, frame].join("\n"));
  });

  test("half a character in a cell's code, and a directory that is none, are refused before a context or cell is asked for", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, ({ path }) =>
      path.endsWith("/Stat") ? Response.json({ entry: entry("/file") }) : undefined,
    );
    const { InvalidArgumentError } = context.sdk;
    assert.match((await rejected(sandbox.runCode("'\ud83d'"), InvalidArgumentError, "E0001")).message, /lone surrogate/);
    assert.match((await rejected(sandbox.code.createContext({ cwd: "file" }), InvalidArgumentError, "E0001")).message, /absolute/);
    assert.match(
      (await rejected(sandbox.code.createContext({ cwd: "/file" }), InvalidArgumentError, "E0001")).message,
      /directory/,
    );
    assert.deepEqual([...new Set(calls.map(({ path }) => path.split("/").at(-1)))], ["Stat"]);
  });

  test("contexts are made, listed, restarted and removed", async (context) => {
    const known = [{ id: "a/b", language: "python", cwd: "/home/user" }];
    const { sandbox, calls } = await fakeSandbox(context, ({ method, path }) => {
      if (method === "DELETE")
        return path.includes("gone") ? new Response("Context gone not found", { status: 404 }) : Response.json(null);
      if (path.endsWith("/restart")) return Response.json(null);
      if (path.endsWith("/Stat")) return Response.json({ entry: { ...entry("/tmp"), type: "FILE_TYPE_DIRECTORY" } });
      return Response.json(method === "POST" ? { id: "new", language: "bash", cwd: "/tmp" } : known);
    });
    const { code } = sandbox;
    assert.equal(sandbox.code, code);
    assert.deepEqual(await code.createContext({ language: "bash", cwd: "/tmp" }), { id: "new", language: "bash", cwd: "/tmp" });
    await code.createContext();
    assert.deepEqual(await code.listContexts(), known);
    known.push({ id: "new", language: "bash", cwd: "/tmp" });
    assert.deepEqual(await code.restartContext("new"), known[1]);
    assert.isTrue(await code.removeContext({ id: "new?#é", language: "", cwd: "" }));
    assert.isFalse(await code.removeContext("gone"));
    const asked = calls.filter(({ path }) => path.includes("/49999"));
    assert.deepEqual(
      asked.map(({ method, url, body }) => `${method} ${url.href.split("/49999")[1]} ${text(body)}`),
      [
        'POST /contexts {"language":"bash","cwd":"/tmp"}',
        "POST /contexts {}",
        "GET /contexts ",
        "POST /contexts/new/restart ",
        "GET /contexts ",
        "DELETE /contexts/new%3F%23%C3%A9 ",
        "DELETE /contexts/gone ",
      ],
    );
    for (const { headers } of asked) assert.notInclude([...headers.keys()], "x-access-token");
  });

  test("answers about contexts that make no sense are a lost connection", async (context) => {
    for (const answer of ["null", "5", "<html>", "{}"]) {
      const { sandbox } = await fakeSandbox(context, () => new Response(answer));
      await rejected(sandbox.code.listContexts(), context.sdk.SandboxConnectionError, "E5001");
    }
    const { sandbox } = await fakeSandbox(context, ({ method }) => Response.json(method === "POST" ? null : []));
    await rejected(sandbox.code.restartContext("lost"), context.sdk.SandboxConnectionError, "E5001");
  });

  test("a sandbox without an interpreter is told from one that is gone", async (context) => {
    const { CapabilityNotSupportedError, UnreachableError } = context.sdk;
    const closed = { message: "The sandbox is running but port is not open", sandboxId: "itest", port: 49999, code: 502 };
    const none = () => new Response(null, { status: 502 });
    const hidden = () => Promise.reject(new TypeError("Failed to fetch"));
    for (const [name, interpreter, envd, kind] of [
      ["a gateway that says so", () => Response.json(closed, { status: 502 }), none, CapabilityNotSupportedError],
      ["a gateway that says nothing", none, () => new Response(null, { status: 204 }), CapabilityNotSupportedError],
      ["a gateway that cannot be read", hidden, () => new Response(null, { status: 204 }), CapabilityNotSupportedError],
      ["nobody at all", hidden, hidden, UnreachableError],
      ["a gateway that says nothing of anything", none, none, UnreachableError],
    ] as const) {
      const { sandbox } = await fakeSandbox(context, ({ path }) => (path.includes("/49999/") ? interpreter() : envd()));
      for (const call of [() => sandbox.runCode("1"), () => sandbox.code.createContext()]) {
        const error = await rejected(call(), kind);
        if (kind === CapabilityNotSupportedError) {
          assert.equal(error.code, "E3004", name);
          assert.include(error.suggestion, '"code-interpreter-v1"');
        }
      }
    }
    // A page gets nothing from a port that wants a token, whether or not anybody listens there.
    const fetch = fakeFetch(({ path }) => (path.includes("/49999/") ? hidden() : undefined));
    const handoff = { sandboxId: "i1", sandboxUrl: "https://x.test/{sandboxId}/{port}", trafficAccessToken: "t" };
    const locked = await context.sdk.Sandbox.attach(handoff, { fetch });
    await rejected(locked.runCode("1"), UnreachableError, "E5004");
    const agentbox = await fakeSandbox(context, () => Response.json(closed, { status: 502 }), { provider: "agentbox" });
    const error = await rejected(agentbox.sandbox.runCode("1"), CapabilityNotSupportedError);
    assert.include(error.suggestion, '"code-interpreter"');
  });

  test("the first answer corrects what the sandbox is known to have", async (context) => {
    const template = { sandboxId: "i1", sandboxUrl: "https://x.test/{sandboxId}/{port}" };
    const closed = { message: "port is not open", sandboxId: "i1", port: 49999, code: 502 };
    const answer = { ok: false };
    const fetch = fakeFetch(() => (answer.ok ? new Body([END]) : Response.json(closed, { status: 502 })));
    const named = await context.sdk.Sandbox.attach({ ...template, template: "code-interpreter-v1" }, { fetch });
    assert.isTrue(named.capabilities.has("code"));
    await rejected(named.runCode("1"), context.sdk.CapabilityNotSupportedError);
    assert.isFalse(named.capabilities.has("code"));
    const unnamed = await context.sdk.Sandbox.attach({ ...template, template: "mine" }, { fetch });
    assert.isFalse(unnamed.capabilities.has("code"));
    answer.ok = true;
    await unnamed.runCode("1");
    assert.isTrue(unnamed.capabilities.has("code"));
  });

  test.inPage("a page that cannot read what gateways say still learns that there is no interpreter", async (context) => {
    const { sandbox, scene } = await sceneSandbox(context, [
      { path: "/49983/health", answers: [{ status: 204 }] },
      { path: "", answers: [{ status: 502, cors: false }] },
    ]);
    await rejected(sandbox.runCode("1"), context.sdk.CapabilityNotSupportedError, "E3004");
    await scene.close();
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
