// Writing and uploading: what becomes of each kind of data. Requests are made in WebAssembly; here is what only JavaScript has: blobs,
// web streams and XMLHttpRequest.

import { makeError } from "./errors.js";
import { headerText } from "./fetch.js";
import {
  bytesOf,
  callback,
  callForCollection,
  collect,
  gather,
  inner,
  invalid,
  isBlob,
  isBytes,
  isPage,
  isStream,
  partsOf,
  telling,
  unable,
} from "./file-data.js";
import { checkOptions } from "./options.js";
import { kind, madeAs, readable } from "./shape.js";

/** How many files of one call are written at a time: a browser has six connections a host, and others want some. */
const AT_ONCE = 4;

/** The first envd, after 0, that takes a file's bytes as the body of a request; older ones take forms. */
const RAW_UPLOADS = [5, 7];

/** The first envd, after 0, that keeps metadata. */
const METADATA = [6, 2];

function flag(options, name) {
  const value = options?.[name] ?? false;
  if (typeof value !== "boolean") throw invalid(`${name} must be a boolean.`);
  return value;
}

/** The headers that carry a file's metadata. */
function metadataHeaders(files, metadata) {
  const headers = {};
  if (metadata === undefined || metadata === null) return headers;
  if (typeof metadata !== "object" || Array.isArray(metadata)) throw invalid("metadata must be an object of strings.");
  if (files.__isOlder(...METADATA)) throw unable("The sandbox's envd keeps no metadata: it is older than 0.6.2.");
  let size = 0;
  for (const [key, value] of Object.entries(metadata)) {
    if (!/^[\w!#$%&'*+.^`|~-]{1,246}$/.test(key)) {
      throw invalid("Each key of metadata must be 1 to 246 letters, digits or any of !#$%&'*+-.^_`|~.");
    }
    if (typeof value !== "string" || !/^[ -~]*$/.test(value) || value.trim() !== value) {
      throw invalid("Each value of metadata must be printable ASCII, without a space at its ends.");
    }
    // The server keeps a prefix with each key.
    size += 9 + key.length + value.length;
    headers[`x-metadata-${key.toLowerCase()}`] = value;
  }
  if (size > 4096) throw invalid("metadata is too large: keys, values and 9 bytes for each must fit into 4096 bytes.");
  return headers;
}

/** How a write is to be done, checked before anything is sent. */
function plan(files, path, options) {
  const given = checkOptions(options, "user atomic gzip metadata onProgress");
  files.__check(path, given);
  const atomic = flag(given, "atomic");
  if (atomic && path.endsWith("/")) throw invalid("path must name a file, not end with a slash.");
  const gzip = flag(given, "gzip");
  if (gzip && !globalThis.CompressionStream) throw unable("This runtime cannot compress: it has no CompressionStream.");
  return { given, atomic, gzip, headers: metadataHeaders(files, given?.metadata) };
}

function checkData(data) {
  if (!(typeof data === "string" || isBytes(data) || isBlob(data) || isStream(data))) {
    throw invalid(`data must be a string, a Uint8Array, an ArrayBuffer, a Blob or a ReadableStream, not ${kind(data)}.`);
  }
  if (typeof data === "string" && /\p{Surrogate}/u.test(data)) {
    throw invalid("data must not contain a lone surrogate (half of a UTF-16 pair): no file can hold it as UTF-8.");
  }
  checkSource("data", data);
}

/** Throws for what has the right type and cannot be sent all the same. */
function checkSource(name, data) {
  if (isStream(data)) {
    if (data.locked) throw invalid(`${name} is a stream that somebody else reads.`);
    return;
  }
  if (!isBytes(data)) return;
  const buffer = data.buffer ?? data;
  if (madeAs(buffer) === "SharedArrayBuffer") {
    throw invalid(`${name} lies in memory that is shared, and may change while it is sent.`, "Send a copy: bytes.slice().");
  }
  try {
    new Uint8Array(buffer);
  } catch {
    throw invalid(`${name} has no memory any more: its buffer was transferred elsewhere.`, "Send it before, or send a copy.");
  }
}

/**
 * A caller's stream, whose bytes are looked at on their way. What it fails with is the caller's own error, which `fetch` would keep to
 * itself; `failure` then holds it.
 */
function watched(stream) {
  const reader = stream.getReader();
  const source = { failure: undefined, stream: undefined };
  source.stream = new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(bytesOf(value));
        } catch (error) {
          source.failure = { error };
          controller.error(error);
          // A source of anything but bytes is told that nobody wants more.
          await reader.cancel(error).catch(() => {});
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return source;
}

/** A name beside a file that nobody has. */
function siblingOf(path) {
  const random = crypto.getRandomValues(new Uint32Array(2));
  return `${path.slice(0, path.lastIndexOf("/") + 1)}.upload-${random[0].toString(36)}${random[1].toString(36)}`;
}

/** A stream that ends with the caller's signal. */
function abortable(stream, signal) {
  return signal ? stream.pipeThrough(new TransformStream(), { signal }) : stream;
}

/**
 * Does what reads a blob to send it. A picked file that was changed or deleted on disk cannot be read any more, which `fetch` tells as if the
 * network had failed.
 */
async function reading(data, options, send) {
  try {
    return await send();
  } catch (error) {
    if (isBlob(data) && !options?.signal?.aborted) {
      await data
        .slice(0, 1)
        .arrayBuffer()
        .catch((cause) => {
          throw makeError(
            "InvalidArgumentError",
            "The local file cannot be read any more: it was changed or deleted since it was picked.",
            "Pick it again.",
            { cause },
          );
        });
    }
    throw error;
  }
}

/** Sends one file as the body of one request. */
async function put(files, path, data, options, { gzip, headers }, send) {
  const source = isStream(data) ? watched(data) : undefined;
  try {
    return await putBody(files, path, source?.stream ?? data, options, { gzip, headers }, send);
  } catch (error) {
    throw source?.failure ? source.failure.error : error;
  }
}

async function putBody(files, path, data, options, { gzip, headers }, send) {
  const asForm = files.__isOlder(...RAW_UPLOADS);
  let body = data;
  const sent = { ...headers };
  if (gzip && !asForm) {
    const plain = new Response(data).body ?? new Blob().stream();
    body = plain.pipeThrough(new CompressionStream("gzip"));
    sent["content-encoding"] = "gzip";
  }
  // Browsers cannot send a stream over HTTP/1.1, and forms hold blobs: what the stream gives is collected first.
  if ((asForm || isPage) && isStream(body)) body = await collect(abortable(body, options?.signal));
  if (asForm) {
    const form = new FormData();
    form.append("file", isBlob(body) ? body : new Blob([body]), "file");
    return files.__put(path, form, headerText(sent), options);
  }
  sent["content-type"] = "application/octet-stream";
  return files.__put(path, send && !gzip ? send(body) : body, headerText(sent), options);
}

/** Writes beside the file and moves that into its place; nothing is left when it fails. */
async function inPlace(files, path, options, write) {
  const sibling = siblingOf(path);
  try {
    await write(sibling);
    const { name, path: where, type } = await files.move(sibling, path, inner(options));
    return { name, path: where, type };
  } catch (error) {
    await files.remove(sibling, { user: options?.user }).catch(() => {});
    throw error;
  }
}

export async function writeOne(files, path, data, options) {
  const how = plan(files, path, options);
  const { given } = how;
  checkData(data);
  const at = (where) =>
    isStream(data) && isPage ? sendParts(files, where, data, given, how) : put(files, where, data, given, how);
  return reading(data, given, () => (how.atomic ? inPlace(files, path, given, at) : at(path)));
}

/** Writes several files, a few at a time. When one fails no other is begun, and those under way are waited for. */
export async function writeAll(files, given, options) {
  const entries = readable("An array that was given", () =>
    Array.from(given, (entry) => ({ path: entry?.path, data: entry?.data })),
  );
  for (const { path, data } of entries) {
    plan(files, path, options);
    checkData(data);
  }
  const written = [];
  let [next, failed] = [0, undefined];
  const work = async () => {
    while (next < entries.length && !failed) {
      const at = next++;
      const { path, data } = entries[at];
      written[at] = await writeOne(files, path, data, options).catch((error) => {
        failed ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (failed) throw failed.error;
  return written;
}

const sizeIn = (part) => part?.size ?? part?.length;

/** Those of sandboxes that can join files. */
const joining = new WeakSet();

/** Whether the sandbox can join files: asked once, by what it says to joining none. */
async function joins(files, path, options) {
  if (joining.has(files)) return true;
  try {
    await files.__compose([], path, options);
  } catch (error) {
    if (error.status === 404 || error.status === 405) return false;
    if (error.status !== 400) throw error;
  }
  joining.add(files);
  return true;
}

/** Sends a source in parts that the sandbox joins, so that neither its length nor room for all of it is needed. */
async function sendParts(files, path, source, options, how, report = () => {}) {
  const limits = inner(options);
  const whole = async (data) => {
    const written = await put(files, path, data, limits, how);
    report(sizeIn(data));
    return written;
  };
  const parts = partsOf(isBlob(source) ? source : abortable(source, limits.signal));
  try {
    const { value: first } = await parts.next();
    const { value: second } = await parts.next();
    if (!sizeIn(second)) return await whole(first);
    // Joining keeps no metadata, and some platforms cannot join.
    if (how.gzip || Object.keys(how.headers).length > 0 || !(await joins(files, path, limits))) {
      return await whole(await gather([first, second], parts));
    }
    return await joinParts(files, path, [first, second], parts, limits, report);
  } finally {
    await parts.return();
  }
}

async function joinParts(files, path, begun, rest, limits, report) {
  const prefix = siblingOf(path);
  const names = [];
  const how = { gzip: false, headers: {} };
  let loaded = 0;
  try {
    for (let part = begun.shift(); sizeIn(part); part = begun.shift() ?? (await rest.next()).value) {
      names.push(`${prefix}.${names.length}`);
      await put(files, names.at(-1), part, limits, how);
      if (isPage && isBytes(part)) callForCollection();
      loaded += sizeIn(part);
      report(loaded);
    }
    return await files.__compose(names, path, limits);
  } catch (error) {
    for (const name of names) await files.remove(name, { user: limits.user }).catch(() => {});
    throw error;
  }
}

/** Sends a blob with XMLHttpRequest, which alone tells how far it is; in the form of a `fetch`. */
function byXhr(report) {
  return (body) =>
    (url, { method, headers, signal }) =>
      new Promise((resolve, reject) => {
        const xhr = new XMLHttpRequest();
        xhr.open(method, url);
        for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
        xhr.upload.onprogress = ({ loaded }) => report(loaded);
        xhr.onload = () => {
          // Where the server does not let it be read, asking for it is an error in the console.
          const retry = xhr.status === 429 || xhr.status === 503 ? xhr.getResponseHeader("retry-after") : null;
          resolve(new Response(xhr.response || null, { status: xhr.status, headers: retry ? { "retry-after": retry } : {} }));
        };
        xhr.onerror = () => reject(new TypeError("The upload broke off."));
        signal.addEventListener("abort", () => {
          xhr.abort();
          reject(signal.reason);
        });
        xhr.send(body);
      });
}

export async function upload(files, source, path, options) {
  if (typeof source === "string") {
    throw invalid(
      "source must be a Blob, a File, a file handle, bytes or a stream: there are no local paths here.",
      "Write text with files.write(path, text).",
    );
  }
  const how = plan(files, path, options);
  const onProgress = callback(options, "onProgress");
  checkSource("source", source);
  let data = source;
  if (typeof data?.getFile === "function") data = await data.getFile();
  if (isBytes(data)) data = new Blob([data]);
  if (!(isBlob(data) || isStream(data))) {
    throw invalid("source must be a Blob, a File, a FileSystemFileHandle, a Uint8Array, an ArrayBuffer or a ReadableStream.");
  }
  const given = inner(options);
  given.requestTimeoutMs ??= 0;
  return telling(given, onProgress, data.size, async (limits, report) => {
    report(0);
    const at = (where) => {
      if (!isBlob(data)) {
        const inParts = isPage || onProgress;
        return inParts ? sendParts(files, where, data, limits, how, report) : put(files, where, data, limits, how);
      }
      if (!onProgress || how.gzip || files.__isOlder(...RAW_UPLOADS)) return put(files, where, data, limits, how);
      if (globalThis.XMLHttpRequest && !files.__ownFetch) return put(files, where, data, limits, how, byXhr(report));
      return sendParts(files, where, data, limits, how, report);
    };
    const written = await reading(data, limits, () => (how.atomic ? inPlace(files, path, limits, at) : at(path)));
    if (data.size !== undefined) report(data.size);
    return written;
  });
}
