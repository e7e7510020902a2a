// Uploads: what they come from, how they are sent, how far they are, and what ends them.
import type { TransferProgress } from "agent-sandbox-web";
import { assert } from "chai";
import { utf8 } from "../support/bytes.ts";
import { Body } from "../support/fake-fetch.ts";
import { fakeSandbox, rejected, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";
import { digest, digestInside, noise, PART, pickedFile, progress, storing, streamOf } from "../support/transfers.ts";

export const uploads = suite("uploads", (test) => {
  test("[platform] an upload tells how far it is, whatever it comes from", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const bytes = noise(2 * PART + 5);
      const expected = await digest(bytes);
      const sources = {
        blob: new Blob([bytes]),
        bytes,
        handle: { getFile: async () => new Blob([bytes]) },
        stream: streamOf(bytes),
      };
      for (const [name, source] of Object.entries(sources)) {
        const told = progress();
        await sandbox.files.makeDir(`in-${name}`);
        const written = await sandbox.files.upload(source, `in-${name}/file`, told.options);
        assert.deepInclude(written, { name: "file", path: `/home/user/in-${name}/file` }, name);
        told.check(bytes.length, name !== "stream");
        assert.equal(await digestInside(sandbox, `in-${name}/file`), expected, name);
        assert.lengthOf(await sandbox.files.list(`in-${name}`), 1, name);
      }
      const told = progress();
      await sandbox.files.upload(new Blob([]), "empty", told.options);
      told.check(0);
      assert.equal((await sandbox.files.getInfo("empty")).size, 0);
      await sandbox.files.upload(new Blob([bytes]), "replaced", { ...told.options, atomic: true });
      assert.equal(await digestInside(sandbox, "replaced"), expected);
    });
  });

  test.inPage("[platform] in a page an upload goes by XMLHttpRequest, which tells how far it is", async (context) => {
    const { send } = XMLHttpRequest.prototype;
    let sent = 0;
    XMLHttpRequest.prototype.send = function (body) {
      sent += 1;
      send.call(this, body);
    };
    try {
      await withSandbox(context, async ({ files }) => {
        const told = progress();
        await files.upload(new Blob([noise(2 * PART)]), "f", told.options);
        told.check(2 * PART);
        assert.equal(sent, 1);
        const error = await rejected(files.upload(new Blob(["x"]), ".", told.options), context.sdk.InvalidArgumentError, "E0001");
        assert.equal(error.status, 400, "a refusal is as typed as one of a fetch");
      });
    } finally {
      XMLHttpRequest.prototype.send = send;
    }
  });

  test("without XMLHttpRequest a large file goes in parts, and a sandbox that cannot join them gets it whole", async (context) => {
    const bytes = noise(2 * PART + 5);
    for (const joins of [true, false]) {
      const { sandbox, stored, calls } = await storing(context, joins);
      for (const source of [new Blob([bytes]), streamOf(bytes)]) {
        const told = progress();
        await sandbox.files.upload(source, "f", { ...told.options, requestTimeoutMs: 0 });
        const values = told.check(bytes.length, source instanceof Blob);
        if (joins) assert.deepEqual(values, [0, PART, 2 * PART, bytes.length]);
        assert.equal(await digest(Uint8Array.from(stored.get("f") ?? [])), await digest(bytes));
        assert.deepEqual([...stored.keys()], ["f"]);
      }
      assert.isTrue(calls.some(({ path }) => path.endsWith("/compose")));
    }
  });

  test("a source that fails ends its upload, and a body that fails its download, with that error", async (context) => {
    const mine = new Error("mine");
    const failing = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(mine),
      });
    const { sandbox } = await storing(context, true);
    for (const write of [
      () => sandbox.files.write("f", failing()),
      () => sandbox.files.write("f", failing(), { gzip: true }),
      () => sandbox.files.write([{ path: "f", data: failing() }], { atomic: true }),
      () => sandbox.files.upload(failing(), "f"),
      () => sandbox.files.upload(failing(), "f", progress().options),
    ]) {
      assert.equal(await write().catch((caught: unknown) => caught), mine);
    }
    const texts = new ReadableStream({ start: (controller) => controller.enqueue("text") });
    await rejected(sandbox.files.upload(texts, "f", progress().options), context.sdk.InvalidArgumentError, "E0001");
    const cut = await fakeSandbox(context, () => new Body([utf8("some")], "fail"));
    await rejected(cut.sandbox.files.download("f"), context.sdk.SandboxConnectionError, "E5001");
  });

  test("what cannot be sent is refused before any request, and a stream of anything but bytes on its way", async (context) => {
    const { sandbox, calls } = await storing(context, true);
    const { InvalidArgumentError } = context.sdk;
    const locked = new ReadableStream<Uint8Array>();
    locked.getReader();
    const gone = new Uint8Array(8);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    const shared = globalThis.SharedArrayBuffer && new Uint8Array(new SharedArrayBuffer(8));
    const before = calls.length;
    for (const [data, words] of [
      [locked, /somebody else reads/],
      [gone, /no memory/],
      [gone.buffer, /no memory/],
      [shared, /shared/],
      [new Uint16Array(2), /must be/],
    ] as const) {
      if (data === undefined) continue;
      for (const call of [
        () => sandbox.files.write("f", data as Uint8Array),
        () => sandbox.files.write([{ path: "f", data: data as Uint8Array }]),
        () => sandbox.files.upload(data as Uint8Array, "f"),
      ]) {
        assert.match((await rejected(call(), InvalidArgumentError, "E0001")).message, words);
      }
    }
    assert.match((await rejected(sandbox.commands.sendInput(1, gone), InvalidArgumentError, "E0001")).message, /detached/);
    assert.lengthOf(calls, before);
    const texts = () => new ReadableStream({ start: (controller) => controller.enqueue("text") });
    await rejected(sandbox.files.write("f", texts()), InvalidArgumentError, "E0001");
    await rejected(sandbox.files.write("f", texts(), { gzip: true }), InvalidArgumentError, "E0001");
  });

  test("aborting an upload rejects with the reason and leaves no part behind", async (context) => {
    const { sandbox, stored, calls } = await storing(context, true);
    const controller = new AbortController();
    const reason = new Error("mine");
    const onProgress = ({ loaded }: TransferProgress) => {
      if (loaded === PART) controller.abort(reason);
    };
    const upload = sandbox.files.upload(new Blob([noise(3 * PART)]), "f", { onProgress, signal: controller.signal });
    assert.equal(await upload.catch((error: unknown) => error), reason);
    assert.deepEqual([...stored.keys()], []);
    const thrower = () => {
      throw reason;
    };
    const before = calls.length;
    assert.equal(
      await sandbox.files.upload(new Blob(["x"]), "f", { onProgress: thrower }).catch((error: unknown) => error),
      reason,
    );
    assert.lengthOf(calls, before);
  });

  test("[platform] aborting an upload or a download under way rejects with the reason", async (context) => {
    await withSandbox(context, async ({ files, commands }) => {
      const reason = new Error("mine");
      const stopping = () => {
        const controller = new AbortController();
        let calls = 0;
        const onProgress = () => {
          calls += 1;
          if (calls === 2) controller.abort(reason);
        };
        return { signal: controller.signal, onProgress };
      };
      const upload = files.upload(new Blob([noise(4 * PART)]), "f", stopping());
      assert.equal(await upload.catch((error: unknown) => error), reason);
      await commands.run("head -c 30000000 /dev/zero > big", { check: true });
      assert.equal(await files.download("big", undefined, stopping()).catch((error: unknown) => error), reason);
      let aborted: unknown;
      const target = new WritableStream<Uint8Array>({
        abort: (why) => {
          aborted = why;
        },
      });
      assert.equal(await files.download("big", target, stopping()).catch((error: unknown) => error), reason);
      assert.equal(aborted, reason);
      assert.isTrue(await files.exists("big"), "the client goes on working");
    });
  });

  test("a picked file that was changed on disk is told as that", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => {
      throw new TypeError("Failed to fetch");
    });
    const { file, change, remove } = await pickedFile(context);
    await change();
    for (const write of [
      () => sandbox.files.upload(file, "a"),
      () => sandbox.files.write("a", file),
      () => sandbox.files.write("a", file, { gzip: true }),
    ]) {
      const error = await rejected(write(), context.sdk.InvalidArgumentError, "E0001");
      assert.match(error.message, /cannot be read any more/);
      assert.instanceOf(error.cause, Object);
    }
    await remove();
  });

  test("a progress callback that fails ends the transfer, also at its last step and by a promise", async (context) => {
    const { sandbox } = await storing(context, true);
    const failure = new Error("the caller's");
    for (const options of [{ gzip: true }, {}]) {
      for (const onProgress of [
        ({ loaded }: TransferProgress) => {
          if (loaded > 0) throw failure;
        },
        async ({ loaded }: TransferProgress) => {
          if (loaded > 0) throw failure;
        },
      ]) {
        const given = await sandbox.files.upload(new Blob(["x"]), "f", { ...options, onProgress }).catch((error: unknown) => error);
        assert.equal(given, failure);
      }
    }
  });
});
