// Every endpoint id against the real server: what it gives, and each of its errors. The browser's ids are in browser.test.ts.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CommandArgumentError,
  CommandExecutionError,
  CommandNotFoundError,
  CommandTimeoutError,
  EndpointNotAvailableError,
  FileNotFoundError,
  FilePolicyDeniedError,
  InvalidArgumentError,
  PayloadTooLargeError,
  PolicyDeniedError,
  ServerAPIError,
  ServerClient,
} from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collect, rejected } from "./support/failures.ts";
import { type RunningServer, startServer } from "./support/server.ts";

let server: RunningServer;
let client: ServerClient;
let base: string;
beforeAll(async () => {
  server = await startServer({ groups: ["dev_tools"], env: { GIT_CONFIG_GLOBAL: "/dev/null" } });
  client = server.client();
  base = server.base;
});
afterAll(() => server?.stop());

const at = (name: string) => join(base, name);

test("the table of methods has every endpoint of the server but the agents group and routes of one's own", async () => {
  const capabilities = await server.client().discover();
  const ids = [...new Set(["files:read", "core:read"].flatMap((scope) => capabilities.endpointsFor(scope)))];
  expect(ids).toContain("files_list");
  const wire = (await (await fetch(`${server.url}/capabilities`)).json()) as { endpoints: Record<string, { group: string }> };
  const all = Object.keys(wire.endpoints).filter((id) => wire.endpoints[id]?.group !== "agents" && id !== "GET /status");
  expect(Object.keys(ServerClient.ENDPOINT_METHODS).sort()).toEqual(all.sort());
  for (const [id, methods] of Object.entries(ServerClient.ENDPOINT_METHODS)) {
    for (const path of methods) {
      const method = path.split(".").reduce((of: unknown, name) => (of as Record<string, unknown>)[name], client);
      expect(typeof method, `${id}: ${path}`).toBe("function");
    }
  }
});

describe("core", () => {
  test("health", async () => {
    expect(await client.health()).toBe(true);
    expect(await new ServerClient("http://127.0.0.1:9").health()).toBe(false);
  });

  test("an option that a call does not have is refused, and the near one named", async () => {
    const depth = client.files.search("/", "*", { maxDept: 1 } as object);
    expect((await rejected(depth, InvalidArgumentError)).message).toContain("Did you mean maxDepth?");
    const stream = client.process.runStream("true", { cmd: "x" } as object);
    expect((await rejected(stream, InvalidArgumentError)).message).toContain("no option cmd here");
  });

  test("capabilities_check", async () => {
    expect(await client.check("files_list", { path: base })).toEqual({ endpoint: "files_list", allowed: true });
    expect(await client.check("files_list", { path: "/etc" })).toMatchObject({ allowed: false, code: "path_not_allowed" });
    expect(await client.check("files_list", { paths: [base, "/etc"], op: "write" })).toMatchObject({ allowed: false });
    expect(await client.check("browser_click")).toMatchObject({ code: "endpoint_disabled", rule: "default:opt-in:browser" });
    expect(await client.check("nothing")).toMatchObject({ allowed: false, code: "unknown_endpoint" });
    await rejected(client.check("files_list", { op: "eat" as never }), ServerAPIError, { statusCode: 400, errorCode: "" });
  });
});

describe("commands", () => {
  test("list_commands leaves out hidden ones", async () => {
    const commands = await client.commands.list();
    expect(commands.map(({ name }) => name)).toContain("add");
    expect(commands.map(({ name }) => name)).not.toContain("quiet");
    expect(commands.find(({ name }) => name === "add")).toEqual({
      name: "add",
      description: "Sum two integers",
      args: [
        { name: "a", type: "integer", required: true, description: "" },
        { name: "b", type: "integer", required: false, default: "5", description: "" },
      ],
    });
  });

  test("run_command", async () => {
    expect(await client.commands.run("add", { a: 2 })).toBe(7);
    expect(await client.commands.run("quiet")).toBe("ok");
    expect(await client.commands.run("deploy")).toBeNull();
    await rejected(client.commands.run("add", {}), CommandArgumentError, {
      statusCode: 400,
      errorType: "ValueError",
      code: "E9000",
    });
    await rejected(client.commands.run("add", { a: true }), CommandArgumentError, { errorType: "TypeError" });
    await rejected(client.commands.run("nothing"), CommandNotFoundError, { code: "E3005", commandName: "nothing" });
    const failed = await rejected(client.commands.run("fail", { kind: "key" }), CommandExecutionError, { statusCode: 500 });
    expect(failed.message).toBe("KeyError: 'on purpose'");
    await rejected(client.commands.run("fail", { kind: "time" }), CommandTimeoutError, { code: "E3001" });
    await rejected(client.commands.run("add", [1] as never), InvalidArgumentError, { code: "E0001" });
    await rejected(client.commands.run("add", { a: 1n }), InvalidArgumentError);
  });
});

describe("file_ops", () => {
  test("files_mkdir, files_list, files_stat", async () => {
    expect(await client.files.mkdir(at("made/deep"))).toEqual({ path: at("made/deep"), created: true });
    await client.files.upload(at("made/a.txt"), "abc");
    const entries = await client.files.list(at("made"));
    expect(entries.map(({ name, type }) => [name, type]).sort()).toEqual(
      [
        ["a.txt", "file"],
        ["deep", "directory"],
      ].sort(),
    );
    expect(entries.every(({ modified }) => modified instanceof Date)).toBe(true);
    expect(await client.files.list(at("made"), { maxEntries: 0 })).toEqual([]);
    const stat = await client.files.stat(at("made/a.txt"));
    expect(stat).toMatchObject({ name: "a.txt", path: at("made/a.txt"), type: "file", size: 3, exists: true });
    expect(stat.modified).toBeInstanceOf(Date);
    expect(await client.files.stat(at("none"))).toMatchObject({ exists: false, size: 0 });
    expect(await client.files.exists(at("made"))).toBe(true);
    expect(await client.files.exists(at("none"))).toBe(false);
    await rejected(client.files.list(at("none")), FileNotFoundError, { code: "E4001", status: 404 });
    await rejected(client.files.list("/etc"), FilePolicyDeniedError, {
      code: "E9002",
      errorCode: "path_not_allowed",
      statusCode: 403,
    });
    await rejected(client.files.stat("/etc/passwd"), FilePolicyDeniedError);
    await rejected(client.files.mkdir(at("made/a.txt")), ServerAPIError, { statusCode: 500, errorType: "FileExistsError" });
    await rejected(client.files.mkdir("/etc/x"), FilePolicyDeniedError);
    for (const path of ["", "a\0b", "x".repeat(5000), undefined as never, 4 as never]) {
      await rejected(client.files.list(path), InvalidArgumentError, { code: "E0001" });
    }
  });

  test("files_upload_stream, files_download_stream", async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => i % 256);
    expect(await client.files.upload(at("up/b.bin"), bytes)).toEqual({ path: at("up/b.bin"), size: 5000 });
    expect(await client.files.download(at("up/b.bin"))).toEqual(bytes);
    await client.files.uploadFile(new Blob(["für 中"]), at("up/t.txt"));
    expect(await client.files.readText(at("up/t.txt"))).toBe("für 中");
    await client.files.upload(at("up/l.txt"), Uint8Array.of(0x66, 0xfc));
    expect(await client.files.readText(at("up/l.txt"), "latin1")).toBe("fü");
    await rejected(client.files.readText(at("up/l.txt")), InvalidArgumentError);
    await rejected(client.files.readText(at("up/l.txt"), "klingon"), InvalidArgumentError);
    expect(await (await client.files.downloadFile(at("up/t.txt"))).text()).toBe("für 中");
    const written: Uint8Array[] = [];
    const target = new WritableStream<Uint8Array>({ write: (chunk) => void written.push(chunk) });
    expect(await client.files.downloadFile(at("up/b.bin"), target)).toBe(5000);
    expect(written).toEqual([bytes]);
    await rejected(client.files.download(at("none")), FileNotFoundError);
    await rejected(client.files.download("/etc/passwd"), FilePolicyDeniedError);
    await rejected(client.files.upload("/etc/x", "x"), FilePolicyDeniedError);
    await rejected(client.files.upload(at("up"), "x"), ServerAPIError, { statusCode: 500, errorType: "IsADirectoryError" });
    await rejected(client.files.uploadFile("path" as never, at("x")), InvalidArgumentError);
    await rejected(client.files.uploadLegacy(at("x"), "x"), EndpointNotAvailableError, { code: "E9003" });
    await rejected(client.files.downloadLegacy(at("x")), EndpointNotAvailableError);
  });

  test("an upload beyond the server's request limit is too large, not a lost connection", async () => {
    await rejected(client.files.upload(at("large"), new Uint8Array(9_000_000)), PayloadTooLargeError, { code: "E9004" });
    expect((await client.files.upload(at("large"), new Uint8Array(7_000_000))).size).toBe(7_000_000);
    expect((await client.files.download(at("large"))).length).toBe(7_000_000);
  });

  test("files_move, files_delete", async () => {
    await client.files.upload(at("from"), "1");
    expect(await client.files.move(at("from"), at("to"))).toEqual({ source: at("from"), destination: at("to") });
    expect(await client.files.delete(at("to"))).toEqual({ path: at("to"), deleted: true });
    await rejected(client.files.move(at("none"), at("x")), FileNotFoundError);
    await rejected(client.files.move(base, "/etc"), FilePolicyDeniedError);
    await rejected(client.files.delete(at("none")), FileNotFoundError);
    await rejected(client.files.delete(base), FilePolicyDeniedError, { errorCode: "path_denied" });
  });

  test("files_search", async () => {
    await client.files.upload(at("search/x/needle.md"), "1");
    expect(await client.files.search(at("search"), "*.md", { maxDepth: 4, maxResults: 5 })).toEqual({
      results: [{ name: "needle.md", path: at("search/x/needle.md") }],
      timedOut: false,
    });
    await rejected(client.files.search(at("none"), "*"), FileNotFoundError);
    await rejected(client.files.search("/etc", "*"), FilePolicyDeniedError);
    await rejected(client.files.search(base, undefined as never), InvalidArgumentError);
  });

  test("files_archive", async () => {
    await client.files.upload(at("arch/a"), "1");
    const zip = await client.files.archive([at("arch")], "zip");
    expect([zip.format, zip.size, zip.data[0], zip.data[1]]).toEqual(["zip", zip.data.length, 0x50, 0x4b]);
    expect((await client.files.archive([at("arch")])).format).toBe("tar.gz");
    await rejected(client.files.archive([at("none")]), FileNotFoundError);
    await rejected(client.files.archive([at("arch")], "rar" as never), ServerAPIError, { statusCode: 400 });
    await rejected(client.files.archive([]), InvalidArgumentError);
    await rejected(client.files.archive(["/etc"]), FilePolicyDeniedError);
  });

  test("files_watch", async () => {
    mkdirSync(at("watched"));
    const stream = client.files.watch(at("watched"), { intervalMs: 100, recursive: true });
    const first = stream[Symbol.asyncIterator]().next();
    // The first look must have been before the change; a file made again and again is seen by one of the next.
    let round = 0;
    const maker = setInterval(() => writeFileSync(at(`watched/f${round++}`), "1"), 150);
    const { value } = await first;
    clearInterval(maker);
    expect(value).toMatchObject({ type: "created", isDir: false });
    await stream.cancel();
    expect(await collect(stream)).toEqual([]);
    expect(await client.files.watchFor(at("watched"), 300, { intervalMs: 100 })).toEqual([]);
    await rejected(collect(client.files.watch(at("none"))), FileNotFoundError);
    await rejected(collect(client.files.watch("/etc")), FilePolicyDeniedError);
    await rejected(collect(client.files.watch("")), InvalidArgumentError);
  });
});

describe("process", () => {
  test("shell", async () => {
    expect(await client.process.shell("sh -c 'echo $X; echo e >&2; exit 3'", { cwd: base, envs: { X: "y" } })).toEqual({
      stdout: "y\n",
      stderr: "e\n",
      exitCode: 3,
      truncated: false,
    });
    expect((await client.process.shell("sh -c 'kill -9 $$'", { cwd: base })).exitCode).toBe(-9);
    await rejected(client.process.shell("sleep 5", { cwd: base, timeoutMs: 200 }), CommandTimeoutError, { code: "E3001" });
    await rejected(client.process.shell("no-such-program", { cwd: base }), ServerAPIError, {
      statusCode: 500,
      errorType: "FileNotFoundError",
    });
    await rejected(client.process.shell("echo", { cwd: "/etc" }), FilePolicyDeniedError);
    await rejected(client.process.shell("echo 'x", { cwd: base }), ServerAPIError, { statusCode: 500, errorType: "ValueError" });
    await rejected(client.process.shell("echo", { timeoutMs: 0 }), InvalidArgumentError);
    await rejected(client.process.shell("echo", { envs: { A: 1 as never } }), InvalidArgumentError);
  });

  test("shell_stream", async () => {
    expect(await collect(client.process.shellStream("sh -c 'echo a; echo; exit 4'", { cwd: base }))).toEqual([
      { event: "stdout", data: "a" },
      { event: "stdout", data: "" },
      { event: "exit", exitCode: 4 },
    ]);
    const lines: string[] = [];
    const result = await client.process.runStream("sh -c 'echo a; echo b >&2; exit 5'", {
      cwd: base,
      onStdout: (line) => lines.push(line),
    });
    expect([result, lines]).toEqual([{ stdout: "a\n", stderr: "b\n", exitCode: 5, truncated: false }, ["a\n"]]);
    await rejected(client.process.runStream("sleep 5", { cwd: base, timeoutMs: 200 }), CommandTimeoutError);
    await rejected(client.process.runStream("no-such-program", { cwd: base }), ServerAPIError, { statusCode: 0 });
    await rejected(collect(client.process.shellStream("echo 'x", { cwd: base })), ServerAPIError, { statusCode: 400 });
    await rejected(collect(client.process.shellStream("echo", { cwd: "/etc" })), FilePolicyDeniedError);
  });

  test("process_start, process_output, process_stdin, process_list, process_detail", async () => {
    const cat = await client.process.start("cat", { cwd: base, captureOutput: true, stdin: true });
    expect(cat).toMatchObject({ command: "cat", state: "running" });
    expect(await client.process.get(cat.pid)).toMatchObject({ pid: cat.pid, state: "running" });
    expect((await client.process.list()).map(({ pid }) => pid)).toContain(cat.pid);
    expect(await client.process.sendStdin(cat.pid, "text ")).toEqual({ pid: cat.pid, written: 5, closed: false });
    expect(await client.process.sendStdin(cat.pid, Uint8Array.of(0x62, 0x0a))).toMatchObject({ written: 2 });
    const output = await client.process.output(cat.pid, { since: 0, waitMs: 30_000 });
    expect(output.events[0]).toMatchObject({ seq: 0, stream: "stdout" });
    await rejected(client.process.sendStdin(cat.pid, ""), ServerAPIError, { statusCode: 400 });
    expect(await client.process.closeStdin(cat.pid)).toMatchObject({ closed: true });
    const all = await collect(client.process.follow(cat.pid, { pollMs: 500 }));
    expect(all.map(({ data }) => data).join("")).toBe("text b\n");
    expect(await client.process.wait(cat.pid, { pollMs: 50 })).toBe(0);
    await rejected(client.process.sendStdin(cat.pid, "x"), ServerAPIError, { statusCode: 409, errorType: "ConflictError" });
    const plain = await client.process.start("sleep 30", { cwd: base });
    await rejected(client.process.sendStdin(plain.pid, "x"), ServerAPIError, { statusCode: 409 });
    await rejected(client.process.output(plain.pid), ServerAPIError, { statusCode: 409 });
    await rejected(client.process.wait(plain.pid, { timeoutMs: 100, pollMs: 30 }), CommandTimeoutError);
    expect(await client.process.signal(plain.pid, "SIGTERM")).toEqual({ pid: plain.pid, signal: 15 });
    expect(await client.process.wait(plain.pid, { pollMs: 50 })).toBe(-15);
    await rejected(client.process.start("no-such-program", { cwd: base }), ServerAPIError, { statusCode: 500 });
    await rejected(client.process.start("cat", { cwd: "/etc" }), FilePolicyDeniedError);
    const { process } = client;
    // One call at a time: a second one that fails while the first is awaited would be an unhandled rejection.
    for (const call of ["get", "output", "closeStdin"] as const) {
      await rejected<ServerAPIError>(process[call](999_999), ServerAPIError, { statusCode: 404, errorType: "NotFoundError" });
    }
    for (const pid of [0, -1, 1.5, "1" as never, undefined as never]) await rejected(client.process.get(pid), InvalidArgumentError);
  });

  test("process_signal", async () => {
    const [one, other] = [
      await client.process.start("sleep 30", { cwd: base }),
      await client.process.start("sleep 30", { cwd: base }),
    ];
    expect(await client.process.kill(one.pid)).toEqual({ pid: one.pid, signal: 9 });
    expect(await client.process.terminate(other.pid)).toEqual({ pid: other.pid, signal: 15 });
    await rejected(client.process.signal(one.pid, 3 as never), InvalidArgumentError, { code: "E0001" });
    await rejected(client.process.signal(1), PolicyDeniedError, { statusCode: 403, errorType: "PermissionError", errorCode: "" });
    await rejected(client.process.signal(999_999), ServerAPIError, { statusCode: 404 });
  });
});

describe("terminal", () => {
  test("pty_create_session, pty_list_sessions, pty_detail, pty_resize, pty_delete_session", async () => {
    const { sessionId, pid, wsUrl } = await client.pty.create({ cols: 90, rows: 20, envs: { A: "b" } });
    expect(sessionId).toMatch(/^[0-9a-f]{12}$/);
    expect(wsUrl).toContain(sessionId);
    expect(await client.pty.get(sessionId)).toMatchObject({ id: sessionId, pid, cols: 90, rows: 20, alive: true });
    expect((await client.pty.list()).map(({ id }) => id)).toContain(sessionId);
    expect(await client.pty.resize(sessionId, 100, 30)).toMatchObject({ cols: 100, rows: 30 });
    expect(await client.pty.delete(sessionId)).toBeUndefined();
    await rejected(client.pty.get(sessionId), ServerAPIError, { statusCode: 404, errorType: "ValueError" });
    await rejected(client.pty.resize("0".repeat(12), 1, 1), ServerAPIError, { statusCode: 404 });
    await rejected(client.pty.delete("0".repeat(12)), ServerAPIError, { statusCode: 404 });
    await rejected(client.pty.create({ shell: "/bin/cat" }), ServerAPIError, { statusCode: 400 });
    await rejected(client.pty.create({ cols: 70_000 }), ServerAPIError, { statusCode: 500 });
    await rejected(client.pty.create({ cols: -1 }), InvalidArgumentError);
    for (const id of ["", "..", "a/b", "."]) await rejected(client.pty.get(id), InvalidArgumentError);
  });
});

describe("system", () => {
  test("system_info, system_metrics, ports, packages", async () => {
    expect(await client.system.info()).toMatchObject({
      os: "Linux",
      cpuCount: expect.any(Number),
      pythonVersion: expect.any(String),
    });
    const metrics = await client.system.metrics();
    expect(Object.keys(metrics)).toEqual(expect.arrayContaining(["cpuLoad1m", "memoryUsedMb", "diskPercent", "uptimeSeconds"]));
    expect((await client.system.ports()).map(({ port }) => port)).toContain(Number(new URL(server.url).port));
    expect((await client.system.packages("pip")).packages.map(({ name }) => name.replaceAll("_", "-"))).toContain(
      "agent-sandbox-server",
    );
    await rejected(client.system.packages("cargo" as never), ServerAPIError, { statusCode: 400 });
  });

  test("env_get, env_set", async () => {
    expect(await client.system.setEnv({ B_SET: "ü", A_SET: "1" })).toEqual(["A_SET", "B_SET"]);
    expect(await client.system.env(["A_SET", "B_SET", "NO_SUCH"])).toEqual({ A_SET: "1", B_SET: "ü" });
    expect(Object.keys(await client.system.env())).toContain("HOME");
    expect((await client.process.shell("sh -c 'echo $A_SET'", { cwd: base })).stdout).toBe("1\n");
    await rejected(client.system.setEnv({ PATH: "/" }), PolicyDeniedError, { errorType: "PermissionError" });
    await rejected(client.system.setEnv({ ABX_X: "1" }), PolicyDeniedError, { errorCode: "env_var_denied" });
    await rejected(client.system.setEnv({ "not a name": "1" }), ServerAPIError, { statusCode: 400, errorCode: "env_invalid" });
    await rejected(client.system.env([]), InvalidArgumentError);
  });
});

describe("dev_tools", () => {
  test("code_run", async () => {
    expect(await client.devtools.runCode("print(1)")).toMatchObject({ stdout: "1\n", exitCode: 0, language: "python" });
    expect(await client.devtools.runCode("exit 3", "bash")).toMatchObject({ exitCode: 3 });
    await rejected(client.devtools.runCode("import time; time.sleep(9)", "python", { timeoutMs: 900 }), CommandTimeoutError, {
      status: 408,
    });
    await rejected(client.devtools.runCode("x", "cobol" as never), ServerAPIError, { statusCode: 400 });
  });

  test("git_status, git_diff", async () => {
    const git = (line: string) =>
      client.process.shell(`git -c user.name=n -c user.email=e@x -C ${at("repo")} ${line}`, { cwd: base });
    mkdirSync(at("repo"));
    await git("init -q -b main");
    writeFileSync(at("repo/f"), "1\n");
    await git("add f");
    await git("commit -qm one");
    writeFileSync(at("repo/f"), "2\n");
    expect(await client.devtools.gitStatus(at("repo"))).toEqual({
      branch: "main",
      clean: false,
      files: [{ path: "f", status: "modified" }],
    });
    const diff = await client.devtools.gitDiff(at("repo"), { file: "f", staged: false });
    expect(diff.stats).toEqual({ filesChanged: 1, insertions: 1, deletions: 1 });
    expect(diff.diff).toContain("+2");
    mkdirSync(at("plain"));
    await rejected(client.devtools.gitStatus("/etc"), FilePolicyDeniedError);
    await rejected(client.devtools.gitDiff(at("repo"), { file: "../x" }), ServerAPIError, { statusCode: 400 });
  });
});

test("links are what the documentation says they are", async () => {
  writeFileSync(at("target"), "12345");
  symlinkSync(at("target"), at("link"));
  const entries = await client.files.list(base);
  expect(entries.find(({ name }) => name === "link")?.type).toBe("file");
  expect((await client.files.stat(at("link"))).path).toBe(at("target"));
});
