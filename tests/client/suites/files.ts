// Files: names and contents come back as they were given, whatever is in them.
import type { Sandbox } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, utf8 } from "../support/bytes.ts";
import { fakeSandbox, rejected, SECRETS, sceneSandbox, withSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";

/** Names that some layer between a caller and a disk would like to change. */
const NAMES = [
  "a b#?%+ü😀.txt",
  "#hash",
  "question?",
  "100%",
  "%20",
  "%2F%2e",
  "a+b",
  "a&b=c;d",
  'double"quote',
  "single'quote",
  "back\\slash",
  "new\nline",
  "tab\tand\rreturn",
  " leading and trailing ",
  "..hidden",
  "..name..",
  "日本語",
  "e\u0301 decomposed",
  "\u00e9 composed",
  "😀👩‍👩‍👧",
  "$(touch x).txt",
  "<img src=x onerror=alert(1)>",
  "-rf",
  "~tilde",
  "x".repeat(200),
];

async function streamOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
}

async function roundTrip(sandbox: Sandbox, folder: string, name: string): Promise<void> {
  const { files } = sandbox;
  const path = `${folder}/${name}`;
  const content = `content of ${name}`;
  const written = await files.write(path, content);
  assert.deepInclude(written, { name, path });
  assert.equal(await files.read(path), content);
  assert.deepEqual(await files.readBytes(path), utf8(content));
  assert.isTrue(await files.exists(path));
  assert.deepInclude(await files.getInfo(path), { name, path, type: "file", size: utf8(content).length });
  assert.deepEqual(
    (await files.list(folder)).map((entry) => entry.path),
    [path],
  );
  const fetched = await fetch(sandbox.downloadUrl(path));
  assert.equal(await fetched.text(), content);
  const form = new FormData();
  form.append("file", new Blob(["uploaded"]));
  assert.isTrue((await fetch(sandbox.uploadUrl(path), { method: "POST", body: form })).ok);
  assert.equal(await files.read(path), "uploaded");

  const directory = `${folder}/dir/${name}`;
  assert.isTrue(await files.makeDir(directory));
  assert.isFalse(await files.makeDir(directory));
  const moved = await files.move(path, `${directory}/${name}`);
  assert.deepInclude(moved, { name, path: `${directory}/${name}` });
  assert.isFalse(await files.exists(path));
  assert.equal(await files.read(`${directory}/${name}`), "uploaded");
  await files.remove(`${folder}/dir`);
  assert.isFalse(await files.exists(directory));
  assert.deepEqual(await files.list(folder), []);
}

export const files = suite("files", (test) => {
  test("[platform] every operation keeps every name", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const failed: string[] = [];
      for (const [i, name] of NAMES.entries()) {
        const folder = `/home/user/n${i}`;
        await sandbox.files.makeDir(folder);
        await roundTrip(sandbox, folder, name).catch((error: unknown) => failed.push(`${JSON.stringify(name)}: ${error}`));
      }
      assert.deepEqual(failed, []);
    });
  });

  test("[platform] composed and decomposed names are two files", async (context) => {
    await withSandbox(context, async ({ files }) => {
      await files.write("n/\u00e9", "composed");
      await files.write("n/e\u0301", "decomposed");
      assert.equal(await files.read("n/\u00e9"), "composed");
      assert.equal(await files.read("n/e\u0301"), "decomposed");
      assert.lengthOf(await files.list("n"), 2);
    });
  });

  test("[platform] paths with dots resolve where the server says", async (context) => {
    await withSandbox(context, async ({ files }) => {
      await files.makeDir("a");
      await files.write("a/../b.txt", "dots");
      assert.equal(await files.read("b.txt"), "dots");
      assert.equal(await files.read("./a/.././b.txt"), "dots");
      assert.equal(await files.read("/home/user/a/../b.txt"), "dots");
    });
  });

  test("[platform] signatures with + and / open their files without headers", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const [plus, slash] = [new Set<string>(), new Set<string>()];
      for (let i = 0; i < 12; i++) {
        const path = `signed ${i}.txt`;
        await sandbox.files.write(path, path);
        for (const expiresInMs of [undefined, 60_000]) {
          const url = sandbox.downloadUrl(path, expiresInMs === undefined ? {} : { expiresInMs });
          const signature = new URL(url).searchParams.get("signature") ?? "";
          assert.match(signature, /^v1_[A-Za-z0-9+/]+$/);
          if (signature.includes("+")) plus.add(url);
          if (signature.includes("/")) slash.add(url);
          assert.equal(await (await fetch(url)).text(), path);
        }
      }
      assert.isNotEmpty(plus, "signatures with a plus were tried");
      assert.isNotEmpty(slash, "signatures with a slash were tried");
      const broken = [...plus][0]?.replaceAll("%2B", "%2C") ?? "";
      assert.equal((await fetch(broken)).status, 401, "a changed signature is refused");
    });
  });

  test("[platform] an empty file reads as the empty value of each format", async (context) => {
    await withSandbox(context, async ({ files }) => {
      for (const empty of ["", new Uint8Array(), new ArrayBuffer(0), new Blob([])]) {
        await files.write("empty", empty);
        assert.strictEqual(await files.read("empty"), "");
        assert.deepEqual(await files.read("empty", { format: "bytes" }), new Uint8Array());
        assert.deepEqual(await files.readBytes("empty"), new Uint8Array());
        const blob = await files.read("empty", { format: "blob" });
        assert.instanceOf(blob, Blob);
        assert.equal(blob.size, 0);
        assert.equal((await streamOf(await files.read("empty", { format: "stream" }))).length, 0);
        assert.equal((await files.getInfo("empty")).size, 0);
      }
    });
  });

  test("[platform] every kind of data is written as its bytes, and every format gives them back", async (context) => {
    await withSandbox(context, async ({ files }) => {
      const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 31) % 256);
      const view = concat(Uint8Array.of(9, 9), bytes, Uint8Array.of(9)).subarray(2, 2 + bytes.length);
      const stream = new Blob([bytes]).stream() as ReadableStream<Uint8Array>;
      for (const [name, value] of Object.entries({ bytes, view, buffer: bytes.buffer, blob: new Blob([bytes]), stream })) {
        await files.write("data", value);
        assert.deepEqual(await files.readBytes("data"), bytes, name);
      }
      assert.deepEqual(new Uint8Array(await (await files.read("data", { format: "blob" })).arrayBuffer()), bytes);
      assert.deepEqual(await streamOf(await files.read("data", { format: "stream" })), bytes);
      await files.write("text", "\uFEFFmark, é, 😀, \0");
      assert.equal(await files.read("text"), "\uFEFFmark, é, 😀, \0");
    });
  });

  test("[platform] a file that was rewritten is read fresh", async (context) => {
    await withSandbox(context, async ({ files }) => {
      for (let i = 0; i < 5; i++) {
        await files.write("again", `version ${i}`);
        assert.equal(await files.read("again"), `version ${i}`);
        assert.equal(await files.read("again"), `version ${i}`);
      }
    });
  });

  test("[platform] what stands in a folder is told as what it is", async (context) => {
    await withSandbox(context, async ({ files, commands }) => {
      await commands.run(
        "mkdir -p t/sub/deep; echo hi > t/f; ln -s f t/link; ln -s nowhere t/broken; ln -s sub t/dirlink; mkfifo t/fifo",
        { check: true },
      );
      const entries = await files.list("t");
      const types = Object.fromEntries(entries.map(({ name, type }) => [name, type]));
      assert.deepEqual(types, {
        broken: "symlink",
        dirlink: "directory",
        f: "file",
        fifo: "other",
        link: "file",
        sub: "directory",
      });
      const link = entries.find(({ name }) => name === "link");
      assert.isString(link?.symlinkTarget);
      const file = await files.getInfo("t/f");
      assert.deepInclude(file, { size: 3, name: "f" });
      assert.isUndefined(file.symlinkTarget);
      assert.equal(file.mode & 0o700, 0o600);
      assert.match(file.permissions, /^-rw/);
      assert.instanceOf(file.modifiedTime, Date);
      assert.isBelow(Math.abs(Date.now() - (file.modifiedTime?.getTime() ?? 0)), 60_000);
      assert.include(
        (await files.list("t", { depth: 2 })).map(({ path }) => path),
        "/home/user/t/sub/deep",
      );
    });
  });

  test("[platform] what is wrong with a path has its own error, and the client goes on working", async (context) => {
    const { FileNotFoundError, InvalidArgumentError, FileOperationError, SandboxError } = context.sdk;
    await withSandbox(context, async ({ files }) => {
      await files.makeDir("dir");
      await files.write("file", "x");
      await rejected(files.read("missing"), FileNotFoundError, "E4001");
      await rejected(files.readBytes("missing"), FileNotFoundError, "E4001");
      await rejected(files.read("missing", { format: "stream" }), FileNotFoundError, "E4001");
      await rejected(files.list("missing"), FileNotFoundError, "E4001");
      await rejected(files.getInfo("missing"), FileNotFoundError, "E4001");
      await rejected(files.move("missing", "b"), FileNotFoundError, "E4001");
      await rejected(files.read("dir"), InvalidArgumentError, "E0001");
      await rejected(files.write("dir", "x"), InvalidArgumentError, "E0001");
      await rejected(files.list("file"), InvalidArgumentError, "E0001");
      await rejected(files.makeDir("file"), InvalidArgumentError, "E0001");
      await rejected(files.write("file/below", "x"), SandboxError);
      await rejected(files.makeDir("file/below"), FileOperationError);
      await rejected(files.read("nul\0"), InvalidArgumentError, "E0001");
      assert.isFalse(await files.exists("missing"));
      await files.remove("missing");
      assert.equal(await files.read("file"), "x");
    });
  });

  test("[platform] an absolute and a home path are the same file", async (context) => {
    await withSandbox(context, async ({ files }) => {
      await files.write("deep/er/file.txt", "made with its parents");
      assert.equal(await files.read("/home/user/deep/er/file.txt"), "made with its parents");
      assert.equal(await files.read("~/deep/er/file.txt"), "made with its parents");
    });
  });

  test("[platform] a file of 20 MB comes back whole as a stream", async (context) => {
    await withSandbox(context, async ({ files, commands }) => {
      await commands.run("head -c 20000000 /dev/urandom > big; sha256sum < big > sum", { check: true });
      const bytes = await streamOf(await files.read("big", { format: "stream" }));
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
      const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
      assert.include(await files.read("sum"), hex);
    });
  });

  test("[platform] a name that is no UTF-8 is listed, and its removal says that it cannot be asked for", async (context) => {
    await withSandbox(context, async ({ files, commands }) => {
      await commands.run("printf inside > $'bad\\xff'", { check: true });
      await files.write("good\uFFFD", "x");
      const names = (await files.list("/home/user")).map(({ name }) => name);
      assert.includeMembers(names, ["bad\uFFFD", "good\uFFFD"]);
      const error = await rejected(files.remove("bad\uFFFD"), context.sdk.FileNotFoundError, "E4001");
      assert.match(error.suggestion, /pattern/);
      await files.remove("good\uFFFD");
      assert.isFalse(await files.exists("good\uFFFD"));
      assert.equal((await commands.run("cat bad*; rm bad*")).stdout, "inside");
      await files.remove("no such");
    });
  });

  test("[platform] an abandoned download closes its connection and leaves the client working", async (context) => {
    await withSandbox(context, async ({ files, commands }) => {
      await commands.run("head -c 50000000 /dev/zero > big", { check: true });
      for (let i = 0; i < 8; i++) {
        const reader = (await files.read("big", { format: "stream" })).getReader();
        await reader.read();
        await reader.cancel();
      }
      assert.isTrue(await files.exists("big"));
    });
  });

  test.inPage("a read of a platform that accepts signatures sends no header that costs a preflight", async (context) => {
    const { sandbox, scene } = await sceneSandbox(context, [{ path: "/files", answers: [{ steps: [{ text: "content" }] }] }]);
    for (let i = 0; i < 20; i++) assert.equal(await sandbox.files.read("a"), "content");
    const seen = await scene.seen();
    assert.equal(await scene.preflights(), 0);
    assert.lengthOf(seen, 20);
    assert.isString(seen[0]?.query.get("signature"));
    await scene.close();
  });

  test("without signatures the token goes in its header", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, () => new Response("content"), {
      provider: { name: "own", domain: "sandbox.test", signedUrls: false },
    });
    assert.equal(await sandbox.files.read("a"), "content");
    assert.equal(calls[0]?.headers.get("x-access-token"), SECRETS.envdToken);
    assert.isNull(calls[0]?.url.searchParams.get("signature") ?? null);
  });
});
