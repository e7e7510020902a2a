// What transfers are made of and looked at with: bytes, progress, a sandbox that stores, and files that were picked.
import type { Sandbox, TransferProgress } from "agent-sandbox-web";
import { assert } from "chai";
import { concat, text } from "./bytes.ts";
import type { Call } from "./fake-fetch.ts";
import { fakeSandbox } from "./sandboxes.ts";
import type { Context } from "./suite.ts";

export const PART = 8 * 1024 * 1024;

/** Bytes that are not alike anywhere. */
export function noise(length: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4));
  let state = 1;
  for (let i = 0; i < words.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    words[i] = state;
  }
  return new Uint8Array(words.buffer, 0, length);
}

export async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const digestInside = async (sandbox: Sandbox, path: string) =>
  (await sandbox.commands.run(["sha256sum", path], { check: true })).stdout.split(" ")[0];

export const streamOf = (bytes: Uint8Array<ArrayBuffer>) => new Blob([bytes]).stream() as ReadableStream<Uint8Array>;

export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
}

/** Collects progress, and checks that it begins at 0, rises and ends at the size. */
export function progress(): {
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
export async function storing(context: Context, joins: boolean, fail?: (call: Call) => Response | undefined) {
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
export async function pickedFile({ runtime }: Context): Promise<{ file: Blob; change(): Promise<void>; remove(): Promise<void> }> {
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
  const file = await handle.getFile();
  // A browser tells a changed file by its time: it must be another.
  const change = async () => {
    do await write("and after it");
    while ((await handle.getFile()).lastModified === file.lastModified);
  };
  return { file, change, remove: () => root.removeEntry("picked") };
}
