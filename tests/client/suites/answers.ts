// Answers whose form is not what it should be: each call still ends, with what can be used of it or with an error of ours.
import { assert } from "chai";
import { fakeFetch } from "../support/fake-fetch.ts";
import { END, line, run } from "../support/interpreter.ts";
import { fakeSandbox, rejected, SECRETS } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";

const json = (body: unknown) => () => Response.json(body);
/** An object that is no text, whoever tries to make one of it. */
const NO_TEXT = { toString: 1, valueOf: 1 };

export const answers = suite("answers of another form", (test) => {
  test("entries of a list that are none are left out, and every call ends", async (context) => {
    const wire = {
      processes: [null, 5, { pid: 7, config: null }, { pid: 8, config: { cmd: "a", args: 3 } }, { config: { args: [NO_TEXT] } }],
    };
    const { sandbox } = await fakeSandbox(context, json(wire));
    assert.deepEqual(
      (await sandbox.commands.list()).map(({ pid, command }) => [pid, command]),
      [
        [7, ""],
        [8, "a"],
        [0, " "],
      ],
    );
    const { sandbox: listing } = await fakeSandbox(context, json({ entries: [null, { name: "a", size: "9" }, 5] }));
    assert.deepEqual(
      (await listing.files.list("/")).map(({ name, size }) => [name, size]),
      [["a", 9]],
    );
    const { sandbox: writing } = await fakeSandbox(context, json([{ path: 5 }]));
    assert.deepEqual(await writing.files.write("/a", "x"), { name: "a", path: "/a", type: "file" });
    const { Sandbox } = context.sdk;
    const plane = (body: unknown) => ({
      apiUrl: "https://api.test",
      apiKey: SECRETS.apiKey,
      validateApiKey: false,
      fetch: fakeFetch(json(body)),
    });
    assert.lengthOf(await Sandbox.getMetrics("i1", plane([null, 3, { cpuCount: 2 }])), 1);
    assert.deepEqual(
      (await Sandbox.logs("i1", plane({ logs: [null, { message: "said" }] }))).map(({ message }) => message),
      ["said"],
    );
    assert.deepEqual((await Sandbox.createSnapshot("i1", plane(null))).names, []);
  });

  test("a list of contexts that is none is an error of a restart", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => new Response(""));
    await rejected(sandbox.code.restartContext("a"), context.sdk.SandboxError);
  });

  test("a cell's events may hold anything", async (context) => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const result = await run(context, [
      line({ type: "stdout", text: { a: 1 } }),
      line({ type: "stderr", text: NO_TEXT }),
      line({ type: "error", name: NO_TEXT, value: [], traceback: NO_TEXT }),
      line(`{"type":"result","chart":${deep}}`),
      END,
    ]);
    assert.deepEqual([result.stdout, result.stderr], ["[object Object]", ""]);
    assert.deepEqual(result.error, { name: "", value: "", traceback: "" });
    const { sandbox } = await fakeSandbox(context, () => new Response(`{"exit_code":3,"a":${deep}}`));
    assert.equal((await sandbox.serverAt({ token: "t" }).process.shell("x")).exitCode, 3);
  });

  test("a web page with status 200 is told as one, and not quoted", async (context) => {
    const page = () => new Response(`\n<!doctype html><p>${SECRETS.envdToken}`, { headers: { "content-type": "text/html" } });
    const { sandbox } = await fakeSandbox(context, page);
    for (const call of [
      sandbox.commands.list(),
      sandbox.files.getInfo("a"),
      sandbox.files.write("a", "x"),
      sandbox.code.listContexts(),
    ]) {
      const error = await rejected(call, context.sdk.SandboxConnectionError, "E5001");
      assert.include(error.message, "web page");
      assert.isUndefined(error.cause);
    }
  });

  test("a wait that a server wishes for is not waited for when it is long, also without a request timeout", async (context) => {
    for (const wish of ["61", "1e99", "Fri, 31 Dec 9999 23:59:59 GMT"]) {
      const { sandbox, calls } = await fakeSandbox(
        context,
        () => new Response("", { status: 429, headers: { "retry-after": wish } }),
      );
      const error = await rejected(sandbox.files.exists("a", { requestTimeoutMs: 0 }), context.sdk.RateLimitError, "E5003");
      assert.isAtLeast(error.retryAfterMs ?? 0, 61_000);
      assert.lengthOf(calls, 1);
    }
  });
});
