// Transfers: parts of files, whole folders of them, places to put them, and how far they are.
import type { FileData, Sandbox, TransferProgress } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, text, utf8 } from "../support/bytes.ts";
import { Body, type Call } from "../support/fake-fetch.ts";
import { eventually, fakeSandbox, rejected, withSandbox } from "../support/sandboxes.ts";
import { type Context, suite } from "../support/suite.ts";

const PART = 8 * 1024 * 1024;

/** Bytes that are not alike anywhere. */
function noise(length: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4));
  let state = 1;
  for (let i = 0; i < words.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    words[i] = state;
  }
  return new Uint8Array(words.buffer, 0, length);
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const digestInside = async (sandbox: Sandbox, path: string) =>
  (await sandbox.commands.run(["sha256sum", path], { check: true })).stdout.split(" ")[0];

const streamOf = (bytes: Uint8Array<ArrayBuffer>) => new Blob([bytes]).stream() as ReadableStream<Uint8Array>;

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
}

/** Collects progress, and checks that it begins at 0, rises and ends at the size. */
function progress(): {
  options: { onProgress: (progress: TransferProgress) => void };
  check(size: number, knowsTotal?: boolean): number[];
} {
  const told: TransferProgress[] = [];
  return {
    options: { onProgress: (step) => void told.push(step) },
    check(size, knowsTotal = true) {
      const values = told.map(({ loaded }) => loaded);
      assert.equal(values[0], 0, "it begins at 0");
      assert.equal(values.at(-1), size, "it ends at the size");
      for (const [at, value] of values.entries()) if (at > 0) assert.isAbove(value, values[at - 1] as number, "values rise");
      if (knowsTotal) for (const { total } of told) assert.equal(total, size);
      return values;
    },
  };
}

/** A sandbox that stores what is sent to it, and knows `/files`, moving and removing. */
async function storing(context: Context, joins: boolean, fail?: (call: Call) => Response | undefined) {
  const stored = new Map<string, Uint8Array>();
  const json = (value: unknown) => new Response(JSON.stringify(value), { headers: { "content-type": "application/json" } });
  const { sandbox, calls } = await fakeSandbox(context, (call) => {
    const failed = fail?.(call);
    if (failed) return failed;
    const path = call.url.searchParams.get("path") ?? "";
    if (call.path.endsWith("/files") && call.method === "POST") {
      stored.set(path, call.body);
      return json([{ path, name: path.split("/").pop(), type: "file" }]);
    }
    if (!joins && call.path.endsWith("/compose")) return new Response("404 page not found", { status: 404 });
    const asked = JSON.parse(text(call.body) || "{}") as Record<string, string> & { source_paths: string[] };
    if (call.path.endsWith("/compose")) {
      if (asked.source_paths.length === 0) return new Response('{"code":400,"message":"empty"}', { status: 400 });
      stored.set(asked.destination ?? "", concat(...asked.source_paths.map((name) => stored.get(name) ?? new Uint8Array())));
      for (const name of asked.source_paths) stored.delete(name);
      return json({ path: asked.destination, name: "joined", type: "file" });
    }
    if (call.path.endsWith("/Remove")) {
      stored.delete(asked.path ?? "");
      return json({});
    }
    if (call.path.endsWith("/Move")) {
      stored.set(asked.destination ?? "", stored.get(asked.source ?? "") ?? new Uint8Array());
      stored.delete(asked.source ?? "");
      return json({ entry: { name: "moved", path: asked.destination, type: "FILE_TYPE_FILE" } });
    }
    return undefined;
  });
  return { sandbox, calls, stored };
}

/** A file on a disk, as a runtime gives it to whoever picks it. */
async function pickedFile({ runtime }: Context): Promise<{ file: Blob; change(): Promise<void>; remove(): Promise<void> }> {
  if (runtime === "node") {
    const { mkdtemp, rm, writeFile } = process.getBuiltinModule("node:fs").promises;
    const { openAsBlob } = process.getBuiltinModule("node:fs");
    const folder = await mkdtemp(`${process.getBuiltinModule("node:os").tmpdir()}/picked-`);
    const path = `${folder}/file`;
    await writeFile(path, "before");
    return {
      file: await openAsBlob(path),
      change: () => writeFile(path, "and after it"),
      remove: () => rm(folder, { recursive: true }),
    };
  }
  const root = await navigator.storage.getDirectory();
  const handle = await root.getFileHandle("picked", { create: true });
  const write = async (content: string) => {
    const writable = await handle.createWritable();
    await writable.write(content);
    await writable.close();
  };
  await write("before");
  return { file: await handle.getFile(), change: () => write("and after it"), remove: () => root.removeEntry("picked") };
}

export const transfers = suite("transfers", (test) => {
  test("[platform] a part of a file is read in every format", async (context) => {
    await withSandbox(context, async ({ files }) => {
      await files.write("f", "0123456789");
      await files.write("empty", "");
      for (const [start, end, expected] of [
        [3, 5, "34"],
        [7, undefined, "789"],
        [undefined, 4, "0123"],
        [8, 99, "89"],
        [4, 4, ""],
        [10, undefined, ""],
        [50, 60, ""],
        [0, undefined, "0123456789"],
      ] as const) {
        const part = { start, end };
        const what = JSON.stringify(part);
        assert.equal(await files.read("f", part), expected, what);
        assert.equal(text(await files.readBytes("f", part)), expected, what);
        assert.equal(await (await files.read("f", { ...part, format: "blob" })).text(), expected, what);
        assert.equal(text(await bytesOf(await files.read("f", { ...part, format: "stream" }))), expected, what);
        assert.equal(await files.read("empty", part), "", what);
      }
      await rejected(files.read("missing", { start: 1 }), context.sdk.FileNotFoundError, "E4001");
    });
  });

  test("a server that knows no ranges gives the whole file, of which the part is taken", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, () => new Body(["012", "345", "678", "9"].map(utf8)));
    const part = { start: 2, end: 7 };
    assert.equal(await sandbox.files.read("f", part), "23456");
    assert.equal(text(await bytesOf(await sandbox.files.read("f", { ...part, format: "stream" }))), "23456");
    assert.equal(text(await bytesOf(await sandbox.files.read("f", { start: 4, format: "stream" }))), "456789");
    assert.equal(calls[0]?.headers.get("range"), "bytes=2-6");
    assert.equal(calls.at(-1)?.headers.get("range"), "bytes=4-");
  });

  test("sizes and places beyond 2^53 are told as what they are, or refused", async (context) => {
    const entry = { name: "f", path: "/f", type: "FILE_TYPE_FILE", size: "9007199254740993" };
    const { sandbox, calls } = await fakeSandbox(context, (call) =>
      call.path.endsWith("/Stat") ? new Response(JSON.stringify({ entry })) : new Response("x"),
    );
    const { size } = await sandbox.files.getInfo("/f");
    assert.isFalse(Number.isSafeInteger(size));
    assert.equal(size, 2 ** 53);
    for (const part of [{ start: 2 ** 53 }, { end: 2 ** 60 }, { start: -1 }, { start: 1.5 }, { start: 5, end: 4 }])
      await rejected(sandbox.files.read("f", part), context.sdk.InvalidArgumentError, "E0001");
    assert.lengthOf(calls, 1);
  });

  test("half a surrogate pair in a path is refused by every operation, before any request", async (context) => {
    const { InvalidArgumentError } = context.sdk;
    const { sandbox, calls } = await fakeSandbox(context, () => undefined);
    const { files, commands } = sandbox;
    const bad = "a\uD83Db";
    for (const call of [
      () => files.read(bad),
      () => files.readBytes(bad),
      () => files.write(bad, "x"),
      () => files.write([{ path: bad, data: "x" }]),
      () => files.write(bad, "x", { atomic: true }),
      () => files.upload(new Blob([]), bad),
      () => files.download(bad),
      () => files.list(bad),
      () => files.exists(bad),
      () => files.getInfo(bad),
      () => files.makeDir(bad),
      () => files.move(bad, "b"),
      () => files.move("a", bad),
      () => files.remove(bad),
      () => files.watch(bad),
      async () => files.downloadUrl(bad),
      async () => files.uploadUrl(bad),
      () => files.read("a", { user: bad }),
      () => commands.run(`echo ${bad}`),
    ]) {
      const error = await rejected(call(), InvalidArgumentError, "E0001");
      assert.match(error.message, /surrogate/, String(call));
    }
    assert.lengthOf(calls, 0);
    // What stands for a character that was lost is itself a character.
    assert.isFalse(await files.exists("a\uFFFDb").catch(() => false));
    assert.lengthOf(calls, 1);
  });

  test("[platform] several files are written in one call, each under its name", async (context) => {
    await withSandbox(context, async ({ files }) => {
      const entries = ['a "quoted"', "b\nc", "d/e", "日本", "%20", "x", "y"].map((name) => ({ path: `many/${name}`, data: name }));
      const written = await files.write(entries);
      assert.deepEqual(
        written.map(({ path }) => path),
        entries.map(({ path }) => `/home/user/${path}`),
      );
      for (const { path, data } of entries) assert.equal(await files.read(path), data);
      assert.deepEqual(await files.write([]), []);
      await rejected(files.write([{ path: "many", data: "x" }]), context.sdk.InvalidArgumentError, "E0001");
    });
  });

  test("when one of several files fails no other is begun, and bad ones are refused before any is sent", async (context) => {
    const { sandbox, stored, calls } = await storing(context, true, (call) =>
      call.url.searchParams.get("path") === "2" ? new Response('{"message":"disk full"}', { status: 507 }) : undefined,
    );
    const all = Array.from({ length: 50 }, (_, i) => ({ path: String(i), data: "x" }));
    await rejected(sandbox.files.write(all), context.sdk.FileOperationError, "E4000");
    assert.isBelow(stored.size, 10);
    const before = calls.length;
    for (const bad of [{ path: "", data: "x" }, { path: "a", data: 5 as unknown as string }, undefined as never])
      await rejected(sandbox.files.write([{ path: "ok", data: "x" }, bad]), context.sdk.InvalidArgumentError, "E0001");
    await rejected(sandbox.files.write("a", "x", { atomic: 1 as never }), context.sdk.InvalidArgumentError, "E0001");
    assert.lengthOf(calls, before);
  });

  test("[platform] an atomic write replaces a file at once, and leaves nothing when it fails", async (context) => {
    await withSandbox(context, async ({ files }) => {
      await files.write("a/file", "old");
      for (const data of ["new", utf8("new"), new Blob(["new"]), streamOf(utf8("new"))] as FileData[]) {
        await files.write("a/file", "old");
        const written = await files.write("a/file", data, { atomic: true });
        assert.deepInclude(written, { name: "file", path: "/home/user/a/file", type: "file" });
        assert.equal(await files.read("a/file"), "new");
      }
      await files.makeDir("a/dir/below");
      await rejected(files.write("a/dir", "x", { atomic: true }), context.sdk.SandboxError);
      await rejected(files.write("a/dir/", "x", { atomic: true }), context.sdk.InvalidArgumentError, "E0001");
      assert.deepEqual((await files.list("a")).map(({ name }) => name).sort(), ["dir", "file"]);
    });
  });

  test("an atomic write that is aborted, or whose move fails, removes what it wrote beside the file", async (context) => {
    const controller = new AbortController();
    const reason = new Error("mine");
    const failing = await storing(context, true, (call) =>
      call.path.endsWith("/Move") ? new Response("", { status: 500 }) : undefined,
    );
    await rejected(failing.sandbox.files.write("d/f", "x", { atomic: true }), context.sdk.SandboxError);
    assert.deepEqual([...failing.stored.keys()], []);
    assert.match(failing.calls[0]?.url.searchParams.get("path") ?? "", /^d\/\.[^/]+$/);
    const aborted = await storing(context, true, (call) => {
      if (call.path.endsWith("/Move")) controller.abort(reason);
      return undefined;
    });
    const write = aborted.sandbox.files.write("d/f", "x", { atomic: true, signal: controller.signal });
    assert.equal(await write.catch((error: unknown) => error), reason);
    assert.isTrue(aborted.calls.some(({ path }) => path.endsWith("/Remove")));
  });

  test("[platform] compressed and with labels, a file is stored as it is", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const { files } = sandbox;
      const bytes = noise(300_000);
      for (const data of [bytes, new Blob([bytes]), streamOf(bytes)] as FileData[]) {
        await files.write("packed", data, { gzip: true });
        assert.equal(await digestInside(sandbox, "packed"), await digest(bytes));
      }
      await files.write("packed", "", { gzip: true });
      assert.equal(await files.read("packed"), "");
      await files.write("labelled", "x", { metadata: { Author: "me", "x-kind": "a b=c" } });
      assert.deepEqual((await files.getInfo("labelled")).metadata, { author: "me", "x-kind": "a b=c" });
      await files.write("labelled", "y", { metadata: { other: "1" }, atomic: true });
      assert.deepEqual((await files.getInfo("labelled")).metadata, { other: "1" });
      await files.write("labelled", "z");
      assert.isUndefined((await files.getInfo("labelled")).metadata);
    });
  });

  test("compression and labels are said in headers; labels that cannot be are refused before any request", async (context) => {
    const { sandbox, calls } = await storing(context, true);
    await sandbox.files.write("f", "x".repeat(10_000), { gzip: true, metadata: { A: "b" } });
    assert.equal(calls[0]?.headers.get("content-encoding"), "gzip");
    assert.equal(calls[0]?.headers.get("x-metadata-a"), "b");
    assert.isBelow(calls[0]?.body.length ?? 0, 1_000);
    for (const metadata of [{ "a b": "c" }, { "": "c" }, { a: "é" }, { a: " b" }, { a: "x".repeat(4_096) }, { a: 1 }, "a"])
      await rejected(sandbox.files.write("f", "x", { metadata } as never), context.sdk.InvalidArgumentError, "E0001");
    assert.lengthOf(calls, 1);
  });

  test("an envd from before raw bodies gets a form, and no labels", async (context) => {
    const { calls } = await fakeSandbox(context, () => undefined);
    const fetch = Object.assign(
      (async (input: RequestInfo | URL, init?: RequestInit) => {
        const request = new Request(input, init);
        calls.push({ headers: request.headers, body: utf8(await request.text()) } as Call);
        return new Response('[{"name":"f","path":"/f","type":"file"}]');
      }) as typeof globalThis.fetch,
      { calls },
    );
    const sandbox = await context.sdk.Sandbox.attach(
      { sandboxId: "i1", sandboxUrl: "https://sandbox.test", envdVersion: "0.5.6" },
      { fetch },
    );
    for (const data of ["text", utf8("text"), new Blob(["text"]), streamOf(utf8("text"))] as FileData[]) {
      await sandbox.files.write("f", data, { gzip: true });
      assert.match(calls.at(-1)?.headers.get("content-type") ?? "", /^multipart\/form-data/);
      assert.match(text(calls.at(-1)?.body ?? new Uint8Array()), /name="file"[\s\S]*\r\n\r\ntext\r\n/);
    }
    await rejected(sandbox.files.write("f", "x", { metadata: {} }), context.sdk.CapabilityNotSupportedError, "E3004");
  });

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

  test("[platform] a download goes into a blob, a stream or a file, and tells how far it is", async (context) => {
    await withSandbox(context, async ({ files }) => {
      const bytes = noise(3_000_000);
      await files.write("f", bytes);
      const check = async (run: (told: ReturnType<typeof progress>) => Promise<Uint8Array>, size = bytes.length) => {
        const told = progress();
        const got = await run(told);
        assert.equal(got.length, size);
        assert.deepEqual(await digest(Uint8Array.from(got)), await digest(bytes.slice(0, size)));
        told.check(size);
      };
      await check(async (told) => new Uint8Array(await (await files.download("f", undefined, told.options)).arrayBuffer()));
      const intoStream = async (path: string, told: ReturnType<typeof progress>) => {
        const chunks: Uint8Array[] = [];
        let closed = false;
        const target = new WritableStream<Uint8Array>({
          write: (chunk) => void chunks.push(chunk),
          close: () => {
            closed = true;
          },
        });
        await files.download(path, target, told.options);
        assert.isTrue(closed);
        return concat(...chunks);
      };
      await check((told) => intoStream("f", told));
      await files.write("empty", "");
      await check((told) => intoStream("empty", told), 0);
      if (context.runtime === "page") {
        const root = await navigator.storage.getDirectory();
        const handle = await root.getFileHandle("download", { create: true });
        await check(async (told) => {
          await files.download("f", handle, told.options);
          return new Uint8Array(await (await handle.getFile()).arrayBuffer());
        });
        await rejected(files.download("missing", handle), context.sdk.FileNotFoundError, "E4001");
        assert.equal((await handle.getFile()).size, bytes.length, "a failed download leaves the file as it was");
        await files.upload(handle, "back");
        assert.equal((await files.getInfo("back")).size, bytes.length);
        await root.removeEntry("download");
      }
      await rejected(files.download("f", "/tmp/f" as never), context.sdk.InvalidArgumentError, "E0001");
      await rejected(files.upload("/tmp/f" as never, "f"), context.sdk.InvalidArgumentError, "E0001");
      await rejected(files.upload(5 as never, "f"), context.sdk.InvalidArgumentError, "E0001");
    });
  });

  test("[platform] a file that becomes shorter while it is read fails whoever reads it", async (context) => {
    await withSandbox(context, async (sandbox) => {
      await sandbox.commands.run("head -c 40000000 /dev/urandom > f", { check: true });
      let cut = false;
      const target = new WritableStream<Uint8Array>({
        async write() {
          if (!cut) await sandbox.commands.run("truncate -s 1000 f", { check: true });
          cut = true;
        },
      });
      await rejected(sandbox.files.download("f", target), context.sdk.SandboxConnectionError, "E5001");
    });
  });

  test("a download that ends before the size that the file had is no download", async (context) => {
    let size = "10";
    const { sandbox } = await fakeSandbox(context, (call) => {
      if (call.path.endsWith("/Stat")) return Response.json({ entry: { name: "f", path: "/f", type: "FILE_TYPE_FILE", size } });
      size = "3";
      return new Response("1234");
    });
    const error = await rejected(
      sandbox.files.download("/f", undefined, { onProgress() {} }),
      context.sdk.FileOperationError,
      "E4000",
    );
    assert.match(error.message, /4 of 10 bytes/);
  });

  test("a signal ends a download although its target still writes", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => new Response("content"));
    const giveUp = new AbortController();
    const reason = new Error("enough");
    const stuck = new WritableStream<Uint8Array>({
      write: () => {
        giveUp.abort(reason);
        return new Promise<void>(() => {});
      },
    });
    const given = await sandbox.files.download("f", stuck, { signal: giveUp.signal }).catch((error: unknown) => error);
    assert.equal(given, reason);
  });

  test("a target that cannot be written to is refused, before any request where it is seen", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, () => new Response("content"));
    const { InvalidArgumentError } = context.sdk;
    const locked = new WritableStream();
    locked.getWriter();
    await rejected(sandbox.files.download("f", locked), InvalidArgumentError, "E0001");
    assert.lengthOf(calls, 0);
    await rejected(sandbox.files.download("f", { createWritable: () => 5 } as never), InvalidArgumentError, "E0001");
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

  test.inNode("only a page saves a file to the browser's downloads", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, () => new Response("x"));
    const saving = sandbox.files.download("f", "save");
    const { suggestion } = await rejected(saving, context.sdk.CapabilityNotSupportedError, "E3004");
    assert.match(suggestion, /WritableStream.*readBytes/);
    assert.lengthOf(calls, 0);
  });

  test.inPage("a file is saved to the browser's downloads under its own name", async (context) => {
    const { sandbox } = await fakeSandbox(context, () => new Response("content"));
    const { click } = HTMLAnchorElement.prototype;
    const saved: [string, string][] = [];
    HTMLAnchorElement.prototype.click = function () {
      saved.push([this.download, this.href]);
    };
    try {
      await sandbox.files.download('/a/<b> "c".txt', "save");
    } finally {
      HTMLAnchorElement.prototype.click = click;
    }
    assert.equal(saved[0]?.[0], '<b> "c".txt');
    assert.equal(await (await fetch(saved[0]?.[1] ?? "")).text(), "content");
  });

  test("[platform] a signed URL ends when it says", async (context) => {
    await withSandbox(context, async (sandbox) => {
      await sandbox.files.write("f", "x");
      const url = sandbox.downloadUrl("f", { expiresInMs: 1_000 });
      assert.equal((await fetch(url)).status, 200);
      await eventually(async () => (await fetch(url)).status === 401, "the URL ends");
    });
  });
});
