// Process streams, byte for byte: what a client may not lose, whatever the borders of the chunks, and what it may not take for success.
import type { CommandHandle, ProcessChunk } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, utf8 } from "../support/bytes.ts";
import { Body, type Call } from "../support/fake-fetch.ts";
import { collect, eventually, fakeSandbox, rejected, START, sceneSandbox } from "../support/sandboxes.ts";
import { json, write } from "../support/scene.ts";
import { type Context, suite } from "../support/suite.ts";
import {
  data,
  end,
  endOfStream,
  envelope,
  eventFromTheFuture,
  failure,
  keepalive,
  message,
  start,
  streamRequest,
  unary,
  unaryRequest,
} from "../support/wire.ts";

const TEXT = "héllo €uro 😀\n";
const ENVELOPES = concat(
  start(7),
  data("stdout", TEXT),
  keepalive(),
  data("stderr", "ß"),
  data("stdout", "x"),
  end({ exitCode: 3 }),
  endOfStream(),
);

/** Answers Start with a body, and everything else as usual. */
const starting = (body: () => Body) => (call: Call) => (call.path.endsWith(START) ? body() : undefined);

async function run(context: Context, ...chunks: Uint8Array<ArrayBuffer>[]) {
  const { sandbox } = await fakeSandbox(
    context,
    starting(() => new Body(chunks)),
  );
  return sandbox.commands.run("anything");
}

export const streams = suite("streams", (test) => {
  test("check holds for a command in the background, unless its wait says otherwise", async (context) => {
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => new Body([ENVELOPES])),
    );
    const handle = await sandbox.commands.run("anything", { background: true, check: true });
    const error = await rejected(handle.wait(), context.sdk.ProcessError, "E3002");
    assert.equal(error.exitCode, 3);
    assert.equal((await handle.wait({ check: false })).exitCode, 3);
    const unchecked = await sandbox.commands.run("anything", { background: true });
    assert.equal((await unchecked.wait()).exitCode, 3);
  });

  test("a stream cut in two at any byte gives the same result", async (context) => {
    let body = new Body();
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    for (let at = 0; at <= ENVELOPES.length; at++) {
      body = new Body([ENVELOPES.slice(0, at), ENVELOPES.slice(at)].filter(({ length }) => length > 0));
      const { stdout, stderr, exitCode, success } = await sandbox.commands.run("anything");
      assert.deepEqual(
        { stdout, stderr, exitCode, success },
        { stdout: `${TEXT}x`, stderr: "ß", exitCode: 3, success: false },
        `cut at ${at}`,
      );
    }
  });

  test("a stream that comes one byte at a time is whole", async (context) => {
    const bytes = Array.from(ENVELOPES, (byte) => Uint8Array.of(byte));
    const result = await run(context, ...bytes);
    assert.equal(result.stdout, `${TEXT}x`);
    assert.equal(result.exitCode, 3);
  });

  test("a last payload shorter than an envelope's header is not lost", async (context) => {
    assert.isBelow(endOfStream().length - 5, 5);
    const whole = concat(start(), data("stdout", "a"), end(), endOfStream());
    for (const last of [1, 2, 6, 7]) {
      const result = await run(context, whole.slice(0, -last), whole.slice(-last));
      assert.equal(result.stdout, "a");
      assert.equal(result.exitCode, 0);
    }
  });

  test("empty chunks and empty messages change nothing", async (context) => {
    const result = await run(
      context,
      new Uint8Array(),
      start(),
      envelope(new Uint8Array()),
      data("stdout", ""),
      data("stdout", "a"),
      new Uint8Array(),
      end(),
      endOfStream(),
    );
    assert.equal(result.stdout, "a");
  });

  test("an end without an exit code means 0", async (context) => {
    const result = await run(context, start(), end(), endOfStream());
    assert.deepInclude(result, { success: true, exitCode: 0, stdout: "", stderr: "" });
  });

  test("an exit by signal is no success and says so", async (context) => {
    const result = await run(
      context,
      start(),
      end({ exitCode: -1, exited: false, status: "signal: killed", error: "signal: killed" }),
      endOfStream(),
    );
    assert.deepInclude(result, { success: false, exitCode: -1, error: "signal: killed" });
  });

  test("fields unknown to this version are ignored", async (context) => {
    const result = await run(
      context,
      start(),
      eventFromTheFuture(),
      data("stdout", "a"),
      eventFromTheFuture(),
      end(),
      endOfStream(),
    );
    assert.deepInclude(result, { stdout: "a", exitCode: 0 });
  });

  for (const [name, chunks] of [
    ["an empty 200", []],
    ["a body that ends without an end-of-stream message", [start(), data("stdout", "a")]],
    ["a body that ends after the end event but without an end-of-stream message", [start(), end()]],
    ["an end inside a header", [start(), data("stdout", "a").slice(0, 3)]],
    ["an end inside a payload", [start(), data("stdout", "abc").slice(0, 9)]],
  ] as [string, Uint8Array<ArrayBuffer>[]][]) {
    test(`${name} is a lost connection`, async (context) => {
      const error = await rejected(run(context, ...chunks), context.sdk.SandboxConnectionError, "E5001");
      assert.notInstanceOf(error, context.sdk.InvalidArgumentError);
    });
  }

  test("a web page with status 200 is no stream, and its text stays out of the error", async (context) => {
    const page = "<!doctype html><title>Log in</title><p>captive portal</p>";
    const { sandbox } = await fakeSandbox(context, () => new Response(page, { headers: { "content-type": "text/html" } }));
    const error = await rejected(sandbox.commands.run("anything"), context.sdk.SandboxError);
    assert.notMatch(`${error.message} ${JSON.stringify(error)}`, /captive|<title/);
  });

  test("a declared length of 0xFFFFFFFF is refused before the payload comes", async (context) => {
    const body = new Body([start(), Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff), new Uint8Array(64)], "stay");
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    const error = await rejected(sandbox.commands.run("anything"), context.sdk.SandboxError);
    assert.notInstanceOf(error, context.sdk.InvalidArgumentError);
    await body.left;
    assert.isAtMost(body.cancels, 1);
  });

  test("bytes after the end of the stream, and a process that never starts, are no success", async (context) => {
    await rejected(run(context, endOfStream()), context.sdk.SandboxError);
    await rejected(run(context, end(), endOfStream()), context.sdk.SandboxError);
  });

  test("an error in the trailer is thrown with its Connect code", async (context) => {
    const error = await rejected(
      run(context, start(), failure("data_loss", "the disk is gone")),
      context.sdk.EnvdRpcError,
      "E3006",
    );
    assert.equal(error.rpcCode, "data_loss");
    assert.include(error.message, "the disk is gone");
  });

  test("leaving a loop after one message cancels the source exactly once", async (context) => {
    const body = new Body([start(), data("stdout", "one"), data("stdout", "two")], "stay");
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    const handle = await sandbox.commands.start("anything");
    for await (const chunk of handle) {
      assert.deepEqual(chunk, { type: "stdout", data: "one" });
      break;
    }
    await body.left;
    await handle.cancel();
    await handle.disconnect();
    await handle[Symbol.asyncDispose]?.();
    assert.equal(body.cancels, 1);
  });

  test("a readable gives the same chunks, and cancelling it cancels the source once", async (context) => {
    const body = new Body([start(), data("stdout", "one"), data("stdout", "two")], "stay");
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    const handle = await sandbox.commands.start("anything", { output: "bytes" });
    const reader = handle.readable.getReader();
    const { value } = await reader.read();
    assert.equal(value?.type, "stdout");
    await reader.cancel();
    await body.left;
    assert.equal(body.cancels, 1);
  });

  test("a loop that is left early closes the request on the server", async (context) => {
    const { sandbox, scene } = await sceneSandbox(context, [
      { path: START, answers: [{ headers: PROTO, steps: [write(start(), data("stdout", "one")), { hold: true }] }] },
      { path: "/SendSignal", answers: [json({})] },
    ]);
    for await (const chunk of sandbox.commands.stream("anything")) {
      assert.deepEqual(chunk, { type: "stdout", data: "one" });
      break;
    }
    await scene.until((seen) => seen.find(({ path, aborted }) => path.endsWith(START) && aborted), "the client leaving");
    const kill = await scene.until(
      (seen) => seen.find(({ path, finished }) => path.endsWith("/SendSignal") && finished),
      "the kill",
    );
    assert.deepEqual(unaryRequest(kill.body), { process: { pid: 42 }, signal: "SIGNAL_SIGKILL" });
    await scene.close();
  });

  test("leaving the loop of a handle lets the process go on", async (context) => {
    const { sandbox, scene } = await sceneSandbox(context, [
      { path: START, answers: [{ headers: PROTO, steps: [write(start(), data("stdout", "one")), { hold: true }] }] },
    ]);
    const handle = await sandbox.commands.start("anything");
    for await (const _ of handle) break;
    await scene.until((seen) => seen.find(({ path, aborted }) => path.endsWith(START) && aborted), "the client leaving");
    assert.deepEqual(
      (await scene.seen()).map(({ path }) => path.split("/").pop()),
      ["Start"],
    );
    await scene.close();
  });

  test("no callback is called after disconnect, also when it is called from inside the callback", async (context) => {
    const body = new Body([concat(start(), data("stdout", "one"), data("stderr", "two"), data("stdout", "three"))], "stay");
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    const handle: CommandHandle = await sandbox.commands.start("anything");
    const heard: string[] = [];
    const hear = (text: string) => {
      heard.push(text);
      void handle.disconnect();
    };
    const waited = handle.wait({ onStdout: hear, onStderr: hear }).then(
      () => "resolved",
      () => "rejected",
    );
    await body.left;
    await Promise.race([waited, new Promise((later) => setTimeout(later, 50))]);
    assert.deepEqual(heard, ["one"]);
  });

  test("the exit code survives a disconnect", async (context) => {
    const body = new Body([concat(start(), data("stdout", "one"), end({ exitCode: 9 }), endOfStream())]);
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    const handle = await sandbox.commands.start("anything");
    assert.deepEqual(
      await collect(handle),
      [
        { type: "stdout", data: "one" },
        { type: "exit", exitCode: 9, error: undefined },
      ].map(withoutUndefined) as ProcessChunk[],
    );
    await handle.disconnect();
    assert.equal((await handle.wait()).exitCode, 9);
  });

  const forever = () => new Promise<void>(() => undefined);

  /** A process that says one thing and goes on until it is killed. */
  async function talking(context: Context) {
    const body = new Body([start(), data("stdout", "one")], "stay");
    const { sandbox, calls } = await fakeSandbox(context, (call) => {
      if (call.path.endsWith(START)) return body;
      if (call.path.endsWith("/SendSignal")) {
        body.push(concat(end({ exitCode: -1, exited: false, status: "signal: killed", error: "signal: killed" }), endOfStream()));
      }
      return unary();
    });
    let onStdout: () => Promise<void> = forever;
    const heard = new Promise<void>((resolve) => {
      onStdout = () => {
        resolve();
        return forever();
      };
    });
    return { sandbox, calls, onStdout, heard };
  }

  test("a callback that never settles does not outlast the command's timeout", async (context) => {
    const { sandbox, calls, onStdout } = await talking(context);
    await rejected(sandbox.commands.run("x", { onStdout, timeoutMs: 50 }), context.sdk.CommandTimeoutError, "E3001");
    await eventually(() => calls.some(({ path }) => path.endsWith("/SendSignal")), "the kill");
  });

  test("a callback that never settles does not outlast an abort", async (context) => {
    const { sandbox, onStdout, heard } = await talking(context);
    const controller = new AbortController();
    const run = sandbox.commands.run("x", { onStdout, signal: controller.signal });
    await heard;
    controller.abort("mine");
    assert.equal(await run.catch((error: unknown) => error), "mine");
  });

  test("a callback that never settles does not outlast a kill", async (context) => {
    const { sandbox, onStdout, heard } = await talking(context);
    const handle = await sandbox.commands.start("x", { timeoutMs: 0 });
    const waited = handle.wait({ onStdout });
    await heard;
    assert.isTrue(await handle.kill());
    assert.deepInclude(await waited, { exitCode: -1, stdout: "one" });
  });

  test("a callback that never settles does not outlast a disconnect", async (context) => {
    const { sandbox, onStdout, heard } = await talking(context);
    const handle = await sandbox.commands.start("x", { timeoutMs: 0 });
    const waited = handle.wait({ onStdout });
    await heard;
    await handle.disconnect();
    await rejected(waited, context.sdk.SandboxConnectionError, "E5001");
  });

  test("a callback that throws fails the run with what it threw", async (context) => {
    const body = new Body([start(), data("stdout", "one"), data("stdout", "two")], "stay");
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    const mine = new Error("mine");
    const caught = await sandbox.commands
      .run("anything", {
        onStdout: () => {
          throw mine;
        },
      })
      .catch((error: unknown) => error);
    assert.equal(caught, mine);
    await body.left;
  });

  test("an async callback is awaited before the next chunk is read", async (context) => {
    const body = new Body([start(), data("stdout", "one"), data("stdout", "two"), end(), endOfStream()]);
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    const order: string[] = [];
    await sandbox.commands.run("anything", {
      onStdout: async (text) => {
        order.push(`${text} in`);
        await new Promise((later) => setTimeout(later, 5));
        order.push(`${text} out`);
      },
    });
    assert.deepEqual(order, ["one in", "one out", "two in", "two out"]);
  });

  test("output that is not captured reaches the callbacks and not the result", async (context) => {
    const body = new Body([start(), data("stdout", "one"), end(), endOfStream()]);
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    let heard = "";
    const result = await sandbox.commands.run("anything", {
      capture: false,
      onStdout: (text) => {
        heard += text;
      },
    });
    assert.equal(heard, "one");
    assert.equal(result.stdout, "");
  });

  test("an unread stream stops the reading of its source", async (context) => {
    const block = data("stdout", new Uint8Array(32 * 1024));
    const body = new Body([start(), ...Array.from({ length: 4_000 }, () => block)], "stay");
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    const handle = await sandbox.commands.start("anything", { output: "bytes" });
    const reader = handle[Symbol.asyncIterator]();
    await reader.next();
    const before = body.pulls;
    await new Promise((later) => setTimeout(later, 100));
    assert.isBelow(body.pulls - before, 256, "at most 8 MiB are read ahead");
    await handle.disconnect();
    await body.left;
  });

  test("UTF-8 cut across frames is whole, on stdout and stderr at the same time", async (context) => {
    const [out, err] = [utf8("a€😀"), utf8("é語")];
    const frames: Uint8Array<ArrayBuffer>[] = [start()];
    for (let at = 0; at < out.length; at++) {
      frames.push(data("stdout", out.slice(at, at + 1)));
      if (at < err.length) frames.push(data("stderr", err.slice(at, at + 1)));
    }
    const heard = { stdout: "", stderr: "" };
    const body = new Body([...frames, end(), endOfStream()]);
    const { sandbox } = await fakeSandbox(
      context,
      starting(() => body),
    );
    const result = await sandbox.commands.run("anything", {
      onStdout: (text) => {
        heard.stdout += text;
      },
      onStderr: (text) => {
        heard.stderr += text;
      },
    });
    assert.deepEqual(heard, { stdout: "a€😀", stderr: "é語" });
    assert.equal(result.stdout, "a€😀");
    assert.equal(result.stderr, "é語");
  });

  test("a character that is cut by the end gives one U+FFFD, on each stream", async (context) => {
    const half = utf8("😀").slice(0, 3);
    const result = await run(
      context,
      start(),
      data("stdout", concat(utf8("a"), half)),
      data("stderr", half.slice(0, 1)),
      end(),
      endOfStream(),
    );
    assert.equal(result.stdout, "a\uFFFD");
    assert.equal(result.stderr, "\uFFFD");
  });

  test("text goes to a shell, an array does not", async (context) => {
    const { sandbox, calls } = await fakeSandbox(
      context,
      starting(() => new Body([start(), end(), endOfStream()])),
    );
    await sandbox.commands.run("echo $HOME");
    await sandbox.commands.run(["printf", "%s", "$HOME; rm"]);
    const sent = calls.map(({ body }) => {
      const config = message(streamRequest(body), 1);
      return [config.get(1), config.get(2)].map((values) => values?.map((value) => new TextDecoder().decode(value as Uint8Array)));
    });
    assert.deepEqual(sent, [
      [["/bin/bash"], ["-l", "-c", "echo $HOME"]],
      [["printf"], ["%s", "$HOME; rm"]],
    ]);
  });

  test("killing from inside a callback works", async (context) => {
    const body = new Body([start(5), data("stdout", "one")], "stay");
    const { sandbox, calls } = await fakeSandbox(context, (call) => {
      if (call.path.endsWith(START)) return body;
      if (!call.path.endsWith("/SendSignal")) return undefined;
      body.push(end({ exitCode: -1, exited: false, status: "signal: killed", error: "signal: killed" }));
      body.push(endOfStream());
      body.close();
      return unary();
    });
    const handle = await sandbox.commands.start("anything");
    let killed: boolean | undefined;
    const result = await handle.wait({
      onStdout: async () => {
        killed = await handle.kill();
      },
    });
    assert.isTrue(killed);
    assert.equal(result.exitCode, -1);
    await eventually(() => calls.length === 2, "one kill");
  });
});

/** The headers of a binary stream. */
const PROTO = { "content-type": "application/connect+proto" };

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}
