/** Starting the real `agent-sandbox-server`, each time with what a test needs of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServerClient, type ServerClientOptions } from "agent-sandbox-web";
import { WebSocket } from "ws";
import { pythonPrograms } from "./python.ts";

export interface ServerOptions {
  /** A policy document. */
  policy?: Record<string, unknown>;
  preset?: string;
  /** The token of the identity `server`. */
  token?: string;
  /** Groups that are off unless named. */
  groups?: string[];
  env?: Record<string, string>;
  /** The folder with its program. Default: that of an environment without Playwright. */
  programs?: string;
  /** Whether the port for terminals is waited for. Default: unless a preset closes it. */
  terminals?: boolean;
}

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  readonly ptyUrl: string;
  readonly ptyPort: number;
  /** The folder that paths may be in, with links resolved. */
  readonly base: string;
  readonly process: ChildProcess;
  /** A client of it; by default with the server's token and the npm package's WebSocket. */
  client(options?: ServerClientOptions): ServerClient;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a server on free ports of the loopback interface and resolves when it serves. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "sandbox-server-")));
  // What shells read on starting must not depend on whose machine this is.
  const home = mkdtempSync(join(tmpdir(), "sandbox-server-home-"));
  const [port, ptyPort] = [await freePort(), await freePort()];
  const args = ["serve", "--host", "127.0.0.1", "--port", port, "--pty-port", ptyPort, "--base-dir", base, "--commands", commands];
  if (options.preset) args.push("--preset", options.preset);
  const child = spawn(join(options.programs ?? pythonPrograms(), "agent-sandbox-server"), args.map(String), {
    cwd: base,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      ...process.env,
      HOME: home,
      ABX_PTY_PORT: String(ptyPort),
      ...(options.policy ? { ABX_SERVER_POLICY: JSON.stringify(options.policy) } : {}),
      ...(options.token ? { ABX_SERVER_TOKEN: options.token } : {}),
      ...(options.groups ? { ABX_SERVER_ENABLED_GROUPS: options.groups.join(",") } : {}),
      ...options.env,
    },
  });
  const log: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => log.push(text));
  const stop = async (signal: NodeJS.Signals = "SIGKILL") => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    }
    for (const folder of [base, home]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const url = `http://127.0.0.1:${port}`;
  const ptyUrl = `ws://127.0.0.1:${ptyPort}`;
  const ready = async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok === true;
  const terminals = options.terminals ?? options.preset === undefined;
  while (!(await ready()) || (terminals && !(await accepts(ptyPort)))) {
    if (child.exitCode !== null) throw new Error(`the server ended before it was ready:\n${log.join("")}`);
    await new Promise((later) => setTimeout(later, 20));
  }
  return {
    url,
    ptyUrl,
    ptyPort,
    base,
    process: child,
    client: (given) =>
      new ServerClient(url, { ptyUrl, webSocket: WebSocket, ...(options.token ? { token: options.token } : {}), ...given }),
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

const commands = new URL("commands.py", import.meta.url).pathname;

/** What was given away already. */
const given = new Set<number>();

/**
 * A port for a server that takes no 0. It is none of those that systems give to whoever asks for any, as somebody might before the server
 * has it; and the tests' processes beside each other have different ones.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 16_000 + 2 * Math.floor(Math.random() * 8_000) + (Number(process.env.VITEST_POOL_ID) % 2 || 0);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      // Taken.
      continue;
    }
    await new Promise((closed) => server.close(closed));
    return port;
  }
}

/** Whether something listens. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
