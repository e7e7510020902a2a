// What every runtime runs: calls of each part of the client against a real platform, one after another in one sandbox. It is bundled into
// one file without imports, and gets the package from whoever runs it, who imports it as that runtime does.
import type * as Package from "agent-sandbox-web";
import type { CodeContext, Sandbox, TerminalSession } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, text, utf8 } from "../client/support/bytes.ts";
import { collect, rejected, thrown } from "../client/support/sandboxes.ts";
import type { Platform } from "../client/support/suite.ts";

/** What a run needs. */
export interface Given {
  /** How to reach the platform, in the form that fits the runtime. */
  platform: Platform;
}

/** How one call went: without an error, well. */
export interface Outcome {
  name: string;
  ms: number;
  error?: string;
}

interface Scene {
  sdk: typeof Package;
  platform: Platform;
  sandbox: Sandbox;
  /** Made by the first call about code. */
  context: CodeContext | undefined;
}

type Call = [name: string, run: (scene: Scene) => Promise<void>];

/** Longer than any call takes on a busy machine, shorter than what runs a runtime waits. */
const CALL_MS = 100_000;

const COMMANDS = `
from agent_sandbox.server import command

@command("add", description="Sum two integers")
def add(a: int, b: int = 5) -> int:
    return a + b
`;

const creation: Call[] = [
  [
    "a sandbox that was created runs, and is an instance of the class",
    async ({ sdk, sandbox }) => {
      assert.isTrue(sandbox instanceof sdk.Sandbox);
      assert.equal(sandbox.status, "running");
      assert.isTrue(await sandbox.isRunning());
    },
  ],
  [
    "getInfo tells what it was made with",
    async ({ sandbox }) => {
      const info = await sandbox.getInfo();
      assert.equal(info.sandboxId, sandbox.id);
      assert.deepInclude(info.metadata, { of: "runtimes" });
      assert.instanceOf(info.endAt, Date);
    },
  ],
  [
    "list finds it by its metadata",
    async ({ sdk, platform, sandbox }) => {
      const found = await sdk.Sandbox.list({ ...platform, metadata: { of: "runtimes" } }).toArray();
      assert.include(
        found.map(({ sandboxId }) => sandboxId),
        sandbox.id,
      );
    },
  ],
  [
    "connect gives another handle of it",
    async ({ sdk, platform, sandbox }) => {
      const other = await sdk.Sandbox.connect(sandbox.id, { ...platform, timeoutMs: 600_000 });
      assert.equal((await other.commands.run("echo $FROM_CREATE")).stdout, "yes\n");
      await other.close();
    },
  ],
  [
    "attach takes a hand-off that has been through JSON, without an API key",
    async ({ sdk, sandbox }) => {
      const attached = await sdk.Sandbox.attach(JSON.parse(JSON.stringify(sandbox.handoff())));
      assert.isTrue((await attached.commands.run("true")).success);
      await attached.close();
      assert.isTrue(await sandbox.isRunning(), "closing a handle leaves the sandbox");
    },
  ],
  [
    "setTimeout moves its end",
    async ({ sandbox }) => {
      await sandbox.setTimeout(900_000);
      const left = ((await sandbox.getInfo()).endAt?.getTime() ?? 0) - Date.now();
      assert.isAbove(left, 700_000);
    },
  ],
  [
    "getUrl is computed, and nothing secret is printed",
    async ({ platform, sandbox }) => {
      assert.equal(
        sandbox.getUrl(8080),
        platform.sandboxUrl.replace("{sandboxId}", sandbox.id).replace("{port}", "8080").replace(/\/$/, ""),
      );
      assert.notInclude(JSON.stringify(sandbox), platform.apiKey);
    },
  ],
];

const commands: Call[] = [
  [
    "run gives output, error output and exit code",
    async ({ sandbox }) => {
      const result = await sandbox.commands.run("echo out; echo err >&2; exit 3");
      assert.deepInclude(result, { stdout: "out\n", stderr: "err\n", exitCode: 3, success: false });
    },
  ],
  [
    "a list of arguments goes through no shell",
    async ({ sandbox }) => {
      assert.equal((await sandbox.commands.run(["printf", "%s", "$HOME 'é' 😀"])).stdout, "$HOME 'é' 😀");
    },
  ],
  [
    "stream gives chunks as they come, then the exit",
    async ({ sandbox }) => {
      const seen: string[] = [];
      for await (const chunk of sandbox.commands.stream("echo begun; until [ -e go ]; do sleep 0.02; done; echo ended")) {
        seen.push(chunk.type === "exit" ? `exit ${chunk.exitCode}` : chunk.data);
        if (seen.length === 1) await sandbox.files.write("go", "");
      }
      assert.deepEqual(seen, ["begun\n", "ended\n", "exit 0"]);
    },
  ],
  [
    "a stream of bytes is the body of a response",
    async ({ sandbox }) => {
      const stream = sandbox.commands.stream("printf 'é😀'", { output: "bytes" });
      const body = stream.readable.pipeThrough(
        new TransformStream<Package.ProcessChunk<Uint8Array>, Uint8Array<ArrayBuffer>>({
          transform(chunk, to) {
            if (chunk.type === "stdout") to.enqueue(Uint8Array.from(chunk.data));
          },
        }),
      );
      assert.equal(await new Response(body).text(), "é😀");
    },
  ],
  [
    "leaving a loop early kills the process",
    async ({ sandbox }) => {
      for await (const chunk of sandbox.commands.stream("echo $$; exec sleep 601")) {
        assert.equal(chunk.type, "stdout");
        break;
      }
      await gone(sandbox, "sleep 601");
    },
  ],
  [
    "five megabytes arrive whole",
    async ({ sandbox }) => {
      const { stdout } = await sandbox.commands.run("head -c 5000000 /dev/zero | tr '\\0' x");
      assert.lengthOf(stdout, 5_000_000);
    },
  ],
  [
    "a command in the background tells its output to callbacks",
    async ({ sandbox }) => {
      const handle = await sandbox.commands.run("read line; echo got $line", { background: true, stdin: true });
      await handle.sendInput("it\n");
      const told: string[] = [];
      const result = await handle.wait({ onStdout: (data) => void told.push(data) });
      assert.equal(told.join(""), "got it\n");
      assert.equal(result.exitCode, 0);
    },
  ],
  [
    "input is a text or a stream",
    async ({ sandbox }) => {
      const stream = new ReadableStream<Uint8Array>({
        start(to) {
          to.enqueue(utf8("from a "));
          to.enqueue(utf8("stream"));
          to.close();
        },
      });
      assert.equal((await sandbox.commands.run("cat", { input: "from text" })).stdout, "from text");
      assert.equal((await sandbox.commands.run("cat", { input: stream })).stdout, "from a stream");
    },
  ],
  [
    "a process is listed, listened to by its pid, and killed",
    async ({ sandbox }) => {
      const { pid } = await sandbox.commands.start("exec sleep 602");
      assert.isTrue((await sandbox.commands.list()).some((process) => process.pid === pid));
      const second = await sandbox.commands.connect(pid);
      const ended = second.wait();
      assert.isTrue(await sandbox.commands.kill(pid));
      assert.isFalse((await ended).success);
    },
  ],
];

const files: Call[] = [
  [
    "text and odd names come back as they were",
    async ({ sandbox }) => {
      const name = `a b#?%+ü😀'".txt`;
      const written = await sandbox.files.write(name, "grüezi 😀");
      assert.equal(written.name, name);
      assert.equal(await sandbox.files.read(name), "grüezi 😀");
    },
  ],
  [
    "bytes, a blob and a stream are written as they are",
    async ({ sandbox }) => {
      const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 31) % 256);
      const stream = new Blob([bytes]).stream() as ReadableStream<Uint8Array>;
      for (const data of [bytes, new Blob([bytes]), stream]) {
        await sandbox.files.write("data", data);
        assert.deepEqual(await sandbox.files.readBytes("data"), bytes);
      }
    },
  ],
  [
    "a file is read as a stream and as a blob",
    async ({ sandbox }) => {
      await sandbox.commands.run("head -c 3000000 /dev/zero > zeros", { check: true });
      const stream = await sandbox.files.read("zeros", { format: "stream" });
      const read = await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer();
      assert.equal(read.byteLength, 3_000_000);
      assert.equal((await sandbox.files.read("zeros", { format: "blob" })).size, 3_000_000);
    },
  ],
  [
    "what was rewritten is read anew",
    async ({ sandbox }) => {
      for (const content of ["one", "two", "three"]) {
        await sandbox.files.write("again", content);
        assert.equal(await sandbox.files.read("again"), content);
      }
    },
  ],
  [
    "directories are made, listed and described",
    async ({ sandbox }) => {
      assert.isTrue(await sandbox.files.makeDir("dir/below"));
      assert.isFalse(await sandbox.files.makeDir("dir/below"));
      const [entry, ...more] = await sandbox.files.list("dir");
      assert.isEmpty(more);
      assert.deepInclude(entry, { name: "below", type: "directory", path: "/home/user/dir/below" });
      assert.instanceOf((await sandbox.files.getInfo("dir")).modifiedTime, Date);
    },
  ],
  [
    "a file is moved and removed",
    async ({ sandbox }) => {
      await sandbox.files.write("from", "x");
      assert.deepInclude(await sandbox.files.move("from", "to"), { name: "to" });
      assert.isFalse(await sandbox.files.exists("from"));
      await sandbox.files.remove("to");
      assert.isFalse(await sandbox.files.exists("to"));
    },
  ],
  [
    "a watch tells what is made",
    async ({ sandbox }) => {
      await sandbox.files.makeDir("watched");
      const watch = await sandbox.files.watch("watched");
      await sandbox.files.write("watched/new", "x");
      for await (const { type, path } of watch) {
        assert.deepEqual([type, path], ["created", "/home/user/watched/new"]);
        break;
      }
      await watch.cancel();
    },
  ],
  [
    "an upload tells how far it is, a download gives the same bytes",
    async ({ sandbox }) => {
      const told: number[] = [];
      const source = new Blob([new Uint8Array(2_000_000).fill(7)]);
      await sandbox.files.upload(source, "up", { onProgress: ({ loaded }) => void told.push(loaded) });
      assert.deepEqual(
        told,
        [...told].sort((a, b) => a - b),
      );
      assert.equal(told.at(-1), 2_000_000);
      const back = await sandbox.files.download("up");
      assert.deepEqual(new Uint8Array(await back.arrayBuffer()), new Uint8Array(await source.arrayBuffer()));
    },
  ],
  [
    "a download goes into a stream",
    async ({ sandbox }) => {
      const pieces: Uint8Array[] = [];
      await sandbox.files.download("up", new WritableStream<Uint8Array>({ write: (piece) => void pieces.push(piece) }));
      assert.equal(concat(...pieces).length, 2_000_000);
    },
  ],
  [
    "a signed URL needs nothing else",
    async ({ sandbox }) => {
      await sandbox.files.write("signed", "by URL");
      const answer = await fetch(sandbox.downloadUrl("signed", { expiresInMs: 60_000 }));
      assert.equal(await answer.text(), "by URL");
    },
  ],
];

const terminals: Call[] = [
  [
    "a terminal echoes, and has the size it is given",
    async ({ sandbox }) => {
      const terminal = await sandbox.getTerminal({ cols: 91, rows: 31 });
      await terminal.send("stty size; echo fir''st\r");
      assert.include(await shown(terminal, "first\r\n"), "31 91");
      await terminal.resize(101, 41);
      await terminal.send("stty size; echo sec''ond\r");
      assert.include(await shown(terminal, "second\r\n"), "41 101");
      await terminal.close();
      assert.equal((await terminal.closed).reason, "killed");
    },
  ],
  [
    "a terminal's output is a stream, and its exit code is told",
    async ({ sandbox }) => {
      const terminal = await sandbox.getTerminal();
      await terminal.send("exit 5\r");
      await collect(terminal.outputStream());
      assert.deepInclude(await terminal.closed, { reason: "exited", exitCode: 5 });
    },
  ],
];

const code: Call[] = [
  [
    "a context keeps variables, and a cell's value is its text",
    async (scene) => {
      // All cells run in this one: each kernel takes seconds to start.
      const context = await scene.sandbox.code.createContext({ language: "python", cwd: "/tmp" });
      scene.context = context;
      await scene.sandbox.runCode("x = 41", { context });
      assert.equal((await scene.sandbox.runCode("x + 1", { context })).text, "42");
    },
  ],
  [
    "output of a cell comes in order, and what it raises is a result",
    async ({ sandbox, context }) => {
      const told: string[] = [];
      const onStdout = (text: string) => void told.push(text);
      const { error, exitCode } = await sandbox.runCode("print('é😀')\n1 / 0", { context, onStdout });
      assert.equal(told.join(""), "é😀\n");
      assert.deepInclude(error, { name: "ZeroDivisionError" });
      assert.equal(exitCode, 1);
    },
  ],
  [
    "contexts are listed and removed",
    async ({ sandbox, context }) => {
      assert.isDefined(context);
      assert.isTrue((await sandbox.code.listContexts()).some(({ id }) => id === context?.id));
      assert.isTrue(await sandbox.code.removeContext(context ?? ""));
    },
  ],
];

const server: Call[] = [
  [
    "the SandboxServer starts, and runs named commands",
    async ({ sdk, sandbox }) => {
      await sandbox.files.write("commands.py", COMMANDS);
      const client = await sandbox.startServer({ commands: "/home/user/commands.py", timeoutMs: CALL_MS });
      assert.isTrue(client instanceof sdk.ServerClient);
      assert.equal(await sandbox.run("add", { a: 2 }), 7);
      await rejected(sandbox.run("nothing"), sdk.CommandNotFoundError, "E3005");
    },
  ],
  [
    "its files and processes answer",
    async ({ sandbox }) => {
      await sandbox.server.files.upload("/home/user/served.txt", "für 中");
      assert.equal(await sandbox.files.read("served.txt"), "für 中");
      assert.equal((await sandbox.server.process.shell("cat /home/user/served.txt")).stdout, "für 中");
    },
  ],
  [
    "its terminal runs over WebSocket, or the error names the option that it needs",
    async ({ sdk, sandbox }) => {
      const opening = sandbox.getTerminal({ transport: "websocket" });
      if (!("WebSocket" in globalThis)) {
        assert.include((await rejected(opening, sdk.SandboxError)).suggestion, "webSocket");
        return;
      }
      const terminal = await opening;
      await terminal.send("echo do''ne\n");
      await shown(terminal, "done\r\n");
      await terminal.close();
    },
  ],
];

const aborts: Call[] = [
  [
    "a signal that has aborted keeps a call from being made",
    async ({ sandbox }) => {
      const reason = new Error("not wanted");
      const caught = await sandbox.commands.run("true", { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error);
      assert.equal(caught, reason);
    },
  ],
  [
    "an abort ends a running command with its reason, and kills it",
    async ({ sandbox }) => {
      const controller = new AbortController();
      const reason = new Error("enough");
      const running = sandbox.commands.run("echo begun; exec sleep 603", {
        signal: controller.signal,
        onStdout: () => controller.abort(reason),
      });
      assert.equal(await running.catch((error: unknown) => error), reason);
      await gone(sandbox, "sleep 603");
    },
  ],
  [
    "a command's own time ends it",
    async ({ sdk, sandbox }) => {
      await rejected(sandbox.commands.run("exec sleep 604", { timeoutMs: 300 }), sdk.CommandTimeoutError, "E3001");
      await gone(sandbox, "sleep 604");
    },
  ],
];

const errors: Call[] = [
  [
    "a missing file has its own class, code and suggestion",
    async ({ sdk, sandbox }) => {
      const error = await rejected(sandbox.files.read("missing"), sdk.FileNotFoundError, "E4001");
      assert.isTrue(error instanceof sdk.SandboxError);
      assert.equal(error.name, "FileNotFoundError");
    },
  ],
  [
    "a wrong argument is refused",
    async ({ sdk, sandbox }) => {
      await rejected(sandbox.files.read("a\0b"), sdk.InvalidArgumentError, "E0001");
      thrown(() => sandbox.getUrl(70_000), sdk.InvalidArgumentError, "E0001");
    },
  ],
  [
    "a wrong key is refused by the platform",
    async ({ sdk, platform }) => {
      const options = { ...platform, apiKey: `${platform.apiKey}0`, validateApiKey: false };
      await rejected(sdk.Sandbox.create(options), sdk.AuthenticationError);
    },
  ],
  [
    "an unknown sandbox and an unknown template are told apart",
    async ({ sdk, platform }) => {
      await rejected(sdk.Sandbox.getInfo(`i${"0".repeat(19)}`, platform), sdk.SandboxNotFoundError, "E2009");
      await rejected(sdk.Sandbox.create("no-such-template", platform), sdk.TemplateNotFoundError, "E2001");
    },
  ],
  [
    "a checked command rejects with its output",
    async ({ sdk, sandbox }) => {
      const error = await rejected(sandbox.commands.run("echo why >&2; exit 4", { check: true }), sdk.ProcessError, "E3002");
      assert.deepInclude(error, { exitCode: 4, stderr: "why\n" });
    },
  ],
  [
    "where nobody listens the sandbox is unreachable",
    async ({ sdk }) => {
      // Port 9 is closed to browsers, and nobody serves it elsewhere.
      const nowhere = await sdk.Sandbox.attach({ sandboxId: "i1", sandboxUrl: "http://127.0.0.1:9/{port}" });
      await rejected(nowhere.files.exists("a"), sdk.NetworkError);
    },
  ],
];

const ends: Call[] = [
  [
    "what create made is killed when it is disposed of, what attach gave is not",
    async ({ sdk, platform, sandbox }) => {
      const dispose = async (one: Sandbox) => {
        // Some runtimes have no symbol for it; there the method has none either.
        if (Symbol.asyncDispose) await one[Symbol.asyncDispose]();
        else await one.kill();
      };
      const made = await sdk.Sandbox.create({ ...platform, timeoutMs: 60_000 });
      await dispose(made);
      assert.isFalse(await sdk.Sandbox.kill(made.id, platform));
      if (Symbol.asyncDispose) await dispose(await sdk.Sandbox.attach(sandbox.handoff()));
      assert.isTrue(await sandbox.isRunning());
    },
  ],
  [
    "kill ends the sandbox once, and later calls say that it is gone",
    async ({ sdk, sandbox }) => {
      assert.isTrue(await sandbox.kill());
      assert.isFalse(await sandbox.kill());
      await rejected(sandbox.commands.run("true"), sdk.SandboxNotFoundError, "E2009");
    },
  ],
];

const CALLS: Call[] = [...creation, ...commands, ...files, ...terminals, ...code, ...server, ...aborts, ...errors, ...ends];

/** How many calls there are. */
export const COUNT = CALLS.length;

/** Makes a sandbox, runs every call and tells how each went. */
export async function runCalls(sdk: typeof Package, { platform }: Given): Promise<Outcome[]> {
  const sandbox = await sdk.Sandbox.create("code-interpreter", {
    ...platform,
    timeoutMs: 600_000,
    metadata: { of: "runtimes" },
    envs: { FROM_CREATE: "yes" },
  });
  const scene: Scene = { sdk, platform, sandbox, context: undefined };
  const outcomes: Outcome[] = [];
  try {
    for (const [name, run] of CALLS) {
      const begun = Date.now();
      const error = await inTime(run(scene)).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? `${error.message}\n${error.stack}` : String(error)),
      );
      const ms = Date.now() - begun;
      outcomes.push(error === undefined ? { name, ms } : { name, ms, error });
    }
  } finally {
    await sandbox.kill();
  }
  return outcomes;
}

async function inTime(call: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CALL_MS} ms`)), CALL_MS);
  });
  await Promise.race([call, late]).finally(() => clearTimeout(timer));
}

/** Waits until no process of that command line is left. */
async function gone(sandbox: Sandbox, command: string): Promise<void> {
  // The pattern does not match the shell that looks.
  const pattern = command.replace(" ", "[ ]");
  const { exitCode } = await sandbox.commands.run(`while pgrep -f '^${pattern}'; do sleep 0.05; done`, { timeoutMs: 20_000 });
  assert.equal(exitCode, 0, `${command} still runs`);
}

/** Reads a terminal's output until it shows something. */
async function shown(terminal: TerminalSession, wanted: string): Promise<string> {
  let output = "";
  while (!output.includes(wanted)) {
    const chunk = await terminal.receive(60_000);
    assert.isDefined(chunk, `the terminal never showed ${wanted}, but ${JSON.stringify(output)}`);
    output += text(chunk ?? new Uint8Array());
  }
  return output;
}
