// Writing files: several at once, in one step, compressed, with labels, and to old sandboxes.
import type { FileData } from "agent-sandbox-web";
import { assert } from "chai";
import { text, utf8 } from "../support/bytes.ts";
import type { Call } from "../support/fake-fetch.ts";
import { fakeSandbox, rejected, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";
import { digest, digestInside, noise, storing, streamOf } from "../support/transfers.ts";

export const writes = suite("writes", (test) => {
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
});
