// The same calls with the Python client and with this one: what comes of them agrees, but for names and a few things that are better here.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SandboxError } from "agent-sandbox-web";
import { expect, test } from "vitest";
import { collect } from "./support/failures.ts";
import { pythonPrograms } from "./support/python.ts";
import { startServer } from "./support/server.ts";

const reference = new URL("support/reference.py", import.meta.url).pathname;

/** Names of errors that are spelled differently here. */
const NAMES: Record<string, string> = { FileNotFoundError_: "FileNotFoundError", ConnectionError_: "SandboxConnectionError" };

type Outcome = Record<string, unknown>;

async function outcome(promise: Promise<unknown>): Promise<Outcome> {
  try {
    return { value: plain(await promise) };
  } catch (caught) {
    const error = caught as SandboxError & Record<string, unknown>;
    const keys = {
      statusCode: "status_code",
      errorType: "error_type",
      errorCode: "error_code",
      endpoint: "endpoint",
      scope: "scope",
      limit: "limit",
      commandName: "command_name",
    };
    const found = Object.entries(keys).flatMap(([here, there]) =>
      error[here] === undefined || error[here] === "" ? [] : [[there, error[here]]],
    );
    return { error: error.name, code: error.code, ...Object.fromEntries(found) };
  }
}

/** What is compared: names as on the wire, nothing that is absent. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), plain(inner)]),
  );
}

/** Python's models say null or an empty text where this client leaves out. */
function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null || inner === "" ? [] : [[key, filled(inner)]])),
  );
}

test("results and errors agree", async () => {
  await using server = await startServer();
  const { base } = server;
  const client = server.client();
  const { stdout } = await promisify(execFile)(join(pythonPrograms(), "python"), [reference, server.url, base]);
  const theirs = JSON.parse(stdout) as Record<string, Outcome>;
  const { files, process, pty, system, commands, devtools } = client;
  const calls: Record<string, () => Promise<unknown>> = {
    health: () => client.health(),
    upload: () => files.upload(`${base}/py.txt`, "für 中"),
    readText: () => files.readText(`${base}/py.txt`),
    download: () => files.download(`${base}/py.txt`),
    exists: () => files.exists(`${base}/none`),
    mkdir: () => files.mkdir(`${base}/made`),
    move: () => files.move(`${base}/py.txt`, `${base}/made/py.txt`),
    search: () => files.search(`${base}/made`, "*.txt"),
    delete: () => files.delete(`${base}/made`),
    missing: () => files.list(`${base}/none`),
    outside: () => files.list("/etc"),
    shell: () => process.shell("sh -c 'echo a; echo b >&2; exit 3'", { cwd: base }),
    shellTimeout: () => process.shell("sleep 5", { cwd: base, timeoutMs: 300 }),
    shellMissing: () => process.shell("no-such-program", { cwd: base }),
    runStream: () => process.runStream("sh -c 'echo a; echo; exit 4'", { cwd: base }),
    stream: () => collect(process.shellStream("sh -c 'echo a; exit 4'", { cwd: base })),
    process: () => process.get(999_999),
    signal: () => process.signal(1),
    output: () => process.output(999_999),
    session: () => pty.get("0".repeat(12)),
    shellKind: () => pty.create({ shell: "/bin/cat" }),
    setEnv: () => system.setEnv({ PY_SET: "1" }),
    env: () => system.env(["PY_SET"]),
    setPath: () => system.setEnv({ PATH: "/" }),
    packages: () => system.packages("cargo" as never),
    commands: () => commands.list(),
    run: () => commands.run("add", { a: 2 }),
    runMissing: () => commands.run("nothing"),
    runArguments: () => commands.run("add"),
    runFails: () => commands.run("fail", { kind: "value" }),
    runTimesOut: () => commands.run("fail", { kind: "time" }),
    off: () => devtools.runCode("1"),
    check: () => client.check("files_list", { path: "/etc" }),
  };
  expect(Object.keys(theirs)).toEqual(Object.keys(calls));
  for (const [name, call] of Object.entries(calls)) {
    const expected = { ...theirs[name] };
    if (typeof expected.error === "string") expected.error = NAMES[expected.error] ?? expected.error;
    // The environment's names are data.
    if (name === "env") expect(await call(), name).toEqual(expected.value);
    // Python's command error knows its name and nothing of the answer.
    else if (name === "runMissing") expect(await outcome(call()), name).toMatchObject(expected);
    else expect(filled(await outcome(call())), name).toEqual(filled(expected));
  }
});
