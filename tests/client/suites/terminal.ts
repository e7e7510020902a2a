// Terminals: order of what is typed, flow control of what is shown, and how a session ends.
import type { Sandbox, TerminalSession } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, text, utf8 } from "../support/bytes.ts";
import { Body, type Call } from "../support/fake-fetch.ts";
import { collect, eventually, fakeSandbox, rejected, START, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";
import { data, end, endOfStream, failure, sendInput, start, startRequest, unary, unaryRequest } from "../support/wire.ts";

const isStart = (call: Call) => call.path.endsWith(START);

/** Reads a session's output until it holds what is looked for, and gives all that was read. */
async function readUntil(session: TerminalSession, wanted: string | RegExp): Promise<string> {
  let output = "";
  const deadline = Date.now() + 60_000;
  const found = () => (typeof wanted === "string" ? output.includes(wanted) : wanted.test(output));
  while (!found()) {
    const chunk = await session.receive(1_000);
    if (chunk) output += text(chunk);
    if (!session.isConnected || Date.now() > deadline)
      throw new Error(`never came: ${wanted}; the terminal showed ${JSON.stringify(output.slice(-500))}`);
  }
  return output;
}

/** A terminal with a prompt of its own that is ready for input. */
async function shell(sandbox: Sandbox): Promise<TerminalSession> {
  const session = await sandbox.getTerminal({ envs: { PS1: "ready> " } });
  await session.send("PS1='re''ady> '; stty -echo\r");
  await readUntil(session, /ready> $/);
  return session;
}

export const terminal = suite("terminal", (test) => {
  test("200 keys and Ctrl-C under random latency arrive in order, one request at a time, joined while they wait", async (context) => {
    const typed: Uint8Array[] = [];
    let [inFlight, most] = [0, 0];
    const { sandbox } = await fakeSandbox(context, async (call) => {
      if (isStart(call)) return new Body([start(11)], "stay");
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((later) => setTimeout(later, Math.random() * 12));
      const { pid, pty } = sendInput(call.body);
      assert.equal(pid, 11);
      typed.push(pty ?? new Uint8Array());
      inFlight -= 1;
      return unary();
    });
    const session = await sandbox.getTerminal();
    const keys = Array.from({ length: 200 }, (_, i) => String.fromCodePoint(i % 9 === 0 ? 0x1f600 + i : 97 + (i % 26)));
    const sent: Promise<void>[] = [];
    for (const key of keys) {
      sent.push(session.send(key));
      if (Math.random() < 0.1) await new Promise((later) => setTimeout(later, 3));
    }
    sent.push(session.send(Uint8Array.of(3)));
    await Promise.all(sent);
    assert.equal(text(concat(...typed)), `${keys.join("")}\x03`);
    assert.equal(most, 1, "requests at a time");
    assert.isBelow(typed.length, 150, "what waits is joined");
  });

  test("input that failed rejects its sender, and later input is still sent in order", async (context) => {
    let attempts = 0;
    const typed: string[] = [];
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (isStart(call)) return new Body([start(11)], "stay");
      attempts += 1;
      if (attempts === 1) return new Response("", { status: 500 });
      typed.push(text(sendInput(call.body).pty ?? new Uint8Array()));
      return unary();
    });
    const session = await sandbox.getTerminal();
    await rejected(session.send("a"), context.sdk.SandboxError);
    await session.send("b");
    assert.deepEqual(typed, ["b"]);
  });

  test("calls of sendInput for one process are sent in the order they were made", async (context) => {
    const typed: string[] = [];
    const { sandbox } = await fakeSandbox(context, async (call) => {
      await new Promise((later) => setTimeout(later, Math.random() * 10));
      typed.push(text(sendInput(call.body).stdin ?? new Uint8Array()));
      return unary();
    });
    await Promise.all(["a", "b", "c", "d", "e"].map((key) => sandbox.commands.sendInput(5, key)));
    assert.equal(typed.join(""), "abcde");
  });

  test("several resizes in a row are joined into the last", async (context) => {
    const sizes: number[][] = [];
    const { sandbox } = await fakeSandbox(context, async (call) => {
      if (isStart(call)) return new Body([start(11)], "stay");
      await new Promise((later) => setTimeout(later, 20));
      const { pty } = unaryRequest(call.body) as { pty: { size: { cols: number; rows: number } } };
      sizes.push([pty.size.cols, pty.size.rows]);
      return unary();
    });
    const session = await sandbox.getTerminal();
    await Promise.all([session.resize(81, 20), session.resize(82, 21), session.resize(83, 22), session.resize(100, 30)]);
    assert.deepEqual(sizes.at(-1), [100, 30]);
    assert.isAtMost(sizes.length, 2);
  });

  test("a terminal has a UTF-8 environment and a login shell unless the caller sets another", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, (call) => (isStart(call) ? new Body([start()], "stay") : unary()));
    await sandbox.getTerminal({ cols: 100, rows: 30 });
    await sandbox.getTerminal({ shell: "/usr/bin/python3", envs: { TERM: "vt100", LANG: "de_DE.UTF-8" } });
    const [first, second] = calls.filter(isStart).map(({ body }) => startRequest(body));
    assert.deepInclude(first, { cmd: "/bin/bash", args: ["-i", "-l"], cols: 100, rows: 30 });
    assert.deepInclude(first?.envs, { TERM: "xterm-256color", LANG: "C.UTF-8", LC_ALL: "C.UTF-8" });
    assert.deepInclude(second, { cmd: "/usr/bin/python3", args: [], cols: 80, rows: 24 });
    assert.deepInclude(second?.envs, { TERM: "vt100", LANG: "de_DE.UTF-8" });
  });

  test("a session that nobody reads stops the reading of its source, and Ctrl-C still goes out", async (context) => {
    const block = data("pty", new Uint8Array(16 * 1024).fill(121));
    const body = new Body([start(11), ...Array.from({ length: 8_000 }, () => block)], "stay");
    const typed: number[] = [];
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (isStart(call)) return body;
      if (call.path.endsWith("/SendInput")) typed.push(...(sendInput(call.body).pty ?? []));
      return unary();
    });
    const session = await sandbox.getTerminal();
    let [read, looks] = [0, 0];
    const rests = () => {
      looks = body.pulls === read ? looks + 1 : 0;
      read = body.pulls;
      return read > 0 && looks > 20;
    };
    await eventually(rests, "the end of the reading");
    assert.isBelow(body.pulls, 512, "at most 8 MiB are kept");
    await session.send("\x03");
    assert.deepEqual(typed, [3]);
    await session.receive();
    await session.close();
    await body.left;
  });

  test("output comes byte for byte, also when a character is cut", async (context) => {
    const bytes = utf8("a€😀");
    const frames = Array.from(bytes, (byte) => data("pty", Uint8Array.of(byte)));
    const { sandbox } = await fakeSandbox(context, (call) =>
      isStart(call) ? new Body([start(), ...frames, end(), endOfStream()]) : unary(),
    );
    const session = await sandbox.getTerminal();
    assert.equal(text(concat(...(await collect(session.outputStream())))), "a€😀");
    assert.deepInclude(await session.closed, { reason: "exited", exitCode: 0 });
    assert.isFalse(session.isConnected);
    assert.isUndefined(await session.receive(10));
  });

  test("receive gives nothing after its time, and what comes later is not lost", async (context) => {
    const body = new Body([start()], "stay");
    const { sandbox } = await fakeSandbox(context, (call) => (isStart(call) ? body : unary()));
    const session = await sandbox.getTerminal();
    assert.isUndefined(await session.receive(20));
    body.push(data("pty", "later"));
    assert.equal(text((await session.receive(60_000)) ?? new Uint8Array()), "later");
    await session.close();
  });

  for (const [name, ending, expected] of [
    ["a shell that exits", () => [data("pty", "bye"), end({ exitCode: 3 }), endOfStream()], { reason: "exited", exitCode: 3 }],
    ["a sandbox that goes away", () => [data("pty", "bye"), failure("unavailable", "gone")], { reason: "lost" }],
    ["a connection that drops", () => [data("pty", "bye")], { reason: "lost" }],
  ] as const) {
    test(`${name} is told as that`, async (context) => {
      const { sandbox } = await fakeSandbox(context, (call) => {
        if (isStart(call)) return new Body([start(), ...ending()]);
        return call.path.endsWith("/health") ? new Response("", { status: 502 }) : new Response("", { status: 404 });
      });
      const session = await sandbox.getTerminal();
      const end = await session.closed;
      assert.deepInclude(end, expected);
      if (expected.reason === "lost") assert.instanceOf(end.error, context.sdk.SandboxError);
      await rejected(session.send("x"), context.sdk.SandboxError);
    });
  }

  test("attaching with a size resolves when the terminal has it, and fails when it cannot have it", async (context) => {
    let give = () => {};
    const gate = new Promise<void>((open) => {
      give = open;
    });
    const { sandbox, calls } = await fakeSandbox(context, async (call) => {
      if (call.path.endsWith("/Connect")) return new Body([start(11)], "stay");
      if (call.path.endsWith("/Update")) await gate;
      return unary();
    });
    let resolved = false;
    const opening = sandbox.getTerminal({ pid: 11, cols: 90, rows: 30 }).then((session) => {
      resolved = true;
      return session;
    });
    await eventually(() => calls.some(({ path }) => path.endsWith("/Update")), "the size is sent");
    assert.isFalse(resolved);
    give();
    await (await opening).detach();
    assert.lengthOf(
      calls.filter(({ path }) => path.endsWith("/Update")),
      2,
    );
    const { sandbox: pipes } = await fakeSandbox(context, (call) =>
      call.path.endsWith("/Connect")
        ? new Body([start(11)], "stay")
        : Response.json({ code: "internal", message: "tty not assigned to process" }, { status: 500 }),
    );
    assert.match((await rejected(pipes.getTerminal({ pid: 11, cols: 90 }), context.sdk.SandboxError)).message, /tty not assigned/);
  });

  test("detach lets the shell go on, close ends the one it started and leaves one it attached to", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, (call) =>
      isStart(call) || call.path.endsWith("/Connect") ? new Body([start(11)], "stay") : unary(),
    );
    const kills = () => calls.filter(({ path }) => path.endsWith("/SendSignal")).length;
    const detached = await sandbox.getTerminal();
    await detached.detach();
    assert.equal((await detached.closed).reason, "detached");
    assert.equal(kills(), 0);
    const attached = await sandbox.getTerminal({ pid: 11 });
    assert.equal(attached.pid, 11);
    await attached.close();
    assert.equal((await attached.closed).reason, "detached");
    assert.equal(kills(), 0);
    const own = await sandbox.getTerminal();
    await own.close();
    assert.equal((await own.closed).reason, "killed");
    assert.equal(kills(), 1);
    await own.close();
    assert.equal(kills(), 1, "closing twice is closing once");
  });

  test("[platform] a kill counts whether the session is detached from before or after it", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const runs = async (pid: number) => (await sandbox.commands.list()).some((one) => one.pid === pid);
      const first = await sandbox.getTerminal();
      const [killed] = await Promise.all([first.kill(), first.detach()]);
      assert.isTrue(killed);
      assert.equal((await first.closed).reason, "killed");
      assert.isFalse(await first.kill(), "it has ended");
      const second = await sandbox.getTerminal();
      await second.detach();
      assert.isTrue(await runs(second.pid));
      assert.isTrue(await second.kill());
      assert.equal((await second.closed).reason, "detached");
      await eventually(async () => !(await runs(first.pid)) && !(await runs(second.pid)), "both shells end");
    });
  });

  test("[platform] a shell runs, echoes, resizes and ends", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const session = await shell(sandbox);
      await session.resize(111, 37);
      await session.send("stty size; echo $TERM $LANG\r");
      const output = await readUntil(session, /C\.UTF-8[\s\S]*ready> $/);
      assert.match(output, /37 111/);
      assert.match(output, /xterm-256color C\.UTF-8/);
      await session.send("exit 5\r");
      assert.deepInclude(await session.closed, { reason: "exited", exitCode: 5 });
    });
  });

  test("[platform] `yes` does not fill memory when nobody reads, and Ctrl-C ends it", async (context) => {
    await withSandbox(context, async (sandbox) => {
      // What the client takes from the network is its own; what waits in front of that is the kernel's and the browser's.
      let taken = 0;
      const counting: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        const count = new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            taken += chunk.length;
            controller.enqueue(chunk);
          },
        });
        return new Response(response.body?.pipeThrough(count) ?? null, response);
      };
      const session = await shell(await context.sdk.Sandbox.attach(sandbox.handoff(), { fetch: counting }));
      await session.send("yes a-line-of-output\r");
      await readUntil(session, "a-line-of-output");
      // Unread for a while: the client may not collect what the shell would have printed meanwhile.
      await new Promise((later) => setTimeout(later, 2_000));
      assert.isBelow(taken, 4 * 1024 * 1024, "bytes that the client took although nobody reads");
      await session.send("\x03");
      let tail = "";
      while (!tail.endsWith("ready> ")) {
        const chunk = await session.receive(60_000);
        assert.isDefined(chunk, `the prompt comes back; the terminal showed ${tail}`);
        tail = (tail + text(chunk ?? new Uint8Array())).slice(-60);
      }
      await session.close();
    });
  });

  test("[platform] input to a process without stdin, and the end of a terminal's, are clear errors", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const sleeping = await sandbox.commands.start("sleep 60");
      const input = await rejected(sleeping.sendInput("x"), context.sdk.SandboxError);
      assert.match(`${input.message} ${input.suggestion}`, /stdin/);
      const pty = await sandbox.pty.create();
      const closing = await rejected(sandbox.commands.closeStdin(pty.pid), context.sdk.SandboxError);
      assert.match(`${closing.message} ${closing.suggestion}`, /x04|Ctrl.?.?D/i);
      await pty.kill();
      assert.isTrue(await sleeping.kill());
      await eventually(async () => !(await sandbox.commands.kill(sleeping.pid)), "a second kill finds nothing");
    });
  });

  test("[platform] a terminal that was detached can be attached to again", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const first = await shell(sandbox);
      await first.send("KEPT=still-here\r");
      await readUntil(first, /ready> $/);
      await first.detach();
      const again = await sandbox.getTerminal({ pid: first.pid });
      await again.send("echo $KEPT\r");
      await readUntil(again, "still-here");
      assert.isTrue(await again.kill());
      assert.equal((await again.closed).reason, "killed");
    });
  });
});
