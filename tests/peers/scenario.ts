/** Drives a sandbox platform with a client for JavaScript, step by step as `python/scenario.py` does with clients for Python. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type * as E2b from "e2b";
import type { Client } from "./clients.ts";
import type { Results } from "./expectations.ts";

const ODD_NAME = "a b#?%+ü😀.txt";
const NO_SUCH_ID = `i${"0".repeat(19)}`;

interface Scene {
  readonly client: Client;
  readonly sandbox: E2b.Sandbox;
  step(name: string, work: () => Promise<unknown>): Promise<void>;
}

/** Runs every step and gives what each returned, or the name of what it threw. */
export async function runScenario(client: Client): Promise<Results> {
  const results: Results = {};
  const step = async (name: string, work: () => Promise<unknown>) => {
    try {
      results[name] = await work();
    } catch (error) {
      results[name] = { ...raised(error), message: String(error).slice(0, 400) };
    }
  };
  const sandbox = await client.Sandbox.create("base", {
    timeoutMs: 120_000,
    metadata: { peer: "js" },
    envs: { FROM_CREATE: "yes" },
    ...client.options,
  });
  const scene = { client, sandbox, step };
  try {
    await control(scene);
    await commands(scene);
    await files(scene);
    await terminals(scene);
    await lifecycle(scene);
  } finally {
    await ends(scene);
  }
  return results;
}

function raised(error: unknown): { raised: string } {
  const name = error instanceof Error ? error.name : typeof error;
  return { raised: name.replace(/Error$/, "") };
}

/** The name of what it throws, without its message; or what it returns. */
async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return raised(error);
  }
}

async function raises(work: () => Promise<unknown>): Promise<boolean> {
  const result = await outcome(work);
  return typeof result === "object" && result !== null && "raised" in result;
}

async function until(condition: () => Promise<boolean> | boolean): Promise<boolean> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** A command's result, also of one that failed. */
async function commandOutcome({ ended }: Client, result: Promise<E2b.CommandResult>) {
  const { exitCode, stdout, stderr } = await ended(result);
  return { exitCode, stdout, stderr };
}

async function control({ client, sandbox, step }: Scene): Promise<void> {
  const { Sandbox, options } = client;
  await step("getInfo", async () => {
    const info = await sandbox.getInfo();
    return {
      sameId: info.sandboxId === sandbox.sandboxId,
      ...client.read(info),
      metadata: info.metadata.peer === "js",
      endsLater: info.endAt > info.startedAt,
    };
  });
  await step("isRunning", () => sandbox.isRunning());
  await step("connect", async () => {
    const other = await Sandbox.connect(sandbox.sandboxId, { timeoutMs: 120_000, ...options });
    return { sameId: other.sandboxId === sandbox.sandboxId, runs: (await other.commands.run("echo through")).stdout };
  });
  await step("setTimeout", async () => {
    await sandbox.setTimeout(600_000);
    const left = (await sandbox.getInfo()).endAt.getTime() - Date.now();
    return left > 540_000 && left < 660_000;
  });
  await step("list", async () => {
    const group = randomUUID();
    const made = [];
    for (let i = 0; i < 3; i++) made.push(await Sandbox.create("base", { timeoutMs: 60_000, metadata: { group }, ...options }));
    try {
      const pages: string[][] = [];
      const paginator = client.list({ metadata: { group }, limit: 2 });
      while (paginator.hasNext) pages.push((await paginator.nextItems()).map((info) => info.sandboxId));
      const ids = made.map((each) => each.sandboxId);
      return { pages: pages.map((page) => page.length), all: pages.flat().sort().join() === ids.sort().join() };
    } finally {
      for (const each of made) await each.kill();
    }
  });
  await step("wrongKey", () => {
    const apiKey = options.apiKey.slice(0, -1) + (options.apiKey.endsWith("0") ? "1" : "0");
    return outcome(() => Sandbox.create("base", { ...options, apiKey }));
  });
  await step("unknownId", async () => ({
    getInfo: await outcome(() => Sandbox.getInfo(NO_SUCH_ID, options)),
    kill: await outcome(() => Sandbox.kill(NO_SUCH_ID, options)),
  }));
  await step("byId", async () => {
    const { sandboxId } = await Sandbox.create("base", { timeoutMs: 60_000, ...options });
    await Sandbox.setTimeout(sandboxId, 600_000, options);
    const left = (await Sandbox.getInfo(sandboxId, options)).endAt.getTime() - Date.now();
    return [left > 540_000 && left < 660_000, await Sandbox.kill(sandboxId, options), await Sandbox.kill(sandboxId, options)];
  });
  await step("listNothing", async () => {
    const paginator = client.list({ metadata: { group: randomUUID() } });
    return [(await paginator.nextItems()).length, paginator.hasNext];
  });
  await step("unknownTemplate", () => raises(() => Sandbox.create("no-such-template", options)));
}

/** Waits until somebody who heard the first word lets it go on: however slow anybody is, the second is never in the same piece. */
const UNTIL_TOLD = "until rm /tmp/told 2>/dev/null; do sleep 0.02; done";

async function commands({ client, sandbox, step }: Scene): Promise<void> {
  const { commands } = sandbox;
  const heard = (chunks: string[]) => (chunk: string) => {
    if (chunks.push(chunk) === 1) void sandbox.files.write("/tmp/told", "");
  };
  await step("run", () => commandOutcome(client, commands.run("echo hello; echo oops >&2")));
  await step("nonZeroExit", () => commandOutcome(client, commands.run("echo out; echo err >&2; exit 3")));
  await step("environment", async () => {
    const line = 'echo "$GREETING"; pwd; echo "$FROM_CREATE"';
    return (await commands.run(line, { envs: { GREETING: "grüezi" }, cwd: "/tmp" })).stdout;
  });
  await step("identity", async () => (await commands.run('whoami; id -u; echo "$HOME"; pwd')).stdout);
  await step("missingCwd", () => outcome(() => commands.run("pwd", { cwd: "/no/such/folder" })));
  await step("timeout", () => outcome(() => commands.run("sleep 30", { timeoutMs: 1000 })));
  await step("streaming", async () => {
    const chunks: string[] = [];
    await commands.run(`echo one; ${UNTIL_TOLD}; echo two`, { onStdout: heard(chunks) });
    return chunks;
  });
  await step("errorStreaming", async () => {
    const chunks: string[] = [];
    await commands.run(`echo one >&2; ${UNTIL_TOLD}; echo two >&2`, { onStderr: heard(chunks) });
    return chunks;
  });
  await step("signalled", async () => (await commandOutcome(client, commands.run("kill -9 $$"))).exitCode);
  await step("unknownUser", () => raises(() => commands.run("true", { user: "nobody-here" })));
  await step("atOnce", async () => {
    const numbers = [1, 2, 3, 4, 5];
    const handles = await Promise.all(numbers.map((n) => commands.run(`cat; echo ${n}`, { background: true, stdin: true })));
    for (const { pid } of handles.toReversed()) await commands.closeStdin(pid);
    return (await Promise.all(handles.map((handle) => handle.wait()))).map(({ stdout }) => stdout.trim());
  });
  await step("manyBytes", async () => (await commands.run("head -c 5000000 /dev/zero | tr '\\0' x")).stdout.length);
  await step("utf8", async () => (await commands.run("printf 'naïve 😀 日本'")).stdout);
  await step("stdin", async () => {
    const handle = await commands.run("cat", { background: true, stdin: true });
    await client.type(commands, handle.pid, "ping\n");
    await client.type(commands, handle.pid, "pong\n");
    await commands.closeStdin(handle.pid);
    return commandOutcome(client, handle.wait());
  });
  await step("listAndKill", async () => {
    const handle = await commands.run("sleep 301", { background: true });
    const ended = outcome(async () => (await handle.wait()).exitCode);
    const listed = (await commands.list()).filter((process) => process.pid === handle.pid);
    const killed = await commands.kill(handle.pid);
    return {
      command: listed.map((process) => [process.cmd, ...process.args]),
      killed,
      ended: await ended,
      again: await until(async () => !(await commands.kill(handle.pid))),
    };
  });
  await step("connectToProcess", async () => {
    const handle = await commands.run("cat", { background: true, stdin: true });
    const other = await commands.connect(handle.pid);
    await client.type(commands, handle.pid, "shared\n");
    await commands.closeStdin(handle.pid);
    return [(await other.wait()).stdout, (await handle.wait()).stdout];
  });
  await step("handleKill", async () => {
    const handle = await commands.run("sleep 302", { background: true });
    const ended = commandOutcome(client, handle.wait());
    return [await handle.kill(), (await ended).exitCode];
  });
  await step("disconnect", async () => {
    const handle = await commands.run("sleep 303", { background: true });
    await handle.disconnect();
    const goesOn = (await commands.list()).some((process) => process.pid === handle.pid);
    return [goesOn, await commands.kill(handle.pid)];
  });
  await step("connectToNothing", () => raises(() => commands.connect(99_999)));
}

async function files({ client, sandbox, step }: Scene): Promise<void> {
  const { files: fs, commands } = sandbox;
  const base = "/home/user/peer files";
  const inside = (path: string) => path.replace(base, "");
  await step("makeDir", async () => [await fs.makeDir(base), await fs.makeDir(base)]);
  await step("writeAndRead", async () => {
    const path = `${base}/${ODD_NAME}`;
    const written = await fs.write(path, "line\nürgh 😀\n");
    return { written: written.path === path, name: written.name === ODD_NAME, read: await fs.read(path) };
  });
  await step("bytes", async () => {
    const content = Uint8Array.from({ length: 768 }, (_, i) => i % 256);
    await fs.write(`${base}/bytes.bin`, content.buffer);
    await fs.write(`${base}/empty`, "");
    const back = await fs.read(`${base}/bytes.bin`, { format: "bytes" });
    return [Buffer.compare(back, content) === 0, await fs.read(`${base}/empty`)];
  });
  await step("bigFile", async () => {
    const content = Uint8Array.from(randomBytes(8 << 20));
    await fs.write("/tmp/big.bin", new Blob([content]));
    const sum = (await commands.run("sha256sum /tmp/big.bin")).stdout.split(" ")[0];
    const back = await fs.read("/tmp/big.bin", { format: "bytes" });
    return [createHash("sha256").update(content).digest("hex") === sum, Buffer.compare(back, content) === 0];
  });
  await step("overwrite", async () => {
    await fs.write(`${base}/again`, "long and longer");
    await fs.write(`${base}/again`, "short");
    const read = await fs.read(`${base}/again`);
    await fs.remove(`${base}/again`);
    return read;
  });
  await step("relativePath", async () => {
    const { path } = await fs.write("relative.txt", "here");
    return [path, await fs.read("relative.txt"), await fs.exists("/home/user/relative.txt")];
  });
  await step("readStream", async () => {
    let length = 0;
    for await (const chunk of await fs.read("/tmp/big.bin", { format: "stream" })) length += chunk.length;
    return length;
  });
  await step("nestedFolders", async () => {
    const made = await fs.makeDir(`${base}/nested/inner`);
    const inner = await fs.list(`${base}/nested/inner`);
    const outer = (await fs.list(`${base}/nested`)).map((entry) => entry.name);
    await fs.remove(`${base}/nested`);
    return [made, inner.length, outer, await fs.exists(`${base}/nested`)];
  });
  await step("manyWrites", async () => {
    // One after another on kept connections: none may be closed under the next request.
    let written = 0;
    for (; written < 40; written++) await fs.write("/tmp/again", String(written));
    return written;
  });
  await step("writeSeveral", async () => {
    const made = await fs.write(["one", "two"].map((name) => ({ path: `${base}/several/${name}`, data: name })));
    return [...made.map((info) => inside(info.path)), await fs.read(`${base}/several/two`)];
  });
  await step("listFiles", async () => {
    await commands.run(`ln -s bytes.bin '${base}/link'`);
    return (await fs.list(base)).map((entry) => [entry.name, entry.type]).sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
  });
  await step("listDepth", async () => {
    const entries = await fs.list(base, { depth: 2 });
    return entries
      .map((entry) => inside(entry.path))
      .filter((path) => path.includes("several"))
      .sort();
  });
  await step("exists", async () => [await fs.exists(`${base}/${ODD_NAME}`), await fs.exists(`${base}/nothing`)]);
  await step("info", async () => {
    await commands.run(`chmod 640 '${base}/bytes.bin'`);
    const info = await fs.getInfo(`${base}/bytes.bin`);
    const fresh = Math.abs(Date.now() - (info.modifiedTime?.getTime() ?? 0)) < 600_000;
    return [info.name, info.type, info.size, info.mode, info.permissions, info.owner, info.group, fresh];
  });
  await step("symlink", async () => (await fs.getInfo(`${base}/link`)).symlinkTarget);
  await step("rename", async () => {
    const moved = await client.move(fs, `${base}/empty`, `${base}/renamed`);
    return [inside(moved.path), await fs.exists(`${base}/empty`), await fs.exists(`${base}/renamed`)];
  });
  await step("remove", async () => {
    await fs.remove(`${base}/renamed`);
    await fs.remove(`${base}/several`);
    return [await fs.exists(`${base}/renamed`), await fs.exists(`${base}/several`)];
  });
  await step("missing", async () => [
    await outcome(() => fs.read(`${base}/nothing`)),
    await outcome(() => fs.list(`${base}/nothing`)),
    await outcome(() => fs.getInfo(`${base}/nothing`)),
  ]);
  await step("moveMissing", () => outcome(() => client.move(fs, `${base}/nothing`, `${base}/something`)));
  await step("fileAsDirectory", async () => [
    await outcome(() => fs.list(`${base}/bytes.bin`)),
    await outcome(() => fs.makeDir(`${base}/bytes.bin`)),
  ]);
  await step("directoryAsFile", () => outcome(() => fs.read(base)));
  await step("watch", async () => {
    await fs.makeDir(`${base}/watched`);
    const seen: string[] = [];
    const stop = await client.watch(fs, `${base}/watched`, false, (event) => void seen.push(event));
    const saw = (...events: string[]) => until(() => events.every((event) => seen.includes(event)));
    await fs.write(`${base}/watched/new.txt`, "new");
    const created = await saw("create new.txt", "write new.txt");
    await client.move(fs, `${base}/watched/new.txt`, `${base}/watched/old.txt`);
    const renamed = await saw("rename new.txt", "create old.txt");
    await fs.remove(`${base}/watched/old.txt`);
    const removed = await saw("remove old.txt");
    await stop();
    return [created, renamed, removed];
  });
  await step("watchBelow", async () => {
    await fs.makeDir(`${base}/watched/below`);
    const seen: string[] = [];
    const stop = await client.watch(fs, `${base}/watched`, true, (event) => void seen.push(event));
    await fs.write(`${base}/watched/below/deep.txt`, "deep");
    const heard = await until(() => seen.includes("create below/deep.txt"));
    await stop();
    return heard;
  });
  await step("signedUrls", async () => {
    const path = `${base}/signed +&.txt`;
    await fs.write(path, "signed");
    const { download: url, upload, headers } = await client.signed(sandbox, path);
    const forged = url.replace(/signature=[^&]+/, `signature=v1_${"A".repeat(43)}`);
    const got = await fetch(url, { headers });
    const body = new FormData();
    body.append("file", new Blob(["uploaded"]), "x");
    const put = await fetch(upload, { method: "POST", headers, body });
    return {
      download: [got.status, await got.text()],
      forged: [forged !== url, (await fetch(forged, { headers })).status],
      upload: [put.status, await fs.read(path)],
    };
  });
}

async function terminals({ client, sandbox, step }: Scene): Promise<void> {
  const { pty } = sandbox;
  const encoder = new TextEncoder();
  await step("terminal", async () => {
    let output = "";
    const decoder = new TextDecoder();
    const options = { rows: 24, cols: 80, cwd: "/tmp", envs: { FROM_PTY: "yes" }, timeoutMs: 60_000 };
    const handle = await client.terminal(sandbox, options, (bytes) => {
      output += decoder.decode(bytes, { stream: true });
    });
    const typeAndSee = async (line: string, wanted: string) => {
      await pty.sendInput(handle.pid, encoder.encode(line));
      return until(() => output.includes(wanted));
    };
    // The echo of a typed line must not pass for its output, hence the quotes inside the words.
    const seen = [await typeAndSee('echo "si""ze $(stty size) $TERM $FROM_PTY $PWD"\n', "size 24 80 xterm-256color yes /tmp")];
    await pty.resize(handle.pid, { rows: 40, cols: 120 });
    seen.push(await typeAndSee('echo "si""ze $(stty size)"\n', "size 40 120"));
    await pty.sendInput(handle.pid, encoder.encode("exit 7\n"));
    return [...seen, (await commandOutcome(client, handle.wait())).exitCode];
  });
  await step("terminalKill", async () => {
    const handle = await client.terminal(sandbox, { rows: 24, cols: 80, timeoutMs: 60_000 }, () => {});
    const ended = commandOutcome(client, handle.wait());
    return [await pty.kill(handle.pid), (await ended).exitCode !== 0];
  });
}

/** A number that only a running process knows, and the file in which it counts. */
const COUNTER =
  "setsid bash -c 'n=0; while true; do n=$((n+1)); echo $n > count.new; mv count.new count; sleep 0.02; done' >/dev/null 2>&1 </dev/null & " +
  "until [ -e count ]; do sleep 0.02; done; echo kept > file";

async function lifecycle({ client, step }: Scene): Promise<void> {
  const { Sandbox, options } = client;
  const group = randomUUID();
  const one = await Sandbox.create("base", { timeoutMs: 120_000, metadata: { group }, ...options });
  const others: E2b.Sandbox[] = [];
  const count = async () => Number((await one.commands.run("cat count")).stdout);
  const state = async (sandbox: E2b.Sandbox) => client.read(await sandbox.getInfo()).state;
  try {
    await one.commands.run(COUNTER);
    await step("pauseWithMemory", async () => {
      const before = await count();
      const paused = [await one.pause(), await one.pause()];
      const seen = [await state(one), await one.isRunning()];
      const page = await client.list({ metadata: { group }, state: "paused" }).nextItems();
      const listed = page.map((info) => info.sandboxId === one.sandboxId);
      await Sandbox.connect(one.sandboxId, { timeoutMs: 120_000, ...options });
      return { paused, seen, listed, running: await one.isRunning(), goesOn: await until(async () => (await count()) > before) };
    });
    await step("streamEndsAtPause", async () => {
      const handle = await one.commands.run("sleep 300", { background: true });
      const ended = raises(() => handle.wait());
      await one.pause();
      const broken = await ended;
      await one.connect({ timeoutMs: 120_000 });
      return broken;
    });
    await step("pauseWithoutMemory", async () => {
      const paused = await one.pause({ keepMemory: false });
      await one.connect({ timeoutMs: 120_000 });
      const { stdout } = await one.commands.run("cat file; pgrep -f coun[t].new || echo stopped");
      return [paused, stdout];
    });
    await step("fork", async () => {
      const forks = await one.fork({ count: 2, timeoutMs: 60_000 });
      for (const fork of forks) if (fork instanceof Sandbox) others.push(fork);
      return Promise.all(others.map(async (fork) => [fork.sandboxId !== one.sandboxId, await fork.files.read("file")]));
    });
    await step("snapshots", async () => {
      const plain = await one.createSnapshot();
      const named = await one.createSnapshot({ name: `peer-${group}` });
      const made = [plain, named];
      const pages = [];
      const paginator = one.listSnapshots({ limit: 1 });
      while (paginator.hasNext) pages.push((await paginator.nextItems()).map((info) => info.snapshotId));
      const again = await Sandbox.create(named.snapshotId, { timeoutMs: 60_000, ...options });
      const file = await again.files.read("file");
      await again.kill();
      const deleted = [];
      for (const { snapshotId } of [...made, plain]) deleted.push(await Sandbox.deleteSnapshot(snapshotId, options));
      return {
        pages: pages.map((page) => page.length),
        newestFirst:
          pages.flat().join() ===
          made
            .map((info) => info.snapshotId)
            .reverse()
            .join(),
        file,
        deleted,
      };
    });
    await step("metrics", async () => {
      const later = { start: new Date(Date.now() + 3_600_000) };
      const [first] = await one.getMetrics();
      const measured =
        first !== undefined && [first.cpuCount, first.memTotal, first.memUsed, first.diskTotal].every((each) => each > 0);
      return { measured, none: (await one.getMetrics(later)).length };
    });
    await step("updateNetwork", async () => {
      const interfaces = async () => (await one.commands.run("ls /proc/sys/net/ipv4/conf | grep -c eth0; true")).stdout.trim();
      const before = await interfaces();
      await one.updateNetwork({ denyOut: ["0.0.0.0/0"] });
      const cut = await interfaces();
      await one.updateNetwork({});
      return {
        cut,
        restored: (await interfaces()) === before,
        rule: await raises(() => one.updateNetwork({ denyOut: ["10.0.0.0/8"] })),
      };
    });
    await step("autoPauseAndResume", async () => {
      const lazy = await Sandbox.create("base", { lifecycle: { onTimeout: "pause", autoResume: true }, ...options });
      others.push(lazy);
      const { lifecycle } = await lazy.getInfo();
      await lazy.setTimeout(1);
      const paused = await until(async () => (await state(lazy)) === "paused");
      return { lifecycle, paused, woken: (await lazy.commands.run("echo woken")).stdout, state: await state(lazy) };
    });
  } finally {
    for (const each of [one, ...others]) await each.kill();
  }
}

async function ends({ sandbox, step }: Scene): Promise<void> {
  await step("kill", async () => {
    const first = await sandbox.kill();
    return [first, await sandbox.isRunning(), await sandbox.kill()];
  });
  await step("afterKill", async () => [await raises(() => sandbox.commands.run("true")), await outcome(() => sandbox.getInfo())]);
}
