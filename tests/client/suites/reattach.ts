// After a loss of the connection: terminals and watches attach again by themselves, say so, and do not hammer at a closed door.
import type { ChunkStream, ConnectionOptions, TerminalSession, WatchEvent } from "agent-sandbox-web";
import { assert } from "chai";
import { text } from "../support/bytes.ts";
import { Body, type Call } from "../support/fake-fetch.ts";
import { eventually, fakeSandbox, rejected, SECRETS, withSandbox } from "../support/sandboxes.ts";
import { type Context, suite } from "../support/suite.ts";
import { data, end, endOfStream, failure, start, unary, unaryRequest, watchEvent, watchStart } from "../support/wire.ts";

const MARKER = /connection was lost/;
const WITH_KEY: ConnectionOptions = { apiUrl: "https://api.test", apiKey: SECRETS.apiKey, validateApiKey: false };

const ofStart = ({ path }: Call) => path.endsWith("/Start");
const ofConnect = ({ path }: Call) => path.endsWith("/Connect");
const ofWatch = ({ path }: Call) => path.endsWith("/WatchDir");

/** Reads a session until it shows what is looked for. */
async function readUntil(session: TerminalSession, wanted: RegExp): Promise<string> {
  let output = "";
  while (!wanted.test(output)) {
    const chunk = await session.receive(60_000);
    if (!chunk) throw new Error(`never came: ${wanted}; the terminal showed ${JSON.stringify(output)}`);
    output += text(chunk);
  }
  return output;
}

/** A sandbox whose streams a test can cut, as a network does. */
async function cuttable(context: Context, options: ConnectionOptions = {}) {
  const cuts = new Set<() => void>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    if (!/application\/connect/.test(response.headers.get("content-type") ?? "") || !response.body) return response;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const controller = new AbortController();
    cuts.add(() => controller.abort(new TypeError("the network is gone")));
    response.body.pipeTo(writable, { signal: controller.signal }).catch(() => undefined);
    return new Response(readable, response);
  };
  const cut = () => {
    for (const one of cuts) one();
    cuts.clear();
  };
  const made = await context.sdk.Sandbox.create({ ...context.platform, ...options });
  return { made, sandbox: await context.sdk.Sandbox.attach(made.handoff(), { fetch }), cut };
}

export const reattach = suite("reattach", (test) => {
  test("a terminal whose connection drops goes on, with a marked gap, and is drawn anew", async (context) => {
    const again = new Body([start(11), data("pty", "two")], "stay");
    const sizes: unknown[] = [];
    const { sandbox, calls } = await fakeSandbox(context, (call) => {
      if (ofStart(call)) return new Body([start(11), data("pty", "one")], "fail");
      if (ofConnect(call)) return again;
      if (call.path.endsWith("/Update")) sizes.push((unaryRequest(call.body) as { pty: { size: unknown } }).pty.size);
      return unary();
    });
    const session = await sandbox.getTerminal({ cols: 90, rows: 30 });
    const output = await readUntil(session, /two/);
    assert.match(output, /^one[\s\S]*connection was lost[\s\S]*two$/);
    assert.isTrue(session.isConnected);
    await eventually(() => sizes.length === 2, "the terminal is drawn anew");
    assert.deepEqual(sizes, [
      { cols: 90, rows: 29 },
      { cols: 90, rows: 30 },
    ]);
    assert.equal(calls.filter(ofStart).length, 1, "no second shell is started");
    again.push(end({ exitCode: 4 }));
    again.push(endOfStream());
    assert.deepInclude(await session.closed, { reason: "exited", exitCode: 4 });
  });

  test("what marks a gap is the caller's to choose", async (context) => {
    for (const gapMarker of ["", "<gap>"]) {
      const { sandbox } = await fakeSandbox(context, (call) => {
        if (ofStart(call)) return new Body([start(11), data("pty", "one")], "fail");
        return ofConnect(call) ? new Body([start(11), data("pty", "two")], "stay") : unary();
      });
      const session = await sandbox.getTerminal({ gapMarker });
      assert.equal(await readUntil(session, /two/), `one${gapMarker}two`);
      await session.detach();
    }
  });

  test("a paused sandbox is told as that, and is not asked anything more", async (context) => {
    for (const open of [
      async (sandbox: Awaited<ReturnType<typeof fakeSandbox>>["sandbox"]) => {
        const { reason, error } = await (await sandbox.getTerminal()).closed;
        assert.equal(reason, "paused");
        return error;
      },
      async (sandbox: Awaited<ReturnType<typeof fakeSandbox>>["sandbox"]) => {
        const events = await sandbox.files.watch("/d");
        return rejected(events[Symbol.asyncIterator]().next(), context.sdk.UnreachableError);
      },
    ]) {
      const { sandbox, calls } = await fakeSandbox(
        context,
        (call) => {
          if (ofStart(call)) return new Body([start(11)], "fail");
          if (ofWatch(call)) return new Body([watchStart()], "fail");
          return call.path === "/sandboxes/itest" ? unary({ sandboxID: "itest", state: "paused" }) : unary();
        },
        WITH_KEY,
      );
      const error = await open(sandbox);
      assert.instanceOf(error, context.sdk.UnreachableError);
      assert.match(error?.message ?? "", /paused/);
      assert.match(error?.suggestion ?? "", /connect/);
      assert.equal(calls.filter((call) => ofConnect(call) || ofWatch(call)).length, calls.filter(ofWatch).length ? 1 : 0);
    }
  });

  test.inPage("a terminal attaches again at once when the browser has its network back", async (context) => {
    const { sandbox } = await fakeSandbox(context, (call) =>
      ofStart(call) || ofConnect(call) ? new Body([start(11)], "stay") : unary(),
    );
    const session = await sandbox.getTerminal();
    globalThis.dispatchEvent(new Event("online"));
    await readUntil(session, MARKER);
    await session.detach();
  });

  test("a connection that drops again and again is tried with growing pauses", async (context) => {
    const attempts: number[] = [];
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (ofStart(call)) return new Body([start(11)], "fail");
      if (!ofConnect(call)) return unary();
      attempts.push(performance.now());
      // Accepted and dropped at once, which is what makes storms.
      return new Body([start(11)], "fail");
    });
    const before = performance.now();
    const session = await sandbox.getTerminal();
    await eventually(() => attempts.length >= 4 && !session.isConnected, "four attempts");
    // At least half of 300, 600, 1200 and 2400 ms, and what the timers lack.
    assert.isAbove((attempts[3] ?? 0) - before, 2_000);
    await session.detach();
    assert.equal((await session.closed).reason, "detached");
    const made = attempts.length;
    await new Promise((later) => setTimeout(later, 200));
    assert.lengthOf(attempts, made, "nothing is tried after the end");
  });

  test("a shell that ended while nobody could see it has ended", async (context) => {
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (ofStart(call)) return new Body([start(11)], "fail");
      return ofConnect(call) ? new Body([failure("not_found", "process with pid 11 not found")]) : unary();
    });
    assert.deepEqual(await (await sandbox.getTerminal()).closed, { reason: "exited" });
  });

  test("an attached terminal is set to the size that is asked for, and drawn", async (context) => {
    const sizes: unknown[] = [];
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (ofConnect(call)) return new Body([start(11)], "stay");
      if (call.path.endsWith("/Update")) sizes.push((unaryRequest(call.body) as { pty: { size: unknown } }).pty.size);
      return unary();
    });
    const plain = await sandbox.getTerminal({ pid: 11 });
    const sized = await sandbox.getTerminal({ pid: 11, cols: 100, rows: 1 });
    await eventually(() => sizes.length === 2, "two sizes");
    assert.deepEqual(sizes, [
      { cols: 100, rows: 2 },
      { cols: 100, rows: 1 },
    ]);
    await Promise.all([plain.detach(), sized.detach()]);
  });

  test("a watch whose connection drops goes on behind a gap", async (context) => {
    let watches = 0;
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (!ofWatch(call)) return undefined;
      watches += 1;
      return watches === 1
        ? new Body([watchStart(), watchEvent("a", 1)], "fail")
        : new Body([watchStart(), watchEvent("b", 1)], "stay");
    });
    const events = await sandbox.files.watch("/d");
    const seen: string[] = [];
    for await (const { type, path } of events) {
      seen.push(`${type} ${path}`);
      if (path === "/d/b") break;
    }
    assert.deepEqual(seen, ["created /d/a", "gap /d", "created /d/b"]);
    assert.equal(watches, 2);
  });

  test("a watched directory that is gone ends the watch with that; giving it up meanwhile ends it with nothing", async (context) => {
    const lost = (answer: () => Body | Promise<Body>) => {
      let watches = 0;
      return fakeSandbox(context, (call) => {
        if (!ofWatch(call)) return undefined;
        watches += 1;
        return watches === 1 ? new Body([watchStart()], "fail") : answer();
      });
    };
    const next = (events: ChunkStream<WatchEvent>) => events[Symbol.asyncIterator]().next();
    const gone = await lost(() => new Body([failure("not_found", "no such directory")]));
    await rejected(next(await gone.sandbox.files.watch("/d")), context.sdk.FileNotFoundError, "E4001");
    const hanging = await lost(() => new Promise<Body>(() => undefined));
    const events = await hanging.sandbox.files.watch("/d");
    const step = next(events);
    await eventually(() => hanging.calls.filter(ofWatch).length === 2, "it is tried again");
    await events.cancel();
    assert.isTrue((await step).done);
    const controller = new AbortController();
    const reason = new Error("mine");
    const aborted = await lost(() => new Promise<Body>(() => undefined));
    const stopped = next(await aborted.sandbox.files.watch("/d", { signal: controller.signal }));
    controller.abort(reason);
    assert.equal(await stopped.catch((error: unknown) => error), reason);
  });

  test("[platform] a real shell and a real watch go on after the network was cut", async (context) => {
    const { made, sandbox, cut } = await cuttable(context);
    try {
      const session = await sandbox.getTerminal({ envs: { PS1: "ready> " } });
      await session.send("PS1='re''ady> '; stty -echo; KEPT=kept; trap 'echo drawn-$(stty size)' WINCH\r");
      await readUntil(session, /ready> $/);
      await sandbox.files.makeDir("watched");
      const watching = (await sandbox.files.watch("watched"))[Symbol.asyncIterator]();
      cut();
      const next = watching.next();
      await readUntil(session, MARKER);
      await session.send("echo $KEPT\r");
      await readUntil(session, /kept/);
      assert.equal((await next).value?.type, "gap");
      await sandbox.files.write("watched/after", "x");
      assert.deepInclude((await watching.next()).value, { type: "created", path: "/home/user/watched/after" });
      await session.send("echo size-$(stty size)\r");
      await readUntil(session, /size-24 80/);
      await watching.return?.();
      await session.detach();
    } finally {
      await made.kill();
    }
  });

  test.inNode(
    "[platform] pausing a sandbox ends its terminal with that, and after resuming the same shell goes on",
    async (context) => {
      const { apiUrl, apiKey } = context.platform;
      const sandbox = await context.sdk.Sandbox.create(context.platform);
      try {
        const session = await sandbox.getTerminal();
        await session.send("KEPT=$((40+4)); echo set-$KEPT\r");
        await readUntil(session, /set-44/);
        const pause = { method: "POST", headers: { "x-api-key": apiKey } };
        assert.isTrue((await fetch(`${apiUrl}/sandboxes/${sandbox.id}/pause`, pause)).ok);
        const { reason, error } = await session.closed;
        assert.equal(reason, "paused");
        assert.match(error?.message ?? "", /paused/);
        const resumed = await context.sdk.Sandbox.connect(sandbox.id, context.platform);
        const again = await resumed.getTerminal({ pid: session.pid, cols: 80, rows: 24 });
        await again.send("echo kept-$KEPT\r");
        await readUntil(again, /kept-44/);
        await again.kill();
      } finally {
        await sandbox.kill();
      }
    },
  );

  test.inNode("[platform] without a key a paused sandbox is told as that, and a killed one", async (context) => {
    const sandbox = await context.sdk.Sandbox.create(context.platform);
    const attached = await context.sdk.Sandbox.attach(sandbox.handoff(), { sandboxUrl: context.platform.sandboxUrl });
    try {
      const session = await attached.getTerminal();
      const events = await attached.files.watch("/tmp");
      const next = rejected(events[Symbol.asyncIterator]().next(), context.sdk.UnreachableError, "E5004");
      const command = rejected(attached.commands.run("sleep 86400", { timeoutMs: 0 }), context.sdk.UnreachableError, "E5004");
      // One that runs by now.
      await attached.commands.run("true");
      await sandbox.pause();
      assert.equal((await session.closed).reason, "paused");
      assert.match((await next).message, /paused/);
      assert.match((await command).message, /paused/);
      await rejected(attached.files.exists("/tmp"), context.sdk.UnreachableError, "E5004");
      await sandbox.resume();
      const running = await attached.commands.start("sleep 86400", { timeoutMs: 0 });
      const killed = rejected(running.wait(), context.sdk.SandboxNotFoundError, "E2009");
      await sandbox.kill();
      assert.match((await killed).message, /was killed or expired before/);
    } finally {
      await sandbox.kill();
    }
  });

  test("[platform] several sessions share a terminal, and each sees what is typed", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const first = await sandbox.getTerminal();
      const second = await sandbox.getTerminal({ pid: first.pid });
      const other = await sandbox.getTerminal();
      assert.notEqual(other.pid, first.pid);
      await second.send("echo shared-$((40+2))\r");
      await Promise.all([readUntil(first, /shared-42/), readUntil(second, /shared-42/)]);
      await second.close();
      await first.send("echo still-$((40+3))\r");
      await readUntil(first, /still-43/);
      await Promise.all([first.close(), other.close()]);
    });
  });
});
