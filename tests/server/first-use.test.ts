// agent-sandbox-server on a machine that has never had it: the first sandbox that starts it has it made, also one that was there before.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sandbox, SandboxConnectionError } from "agent-sandbox-web";
import { expect, test } from "vitest";
import { type Platform, startPlatform } from "../support/platform.ts";
import { rejected } from "./support/failures.ts";

/** A platform with an empty runtime folder. */
async function withPlatform(args: string[], run: (platform: Platform, create: () => Promise<Sandbox>) => Promise<void>) {
  const runtime = mkdtempSync(join(tmpdir(), "runtime-"));
  const platform = await startPlatform({ args: ["--runtime-dir", runtime, ...args], env: { PIP_RETRIES: "0" } });
  const { apiUrl, sandboxUrl, apiKey } = platform.info;
  const sandboxes: Sandbox[] = [];
  try {
    await run(platform, async () => {
      const sandbox = await Sandbox.create({ apiUrl, sandboxUrl, apiKey, timeoutMs: 600_000 });
      sandboxes.push(sandbox);
      return sandbox;
    });
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.kill()));
    await platform.stop();
    rmSync(runtime, { recursive: true, force: true });
  }
}

// Each has a platform and a runtime folder of its own, and waits for pip most of the time.
test.concurrent("two sandboxes that were there before start it at once, and it is made once", { timeout: 600_000 }, () =>
  withPlatform([], async (platform, create) => {
    const before = await Promise.all([create(), create()]);
    expect(platform.log()).not.toContain("agent-sandbox-server");
    const servers = await Promise.all(before.map((sandbox) => sandbox.startServer({ timeoutMs: 500_000 })));
    for (const server of servers) expect((await server.process.shell("echo up")).stdout).toBe("up\n");
    expect(platform.log().match(/Making the Python environment of agent-sandbox-server/g)?.length).toBe(1);
    const after = await (await create()).commands.run("agent-sandbox-server version");
    expect(after).toMatchObject({ exitCode: 0, stderr: "" });
    expect(after.stdout).toContain("0.4.0");
  }),
);

test.concurrent("one that cannot be made says why, and is tried again when it is wanted again", { timeout: 300_000 }, () =>
  withPlatform(["--pip-index", "http://127.0.0.1:9/simple"], async (platform, create) => {
    const sandbox = await create();
    const attempts = () => platform.log().match(/Making the Python environment/g)?.length ?? 0;
    for (const attempt of [1, 2]) {
      const error = await rejected(sandbox.startServer({ timeoutMs: 120_000 }), SandboxConnectionError, { code: "E5001" });
      expect(error.message).toContain("packages could not be installed");
      expect(error.message).not.toContain("127.0.0.1:9");
      expect(attempts()).toBe(attempt);
    }
  }),
);
