// What files are sent from and read into: bytes, blobs and web streams, and how a transfer tells how far it is.
import { makeError } from "./errors.js";
import { runtimeKind } from "./runtime.js";
import { isCallable, isUint8Array, madeAs } from "./shape.js";

/** A part of a file that is sent in parts, in bytes. */
export const PART = 8 * 1024 * 1024;

export const isPage = runtimeKind() === 0;

/**
 * Lets the collector know that memory is due. Chromium keeps the bytes of a request's body until its collector finds the request dropped, and
 * does not count them: a stream sent in parts from reused buffers makes no other garbage, so nothing is collected and all of the stream
 * stays in memory (seen: 481 of 512 MiB). What is read fast lies about as well (seen: 440 MiB, and as much with plain fetch). Arrays are counted
 * when they are made and take no memory before they are written to.
 */
export function callForCollection() {
  try {
    // Several at once: the first ones begin a collection, the others hasten it. Held together, so that they are not dropped one by one.
    Array.from({ length: 8 }, () => new ArrayBuffer(2 * PART));
  } catch {
    // Where so much address space is not to be had, the browser is about to collect anyway.
  }
}

export function invalid(message, suggestion = "") {
  return makeError("InvalidArgumentError", message, suggestion, {});
}

export function unable(message, suggestion = "") {
  return makeError("CapabilityNotSupportedError", message, suggestion, {});
}

export function callback(options, name) {
  const value = options?.[name] ?? undefined;
  if (value !== undefined && !isCallable(value)) throw invalid(`${name} must be a function.`);
  return value;
}

export function isBytes(data) {
  return isUint8Array(data) || madeAs(data) === "ArrayBuffer";
}

export function isBlob(data) {
  return /^(Blob|File)$/.test(madeAs(data));
}

export function isStream(data) {
  return madeAs(data) === "ReadableStream";
}

/** A chunk of a stream of data, which must be bytes. */
export function bytesOf(chunk) {
  if (isUint8Array(chunk)) return chunk;
  throw invalid("A stream of data must give Uint8Arrays.", "Text becomes bytes with pipeThrough(new TextEncoderStream()).");
}

/** The options of the calls that a call is made of. */
export function inner(options) {
  const { user, signal, requestTimeoutMs } = options ?? {};
  return { user, signal, requestTimeoutMs };
}

/**
 * What a source gives in parts of one size; the last may be smaller or empty. Of a stream they are bytes in two buffers that take turns,
 * so that a long stream leaves no garbage: each part must be used up before the one after the next is asked for.
 */
export async function* partsOf(source) {
  if (isBlob(source)) {
    for (let at = 0; at <= source.size; at += PART) yield source.slice(at, at + PART);
    return;
  }
  const reader = source.getReader();
  try {
    let [part, other, filled] = [[], [], 0];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytesOf(value);
      for (let at = 0; at < value.length; ) {
        if (!part.length) part = new Uint8Array(PART);
        const piece = value.subarray(at, at + PART - filled);
        part.set(piece, filled);
        at += piece.length;
        filled += piece.length;
        if (filled < PART) continue;
        yield part;
        [part, other, filled] = [other, part, 0];
      }
    }
    yield part.length ? part.subarray(0, filled) : new Uint8Array();
  } finally {
    // A source that was not read to its end is told that nobody will.
    await reader.cancel().catch(() => {});
  }
}

/** All that a stream gives. (A `Response` would do it too, but in Chromium it hides what a stream failed with.) */
export function collect(stream) {
  return gather([], partsOf(stream));
}

export async function gather(begun, rest) {
  const parts = begun.map((part) => new Blob([part]));
  for await (const part of rest) parts.push(new Blob([part]));
  return new Blob(parts);
}

/**
 * Runs something that tells how far it is. Values rise, from 0 on; a callback that throws ends the call with what it threw.
 * Without a callback nothing is told, and the caller's signal is passed on as it is.
 */
export async function telling(options, onProgress, total, run) {
  if (!onProgress) return run(options, () => {});
  const { signal } = options;
  const controller = new AbortController();
  const give = () => controller.abort(signal.reason);
  if (signal?.aborted) give();
  signal?.addEventListener("abort", give);
  let last = -1;
  let failed;
  const fail = (error) => {
    failed ??= { error };
    controller.abort(error);
  };
  try {
    const given = await run({ ...options, signal: controller.signal }, (loaded, of = total) => {
      if (loaded <= last) return;
      last = loaded;
      try {
        const answer = onProgress(of === undefined || of < loaded ? { loaded } : { loaded, total: of });
        if (answer) Promise.resolve(answer).catch(fail);
      } catch (error) {
        fail(error);
      }
    });
    // What the last step threw had nothing left to end.
    if (failed) throw failed.error;
    return given;
  } finally {
    signal?.removeEventListener("abort", give);
  }
}
