// Commands: what goes in, what comes out in which form, and how many at a time.
import type { ProcessError } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, text, utf8 } from "../support/bytes.ts";
import { Body, type Call } from "../support/fake-fetch.ts";
import { eventually, fakeSandbox, rejected, START, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";
import { data, end, endOfStream, sendInput, start, unary } from "../support/wire.ts";

const ofStart = ({ path }: Call) => path.endsWith(START);

/** A stream of chunks that waits for its reader, and says when it was cancelled. */
function source<T>(chunks: T[], then: "close" | "stay" | Error = "close") {
  const waiting = [...chunks];
  let left: () => void = () => undefined;
  const cancelled = new Promise<void>((resolve) => {
    left = resolve;
  });
  const stream = new ReadableStream<T>(
    {
      pull(controller) {
        const chunk = waiting.shift();
        if (chunk !== undefined) controller.enqueue(chunk);
        else if (then === "close") controller.close();
        else if (then instanceof Error) controller.error(then);
        else return new Promise(() => undefined);
        return undefined;
      },
      cancel: () => left(),
    },
    { highWaterMark: 0 },
  );
  return { stream, cancelled, waiting };
}

export const commands = suite("commands", (test) => {
  test("[platform] input comes from text, bytes or a stream, and ends", async (context) => {
    await withSandbox(context, async ({ commands }) => {
      const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7) % 251);
      for (const input of ["é\n", bytes, source([utf8("a"), "b€", bytes]).stream, source([]).stream]) {
        const expected = typeof input === "string" ? utf8(input) : input instanceof Uint8Array ? input : undefined;
        const { stdout } = await commands.run(["cat"], { input, output: "bytes" });
        if (expected) assert.deepEqual(stdout, expected);
        else assert.oneOf(stdout.length, [0, 5 + bytes.length]);
      }
      const { stdout } = await commands.run(["wc", "-c"], { input: source(Array.from({ length: 40 }, () => bytes)).stream });
      assert.equal(stdout.trim(), String(40 * bytes.length));
    });
  });

  test("a stream of input is read no faster than it is taken, and is cancelled when the process has ended", async (context) => {
    const body = new Body([start(5)], "stay");
    let takes: (answer: Response) => void = () => undefined;
    const typed: string[] = [];
    const { sandbox, calls } = await fakeSandbox(context, (call) => {
      if (ofStart(call)) return body;
      if (!call.path.endsWith("/SendInput")) return unary();
      typed.push(text(sendInput(call.body).stdin ?? new Uint8Array()));
      return new Promise<Response>((resolve) => {
        takes = resolve;
      });
    });
    const { stream, waiting, cancelled } = source(["a", "b", "c"], "stay");
    const running = sandbox.commands.run("x", { input: stream });
    await eventually(() => typed.length === 1, "the first chunk");
    assert.lengthOf(waiting, 2);
    takes(unary());
    await eventually(() => typed.length === 2, "the second chunk");
    takes(unary());
    await eventually(() => typed.length === 3, "the third chunk");
    takes(unary());
    body.push(end());
    body.push(endOfStream());
    assert.isTrue((await running).success);
    await cancelled;
    assert.deepEqual(typed, ["a", "b", "c"]);
    assert.isTrue(calls.some(({ path }) => path.endsWith("/SendInput")));
  });

  test("a stream of input that fails, or holds something else, ends the command with that", async (context) => {
    const mine = new Error("mine");
    for (const [input, check] of [
      [source(["a"], mine).stream, (error: unknown) => assert.equal(error, mine)],
      [source([5]).stream as never, (error: unknown) => assert.instanceOf(error, context.sdk.InvalidArgumentError)],
    ] as const) {
      const { sandbox, calls } = await fakeSandbox(context, (call) => (ofStart(call) ? new Body([start(5)], "stay") : unary()));
      check(await sandbox.commands.run("x", { input }).catch((error: unknown) => error));
      await eventually(() => calls.some(({ path }) => path.endsWith("/SendSignal")), "the process is killed");
    }
    const { sandbox, calls } = await fakeSandbox(context, () => undefined);
    const { stream } = source(["a"]);
    stream.getReader();
    await rejected(sandbox.commands.run("x", { input: stream }), context.sdk.InvalidArgumentError, "E0001");
    await rejected(sandbox.commands.run("x", { input: 5 as never }), context.sdk.InvalidArgumentError, "E0001");
    assert.lengthOf(calls, 0);
  });

  test("a runtime whose web streams are no async iterables is enough", async (context) => {
    const { prototype } = ReadableStream as unknown as { prototype: Record<symbol, unknown> };
    const own = Object.getOwnPropertyDescriptor(prototype, Symbol.asyncIterator);
    delete prototype[Symbol.asyncIterator];
    try {
      const { sandbox } = await fakeSandbox(context, (call) => {
        if (ofStart(call)) return new Body([start(), data("stdout", "one"), end(), endOfStream()]);
        return new Response(call.method === "GET" ? "content" : '[{"name":"f","path":"/f"}]');
      });
      const types: string[] = [];
      for await (const { type } of sandbox.commands.stream("x")) types.push(type);
      assert.deepEqual(types, ["stdout", "exit"]);
      const content = await sandbox.files.read("f", { format: "stream" });
      assert.equal(await new Response(content as ReadableStream<Uint8Array<ArrayBuffer>>).text(), "content");
      await sandbox.files.upload(new Blob(["x"]).stream(), "f");
      assert.equal(await (await sandbox.files.download("f")).text(), "content");
    } finally {
      if (own) Object.defineProperty(prototype, Symbol.asyncIterator, own);
    }
  });

  test("output that is wanted as bytes is bytes everywhere, also where it is no text", async (context) => {
    const pieces = [Uint8Array.of(0xff, 0xe2), Uint8Array.of(0x82), Uint8Array.of(0xac, 0)];
    const { sandbox } = await fakeSandbox(
      context,
      () =>
        new Body([
          start(),
          ...pieces.map((piece) => data("stdout", piece)),
          data("stderr", "e"),
          end({ exitCode: 3 }),
          endOfStream(),
        ]),
    );
    const heard: Uint8Array[] = [];
    const onStdout = (bytes: Uint8Array) => void heard.push(bytes);
    const result = await sandbox.commands.run("x", { output: "bytes", onStdout });
    assert.deepEqual(result.stdout, concat(...pieces));
    assert.deepEqual(result.stderr, utf8("e"));
    assert.deepEqual(concat(...heard), concat(...pieces));
    const handle = await sandbox.commands.start("x", { output: "bytes" });
    assert.deepEqual((await handle.wait()).stdout, concat(...pieces));
    const error = await rejected(
      sandbox.commands.run("x", { output: "bytes", check: true }),
      context.sdk.ProcessError as typeof ProcessError,
    );
    assert.deepInclude(error, { exitCode: 3, stdout: "\uFFFD€\0", stderr: "e" });
  });

  test("whether an exit code fails can be said once for a sandbox, and otherwise by each call", async (context) => {
    const { ProcessError } = context.sdk;
    const failing = () => new Body([start(), end({ exitCode: 3 }), endOfStream()]);
    const { sandbox } = await fakeSandbox(context, failing, { check: true });
    const { commands } = sandbox;
    await rejected(commands.run("x"), ProcessError, "E3002");
    assert.equal((await commands.run("x", { check: false })).exitCode, 3);
    for (const handle of [await commands.start("x"), await commands.run("x", { background: true }), await commands.connect(1)])
      await rejected(handle.wait(), ProcessError, "E3002");
    assert.equal((await (await commands.start("x")).wait({ check: false })).exitCode, 3);
  });

  test("of much output 64 MiB a stream are kept, and the result says that it was cut", async (context) => {
    const block = data("stdout", new Uint8Array(1 << 20).fill(120));
    const much = () => [start(), ...Array.from({ length: 65 }, () => block), data("stderr", "all"), end(), endOfStream()];
    const { sandbox } = await fakeSandbox(context, () => new Body(much()));
    const asText = await sandbox.commands.run("x");
    assert.equal(asText.stdout.length, 64 << 20);
    assert.equal(asText.stderr, "all");
    assert.isTrue(asText.truncated);
    const asBytes = await sandbox.commands.run("x", { output: "bytes" });
    assert.equal(asBytes.stdout.length, 64 << 20);
    assert.isTrue(asBytes.truncated);
    const uncaptured = await sandbox.commands.run("x", { capture: false });
    assert.deepInclude(uncaptured, { stdout: "", stderr: "", truncated: false });
  });

  test("[platform] a program that is not there is told by its name", async (context) => {
    await withSandbox(context, async ({ commands }) => {
      const missing = await commands.run(["nope", "--flag"]);
      assert.equal(missing.exitCode, 127);
      assert.match(missing.stderr, /nope/);
      assert.notMatch(missing.stderr, /nice/);
    });
  });

  test.inNode("[platform] 200 commands run at the same time", async (context) => {
    await withSandbox(context, async ({ commands }) => {
      const { signal } = new AbortController();
      const handles = await Promise.all(
        Array.from({ length: 200 }, (_, i) => commands.start(["sh", "-c", `read line; echo ${i} $line`], { stdin: true, signal })),
      );
      assert.isAtLeast((await commands.list()).length, 200, "all of them run at once");
      await Promise.all(handles.map((handle) => handle.sendInput("go\n")));
      const results = await Promise.all(handles.map((handle) => handle.wait()));
      for (const [i, { stdout }] of results.entries()) assert.equal(stdout, `${i} go\n`);
      assert.lengthOf(await commands.list(), 0);
    });
  });
});
