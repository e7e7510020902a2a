// Using objects as they are not meant to be used, or at odd moments.
import type { Sandbox } from "agent-sandbox-web";
import { assert } from "chai";
import { concat } from "../support/bytes.ts";
import { Body } from "../support/fake-fetch.ts";
import { fakeSandbox, rejected, START, thrown, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";
import { data, end, endOfStream, start } from "../support/wire.ts";

export const misuse = suite("misuse", (test) => {
  test("an object that the client did not make is refused as one", async ({ sdk }) => {
    await sdk.init();
    const refused = (use: () => unknown) => thrown(use, sdk.InvalidArgumentError, "E0001");
    refused(() => new (sdk.Sandbox as unknown as new () => Sandbox)().sandboxId);
    refused(() => Object.create(sdk.Sandbox.prototype).files);
    refused(() => sdk.Files.prototype.downloadUrl.call({} as never, "a"));
    refused(() => sdk.Sandbox.prototype.url);
  });

  test("a class that extends Sandbox is told that it makes none of its own, and its methods reach those above", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => Response.json({ entry: { name: "a", path: "/a" } }));
    class Extended extends (context.sdk.Sandbox as unknown as new () => Sandbox) {
      override getUrl(port: number): string {
        return `${super.getUrl(port)}/above`;
      }
    }
    const Makes = Extended as unknown as typeof context.sdk.Sandbox;
    for (const make of [() => Makes.create("base"), () => Makes.connect("i1"), () => Makes.attach({ sandboxId: "i1" })]) {
      const error = await rejected(make(), context.sdk.InvalidArgumentError, "E0001");
      assert.match(error.message, /^Extended\.(create|connect|attach) would make a Sandbox/);
    }
    const url = sandbox.getUrl(80);
    Object.setPrototypeOf(sandbox, Extended.prototype);
    assert.equal(sandbox.getUrl(80), `${url}/above`);
    assert.isTrue(await sandbox.files.exists("a"));
    // Taken off its class it goes on as it was.
    const { attach } = Makes;
    assert.equal((await attach({ sandboxId: "i2", sandboxUrl: "https://sandbox.test" })).sandboxId, "i2");
  });

  test("there is no way to free an object while it is used", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => undefined);
    const { Code, Commands, Files, Network, Pty, Sandbox, TerminalSession } = context.sdk;
    for (const { prototype } of [Code, Commands, Files, Network, Pty, Sandbox, TerminalSession]) {
      assert.notProperty(prototype, "free");
      if (Symbol.dispose) assert.isFalse(Symbol.dispose in prototype);
    }
    assert.notProperty(sandbox, "free");
  });

  test("a sandbox that was closed, twice, goes on answering", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => Response.json({ entry: { name: "a", path: "/a" } }));
    await sandbox.close();
    await sandbox.close();
    assert.isTrue(await sandbox.files.exists("a"));
    assert.equal(sandbox.sandboxId, "itest");
  });

  test("a chunk that was kept stays as it was when the module's memory grows", async (context) => {
    const content = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
    const { sandbox } = await fakeSandbox(context, (call) =>
      call.path.endsWith(START) ? new Body([start(), data("stdout", content), end(), endOfStream()]) : undefined,
    );
    const kept: Uint8Array[] = [];
    for await (const chunk of sandbox.commands.stream("x", { output: "bytes" })) if (chunk.type === "stdout") kept.push(chunk.data);
    // More than the module has at the start, so that it must grow for it.
    await sandbox.commands.run("x", { input: new Uint8Array(8 * 1024 * 1024) });
    assert.deepEqual(concat(...kept), content);
  });

  test("[platform] every part of the client can be called from inside its callbacks", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const called: string[] = [];
      const result = await sandbox.commands.run("echo a; echo b >&2", {
        onStdout: async () => {
          await sandbox.files.write("inside", "written");
          called.push((await sandbox.commands.run("cat inside", { onStdout: (text) => void called.push(text) })).stdout);
        },
        onStderr: async () => {
          const terminal = await sandbox.getTerminal();
          await terminal.close();
          called.push((await terminal.closed).reason);
        },
      });
      assert.isTrue(result.success);
      assert.sameMembers(called, ["written", "written", "killed"]);
      await sandbox.files.upload(new Uint8Array(10), "up", { onProgress: () => void sandbox.getUrl(80) });
    });
  });
});
