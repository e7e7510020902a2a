// Bodies of requests, never more of them than a limit.
import { Refusal, tooLarge } from "./refusal.js";

/** Calls about sandboxes are small, in bytes. */
const CALL_LIMIT = 1024 * 1024;

/** Refuses a body whose length is known to be too much. */
function check(request: Request, limit: number): void {
  const length = Number(request.headers.get("content-length") ?? 0);
  if (!(length >= 0)) throw new Refusal(400, "bad_request", "The request's Content-Length is no length.");
  if (length > limit) throw tooLarge(limit);
}

/** The whole body. */
export async function whole(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  check(request, limit);
  if (request.body === null) return undefined;
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > limit) {
      reader.cancel().catch(() => undefined);
      throw tooLarge(limit);
    }
    pieces.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.byteLength;
  }
  return bytes;
}

/** A body that streams, and the refusal that ended it, if one did. */
export interface Streamed {
  readonly body: ReadableStream<Uint8Array> | undefined;
  refusal: Refusal | undefined;
}

/** The body as a stream that fails at the limit. */
export function streamed(request: Request, limit: number | undefined): Streamed {
  const streamed: { body: ReadableStream<Uint8Array> | undefined; refusal: Refusal | undefined } = {
    body: request.body ?? undefined,
    refusal: undefined,
  };
  if (limit === undefined || streamed.body === undefined) return streamed;
  check(request, limit);
  let length = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      length += chunk.byteLength;
      if (length <= limit) return controller.enqueue(chunk);
      streamed.refusal = tooLarge(limit);
      controller.error(streamed.refusal);
    },
  });
  streamed.body = streamed.body.pipeThrough(counting);
  return streamed;
}

/** The JSON object of a call about sandboxes; an empty body is an empty one. */
export async function object(request: Request): Promise<Record<string, unknown>> {
  return (await sentObject(request)) ?? {};
}

/** The same, and undefined where nothing was sent. */
export async function sentObject(request: Request): Promise<Record<string, unknown> | undefined> {
  const bytes = await whole(request, CALL_LIMIT);
  const text = bytes === undefined ? "" : new TextDecoder().decode(bytes);
  if (text.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {}
  throw new Refusal(400, "bad_request", "The request's body must be a JSON object.");
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
