// Which options there are: a misspelt one is refused, with the name that was meant, before anything is sent; and what is not an option at all.
import type { ConnectionOptions } from "agent-sandbox-web";
import { assert } from "chai";
import { text } from "../support/bytes.ts";
import { Body, fakeFetch } from "../support/fake-fetch.ts";
import { collect, fakeSandbox, rejected, SECRETS, thrown } from "../support/sandboxes.ts";
import { type Context, suite } from "../support/suite.ts";
import { end, endOfStream, start, unary } from "../support/wire.ts";

/** Whatever a test gives, type or no type. */
// biome-ignore lint/suspicious/noExplicitAny: what is tested is what types forbid
const any = (value: unknown) => value as any;

/** A client's requests, and options that lead there. */
function watched(extra: object = {}) {
  const fetch = fakeFetch(({ path }) =>
    path.endsWith("/sandboxes") ? Response.json({ sandboxID: "i1", templateID: "t1" }, { status: 201 }) : Response.json([]),
  );
  const options: ConnectionOptions = {
    apiUrl: "https://api.test",
    sandboxUrl: "https://sandbox.test/s/{sandboxId}/{port}",
    apiKey: SECRETS.apiKey,
    validateApiKey: false,
    fetch,
    ...extra,
  };
  return { fetch, options };
}

/** A sandbox whose every process runs and ends at once. */
const quick = (context: Context) =>
  fakeSandbox(context, ({ path }) => (path.endsWith("/Start") ? new Body([start(1), end(), endOfStream()]) : unary()));

export const options = suite("options", (test) => {
  test("an unknown option of a connection is refused before anything is sent, and the nearest name told", async ({ sdk }) => {
    const { Sandbox, InvalidArgumentError } = sdk;
    for (const [given, meant] of [
      ["apiURL", "apiUrl"],
      ["timeoutMS", "timeoutMs"],
      ["timeout", "timeoutMs"],
      ["request_timeout", "requestTimeoutMs"],
      ["env", "envs"],
      ["environment", "envs"],
      ["api_key", "apiKey"],
      ["metaData", "metadata"],
    ]) {
      const { fetch, options } = watched({ [String(given)]: "x" });
      const error = await rejected(Sandbox.create(options), InvalidArgumentError, "E0001");
      assert.include(error.message, `no option ${given} here. Did you mean ${meant}?`);
      assert.lengthOf(fetch.calls, 0);
    }
    const { fetch, options } = watched({ foo: 1 });
    for (const call of [
      () => Sandbox.create("base", options),
      () => Sandbox.connect("i1", options),
      () => Sandbox.attach({ sandboxId: "i1" }, options),
      () => Sandbox.getInfo("i1", options),
      () => Sandbox.kill("i1", options),
      () => Sandbox.setTimeout("i1", 1, options),
      () => Sandbox.updateNetwork("i1", {}, options),
      () => Sandbox.fork("i1", options),
      () => Sandbox.list(options).nextItems(),
      () => Sandbox.listSnapshots(options).toArray(),
      () => Sandbox.create({ ...watched().options, provider: any({ name: "mine", foo: 1 }) }),
    ]) {
      const error = await rejected(call(), InvalidArgumentError, "E0001");
      assert.match(error.message, /no (option )?foo\b.*It takes/);
    }
    assert.lengthOf(fetch.calls, 0);
  });

  test("objects that are shared with sibling calls are taken, and what is nearly a name is not", async (context) => {
    const { fetch, options } = watched({ template: "base", timeoutMs: 9000, metadata: { a: "b" }, envs: {} });
    await context.sdk.Sandbox.getInfo("i1", options).catch(() => undefined);
    await context.sdk.Sandbox.connect("i1", options).catch(() => undefined);
    assert.isAtLeast(fetch.calls.length, 2);
    const { sandbox, calls } = await quick(context);
    const told: string[] = [];
    const handle = await sandbox.commands.start(
      "x",
      any({ check: true, capture: true, background: true, onStdout: (text: string) => told.push(text) }),
    );
    assert.equal((await handle.wait()).exitCode, 0);
    await collect(sandbox.commands.stream("x", any({ check: true, capture: false })));
    const screen = { cols: 90, rows: 30, cursorBlink: true, theme: { background: "#000" } };
    await (await sandbox.pty.create(any(screen))).disconnect();
    await sandbox.pty.resize(1, any(screen));
    assert.isTrue(calls.some(({ path }) => path.endsWith("/Update")));
    const stream = any({ pipe: () => undefined });
    const error = await rejected(sandbox.files.write("f", stream), context.sdk.InvalidArgumentError, "E0001");
    assert.match(error.message, /Readable\.toWeb/);
    const input = await rejected(sandbox.commands.run("x", { input: stream }), context.sdk.InvalidArgumentError, "E0001");
    assert.match(input.message, /Readable\.toWeb/);
    const envs = any({ A: undefined });
    assert.match((await rejected(sandbox.commands.run("x", { envs }), undefined, "E0001")).message, /envs\.A must be a string/);
  });

  test("an unknown option of any call is refused before anything is sent", async (context) => {
    const { InvalidArgumentError } = context.sdk;
    const { sandbox, calls } = await quick(context);
    const { code, commands, files, pty } = sandbox;
    const foo = any({ foo: 1 });
    const handle = await commands.start("x");
    const before = calls.length;
    for (const call of [
      () => sandbox.kill(foo),
      () => sandbox.pause(foo),
      () => sandbox.createSnapshot(foo),
      () => sandbox.isRunning(foo),
      () => sandbox.updateNetwork({}, foo),
      () => sandbox.getTerminal(foo),
      () => sandbox.runCode("1", foo),
      () => sandbox.listSnapshots(foo).nextItems(),
      () => sandbox.startServer(foo),
      () => sandbox.run("x", {}, foo),
      () => code.run("1", foo),
      () => code.createContext(foo),
      () => code.restartContext("c", foo),
      () => commands.run("x", foo),
      () => commands.start("x", foo),
      () => commands.connect(1, foo),
      () => commands.list(foo),
      () => commands.sendInput(1, "", foo),
      () => handle.wait(foo),
      () => handle.kill(foo),
      () => files.read("f", foo),
      () => files.write("f", "", foo),
      () => files.write([{ path: "f", data: "" }], foo),
      () => files.upload(new Blob([]), "f", foo),
      () => files.download("f", undefined, foo),
      () => files.list("f", foo),
      () => files.move("f", "g", foo),
      () => files.rename("f", "g", foo),
      () => files.watch("f", foo),
      () => pty.create(foo),
      () => pty.create(any({ cols: 1, rows: 1, env: {} })),
      () => pty.resize(1, { cols: 1, rows: 1 }, foo),
    ]) {
      const error = await rejected(call(), InvalidArgumentError, "E0001");
      assert.match(error.message, /no option (foo|env) here/);
    }
    for (const call of [
      () => commands.stream("x", foo),
      () => files.downloadUrl("f", any({ signal: undefined, user: "u", foo: 1 })),
      () => sandbox.uploadUrl("f", foo),
      () => sandbox.serverAt(foo),
      () => new context.sdk.ServerClient("http://127.0.0.1:1", foo),
    ]) {
      assert.match(thrown(call, InvalidArgumentError, "E0001").message, /no option foo here/);
    }
    assert.lengthOf(calls, before);
  });

  test("what is undefined, inherited or behind an accessor is an option as any other", async (context) => {
    const { sandbox, calls } = await quick(context);
    class Defaults {
      get cwd() {
        return "/from/accessor";
      }
      method() {}
    }
    const given = Object.assign(new Defaults(), { foo: undefined });
    await sandbox.commands.run("x", any(given));
    await sandbox.commands.run("x", any(Object.create({ cwd: "/from/prototype" })));
    const sent = calls.filter(({ path }) => path.endsWith("/Start")).map(({ body }) => text(body));
    assert.include(sent[0], "/from/accessor");
    assert.include(sent[1], "/from/prototype");
    const { options } = watched();
    const { sandboxId } = await context.sdk.Sandbox.create(Object.freeze({ ...options, template: undefined, envs: undefined }));
    assert.equal(sandboxId, "i1");
  });

  test("a template that is absent leaves the options behind it, and one that is given twice is refused", async ({ sdk }) => {
    const { fetch, options } = watched();
    await sdk.Sandbox.create(any(undefined), options);
    assert.include(text(fetch.calls[0]?.body ?? new Uint8Array()), '"templateID":"base"');
    const before = fetch.calls.length;
    for (const call of [
      () => sdk.Sandbox.create("base", { ...options, template: "base" }),
      () => sdk.Sandbox.create(any(options), options),
    ]) {
      assert.match((await rejected(call(), sdk.InvalidArgumentError, "E0001")).message, /template/);
    }
    assert.lengthOf(fetch.calls, before);
  });

  test("a method without its object, and an object made with new, are told as that", async (context) => {
    const { InvalidArgumentError, Sandbox } = context.sdk;
    const { sandbox } = await quick(context);
    const { run } = sandbox.commands;
    const { read } = sandbox.files;
    const { kill, getInfo } = sandbox;
    const { wait } = await sandbox.commands.start("x");
    const made = new (any(Sandbox))({ apiKey: SECRETS.apiKey });
    for (const call of [
      () => run("x"),
      () => read("f"),
      () => kill(),
      () => getInfo.call(any(undefined)),
      () => wait(),
      () => made.kill(),
      () => run.call(any(sandbox.files), "x"),
    ]) {
      const error = await rejected(call(), InvalidArgumentError, "E0001");
      assert.match(error.message, /was called without its/);
    }
    const error = thrown(() => made.commands, InvalidArgumentError, "E0001");
    assert.match(error.suggestion, /Sandbox\.create/);
    const { getHost } = sandbox;
    thrown(() => getHost(80), InvalidArgumentError, "E0001");
  });

  test("what an object has inside is nothing that is listed, copied or called by its number", async (context) => {
    const { sandbox } = await quick(context);
    for (const one of [sandbox, sandbox.commands, sandbox.files, sandbox.network]) {
      assert.deepEqual(Object.keys(one), []);
      assert.isUndefined(any(one).__call);
    }
    assert.deepEqual<object>(structuredClone(sandbox.commands), {});
  });

  test("objects that throw when they are looked at reject the call with what they throw, and the next one works", async (context) => {
    const { sandbox } = await quick(context);
    const mine = new Error("mine");
    const throwing = new Proxy(
      {},
      {
        get: () => {
          throw mine;
        },
        ownKeys: () => {
          throw mine;
        },
        getPrototypeOf: () => {
          throw mine;
        },
      },
    );
    const revoked = (of: object) => {
      const { proxy, revoke } = Proxy.revocable(of, {});
      revoke();
      return proxy;
    };
    const signal = (over: object) => ({
      aborted: false,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
      ...over,
    });
    const fail = () => {
      throw mine;
    };
    for (const [what, call] of Object.entries<() => Promise<unknown>>({
      "options: traps": () => sandbox.commands.run("x", throwing),
      "options: revoked": () => sandbox.commands.run("x", revoked({})),
      "command: revoked": () => sandbox.commands.run(any(revoked([]))),
      "command: traps": () => sandbox.commands.run(any(new Proxy(["x"], { get: fail }))),
      "envs: traps": () => sandbox.commands.run("x", { envs: any(throwing) }),
      "input: revoked": () => sandbox.commands.run("x", { input: any(revoked(new Uint8Array())) }),
      "input: double": () => sandbox.commands.run("x", { input: any(new Proxy(new ReadableStream(), {})) }),
      "data: double": () => sandbox.commands.sendInput(1, any(new Proxy(new Uint8Array(1), {}))),
      "data: revoked": () => sandbox.files.write("f", any(revoked({}))),
      "signal: listening": () => sandbox.files.exists("f", { signal: any(signal({ addEventListener: fail })) }),
      "signal: traps": () => sandbox.files.exists("f", { signal: any(throwing) }),
      "signal: revoked": () => sandbox.files.exists("f", { signal: any(revoked({})) }),
      "status: revoked": () => context.sdk.Sandbox.list({ status: any(revoked([])), apiKey: "k" }).nextItems(),
      "callback's answer": () => sandbox.commands.run("x", { onStdout: any(revoked(() => undefined)) }),
      "data: a date's double": () => sandbox.getMetrics({ start: any(new Proxy(new Date(), {})) }),
      "context: revoked": () => sandbox.runCode("1", { context: any(revoked({})) }),
    })) {
      const outcome = await Promise.race([
        call().then(
          () => "resolved",
          () => "rejected",
        ),
        new Promise((late) => setTimeout(late, 60_000, "hangs")),
      ]);
      assert.notEqual(outcome, "hangs", what);
      // These are looked at when the process runs already, and perhaps has ended.
      if (!/callback|double$/.test(what) || what.startsWith("data")) assert.equal(outcome, "rejected", what);
      assert.equal((await sandbox.commands.run("x")).exitCode, 0, `after ${what}`);
    }
    // One that cannot be let go of, or has no reason, does not spoil the call it was given to.
    assert.isTrue(await sandbox.files.exists("f", { signal: any(signal({ removeEventListener: fail })) }));
    const aborted = Object.defineProperty(signal({ aborted: true }), "reason", { get: fail });
    assert.equal(await sandbox.files.exists("f", { signal: any(aborted) }).catch((error: unknown) => error), mine);
  });

  test("a fetch that gives no Response is told as that", async (context) => {
    for (const given of [undefined, null, {}, "text"]) {
      const { sandbox } = await fakeSandbox(context, () => undefined, { fetch: any(async () => given) });
      await rejected(sandbox.files.exists("f"), context.sdk.InvalidArgumentError, "E0001");
    }
  });
});
