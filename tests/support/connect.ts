/** Bytes of the Connect protocol and of protobuf, made by hand so that tests share no code with what they test. */

const encoder = new TextEncoder();

/** One envelope: flags, big-endian length, payload. `length` may lie about the payload. */
export function envelope(flags: number, payload: Uint8Array, length = payload.length): Uint8Array {
  const bytes = new Uint8Array(5 + payload.length);
  bytes[0] = flags;
  new DataView(bytes.buffer).setUint32(1, length);
  bytes.set(payload, 5);
  return bytes;
}

/** The envelope that ends a stream, with an error when one is given. */
export function endOfStream(error?: { code: string; message?: string }): Uint8Array {
  return envelope(2, encoder.encode(JSON.stringify(error === undefined ? {} : { error })));
}

/** A protobuf message from its fields: numbers as varints (negative ones as int32 does), the rest length-delimited. */
export function message(...fields: [field: number, value: number | string | Uint8Array][]): Uint8Array {
  const bytes: number[] = [];
  for (const [field, value] of fields) {
    if (typeof value === "number") {
      bytes.push(...varint(field * 8), ...varint(value));
    } else {
      const content = typeof value === "string" ? encoder.encode(value) : value;
      bytes.push(...varint(field * 8 + 2), ...varint(content.length), ...content);
    }
  }
  return Uint8Array.from(bytes);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return bytes;
}

/** The bytes one at a time. */
export function everyByte(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte));
}

/** The bytes in two pieces. */
export function cutAt(bytes: Uint8Array, at: number): Uint8Array[] {
  return [bytes.subarray(0, at), bytes.subarray(at)].filter((piece) => piece.length > 0);
}

export function concat(...pieces: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}
