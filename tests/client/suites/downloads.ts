// Downloads, and parts of files: where they go, how far they are, and when they are not whole.
import { assert } from "chai";
import { concat, text, utf8 } from "../support/bytes.ts";
import { Body } from "../support/fake-fetch.ts";
import { eventually, fakeSandbox, rejected, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";
import { bytesOf, digest, noise, progress } from "../support/transfers.ts";

export const downloads = suite("downloads", (test) => {
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

  test.inNode("a body that ends before its length is no whole one, unless the runtime unpacked it", async (context) => {
    let headers: Record<string, string> = { "content-length": "10" };
    const { sandbox } = await fakeSandbox(context, () => new Response("1234", { headers }));
    const { SandboxConnectionError } = context.sdk;
    const error = await rejected(sandbox.files.download("/f"), SandboxConnectionError, "E5001");
    assert.match(String(error.cause), /6 bytes before its end/);
    headers = { "content-length": "3" };
    assert.equal((await sandbox.files.download("/f")).size, 4);
    headers = { "content-length": "10", "content-encoding": "gzip" };
    assert.equal((await sandbox.files.download("/f")).size, 4);
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
