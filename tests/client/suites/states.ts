// Sandboxes that are paused, forked, kept and watched, on the real platform.
import { assert } from "chai";
import { collect, fakeSandbox, rejected, SECRETS, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";

export const states = suite("states", (test) => {
  test("a no about a paused sandbox says that it is paused; else the server's own words stay", async (context) => {
    const { SandboxError, SandboxNotFoundError, UnreachableError } = context.sdk;
    for (const [state, status, kind, words] of [
      ["paused", 404, UnreachableError, /is paused; call resume\(\) first/],
      ["paused", 409, UnreachableError, /is paused; call resume\(\) first/],
      ["running", 409, SandboxError, /^being snapshotted$/],
      [undefined, 404, SandboxNotFoundError, /no sandbox/],
    ] as const) {
      const { sandbox, calls } = await fakeSandbox(
        context,
        ({ method }) => {
          const known = Response.json(state ? { sandboxID: "itest", state } : {}, { status: state ? 200 : 404 });
          return method === "GET" ? known : Response.json({ message: "being snapshotted" }, { status });
        },
        { apiUrl: "https://api.test", apiKey: SECRETS.apiKey, validateApiKey: false },
      );
      for (const call of [
        () => sandbox.setTimeout(1_000),
        () => sandbox.createSnapshot(),
        () => sandbox.updateNetwork({}),
        () => sandbox.fork(),
      ]) {
        const before = calls.length;
        const error = await rejected(call(), kind);
        assert.match(error.message, words);
        assert.lengthOf(calls, before + 2, "its state is asked for once");
      }
    }
  });

  test("a call that a short pause or a lost connection cut is told as that where the sandbox runs again", async (context) => {
    let answer = (): Response => {
      throw new TypeError("lost");
    };
    const { sandbox } = await fakeSandbox(
      context,
      ({ method }) => (method === "GET" ? Response.json({ sandboxID: "itest", state: "running" }) : answer()),
      { apiUrl: "https://api.test", apiKey: SECRETS.apiKey, validateApiKey: false },
    );
    // Starting is not repeated.
    const cut = async (words: RegExp) => {
      const { message, suggestion } = await rejected(sandbox.commands.run("x"), context.sdk.UnreachableError, "E5004");
      assert.match(message, words);
      return suggestion;
    };
    assert.notMatch(await cut(/runs, but cannot be reached from here/), /Try again/);
    const lost = answer;
    answer = () => Response.json({});
    await sandbox.files.exists("x");
    answer = lost;
    assert.match(await cut(/runs, but the connection broke before it answered/), /Try again; .* a part may have arrived/);
    answer = () => Response.json({ sandboxId: "itest", state: "paused", message: "paused" }, { status: 502 });
    assert.match(await cut(/was paused meanwhile, and runs again/), /Try again/);
  });

  test("[platform] a sandbox is paused, seen as that, and goes on where it was", async (context) => {
    const { Sandbox } = context.sdk;
    await withSandbox(context, async (sandbox) => {
      const { sandboxId } = sandbox;
      const counting = await sandbox.commands.run("i=0; while :; do echo $i > /tmp/count; i=$((i+1)); sleep 0.1; done", {
        background: true,
        timeoutMs: 0,
      });
      await counting.disconnect();
      assert.isTrue(await sandbox.pause());
      assert.equal(sandbox.status, "paused");
      assert.isFalse(await sandbox.pause());
      assert.isFalse(await sandbox.isRunning());
      assert.equal((await Sandbox.getInfo(sandboxId, context.platform)).status, "paused");
      const paused = await Sandbox.list({ ...context.platform, status: "paused" }).toArray();
      assert.include(
        paused.map((one) => one.sandboxId),
        sandboxId,
      );
      const error = await rejected(sandbox.files.read("/tmp/count"), context.sdk.UnreachableError, "E5004");
      assert.include(error.message, "paused");
      for (const call of [
        () => sandbox.setTimeout(60_000),
        () => sandbox.createSnapshot(),
        () => sandbox.updateNetwork({}),
        () => sandbox.fork(),
        () => Sandbox.setTimeout(sandboxId, 60_000, context.platform),
      ]) {
        assert.match((await rejected(call(), context.sdk.UnreachableError, "E5004")).message, /paused; call resume\(\) first/);
      }

      assert.strictEqual(await sandbox.resume({ timeoutMs: 120_000 }), sandbox);
      assert.equal(sandbox.status, "running");
      assert.isTrue((await sandbox.commands.list()).some(({ pid }) => pid === counting.pid));

      assert.isTrue(await Sandbox.pause(sandboxId, context.platform));
      const connected = await Sandbox.connect(sandboxId, context.platform);
      assert.equal((await connected.commands.run("echo on")).stdout, "on\n");
      assert.strictEqual(await sandbox.connect(), sandbox);
    });
  });

  test("[platform] a pause without memory keeps the files alone", async (context) => {
    await withSandbox(context, async (sandbox) => {
      await sandbox.files.write("kept.txt", "kept");
      await (await sandbox.commands.run("sleep 600", { background: true, timeoutMs: 0 })).disconnect();
      assert.isTrue(await sandbox.pause({ keepMemory: false }));
      await sandbox.resume();
      assert.equal(await sandbox.files.read("kept.txt"), "kept");
      assert.isFalse((await sandbox.commands.list()).some(({ args }) => args.includes("sleep 600")));
    });
  });

  test("[platform] forks have the files of their time and lives of their own", async (context) => {
    const { Sandbox } = context.sdk;
    await withSandbox(
      context,
      async (sandbox) => {
        await sandbox.files.write("origin.txt", "before");
        const forks = await sandbox.fork({ count: 2, timeoutMs: 60_000 });
        assert.lengthOf(forks, 2);
        try {
          for (const fork of forks) {
            assert.isTrue(fork instanceof Sandbox, String(fork));
            const one = fork as Awaited<ReturnType<typeof Sandbox.connect>>;
            assert.notEqual(one.sandboxId, sandbox.sandboxId);
            assert.deepEqual(one.info.metadata, { of: "forks" });
            assert.equal(await one.files.read("origin.txt"), "before");
            await one.files.write("origin.txt", "after");
          }
          assert.equal(await sandbox.files.read("origin.txt"), "before");
        } finally {
          for (const fork of forks) if (fork instanceof Sandbox) await fork.kill();
        }
        await rejected(Sandbox.fork("i00000000000000000000", context.platform), context.sdk.SandboxNotFoundError, "E2009");
      },
      { metadata: { of: "forks" } },
    );
  });

  test("[platform] a snapshot outlives its sandbox, is listed, started from and deleted", async (context) => {
    const { Sandbox } = context.sdk;
    const sandbox = await Sandbox.create(context.platform);
    await sandbox.files.write("kept.txt", "kept");
    const { snapshotId, contents } = await sandbox.createSnapshot();
    assert.equal(contents, "filesystem only");
    const ids = async (pages: AsyncIterable<{ snapshotId: string }>) => (await collect(pages)).map((one) => one.snapshotId);
    assert.deepEqual(await ids(sandbox.listSnapshots()), [snapshotId]);
    await sandbox.kill();
    assert.include(await ids(Sandbox.listSnapshots(context.platform)), snapshotId);
    const again = await Sandbox.create(snapshotId, context.platform);
    try {
      assert.equal(await again.files.read("kept.txt"), "kept");
    } finally {
      await again.kill();
    }
    assert.isTrue(await Sandbox.deleteSnapshot(snapshotId, context.platform));
    assert.isFalse(await Sandbox.deleteSnapshot(snapshotId, context.platform));
    await rejected(Sandbox.create(snapshotId, context.platform), context.sdk.TemplateNotFoundError, "E2001");
  });

  test("[platform] what a sandbox uses is measured", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const [metrics] = await sandbox.getMetrics();
      assert.isDefined(metrics);
      assert.instanceOf(metrics?.timestamp, Date);
      for (const name of ["cpuCount", "memTotal", "diskTotal"] as const) assert.isAbove(metrics?.[name] ?? 0, 0, name);
      assert.isArray(await sandbox.logs());
    });
  });

  test("[platform] a network that cannot be had is refused by the platform, and said", async (context) => {
    await withSandbox(context, async (sandbox) => {
      await sandbox.updateNetwork({ denyOut: ({ allTraffic }) => [allTraffic] });
      await sandbox.updateNetwork({});
      const error = await rejected(sandbox.updateNetwork({ denyOut: ["10.0.0.0/8"] }), context.sdk.InvalidArgumentError, "E0001");
      assert.equal(error.status, 400);
    });
  });

  test("[platform] a sandbox that pauses at the end of its time resumes", async (context) => {
    const { Sandbox } = context.sdk;
    const sandbox = await Sandbox.create({ ...context.platform, timeoutMs: 1_000, lifecycle: { onTimeout: "pause" } });
    try {
      const deadline = Date.now() + 60_000;
      while ((await sandbox.refreshInfo()).status !== "paused") assert.isBelow(Date.now(), deadline, "it is paused");
      await sandbox.resume();
      assert.equal((await sandbox.commands.run("echo back")).stdout, "back\n");
      assert.deepEqual(sandbox.info.lifecycle?.onTimeout, "pause");
    } finally {
      await sandbox.kill();
    }
  });
});
