// Sandboxes and commands on the real platform: what the README promises, and what goes wrong in everyday use.
import type { SandboxInfo } from "agent-sandbox-web";
import { assert } from "chai";
import { collect, eventually, rejected, shown, thrown, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";

export const lifecycle = suite("lifecycle", (test) => {
  test("[platform] a sandbox is created, found, connected to, handed over and ended", async (context) => {
    const { Sandbox } = context.sdk;
    const metadata = { test: crypto.randomUUID(), "a b": "ü&=" };
    const sandbox = await Sandbox.create("base", { ...context.platform, metadata, envs: { FROM: "create" }, timeoutMs: 301_000 });
    const { sandboxId } = sandbox;
    assert.isTrue(sandbox instanceof Sandbox);
    assert.strictEqual(sandbox.commands, sandbox.commands);
    assert.strictEqual(sandbox.files, sandbox.files);
    assert.strictEqual(sandbox.pty, sandbox.pty);
    assert.strictEqual(sandbox.network, sandbox.network);
    assert.equal(sandbox.id, sandboxId);
    assert.equal((await sandbox.commands.run("echo $FROM")).stdout, "create\n");

    const info: SandboxInfo = await Sandbox.getInfo(sandboxId, context.platform);
    assert.deepInclude(info, { sandboxId, status: "running", metadata });
    const life = (info.endAt?.getTime() ?? 0) - Date.now();
    assert.isTrue(life > 100_000 && life < 302_000, `lives for ${life} ms`);
    assert.isTrue(await sandbox.isRunning());

    const listed = await Sandbox.list({ ...context.platform, metadata }).toArray();
    assert.deepEqual(
      listed.map((item) => item.sandboxId),
      [sandboxId],
    );

    await sandbox.setTimeout(600_000);
    const extended = await sandbox.refreshInfo();
    assert.isAbove((extended.endAt?.getTime() ?? 0) - Date.now(), 500_000);
    await Sandbox.setTimeout(sandboxId, 300_000, context.platform);

    const connected = await Sandbox.connect(sandboxId, context.platform);
    assert.equal((await connected.commands.run("echo $FROM")).stdout, "create\n");
    await connected.close();

    const handoff = JSON.parse(JSON.stringify(sandbox.handoff()));
    assert.notInclude(JSON.stringify(handoff), context.platform.apiKey);
    const attached = await Sandbox.attach(handoff);
    assert.equal((await attached.commands.run("echo attached")).stdout, "attached\n");
    assert.isTrue(await attached.isRunning());
    await rejected(attached.kill(), context.sdk.InvalidAPIKeyError, "E1001");

    assert.isTrue(await sandbox.kill());
    assert.isFalse(await sandbox.kill());
    assert.isFalse(await Sandbox.kill(sandboxId, context.platform));
    assert.isFalse(await Sandbox.killById(sandboxId, context.platform));
    assert.isFalse(await sandbox.isRunning());
    await rejected(Sandbox.getInfo(sandboxId, context.platform), context.sdk.SandboxNotFoundError, "E2009");
    await rejected(Sandbox.connect(sandboxId, context.platform), context.sdk.SandboxNotFoundError, "E2009");
  });

  test("[platform] a list comes in pages", async (context) => {
    const { Sandbox, SandboxPaginator } = context.sdk;
    const metadata = { test: crypto.randomUUID() };
    const made = await Promise.all([1, 2, 3].map(() => Sandbox.create({ ...context.platform, metadata })));
    const ids = made.map((sandbox) => sandbox.sandboxId).sort();
    try {
      const pages = Sandbox.list({ ...context.platform, metadata, limit: 2 });
      assert.isTrue(pages instanceof SandboxPaginator);
      assert.isTrue(pages.hasNext);
      const first = await pages.nextItems();
      assert.lengthOf(first, 2);
      assert.isTrue(pages.hasNext);
      assert.isString(pages.nextToken);
      const rest = await Sandbox.list({ ...context.platform, metadata, limit: 2, nextToken: pages.nextToken }).toArray();
      assert.lengthOf(rest, 1);
      assert.deepEqual([...first, ...(await pages.nextItems())].map((item) => item.sandboxId).sort(), ids);
      assert.isFalse(pages.hasNext);
      assert.deepEqual(await pages.nextItems(), []);
      assert.deepEqual(
        (await collect(Sandbox.list({ ...context.platform, metadata, limit: 1 }))).map((item) => item.sandboxId).sort(),
        ids,
      );
      assert.lengthOf(await Sandbox.list({ ...context.platform, metadata, offset: 2 }).toArray(), 1);
      assert.lengthOf(await Sandbox.list({ ...context.platform, metadata, status: "paused" }).toArray(), 0);
      assert.lengthOf(await Sandbox.list({ ...context.platform, metadata, status: ["running", "paused"] }).toArray(), 3);
    } finally {
      await Promise.all(made.map((sandbox) => sandbox.kill()));
    }
  });

  test("[platform] bad input gives typed errors, and the client goes on working", async (context) => {
    const { Sandbox, AuthenticationError, NetworkError, SandboxNotFoundError, TemplateNotFoundError } = context.sdk;
    const { platform } = context;
    const wrong = { ...platform, apiKey: "not-the-key" };
    for (const call of [
      () => Sandbox.create(wrong),
      () => Sandbox.getInfo("i0", wrong),
      () => Sandbox.kill("i0", wrong),
      () => Sandbox.list(wrong).nextItems(),
    ]) {
      const error = await rejected(call(), AuthenticationError, "E1000");
      assert.notInclude(shown(error), "not-the-key");
    }
    const unknown = "i00000000000000000000";
    await rejected(Sandbox.connect(unknown, platform), SandboxNotFoundError, "E2009");
    await rejected(Sandbox.getInfo(unknown, platform), SandboxNotFoundError, "E2009");
    await rejected(Sandbox.setTimeout(unknown, 1_000, platform), SandboxNotFoundError, "E2009");
    assert.isFalse(await Sandbox.kill(unknown, platform));
    await rejected(Sandbox.create("no-such-template", platform), TemplateNotFoundError, "E2001");
    // Port 9 (discard) is one that nothing listens on; browsers refuse it by themselves, which is no answer either.
    const dead = { ...platform, apiUrl: "http://127.0.0.1:9", requestTimeoutMs: 10_000 };
    await rejected(Sandbox.create(dead), NetworkError);
    await rejected(Sandbox.getInfo(unknown, dead), NetworkError);
    await withSandbox(context, async (sandbox) => {
      assert.equal((await sandbox.commands.run("echo works")).stdout, "works\n");
    });
  });

  test("[platform] a sandbox that ended is told as that by every call", async (context) => {
    const { SandboxNotFoundError, UnreachableError, SandboxError } = context.sdk;
    const sandbox = await context.sdk.Sandbox.create(context.platform);
    await sandbox.kill();
    for (const call of [
      () => sandbox.commands.run("true"),
      () => sandbox.commands.list(),
      () => sandbox.files.list("."),
      () => sandbox.files.read("a"),
      () => sandbox.files.write("a", "x"),
      () => sandbox.getTerminal(),
      () => sandbox.getInfo(),
    ]) {
      const error = await rejected(call(), SandboxError);
      assert.isTrue(error instanceof SandboxNotFoundError || error instanceof UnreachableError, String(error.stack));
    }
  });

  test("[platform] killing the sandbox while a command streams is one typed error", async (context) => {
    const sandbox = await context.sdk.Sandbox.create(context.platform);
    let began = () => {};
    const first = new Promise<void>((resolve) => {
      began = resolve;
    });
    const running = sandbox.commands.run("while :; do echo tick; sleep 0.05; done", { onStdout: () => began(), timeoutMs: 0 });
    const failed = rejected(running, context.sdk.SandboxError);
    await first;
    await sandbox.kill();
    const error = await failed;
    assert.include(["E2009", "E5001", "E5004"], error.code, String(error.stack));
  });

  test("[platform] lines come while the command runs", async (context) => {
    await withSandbox(context, async ({ commands }) => {
      const heard: string[] = [];
      const handle = await commands.start('for i in 1 2 3; do echo $i; read -r _; done; echo "end" >&2; exit 7', { stdin: true });
      for await (const chunk of handle) {
        heard.push(chunk.type === "exit" ? `exit ${chunk.exitCode}` : chunk.data.trim());
        // The next line comes only after this one was heard: nothing is held back until the end.
        if (chunk.type === "stdout") await handle.sendInput("\n");
      }
      assert.deepEqual(heard, ["1", "2", "3", "end", "exit 7"]);
      assert.equal((await handle.wait()).exitCode, 7);
    });
  });

  test("[platform] commands: results, environment, folder, input, signals, listing", async (context) => {
    await withSandbox(context, async ({ commands }) => {
      const result = await commands.run("printf out; printf err >&2; exit 3");
      assert.deepInclude(result, { stdout: "out", stderr: "err", exitCode: 3, success: false, truncated: false });
      assert.isBelow(result.executionTime, 60);
      assert.equal((await commands.run('pwd; echo "$A"', { cwd: "/tmp", envs: { A: "ü b" } })).stdout, "/tmp\nü b\n");
      assert.equal((await commands.run(["printf", "%s|", "a b", "$HOME", ""])).stdout, "a b|$HOME||");
      assert.equal((await commands.run("cat", { input: "fed\n" })).stdout, "fed\n");
      assert.equal((await commands.run("wc -c", { input: new Uint8Array(300_000) })).stdout.trim(), "300000");
      assert.equal((await commands.run(["/no/such/program"])).exitCode, 127);
      await rejected(commands.run("true", { cwd: "/no/such/folder" }), context.sdk.InvalidArgumentError, "E0001");

      const sleeping = await commands.run("sleep 60", { background: true, envs: { MARK: "here" } });
      const listed = (await commands.list()).find(({ pid }) => pid === sleeping.pid);
      assert.deepInclude(listed, { cmd: "/bin/bash", args: ["-l", "-c", "sleep 60"] });
      assert.deepInclude(listed?.envs, { MARK: "here" });
      const second = await commands.connect(sleeping.pid);
      assert.isTrue(await commands.sendSignal(sleeping.pid, "SIGTERM"));
      assert.deepInclude(await sleeping.wait(), { success: false, exitCode: -1, error: "signal: terminated" });
      assert.equal((await second.wait()).exitCode, -1);
      assert.isFalse(await commands.kill(sleeping.pid));
      assert.isFalse(await commands.sendSignal(4_000_000, 9));
      await rejected(commands.connect(4_000_000), context.sdk.SandboxError);

      const reader = await commands.start("cat", { stdin: true });
      await Promise.all(["a", "b", "c"].map((letter) => reader.sendInput(letter)));
      await reader.closeStdin();
      assert.equal((await reader.wait()).stdout, "abc");
    });
  });

  test("[platform] a command that runs too long is killed", async (context) => {
    await withSandbox(context, async ({ commands }) => {
      await rejected(commands.run("sleep 61", { timeoutMs: 300 }), context.sdk.CommandTimeoutError, "E3001");
      await eventually(async () => (await commands.list()).length === 0, "the process is gone");
    });
  });

  test("[platform] leaving a stream early and aborting end the process", async (context) => {
    await withSandbox(context, async ({ commands }) => {
      for await (const chunk of commands.stream("echo one; sleep 62")) {
        assert.deepEqual(chunk, { type: "stdout", data: "one\n" });
        break;
      }
      await eventually(async () => (await commands.list()).length === 0, "the process that was left is gone");
      const controller = new AbortController();
      const running = commands.run("echo one; sleep 63", { signal: controller.signal, onStdout: () => controller.abort("enough") });
      assert.equal(await running.catch((reason: unknown) => reason), "enough");
      await eventually(async () => (await commands.list()).length === 0, "the process that was aborted is gone");
    });
  });

  test("[platform] much output is whole", async (context) => {
    await withSandbox(context, async ({ commands }) => {
      const { stdout } = await commands.run("seq 1 400000");
      assert.equal(stdout.length, 2_688_895);
      assert.isTrue(stdout.endsWith("399999\n400000\n"));
      const small = await commands.run("for i in $(seq 1 2000); do printf x; printf y >&2; done");
      assert.deepEqual([small.stdout.length, small.stderr.length], [2_000, 2_000]);
    });
  });

  test("[platform] await using ends what create made and lets go of what connect gave", async (context) => {
    const sandbox = await context.sdk.Sandbox.create(context.platform);
    const dispose = Symbol.asyncDispose as typeof Symbol.asyncDispose | undefined;
    if (!dispose) return void (await sandbox.kill());
    const connected = await context.sdk.Sandbox.connect(sandbox.sandboxId, context.platform);
    await connected[dispose]();
    assert.isTrue(await sandbox.isRunning());
    await sandbox[dispose]();
    await rejected(context.sdk.Sandbox.getInfo(sandbox.sandboxId, context.platform), context.sdk.SandboxNotFoundError, "E2009");
  });

  test("[platform] ports have URLs, and on a path platform no host", async (context) => {
    await withSandbox({ ...context, platform: { ...context.platform, sandboxUrl: context.pathUrl } }, async (sandbox) => {
      assert.match(sandbox.getUrl(3_000), /\/s\/[a-z0-9]+\/3000\/?$/);
      const error = thrown(() => sandbox.getHost(3_000), context.sdk.InvalidArgumentError, "E0001");
      assert.match(`${error.message} ${error.suggestion}`, /getUrl/);
      assert.equal((await sandbox.commands.run("echo by-path")).stdout, "by-path\n");
      assert.equal(sandbox.network.getUrl(3_000), sandbox.getUrl(3_000));
      assert.isObject(sandbox.network.getAccessHeaders());
    });
  });
});
