import type { EntryInfo, Files } from "agent-sandbox-web";

/** What came of opening a file. */
export type OpenedFile =
  | {
      readonly kind: "text";
      readonly text: string;
      /** How lines end: kept when the file is written back. */
      readonly lineSeparator: "\n" | "\r\n";
      readonly info: EntryInfo;
    }
  | {
      readonly kind: "image";
      readonly data: Blob;
      readonly info: EntryInfo;
      /** Its first bytes. */
      readonly head: Uint8Array;
    }
  | {
      readonly kind: "refused";
      /** Why it cannot be edited. */
      readonly reason: "binary" | "large" | "image" | "special";
      readonly info: EntryInfo;
      /** Its first bytes. */
      readonly head: Uint8Array;
    };

/** What an editor in a page can hold without trouble, in bytes. */
export const EDITABLE_BYTES = 2 * 1024 * 1024;
/** Up to which size a picture is shown, in bytes. */
export const SHOWN_IMAGE_BYTES = 20 * 1024 * 1024;
const HEAD_BYTES = 512;

/** How pictures begin that every browser shows; `?` stands for any byte. */
const IMAGES: readonly (readonly [mime: string, start: string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF8"],
  ["image/webp", "RIFF????WEBP"],
  ["image/avif", "????ftypavif"],
  ["image/bmp", "BM????\0\0\0\0"],
  ["image/x-icon", "\0\0\x01\0"],
];

/** The type of a picture by its first bytes; a name may say anything. */
function imageType(head: Uint8Array): string | undefined {
  const matches = (start: string) => [...start].every((character, at) => character === "?" || head[at] === character.charCodeAt(0));
  return IMAGES.find(([, start]) => matches(start))?.[0];
}

/** Opens a file for editing, or finds out why it cannot be edited. Never reads more than it can use. */
export async function openFile(files: Files, path: string, signal: AbortSignal): Promise<OpenedFile> {
  const info = await files.getInfo(path, { signal });
  // Reading a pipe or a device may wait for ever, or never end.
  if (info.type !== "file") return { kind: "refused", reason: "special", info, head: new Uint8Array() };
  const tooLarge = info.size > EDITABLE_BYTES;
  // The size is not to be trusted: a log grows, and files of /proc say 0.
  const data = await firstBytes(files, path, tooLarge ? HEAD_BYTES : EDITABLE_BYTES + 1, signal);
  const head = data.subarray(0, HEAD_BYTES);
  const image = imageType(head);
  if (image !== undefined && info.size > SHOWN_IMAGE_BYTES) return { kind: "refused", reason: "image", info, head };
  if (image !== undefined) {
    const whole = data.length === info.size ? data : await files.readBytes(path, { end: SHOWN_IMAGE_BYTES, signal });
    return { kind: "image", data: new Blob([whole as Uint8Array<ArrayBuffer>], { type: image }), info, head };
  }
  if (data.subarray(0, 8192).includes(0)) return { kind: "refused", reason: "binary", info, head };
  if (tooLarge || data.length > EDITABLE_BYTES) return { kind: "refused", reason: "large", info, head };
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return { kind: "refused", reason: "binary", info, head };
  }
  return { kind: "text", text, lineSeparator: lineSeparatorOf(text), info };
}

async function firstBytes(files: Files, path: string, count: number, signal: AbortSignal): Promise<Uint8Array> {
  const reader = (await files.read(path, { format: "stream", signal })).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < count) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  await reader.cancel();
  const data = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    data.set(chunk, at);
    at += chunk.length;
  }
  return data.subarray(0, count);
}

/** Windows line ends only where every line has one; with mixed ends each stays as it is. */
function lineSeparatorOf(text: string): "\n" | "\r\n" {
  return /\r\n/.test(text) && !/\r(?!\n)|(?<!\r)\n/.test(text) ? "\r\n" : "\n";
}

/** Bytes as people look at them: offset, hexadecimal, and the printable ones as text. */
export function hexDump(data: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += 16) {
    const row = [...data.subarray(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${text}`);
  }
  return lines.join("\n");
}
