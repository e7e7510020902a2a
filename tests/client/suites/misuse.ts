// Using objects as they are not meant to be used, or at odd moments.
import type { Sandbox } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, text } from "../support/bytes.ts";
import { Body } from "../support/fake-fetch.ts";
import { eventually, fakeSandbox, rejected, START, thrown, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";
import { data, end, endOfStream, sendInput, start, unary } from "../support/wire.ts";

/** Code run in a frame of the page. */
function frameRealm() {
  const frame = document.body.appendChild(document.createElement("iframe"));
  const { eval: run } = frame.contentWindow as unknown as { eval(code: string): never };
  return { run, remove: () => frame.remove() };
}

export const misuse = suite("misuse", (test) => {
  test("an object that the client did not make is refused as one", async ({ sdk }) => {
    await sdk.init();
    const refused = (use: () => unknown) => thrown(use, sdk.InvalidArgumentError, "E0001");
    refused(() => new (sdk.Sandbox as unknown as new () => Sandbox)().sandboxId);
    refused(() => Object.create(sdk.Sandbox.prototype).files);
    refused(() => sdk.Files.prototype.downloadUrl.call({} as never, "a"));
    refused(() => sdk.Sandbox.prototype.url);
  });

  test("a class that extends Sandbox is told that it makes none of its own, and its methods reach those above", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => Response.json({ entry: { name: "a", path: "/a" } }));
    class Extended extends (context.sdk.Sandbox as unknown as new () => Sandbox) {
      override getUrl(port: number): string {
        return `${super.getUrl(port)}/above`;
      }
    }
    const Makes = Extended as unknown as typeof context.sdk.Sandbox;
    for (const make of [() => Makes.create("base"), () => Makes.connect("i1"), () => Makes.attach({ sandboxId: "i1" })]) {
      const error = await rejected(make(), context.sdk.InvalidArgumentError, "E0001");
      assert.match(error.message, /^Extended\.(create|connect|attach) would make a Sandbox/);
    }
    const url = sandbox.getUrl(80);
    Object.setPrototypeOf(sandbox, Extended.prototype);
    assert.equal(sandbox.getUrl(80), `${url}/above`);
    assert.isTrue(await sandbox.files.exists("a"));
    // Taken off its class it goes on as it was.
    const { attach } = Makes;
    assert.equal((await attach({ sandboxId: "i2", sandboxUrl: "https://sandbox.test" })).sandboxId, "i2");
  });

  test("there is no way to free an object while it is used", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => undefined);
    const { Code, Commands, Files, Network, Pty, Sandbox, TerminalSession } = context.sdk;
    for (const { prototype } of [Code, Commands, Files, Network, Pty, Sandbox, TerminalSession]) {
      assert.notProperty(prototype, "free");
      if (Symbol.dispose) assert.isFalse(Symbol.dispose in prototype);
    }
    assert.notProperty(sandbox, "free");
  });

  test("a sandbox that was closed, twice, goes on answering", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => Response.json({ entry: { name: "a", path: "/a" } }));
    await sandbox.close();
    await sandbox.close();
    assert.isTrue(await sandbox.files.exists("a"));
    assert.equal(sandbox.sandboxId, "itest");
  });

  test("a chunk that was kept stays as it was when the module's memory grows", async (context) => {
    const content = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
    const { sandbox } = await fakeSandbox(context, (call) =>
      call.path.endsWith(START) ? new Body([start(), data("stdout", content), end(), endOfStream()]) : undefined,
    );
    const kept: Uint8Array[] = [];
    for await (const chunk of sandbox.commands.stream("x", { output: "bytes" })) if (chunk.type === "stdout") kept.push(chunk.data);
    // More than the module has at the start, so that it must grow for it.
    await sandbox.commands.run("x", { input: new Uint8Array(8 * 1024 * 1024) });
    assert.deepEqual(concat(...kept), content);
  });

  test("bytes, blobs and streams of another realm are what they are", async (context) => {
    const body = new Body([start(5)], "stay");
    const { sandbox, calls } = await fakeSandbox(context, (call) => {
      if (call.path.endsWith(START)) return body;
      return call.path.endsWith("/files") ? Response.json([{ path: "/a", name: "a", type: "file" }]) : unary();
    });
    const other =
      context.runtime === "node"
        ? { run: (code: string) => process.getBuiltinModule("node:vm").runInNewContext(code), remove() {} }
        : frameRealm();
    const data = ["new Uint8Array([120]).buffer", "new Uint8Array([120])"];
    if (context.runtime === "page") data.push('new Blob(["x"])', 'new File(["x"], "x")', 'new Response("x").body');
    for (const code of data) {
      await sandbox.files.write("a", other.run(code));
      await sandbox.files.upload(other.run(code), "a");
    }
    // The last of them: in Node bytes, in a page a stream.
    const running = sandbox.commands.run("x", { input: other.run(data.at(-1) as string) });
    const fed = () => calls.filter(({ path }) => path.endsWith("/SendInput"));
    await eventually(() => fed().length === 1, "the input");
    assert.deepEqual([...(sendInput(fed()[0]?.body as Uint8Array).stdin ?? [])], [120]);
    body.push(end());
    body.push(endOfStream());
    await running;
    const written = calls.filter(({ path }) => path.endsWith("/files"));
    assert.lengthOf(written, 2 * data.length);
    for (const { body } of written) assert.deepEqual([...body], [120]);
    other.remove();
  });

  test("what is no command, no callback or no array to read is refused as the argument that it is", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, () => undefined);
    const { InvalidArgumentError, Sandbox } = context.sdk;
    class Callback {}
    const throwing = Object.defineProperty(["A"], 0, {
      get() {
        throw new Error("boom");
      },
    });
    const trap = () => {
      throw new Error("boom");
    };
    for (const use of [
      () => sandbox.commands.run("x", { onStdout: Callback as never }),
      () => sandbox.files.upload(new Blob(["x"]), "a", { onProgress: Callback as never }),
      () => Sandbox.create({ apiKey: Callback as never }),
      () => sandbox.run(Symbol("name") as never),
      () => sandbox.run(Object.create(null)),
      () => sandbox.server.files.upload(Object.create(null), "x"),
      () => sandbox.server.system.env(throwing),
      () => sandbox.server.system.env(new Proxy([], { get: trap })),
      () => sandbox.commands.run(throwing as never),
      () => sandbox.files.write("a", "half of \ud83d"),
    ]) {
      await rejected(use(), InvalidArgumentError, "E0001");
    }
    assert.lengthOf(calls, 0);
  });

  test("what an option throws while it is read is the cause of an error that names it, and the next call goes on", async (context) => {
    const answered = () => new Body([start(), data("stdout", "fine"), end(), endOfStream()]);
    const { sandbox, calls } = await fakeSandbox(context, answered);
    const { InvalidArgumentError, Sandbox } = context.sdk;
    const own = new Error("of a getter");
    const unused = () => Promise.reject(new Error("something was sent"));
    /** An object whose property of that name throws. */
    const throwing = (name: string): Record<string, never> =>
      Object.defineProperty({}, name, {
        enumerable: true,
        get() {
          throw own;
        },
      });
    const throwingItem = Object.defineProperty([], 0, { get: () => throwing("item").item });
    const create = (options: Record<string, unknown>) =>
      Sandbox.create({ provider: "e2b", apiKey: "key", validateApiKey: false, fetch: unused, ...options });
    for (const [name, use] of [
      ["envs", () => sandbox.commands.run("x", { envs: throwing("A") })],
      ["envs", () => sandbox.commands.run("x", throwing("envs"))],
      ["cwd", () => sandbox.commands.run("x", Object.create(throwing("cwd")))],
      ["metadata", () => sandbox.files.write("a", "x", { metadata: throwing("a") })],
      ["apiKey", () => Sandbox.create(throwing("apiKey"))],
      ["like", () => Sandbox.create({ provider: throwing("like") as never })],
      ["rows", () => sandbox.pty.resize(1, Object.assign(throwing("rows"), { cols: 80 }) as never)],
      ["signal", () => sandbox.files.exists("a", throwing("signal"))],
      ["An array that was given", () => sandbox.files.write([throwing("data") as never])],
      ["policy", () => sandbox.startServer({ policy: { auth: throwing("tokens") } as never })],
      ...[
        { network: throwing("allowOut") },
        { network: { allowOut: throwingItem } },
        { network: { rules: { "a.example": [throwing("transform")] } } },
        { network: { rules: { "a.example": [{ transform: throwing("headers") }] } } },
        { network: { rules: { "a.example": [{ transform: () => throwing("headers") }] } } },
        { lifecycle: throwing("onTimeout") },
        { lifecycle: { onTimeout: throwing("action") } },
        { iam: throwing("tokens") },
        { iam: { tokens: { job: throwing("audience") } } },
        { mcp: { server: throwing("command") } },
        { volumeMounts: [throwing("path")] },
      ].map((option) => [Object.keys(option)[0], () => create(option)] as const),
    ] as const) {
      const error = await rejected(use(), InvalidArgumentError, "E0001");
      assert.equal(error.message, `${name} cannot be read.`);
      assert.equal(error.cause, own);
    }
    // Nor is there JSON of what holds itself, or of numbers that JSON does not have.
    const circle: Record<string, unknown> = {};
    circle.itself = circle;
    for (const option of [{ mcp: circle }, { network: circle }, { lifecycle: circle }]) {
      await rejected(create(option), InvalidArgumentError, "E0001");
    }
    await rejected(create({ network: { rules: { "a.example": [{ transform: { at: 1n } }] } } }), InvalidArgumentError, "E0001");
    await rejected(sandbox.startServer({ policy: circle as never }), InvalidArgumentError, "E0001");
    assert.lengthOf(calls, 0);
    assert.equal((await sandbox.commands.run("x")).stdout, "fine");
  });

  test("options and arguments count as they were when the call was made", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, () => new Body([start(), end(), endOfStream()]));
    const command: [string, string] = ["echo", "first"];
    const options = { envs: { A: "first" }, cwd: "/first" };
    const running = sandbox.commands.run(command, options);
    command[1] = options.envs.A = "second";
    options.cwd = "/second";
    await running;
    const sent = text(calls[0]?.body ?? new Uint8Array());
    assert.include(sent, "/first");
    assert.notInclude(sent, "second");
    // More files than are written at a time: the last ones are read later.
    const stored: string[] = [];
    const { sandbox: storing } = await fakeSandbox(context, ({ body, path }) => {
      if (path.endsWith("/files")) stored.push(text(body));
      return Response.json([{ path: "/a", name: "a", type: "file" }]);
    });
    const entries = Array.from({ length: 9 }, (_, at) => ({ path: `f${at}`, data: "first" }));
    const writing = storing.files.write(entries);
    for (const entry of entries) entry.data = "second";
    await writing;
    assert.deepEqual(stored, Array(9).fill("first"));
  });

  test.inNode("a process that nobody reads keeps no program running by its time limit", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => new Body([start()], "stay"));
    const { setTimeout: set } = globalThis;
    const limits: NodeJS.Timeout[] = [];
    globalThis.setTimeout = Object.assign((run: () => void, ms?: number) => {
      const timer = set(run, ms);
      if (ms && ms >= 600_000) limits.push(timer);
      return timer;
    }, set);
    try {
      await sandbox.commands.start("x", { timeoutMs: 600_000 });
    } finally {
      globalThis.setTimeout = set;
    }
    assert.isNotEmpty(limits);
    for (const timer of limits) assert.isFalse(timer.hasRef());
  });

  test.inNode("a logger whose promise is rejected is nobody's failure", async (context) => {
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => void unheard.push(reason);
    process.on("unhandledRejection", hear);
    const own = new Error("the logger's");
    const log = async () => {
      throw own;
    };
    const answer = () => Response.json({ entry: { name: "a", path: "/a" } });
    const { sandbox } = await fakeSandbox(context, answer, { logger: { debug: log, warn: log } as never });
    assert.isTrue(await sandbox.files.exists("a"));
    await new Promise((later) => setTimeout(later));
    process.off("unhandledRejection", hear);
    assert.notInclude(unheard, own);
  });

  test("[platform] every part of the client can be called from inside its callbacks", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const called: string[] = [];
      const result = await sandbox.commands.run("echo a; echo b >&2", {
        onStdout: async () => {
          await sandbox.files.write("inside", "written");
          called.push((await sandbox.commands.run("cat inside", { onStdout: (text) => void called.push(text) })).stdout);
        },
        onStderr: async () => {
          const terminal = await sandbox.getTerminal();
          await terminal.close();
          called.push((await terminal.closed).reason);
        },
      });
      assert.isTrue(result.success);
      assert.sameMembers(called, ["written", "written", "killed"]);
      await sandbox.files.upload(new Uint8Array(10), "up", { onProgress: () => void sandbox.getUrl(80) });
    });
  });
});
