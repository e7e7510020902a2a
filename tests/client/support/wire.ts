// envd's binary messages, written by hand from the protocol's tables: the tests' own second opinion on the client's encoding.
import { concat, text, utf8 } from "./bytes.ts";

/** A message's fields by number; a repeated field has several values. */
export type Fields = Map<number, (number | Uint8Array)[]>;

/** An envelope of the Connect protocol. */
export function envelope(payload: Uint8Array, flags = 0): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(5);
  header[0] = flags;
  new DataView(header.buffer).setUint32(1, payload.length);
  return concat(header, payload);
}

/** The end-of-stream envelope. */
export function endOfStream(body: unknown = {}): Uint8Array<ArrayBuffer> {
  return envelope(utf8(JSON.stringify(body)), 2);
}

/** The end-of-stream envelope of a failure. */
export function failure(code: string, message: string): Uint8Array<ArrayBuffer> {
  return endOfStream({ error: { code, message } });
}

/** `start` of a process stream. */
export function start(pid = 42): Uint8Array<ArrayBuffer> {
  return event(1, number(1, pid));
}

/** `data` of a process stream. */
export function data(of: "stdout" | "stderr" | "pty", bytes: Uint8Array | string): Uint8Array<ArrayBuffer> {
  return event(2, bytesField({ stdout: 1, stderr: 2, pty: 3 }[of], typeof bytes === "string" ? utf8(bytes) : bytes));
}

/** `end` of a process stream. An exit code of 0 is not on the wire. */
export function end(exit: { exitCode?: number; exited?: boolean; status?: string; error?: string } = {}): Uint8Array<ArrayBuffer> {
  const { exitCode = 0, exited = true, status = `exit status ${exitCode}`, error } = exit;
  return event(
    3,
    concat(
      exitCode === 0 ? new Uint8Array() : number(1, exitCode < 0 ? -exitCode * 2 - 1 : exitCode * 2),
      exited ? number(2, 1) : new Uint8Array(),
      bytesField(3, utf8(status)),
      error === undefined ? new Uint8Array() : bytesField(4, utf8(error)),
    ),
  );
}

/** `keepalive` of a process stream. */
export function keepalive(): Uint8Array<ArrayBuffer> {
  return event(4, new Uint8Array());
}

/** An event with fields that this version of the protocol does not have. */
export function eventFromTheFuture(): Uint8Array<ArrayBuffer> {
  return envelope(concat(bytesField(1, bytesField(77, utf8("what?"))), number(99, 5), bytesField(100, utf8("new"))));
}

/** A process stream's event with the given field of `ProcessEvent`. */
function event(field: number, message: Uint8Array): Uint8Array<ArrayBuffer> {
  return envelope(bytesField(1, bytesField(field, message)));
}

/** `WatchDirResponse.start`. */
export function watchStart(): Uint8Array<ArrayBuffer> {
  return envelope(bytesField(1, new Uint8Array()));
}

/** `WatchDirResponse.keepalive`. */
export function watchKeepalive(): Uint8Array<ArrayBuffer> {
  return envelope(bytesField(3, new Uint8Array()));
}

/** `WatchDirResponse.filesystem`; the types are the protocol's: 1 create, 2 write, 3 remove, 4 rename, 5 chmod. */
export function watchEvent(name: string, type: number): Uint8Array<ArrayBuffer> {
  return envelope(bytesField(2, concat(bytesField(1, utf8(name)), number(2, type))));
}

/** The answer to a unary call. Those are JSON; only streams and input are binary. */
export function unary(body: unknown = {}): Response {
  return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
}

/** The `EntryInfo` of a file, in JSON. */
export function entry(path: string): object {
  return {
    name: path.slice(path.lastIndexOf("/") + 1),
    type: "FILE_TYPE_FILE",
    path,
    size: "0",
    mode: 0o644,
    permissions: "-rw-r--r--",
    owner: "user",
    group: "user",
    addedLater: { by: "a newer server" },
  };
}

/** A length-delimited field. */
export function bytesField(field: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat(varint(field * 8 + 2), varint(bytes.length), bytes);
}

/** A varint field. */
export function number(field: number, value: number): Uint8Array<ArrayBuffer> {
  return concat(varint(field * 8), varint(value));
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** Reads a message's fields. */
export function decode(message: Uint8Array): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const read = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte % 128) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = read();
    const field = Math.floor(tag / 8);
    let value: number | Uint8Array;
    if (tag % 8 === 0) value = read();
    else if (tag % 8 === 2) {
      const length = read();
      value = message.subarray(at, at + length);
      at += length;
    } else throw new Error(`wire type ${tag % 8} is not used by envd`);
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

/** The message in a field, or an empty one. */
export function message(fields: Fields, field: number): Fields {
  const value = fields.get(field)?.[0];
  return value instanceof Uint8Array ? decode(value) : new Map();
}

/** The text in a field, or undefined. */
export function string(fields: Fields, field: number): string | undefined {
  const value = fields.get(field)?.[0];
  return value instanceof Uint8Array ? text(value) : undefined;
}

/** What a streaming request carries in its one envelope. */
export function streamRequest(body: Uint8Array): Fields {
  return decode(body.subarray(5));
}

/** A unary request's message. */
export function unaryRequest(body: Uint8Array): Record<string, unknown> {
  return JSON.parse(text(body));
}

/** What a SendInput request types: which process, and the bytes for its terminal or its stdin. */
export function sendInput(body: Uint8Array): { pid: number; pty?: Uint8Array; stdin?: Uint8Array } {
  const request = decode(body);
  const input = message(request, 2);
  const [stdin, pty] = [input.get(1)?.[0], input.get(2)?.[0]] as (Uint8Array | undefined)[];
  const pid = message(request, 1).get(1)?.[0] as number;
  return { pid, ...(pty && { pty }), ...(stdin && { stdin }) };
}

/** The configuration of a StartRequest. */
export function startRequest(body: Uint8Array): {
  cmd?: string;
  args: string[];
  envs: Record<string, string>;
  cols?: number;
  rows?: number;
  stdin?: number;
} {
  const request = streamRequest(body);
  const config = message(request, 1);
  const size = message(message(request, 2), 1);
  const envs = (config.get(3) ?? []).map((pair) => decode(pair as Uint8Array));
  const cmd = string(config, 1);
  return {
    ...(cmd !== undefined && { cmd }),
    args: (config.get(2) ?? []).map((value) => text(value as Uint8Array)),
    envs: Object.fromEntries(envs.map((pair) => [string(pair, 1) ?? "", string(pair, 2) ?? ""])),
    cols: size.get(1)?.[0] as number,
    rows: size.get(2)?.[0] as number,
    stdin: request.get(4)?.[0] as number,
  };
}
