// What the real server does that a client would not expect. Each test is one of the numbered quirks of its wire reference, section 7.
// Two are not here: 28 (a browser works once) is in browser.test.ts, and 38 (the Python client's twins make a connection pool a call) is
// nothing that the server does.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CommandNotFoundError,
  CommandTimeoutError,
  FileNotFoundError,
  FilePolicyDeniedError,
  InvalidArgumentError,
  PayloadTooLargeError,
  PolicyDeniedError,
  RateLimitedError,
  RequestTimeoutError,
  SandboxConnectionError,
  ServerAPIError,
  ServerAuthError,
  ServerClient,
} from "agent-sandbox-web";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { collect, rejected, whole } from "./support/failures.ts";
import { type RunningServer, startServer } from "./support/server.ts";

let server: RunningServer;
let client: ServerClient;
let base: string;
beforeAll(async () => {
  server = await startServer({ groups: ["dev_tools"] });
  client = server.client();
  base = server.base;
});
afterAll(() => server?.stop());

const at = (name: string) => join(base, name);
const inBase = () => ({ cwd: base });

test("1: no empty uploads; the way around them works", async () => {
  for (const empty of ["", new Uint8Array(), new Blob([])])
    await rejected(client.files.upload(at("e"), empty), InvalidArgumentError);
  await client.process.shell(`touch ${at("e")}`, inBase());
  expect(await client.files.download(at("e"))).toEqual(new Uint8Array());
});

test("2, 3: a body is always an object", async () => {
  expect(await client.commands.run("quiet", null as never)).toBe("ok");
  for (const args of [[], [1], "text", 1]) await rejected(client.commands.run("quiet", args as never), InvalidArgumentError);
});

test("4: names that are no UTF-8 are read, sent in bodies, and refused in URLs", async () => {
  mkdirSync(at("odd"));
  writeFileSync(Buffer.concat([Buffer.from(at("odd/bad")), Buffer.of(0xff)]), "1");
  const [entry] = await client.files.list(at("odd"));
  expect(entry?.name).toBe("bad\udcff");
  const found = (await client.files.search(at("odd"), "bad*")).results[0]?.path ?? "";
  expect(found).toBe(at("odd/bad\udcff"));
  await rejected(client.files.download(found), InvalidArgumentError);
  await rejected(client.files.stat(found), InvalidArgumentError);
  await client.files.move(found, at("odd/good"));
  expect(await client.files.readText(at("odd/good"))).toBe("1");
});

test("5: NaN and the infinities are read as such", async () => {
  expect(await client.commands.run("numbers")).toEqual([Number.NaN, Infinity, -Infinity, 'NaN "Infinity', 1.5]);
});

test("6: a recursive list is flat", async () => {
  mkdirSync(at("tree/a/b"), { recursive: true });
  writeFileSync(at("tree/a/b/f"), "1");
  expect((await client.files.list(at("tree"), { recursive: true })).map(({ name }) => name).sort()).toEqual(["a", "b", "f"]);
});

test("7, 8: links are their targets", async () => {
  writeFileSync(at("goal"), "12345");
  symlinkSync(at("goal"), at("way"));
  expect(await client.files.stat(at("way"))).toMatchObject({ size: 5, path: at("goal") });
  expect(await client.files.delete(at("way"))).toEqual({ path: at("goal"), deleted: true });
  await rejected(client.files.delete(at("way")), FileNotFoundError);
  expect((await client.files.stat(at("way"))).exists).toBe(false);
});

test("9: a move into a directory names the directory", async () => {
  mkdirSync(at("dir"));
  writeFileSync(at("moved"), "1");
  expect((await client.files.move(at("moved"), at("dir"))).destination).toBe(at("dir"));
  expect(await client.files.exists(at("dir/moved"))).toBe(true);
});

test("10: a zip with a broken link is an error of the server", async () => {
  mkdirSync(at("links"));
  symlinkSync(at("nowhere"), at("links/l"));
  await rejected(client.files.archive([at("links")], "zip"), ServerAPIError, { statusCode: 500, errorType: "FileNotFoundError" });
  expect((await client.files.archive([at("links")])).size).toBeGreaterThan(0);
});

test("11: the most files of an archive are counted in directories alone", async () => {
  const policy = { version: 1, endpoints: { files_archive: { limits: { max_files: 1 } } } };
  await using limited = await startServer({ policy });
  const files = ["a", "b"].map((name) => join(limited.base, "d", name));
  for (const file of files) await limited.client().files.upload(file, "1");
  expect((await limited.client().files.archive(files)).size).toBeGreaterThan(0);
  await rejected(limited.client().files.archive([join(limited.base, "d")]), ServerAPIError, { statusCode: 400, errorCode: "" });
});

test("12, 13: output is text with LF, and an error where it is no text", async () => {
  expect((await client.process.shell("printf 'a\\r\\nb\\rc\\n'", inBase())).stdout).toBe("a\nb\nc\n");
  await rejected(client.process.shell("printf '\\377'", inBase()), ServerAPIError, {
    statusCode: 500,
    errorType: "UnicodeDecodeError",
  });
  expect((await client.process.runStream("printf '\\377'", inBase())).stdout).toBe("\ufffd\n");
});

test("14, 15: what cannot be started is an error of the server, in three ways", async () => {
  await rejected(client.process.shell("no-such-program", inBase()), ServerAPIError, { statusCode: 500 });
  const events = await collect(client.process.shellStream("no-such-program", inBase()));
  expect(events.map(({ event }) => event)).toEqual(["error"]);
  await rejected(client.process.start("no-such-program", inBase()), ServerAPIError, { statusCode: 500 });
  await rejected(client.process.shell("   ", inBase()), ServerAPIError, { statusCode: 500, errorType: "IndexError" });
});

test("16: a timeout is told also when a grandchild holds the output", async () => {
  await rejected(client.process.runStream("sh -c 'sleep 3 & echo x'", { ...inBase(), timeoutMs: 1000 }), CommandTimeoutError);
});

test("17, 18: no timeout that the server would read as another", async () => {
  for (const timeoutMs of [0, -1, Number.NaN, Infinity]) {
    await rejected(client.process.shell("true", { ...inBase(), timeoutMs }), InvalidArgumentError);
    await rejected(client.devtools.runCode("1", "python", { timeoutMs }), InvalidArgumentError);
  }
  await rejected(client.devtools.runCode("import time; time.sleep(20)", "python", { timeoutMs: 500 }), CommandTimeoutError);
});

test("19: a process that the server forgot has ended", async () => {
  const process = await client.process.start("true", { ...inBase(), captureOutput: true });
  while ((await client.process.list()).some(({ pid }) => pid === process.pid));
  await rejected(client.process.get(process.pid), ServerAPIError, { statusCode: 404 });
  expect(await client.process.wait(process.pid)).toBeUndefined();
  expect(await collect(client.process.follow(process.pid))).toEqual([]);
  await rejected(server.client().process.wait(process.pid), ServerAPIError, { statusCode: 404 });
});

test("20: output that was dropped is told", async () => {
  const { pid } = await client.process.start("sh -c 'yes 0123456789 | head -c 3000000'", { ...inBase(), captureOutput: true });
  await client.process.wait(pid, { pollMs: 50 });
  const output = await client.process.output(pid);
  expect(output.dropped).toBe(true);
  expect(output.events[0]?.seq).toBeGreaterThan(0);
});

test("21: following ends although a grandchild holds the output open", async () => {
  const { pid } = await client.process.start("sh -c 'sleep 9 & echo p'", { ...inBase(), captureOutput: true });
  const events = await collect(client.process.follow(pid, { pollMs: 200 }));
  expect(events.map(({ data }) => data)).toEqual(["p\n"]);
  expect(await client.process.wait(pid, { pollMs: 50 })).toBe(0);
});

test("22: a program that does not read holds the call, not the client", async () => {
  const { pid } = await client.process.start("sleep 2", { ...inBase(), stdin: true });
  const writing = client.process.sendStdin(pid, "x".repeat(200_000)).catch((error: unknown) => error);
  expect(await client.health()).toBe(true);
  await writing;
});

test("23: a full table is no rate limit", async () => {
  const sessions: string[] = [];
  const full = (async () => {
    for (;;) sessions.push((await client.pty.create()).sessionId);
  })();
  await rejected(full, ServerAPIError, { statusCode: 429, errorType: "RuntimeError", errorCode: "" });
  expect(sessions.length).toBe(10);
  await Promise.all(sessions.map((id) => client.pty.delete(id)));
});

test("24: the socket of a shell that has ended is closed from here", async () => {
  const { sessionId } = await client.pty.create();
  const terminal = await client.pty.connect(sessionId);
  await terminal.send("exit\n");
  expect((await collect(terminal)).at(-1)).toMatchObject({ event: "exited" });
  expect(terminal.isConnected).toBe(false);
});

test("25: a wrong token at a terminal opens the socket, and is an error all the same", async () => {
  await using own = await startServer({ token: "right" });
  const { sessionId } = await own.client().pty.create();
  await rejected(own.client({ token: "wrong" }).pty.connect(sessionId), ServerAuthError, { code: "E9001", statusCode: 401 });
});

test("26: the terminal's address is not made up, and not taken from a wrong ws_url", async () => {
  const own = await startServer({ env: { ABX_PTY_PORT: "1" } });
  const made = await own.client().pty.create();
  expect(made.wsUrl).toContain("localhost:1/");
  const terminal = await own.client().pty.connect(made.sessionId);
  await terminal.close();
  await own.stop();
  await rejected(new ServerClient("http://127.0.0.1:9400", { webSocket: WebSocket }).pty.connect("x"), InvalidArgumentError);
});

test("27: names of commands that no URL carries are refused here, others there", async () => {
  for (const name of ["two words", "a/b", "..", ""]) await rejected(client.commands.run(name), InvalidArgumentError);
  await rejected(client.commands.run("部署"), CommandNotFoundError, { commandName: "部署" });
});

test("29: a server without tokens takes any", async () => {
  const capabilities = await server.client({ token: "whatever" }).discover();
  expect(capabilities.identityId).toBe("anonymous");
});

test("30: the revision says nothing of groups switched by the environment; what may be called does", async () => {
  await using plain = await startServer();
  const [on, off] = [await client.discover(), await plain.client().discover()];
  client.forgetDiscovery();
  expect(on.revision).toBe(off.revision);
  expect([on.can("code_run"), off.can("code_run")]).toEqual([true, false]);
});

test("31: calls that fail count as calls", async () => {
  const policy = { version: 1, endpoints: { files_archive: { limits: { rate_per_minute: 2 } } } };
  await using limited = await startServer({ policy });
  const archive = () => limited.client().files.archive([join(limited.base, "none")]);
  for (let call = 0; call < 2; call += 1) await rejected(archive(), FileNotFoundError);
  await rejected(archive(), RateLimitedError, { code: "E9005", errorCode: "rate_limited" });
});

test("32: unknown routes and endpoints that are off are told apart", async () => {
  const off = await startServer({ preset: "locked" });
  await rejected(off.client().process.list(), ServerAPIError, { statusCode: 404, errorCode: "endpoint_disabled" });
  await rejected(new ServerClient(`${off.url}/elsewhere`).process.list(), ServerAPIError, { statusCode: 404, errorCode: "" });
  await off.stop();
});

test("33: a check looks at paths and scopes, not at limits and lists", async () => {
  const endpoints = {
    files_upload_stream: { limits: { max_bytes: 1 }, params: { deny_extensions: [".exe"] } },
    shell: { params: { deny_commands: ["rm"] } },
  };
  await using limited = await startServer({ policy: { version: 1, endpoints } });
  const { files, process } = limited.client();
  const path = join(limited.base, "a.exe");
  for (const id of Object.keys(endpoints)) expect(await limited.client().check(id, { path })).toMatchObject({ allowed: true });
  await rejected(files.upload(path, "1"), FilePolicyDeniedError, { errorCode: "extension_not_allowed" });
  await rejected(files.upload(join(limited.base, "a"), "12"), PayloadTooLargeError, { statusCode: 413 });
  await rejected(process.shell("rm x", { cwd: limited.base }), PolicyDeniedError, { errorCode: "command_not_allowed" });
});

test("34: a slow answer is waited for, or not", async () => {
  await rejected(client.system.packages("pip", { requestTimeoutMs: 1 }), RequestTimeoutError, { code: "E5002" });
  // The server gives up after ten seconds, which a busy machine takes.
  const answer = await client.system.packages("npm").catch((error: unknown) => whole(error, CommandTimeoutError));
  if (!(answer instanceof Error)) expect(answer.manager).toBe("npm");
});

test("35: a server without its terminals' port is well, and connecting says so", async () => {
  const off = await startServer({ preset: "hardened" });
  expect(await off.client().health()).toBe(true);
  await rejected(off.client().pty.connect("x"), SandboxConnectionError);
  await off.stop();
});

test("36: a command's own TimeoutError is told as a timeout", async () => {
  await rejected(client.commands.run("fail", { kind: "time" }), CommandTimeoutError, { code: "E3001" });
});

test("37: what existed is made, ports have no process, and creation is the last change", async () => {
  for (let time = 0; time < 2; time += 1) expect((await client.files.mkdir(at("twice"))).created).toBe(true);
  expect((await client.system.ports()).every(({ pid }) => pid === undefined)).toBe(true);
  writeFileSync(at("aged"), "1");
  const created = async () => Number((await client.files.stat(at("aged"))).created);
  const before = await created();
  // Times have a grain; the mode alone changes.
  do chmodSync(at("aged"), 0o600);
  while ((await created()) <= before);
});

test("one request a connection: thirty calls at once are all answered", async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => client.files.exists(base)));
  expect(answers).toEqual(Array.from({ length: 30 }, () => true));
});
