/** The example's relay in each runtime, in front of a real platform. The client is Node's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Sandbox, SandboxNotFoundError } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { platformWithServer } from "../server/support/platform.ts";
import { type Platform, platformBinary } from "../support/platform.ts";
import { type Runtime, signedIn, startExample } from "./example.ts";

let platform: Platform;
beforeAll(async () => {
  platform = await platformWithServer();
}, 600_000);
afterAll(() => platform?.stop());

test("the one command of its README serves the page, and leaves nothing when it is ended", async () => {
  const program = spawn(process.execPath, ["start.js", "node"], {
    cwd: new URL("../../examples/relay", import.meta.url),
    env: { ...process.env, AGENT_SANDBOX_LOCAL: platformBinary(), PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = (await once(createInterface({ input: program.stdout }), "line")) as [string];
    const url = /open (\S+)/.exec(line)?.[1];
    expect(await (await fetch(`${url}/`)).text()).toContain("A sandbox, and no key");
  } finally {
    program.kill("SIGTERM");
  }
  expect(await once(program, "exit")).toEqual([0, null]);
});

const runtimes: Runtime[] = ["worker", "node", "deno", "bun"];

describe.each(runtimes)("%s", (runtime) => {
  test("makes a sandbox for its owner, and reaches its server and a terminal of it", async () => {
    const example = await startExample(runtime, platform.info);
    try {
      const [alice, bob] = await Promise.all(["alice", "bob"].map((name) => signedIn(example, name, platform.info.sandboxUrl)));
      await using sandbox = await Sandbox.create("base", { ...alice, metadata: { mine: "yes" } });
      const { sandboxId } = sandbox;
      await sandbox.files.write("greeting", "hello");
      expect((await sandbox.commands.run("cat greeting")).stdout).toBe("hello");

      expect((await Sandbox.list(alice).toArray()).map((info) => [info.sandboxId, info.metadata])).toEqual([
        [sandboxId, { mine: "yes" }],
      ]);
      expect(await Sandbox.list(bob).toArray()).toEqual([]);
      await expect(Sandbox.getInfo(sandboxId, bob)).rejects.toThrow(SandboxNotFoundError);
      expect(await Sandbox.kill(sandboxId, bob)).toBe(false);
      await expect(Sandbox.create("base", { relay: alice?.relay })).rejects.toMatchObject({ code: "E1000" });

      const server = await sandbox.startServer({ token: "of-the-server" });
      expect((await server.process.shell("cat greeting")).stdout).toBe("hello");
      const { sessionId } = await server.pty.create();
      // The server's port for terminals may open a moment after the other.
      const terminal = await vi.waitFor(() => server.pty.connect(sessionId), { timeout: 60_000, interval: 200 });
      await terminal.send("echo $((6 * 7))ends\n");
      await terminal.expect("42ends", 60_000);
      await terminal.close();
      // A refusal of the server's own comes through as it is.
      await expect(server.withToken("wrong").process.shell("true")).rejects.toMatchObject({ code: "E9001" });
      expect(await sandbox.kill()).toBe(true);
    } finally {
      await example.stop();
    }
  });
});
