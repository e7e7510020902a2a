// The SandboxServer in a sandbox of the local platform, the same in Node and in a page: through the gateway, with CORS and WebSockets.
import type * as Package from "agent-sandbox-web";
import { assert } from "chai";

export interface Context {
  sdk: typeof Package;
  platform: { apiUrl: string; sandboxUrl: string; apiKey: string; webSocket?: Package.WebSocketConstructor };
}

const COMMANDS = `
from agent_sandbox.server import command

@command("add", description="Sum two integers")
def add(a: int, b: int = 5) -> int:
    return a + b
`;

async function fails(promise: Promise<unknown>): Promise<Package.SandboxError> {
  const error = await promise.then(
    (value) => assert.fail(`resolved to ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  return error as Package.SandboxError;
}

async function withSandbox({ sdk, platform }: Context, run: (sandbox: Package.Sandbox) => Promise<void>): Promise<void> {
  const sandbox = await sdk.Sandbox.create({ ...platform, timeoutMs: 300_000 });
  try {
    await run(sandbox);
  } finally {
    await sandbox.kill();
  }
}

export const tests: Record<string, (context: Context) => Promise<void>> = {
  "startServer gives a client: commands, files, processes, a policy, a token": (context) =>
    withSandbox(context, async (sandbox) => {
      const { sdk } = context;
      assert.equal(sandbox.server, sandbox.server);
      assert.isFalse(await sandbox.server.health());
      const closed = await fails(sandbox.run("add", { a: 1 }));
      assert.isTrue(closed instanceof sdk.SandboxConnectionError, String(closed));
      await sandbox.files.write("commands.py", COMMANDS);
      const server = await sandbox.startServer({ commands: "/home/user/commands.py" });
      assert.isTrue(await server.health());
      assert.equal(await sandbox.run("add", { a: 2 }), 7);
      assert.deepEqual(
        (await sandbox.listCommands()).map(({ name }) => name),
        ["add"],
      );
      assert.isTrue((await fails(sandbox.run("nothing"))) instanceof sdk.CommandNotFoundError);
      assert.isTrue((await fails(sandbox.run("ls -la"))) instanceof sdk.InvalidArgumentError);
      const own = new sdk.ServerClient(sandbox.getUrl(9000));
      assert.equal(await own.commands.run("add", { a: 1, b: 1 }), 2);
      const { sessionId } = await own.pty.create();
      if (globalThis.WebSocket) await (await own.pty.connect(sessionId)).close();
      await server.files.upload("/home/user/a.txt", "für 中");
      assert.equal(await sandbox.files.read("a.txt"), "für 中");
      assert.equal((await server.process.shell("cat /home/user/a.txt")).stdout, "für 中");
      const events = [];
      for await (const event of server.process.shellStream("sh -c 'echo a; exit 3'")) events.push(event);
      assert.deepEqual(events, [
        { event: "stdout", data: "a" },
        { event: "exit", exitCode: 3 },
      ]);
      const again = await fails(sandbox.startServer());
      assert.isTrue(again instanceof sdk.SandboxConnectionError);
      const other = await sandbox.startServer({ port: 9100, ptyPort: 9101, wait: false });
      assert.notEqual(other, server);
    }),

  "startServer takes a preset, a token, variables, and a whole command": (context) =>
    withSandbox(context, async (sandbox) => {
      const { sdk } = context;
      const server = await sandbox.startServer({ policy: "read-only", token: "secret", envs: { GREETING: "hallo" } });
      assert.equal((await server.discover()).preset, "read-only");
      assert.deepEqual(await server.system.env(["GREETING"]), { GREETING: "hallo" });
      assert.isTrue((await fails(server.process.shell("true"))) instanceof sdk.EndpointNotAvailableError);
      assert.isTrue((await fails(sandbox.server.system.info())) instanceof sdk.ServerAuthError);
      const unknown = (await fails(sandbox.startServer({ policy: "readonly" as "read-only" }))) as Package.InvalidArgumentError;
      assert.isTrue(unknown instanceof sdk.InvalidArgumentError, String(unknown));
      assert.include(unknown.message, "default, transfer-only, read-only, hardened, locked");
      for (const { pid } of await sandbox.commands.list()) await sandbox.commands.kill(pid);
      while (await server.health());
      const again = await sandbox.startServer({ command: "exec agent-sandbox-server serve --preset locked" });
      assert.equal((await again.discover()).preset, "locked");
    }),

  "of two starts at once one gets the server that it asked for, and the other is told": (context) =>
    withSandbox(context, async (sandbox) => {
      const presets = ["default", "locked"] as const;
      const starts = await Promise.allSettled(presets.map((policy) => sandbox.startServer({ policy, timeoutMs: 120_000 })));
      const won = starts.findIndex(({ status }) => status === "fulfilled");
      const [winner, loser] = [starts[won], starts[1 - won]];
      assert(winner?.status === "fulfilled" && loser?.status === "rejected", JSON.stringify(starts));
      assert.equal((await winner.value.discover()).preset, presets[won]);
      assert.isTrue(loser.reason instanceof context.sdk.SandboxConnectionError, String(loser.reason));
      assert.match((await fails(sandbox.startServer())).message, /A server runs on that port/);
    }),

  "a server with a token, a policy and limits says no in a way that can be read": (context) =>
    withSandbox(context, async (sandbox) => {
      const { sdk } = context;
      const policy = { version: 1, endpoints: { files_list: { limits: { rate_per_minute: 1 } }, group_unknown: {} } };
      const ended = await fails(sandbox.startServer({ policy }));
      assert.isTrue(ended instanceof sdk.SandboxConnectionError, String(ended));
      const server = await sandbox.startServer({
        token: "secret",
        policy: { version: 1, endpoints: { files_list: { limits: { rate_per_minute: 1 } } } },
      });
      assert.equal((await server.discover()).identityId, "server");
      assert.isTrue((await fails(sandbox.server.system.info())) instanceof sdk.ServerAuthError);
      await sandbox.serverAt({ token: "secret" }).files.list("/home/user");
      const limited = (await fails(server.files.list("/home/user"))) as Package.RateLimitedError;
      assert.isTrue(limited instanceof sdk.RateLimitedError, String(limited));
      assert.isAbove(limited.retryAfter ?? 0, 5);
    }),

  "a terminal over WebSocket is a terminal session": (context) =>
    withSandbox(context, async (sandbox) => {
      const { sdk } = context;
      await sandbox.startServer({ token: "to+ken" });
      const server = sandbox.serverAt({ token: "to+ken" });
      const terminal = await sandbox.getTerminal({ transport: "websocket", server, cols: 90, rows: 30 });
      assert.isTrue(terminal instanceof sdk.TerminalSession);
      assert.isAbove(terminal.pid, 0);
      await terminal.send("stty size; echo do''ne\n");
      const decoder = new TextDecoder();
      let output = "";
      for await (const bytes of terminal.outputStream()) {
        output += decoder.decode(bytes, { stream: true });
        if (output.includes("done\r\n")) break;
      }
      assert.include(output, "30 90");
      await terminal.resize(100, 40);
      assert.isTrue(terminal.isConnected);
      assert.isTrue(await terminal.kill());
      assert.deepEqual(await terminal.closed, { reason: "killed" });
      const shell = await sandbox.getTerminal({ transport: "websocket", server });
      await shell.send("exit\n");
      assert.deepEqual(await shell.closed, { reason: "exited" });
      assert.isFalse(shell.isConnected);
      const wrong = await fails(sandbox.getTerminal({ transport: "websocket" }));
      assert.isTrue(wrong instanceof sdk.ServerAuthError, String(wrong));
    }),

  "two sandboxes run it at once": (context) =>
    withSandbox(context, (one) =>
      withSandbox(context, async (other) => {
        await Promise.all([one.startServer(), other.startServer()]);
        await one.server.files.upload("/home/user/mine", "1");
        assert.isFalse(await other.server.files.exists("/home/user/mine"));
      }),
    ),

  "a sandbox that is gone is said to be gone": async (context) => {
    let server: Package.ServerClient | undefined;
    await withSandbox(context, async (sandbox) => {
      server = await sandbox.startServer();
    });
    const gone = await fails((server as Package.ServerClient).system.info());
    assert.isTrue(gone instanceof context.sdk.SandboxNotFoundError, String(gone));
  },
};
