// Time: three limits that are not the same, aborts at any moment, and streams that fall silent.
import type { CommandResult } from "agent-sandbox-web";
import { assert } from "chai";
import { fastClock, heldTimers } from "../support/clock.ts";
import { Body, type Call } from "../support/fake-fetch.ts";
import { eventually, fakeSandbox, rejected, SECRETS, START, sceneSandbox } from "../support/sandboxes.ts";
import { json, write } from "../support/scene.ts";
import { type Context, suite } from "../support/suite.ts";
import { data, end, endOfStream, entry, failure, keepalive, start, unary } from "../support/wire.ts";

const never = () => new Promise<Response>(() => undefined);
const gone = () => new Response(JSON.stringify({ code: 404, message: "no such sandbox" }), { status: 404 });

/** A signal that counts who listens. */
function countedSignal(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  const listening = new Set<unknown>();
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  Object.assign(signal, {
    addEventListener: (type: string, listener: EventListener, options?: AddEventListenerOptions) => {
      listening.add(listener);
      add(type, listener, options);
    },
    removeEventListener: (type: string, listener: EventListener, options?: EventListenerOptions) => {
      listening.delete(listener);
      remove(type, listener, options);
    },
  });
  return { controller, listeners: () => listening.size + (signal.onabort ? 1 : 0) };
}

const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail("resolved"),
    (error: unknown) => error,
  );

/** Sends calls of each kind, so that aborting is tried on every path. */
const KINDS: [
  string,
  (context: Context, signal: AbortSignal, answer: (call: Call) => Promise<Response> | Body) => Promise<unknown>,
][] = [
  [
    "a command",
    async (context, signal, answer) =>
      (await fakeSandbox(context, (call) => (call.path.endsWith("/SendSignal") ? unary() : answer(call)))).sandbox.commands.run(
        "x",
        { signal },
      ),
  ],
  ["a unary call", async (context, signal, answer) => (await fakeSandbox(context, answer)).sandbox.files.getInfo("a", { signal })],
  ["a code cell", async (context, signal, answer) => (await fakeSandbox(context, answer)).sandbox.runCode("1", { signal })],
  ["a file read", async (context, signal, answer) => (await fakeSandbox(context, answer)).sandbox.files.read("a", { signal })],
];

export const time = suite("time", (test) => {
  test("three limits expire alone, each with its own error, message and option", async (context) => {
    const { RequestTimeoutError, CommandTimeoutError, SandboxNotFoundError } = context.sdk;
    const silent = await fakeSandbox(context, never);
    const request = await rejected(silent.sandbox.files.getInfo("a", { requestTimeoutMs: 50 }), RequestTimeoutError, "E5002");

    const started = await fakeSandbox(context, (call) => (call.path.endsWith(START) ? new Body([start()], "stay") : unary()));
    const command = await rejected(started.sandbox.commands.run("x", { timeoutMs: 50 }), CommandTimeoutError, "E3001");

    const key = { apiKey: SECRETS.apiKey, apiUrl: "https://api.test", validateApiKey: false };
    const expired = await fakeSandbox(context, (call) => (call.path.endsWith(START) ? new Body([start()], "fail") : gone()), key);
    const lifetime = await rejected(expired.sandbox.commands.run("x"), SandboxNotFoundError, "E2009");

    const all = [request, command, lifetime];
    assert.equal(new Set(all.map(({ message }) => message)).size, 3);
    assert.include(request.suggestion, "requestTimeoutMs");
    assert.include(command.suggestion, "timeoutMs");
    assert.notInclude(command.suggestion, "requestTimeoutMs");
  });

  test("a command outlives the request timeout once its answer has begun", async (context) => {
    const body = new Body([start(), data("stdout", "begun")], "stay");
    const { sandbox } = await fakeSandbox(context, (call) => (call.path.endsWith(START) ? body : unary()));
    await heldTimers(61_000, async (pass) => {
      let running: Promise<CommandResult> | undefined;
      await new Promise<void>((begun) => {
        running = sandbox.commands.run("x", { requestTimeoutMs: 61_000, onStdout: () => begun() });
        running.catch(() => begun());
      });
      pass();
      body.push(end());
      body.push(endOfStream());
      body.close();
      assert.equal((await running)?.exitCode, 0);
    });
    await heldTimers(61_000, async (pass) => {
      const { sandbox: silent, calls } = await fakeSandbox(context, never);
      const running = rejected(silent.commands.run("x", { requestTimeoutMs: 61_000 }), context.sdk.RequestTimeoutError, "E5002");
      await eventually(() => calls.length === 1, "the request");
      assert.equal(pass(), 1, "without an answer its time counts");
      await running;
    });
  });

  test("a command whose answer never begins is a request timeout, not a command timeout", async (context) => {
    const { sandbox } = await fakeSandbox(context, (call) => (call.path.endsWith(START) ? never() : unary()));
    await rejected(
      sandbox.commands.run("x", { requestTimeoutMs: 50, timeoutMs: 10_000 }),
      context.sdk.RequestTimeoutError,
      "E5002",
    );
  });

  test("a command that runs too long is killed", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, (call) =>
      call.path.endsWith(START) ? new Body([start(31), data("stdout", "out"), data("stderr", "err")], "stay") : unary(),
    );
    await heldTimers(61_000, async (pass) => {
      let heard = "";
      const hear = (text: string) => {
        heard += text;
      };
      const running = sandbox.commands.run("x", { timeoutMs: 61_000, onStdout: hear, onStderr: hear });
      const late = rejected(running, context.sdk.CommandTimeoutError, "E3001");
      await eventually(() => heard === "outerr", "the output");
      pass();
      assert.deepInclude((await late).toJSON(), { stdout: "out", stderr: "err" });
    });
    const deadline = calls[0]?.headers.get("connect-timeout-ms");
    await eventually(
      () => deadline != null || calls.some(({ path }) => path.endsWith("/SendSignal")),
      "a deadline on the server, or a kill",
    );
  });

  test("the server's own deadline is the command's timeout", async (context) => {
    const { sandbox } = await fakeSandbox(context, (call) =>
      call.path.endsWith(START) ? new Body([start(), failure("deadline_exceeded", "too late")]) : unary(),
    );
    await rejected(sandbox.commands.run("x"), context.sdk.CommandTimeoutError, "E3001");
  });

  test("no limit is no header, and a limit of 0 is never sent", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, (call) =>
      call.path.endsWith(START) ? new Body([start(), end(), endOfStream()]) : unary(),
    );
    await sandbox.commands.run("x", { timeoutMs: 0 });
    await sandbox.commands.run("x", { timeoutMs: 5_000 });
    assert.isNull(calls[0]?.headers.get("connect-timeout-ms") ?? null);
    for (const { headers } of calls) assert.notMatch(headers.get("keepalive-ping-interval") ?? "50", /^(0|-)/);
  });

  for (const [name, call] of KINDS) {
    test(`${name}: an abort before the call makes no request and gives the caller's reason`, async (context) => {
      const { controller, listeners } = countedSignal();
      const reason = { mine: true };
      controller.abort(reason);
      let asked = 0;
      const answer = () => {
        asked += 1;
        return never();
      };
      assert.equal(await caught(call(context, controller.signal, answer)), reason);
      assert.equal(asked, 0);
      assert.equal(listeners(), 0);
    });

    test(`${name}: an abort before the headers gives the caller's reason and ends the request`, async (context) => {
      const { controller, listeners } = countedSignal();
      const reason = new Error("mine");
      let request: Call | undefined;
      const answer = (seen: Call) => {
        request = seen;
        queueMicrotask(() => controller.abort(reason));
        return never();
      };
      assert.equal(await caught(call(context, controller.signal, answer)), reason);
      // A command that may have been started is not given up but waited for, to be killed.
      if (name !== "a command") assert.isTrue(request?.signal.aborted, "the request is given up");
      await eventually(() => listeners() === 0, "no listener left");
    });

    test(`${name}: an abort in the middle of the body gives the caller's reason and lets go of the body`, async (context) => {
      const { controller, listeners } = countedSignal();
      const reason = "a reason may be anything";
      const body = new Body([name === "a command" ? start() : Uint8Array.of(1)], "stay");
      const running = caught(call(context, controller.signal, () => body));
      await eventually(() => body.pulls > 1, "a wait for more than the first chunk");
      controller.abort(reason);
      assert.equal(await running, reason);
      await body.left;
      assert.isAtMost(body.cancels, 1);
      await eventually(() => listeners() === 0, "no listener left");
    });
  }

  test("many calls that share a signal have one listener together, which goes with the last of them", async (context) => {
    const { controller, listeners } = countedSignal();
    const { sandbox } = await fakeSandbox(context, never);
    const calls = Array.from({ length: 20 }, () => caught(sandbox.files.exists("a", { signal: controller.signal })));
    const { sandbox: quick } = await fakeSandbox(context, gone);
    await quick.files.exists("a", { signal: controller.signal }).catch(() => undefined);
    assert.equal(listeners(), 1);
    controller.abort("mine");
    assert.deepEqual(await Promise.all(calls), Array(20).fill("mine"));
    await eventually(() => listeners() === 0, "no listener left");
  });

  test("a command that is aborted before it is known to run is killed as soon as it is", async (context) => {
    const controller = new AbortController();
    let began: (body: Body) => void = () => {};
    const { sandbox, calls } = await fakeSandbox(context, (call) => {
      if (!call.path.endsWith(START)) return unary();
      setTimeout(() => controller.abort("mine"), 5);
      return new Promise<Body>((resolve) => {
        began = resolve;
      });
    });
    assert.equal(await caught(sandbox.commands.run("x", { signal: controller.signal })), "mine");
    const body = new Body([start(8)], "stay");
    began(body);
    await eventually(() => calls.some(({ path }) => path.endsWith("/SendSignal")), "the kill");
    await body.left;
  });

  test("after the end an abort does nothing and no listener is left", async (context) => {
    const { controller, listeners } = countedSignal();
    const { signal } = controller;
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (call.path.endsWith(START)) return new Body([start(), data("stdout", "a"), end(), endOfStream()]);
      if (call.path.endsWith("/execute")) return new Response('{"type":"stdout","text":"a"}\n{"type":"end_of_execution"}');
      return call.path.endsWith("/Stat") ? unary({ entry: entry("/a") }) : new Response("content");
    });
    assert.equal((await sandbox.commands.run("x", { signal })).stdout, "a");
    assert.equal((await sandbox.files.getInfo("a", { signal })).path, "/a");
    assert.equal(await sandbox.files.read("a", { signal }), "content");
    assert.equal((await sandbox.runCode("x", { signal })).text, "a");
    assert.equal(listeners(), 0);
    controller.abort(new Error("too late"));
    assert.equal((await sandbox.commands.run("x")).stdout, "a");
  });

  test("without a reason the caller gets an AbortError", async (context) => {
    const controller = new AbortController();
    const { sandbox } = await fakeSandbox(context, never);
    setTimeout(() => controller.abort(), 10);
    const error = (await caught(sandbox.files.getInfo("a", { signal: controller.signal }))) as Error;
    assert.equal(error, controller.signal.reason);
    assert.equal(error.name, "AbortError");
  });

  test("aborting a command kills the process", async (context) => {
    const controller = new AbortController();
    const { sandbox, scene } = await sceneSandbox(context, [
      {
        path: START,
        answers: [
          {
            headers: { "content-type": "application/connect+proto" },
            steps: [write(start(77), data("stdout", "on")), { hold: true }],
          },
        ],
      },
      { path: "/SendSignal", answers: [json({})] },
    ]);
    // Known to run, it has said something.
    const onStdout = () => controller.abort("enough");
    assert.equal(await caught(sandbox.commands.run("x", { signal: controller.signal, onStdout })), "enough");
    await scene.until((seen) => seen.some(({ path }) => path.endsWith("/SendSignal")), "the kill");
    await scene.until((seen) => seen.some(({ path, aborted }) => path.endsWith(START) && aborted), "the client leaving");
    await scene.close();
  });

  test("a stream that is silent for more than twice the keepalive interval is a lost connection", async (context) => {
    const body = new Body([start(), data("stdout", "one")], "stay");
    const { sandbox, calls } = await fakeSandbox(context, (call) => (call.path.endsWith(START) ? body : undefined));
    await fastClock(200, async () => {
      await rejected(sandbox.commands.run("x", { timeoutMs: 0 }), context.sdk.SandboxConnectionError, "E5001");
    });
    assert.match(calls[0]?.headers.get("keepalive-ping-interval") ?? "", /^[1-9]\d*$/, "whole seconds");
    await body.left;
  });

  test("keepalives keep a silent stream alive", async (context) => {
    const body = new Body([start()], "stay");
    const { sandbox } = await fakeSandbox(context, (call) => (call.path.endsWith(START) ? body : undefined));
    await fastClock(200, async (realDelay) => {
      const running = sandbox.commands.run("x", { timeoutMs: 0 });
      // Five times 40 of the clock's seconds: longer than the silence that would be a lost connection.
      for (let i = 0; i < 5; i++) {
        await realDelay(200);
        body.push(keepalive());
      }
      body.push(end());
      body.push(endOfStream());
      body.close();
      assert.equal((await running).exitCode, 0);
    });
  });
});
