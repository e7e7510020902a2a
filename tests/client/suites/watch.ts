// Watching a folder: what is told, in which order, and that an end is an end.
import type { ChunkStream, WatchEvent } from "agent-sandbox-web";
import { assert } from "chai";
import { Body } from "../support/fake-fetch.ts";
import { fakeSandbox, rejected, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";
import { endOfStream, failure, watchEvent, watchKeepalive, watchStart } from "../support/wire.ts";

/** Reads events until one fulfils the condition, and gives all that were read. */
async function eventsUntil(watch: ChunkStream<WatchEvent>, last: (event: WatchEvent) => boolean): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  const steps = watch[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await steps.next();
    assert.isNotTrue(done, `the watch ended after ${JSON.stringify(events)}`);
    events.push(value);
    if (last(value)) return events;
  }
}

export const watch = suite("watch", (test) => {
  test("it resolves when the server has confirmed, and gives absolute paths and plain types", async (context) => {
    const body = new Body(
      [
        watchStart(),
        watchKeepalive(),
        watchEvent("a", 1),
        watchEvent("a", 5),
        watchEvent("sub/a", 2),
        watchEvent("a", 4),
        watchEvent("b", 1),
        watchEvent("b", 3),
      ],
      "stay",
    );
    const { sandbox } = await fakeSandbox(context, (call) => (call.path.endsWith("/WatchDir") ? body : undefined));
    const events = await eventsUntil(await sandbox.files.watch("/home/user/dir/"), ({ type }) => type === "deleted");
    assert.deepEqual(
      events.map(({ type, path }) => [type, path]),
      [
        ["created", "/home/user/dir/a"],
        ["modified", "/home/user/dir/a"],
        ["modified", "/home/user/dir/sub/a"],
        ["renamed", "/home/user/dir/a"],
        ["created", "/home/user/dir/b"],
        ["deleted", "/home/user/dir/b"],
      ],
    );
  });

  test("what a watch takes goes with its request", async (context) => {
    const flags = { recursive: 0x10, includeEntry: 0x18, allowNetworkMounts: 0x20 };
    for (const [name, tag] of Object.entries(flags)) {
      const { sandbox, calls } = await fakeSandbox(context, () => new Body([watchStart()], "stay"));
      await (await sandbox.files.watch("/d", { [name]: true })).cancel();
      // The path, and behind it the one flag.
      assert.deepEqual([...(calls[0]?.body ?? [])].slice(5), [0x0a, 2, 0x2f, 0x64, tag, 1], name);
    }
  });

  test("a refusal rejects the call itself", async (context) => {
    const { sandbox } = await fakeSandbox(context, (call) =>
      call.path.endsWith("/WatchDir") ? new Body([failure("not_found", "path not found")]) : undefined,
    );
    await rejected(sandbox.files.watch("/missing"), context.sdk.FileNotFoundError, "E4001");
  });

  test("a body that ends before the confirmation is no watch", async (context) => {
    for (const body of [new Body([]), new Body([endOfStream()])]) {
      const { sandbox } = await fakeSandbox(context, (call) => (call.path.endsWith("/WatchDir") ? body : undefined));
      await rejected(sandbox.files.watch("/a"), context.sdk.SandboxError);
    }
  });

  test("stopping inside the loop, twice, is one end without an error", async (context) => {
    const body = new Body([watchStart(), watchEvent("a", 1), watchEvent("b", 1)], "stay");
    const { sandbox } = await fakeSandbox(context, (call) => (call.path.endsWith("/WatchDir") ? body : undefined));
    const events = await sandbox.files.watch("/d");
    let heard = 0;
    for await (const _ of events) {
      heard += 1;
      void events.cancel();
      void events.cancel();
    }
    await events.cancel();
    assert.equal(heard, 1);
    await body.left;
    assert.equal(body.cancels, 1);
  });

  test("[platform] changes are seen, and stopping after the sandbox died is no error", async (context) => {
    await withSandbox(context, async ({ files }) => {
      await files.makeDir("watched");
      const events = await files.watch("watched", { recursive: true });
      await files.write("watched/ü #1.txt", "x");
      await files.move("watched/ü #1.txt", "watched/moved");
      await files.remove("watched/moved");
      const seen = await eventsUntil(events, ({ type, path }) => type === "deleted" && path.endsWith("/moved"));
      const told = seen.map(({ type, path }) => `${type} ${path.slice("/home/user/watched/".length)}`);
      assert.equal(told[0], "created ü #1.txt");
      assert.include(told, "renamed ü #1.txt");
      assert.include(told, "created moved");
      await events.cancel();
      await events.cancel();
    });
    const sandbox = await context.sdk.Sandbox.create(context.platform);
    const events = await sandbox.files.watch(".");
    await sandbox.kill();
    await events.cancel();
    await events.cancel();
  });
});
