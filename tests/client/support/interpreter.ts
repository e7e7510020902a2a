// A scripted interpreter: the lines of its stream, and cells that get them.
import type { RunCodeOptions } from "agent-sandbox-web";
import { utf8 } from "./bytes.ts";
import { Body, type Call } from "./fake-fetch.ts";
import { fakeSandbox } from "./sandboxes.ts";
import type { Context } from "./suite.ts";

export const EXECUTE = "/49999/execute";
export const TIMESTAMP = "2026-11-29T12:00:00.123456Z";

export type Event = Record<string, unknown> & { type: string };

/** A line of the stream. */
export function line(event: Event | string): Uint8Array<ArrayBuffer> {
  return utf8(`${typeof event === "string" ? event : JSON.stringify(event)}\n`);
}

export const stdout = (piece: string) => line({ type: "stdout", text: piece, timestamp: TIMESTAMP });
export const stderr = (piece: string) => line({ type: "stderr", text: piece, timestamp: TIMESTAMP });
export const accepted = line({ type: "number_of_executions", execution_count: 3 });
export const failed = line({ type: "error", name: "ValueError", value: "bad", traceback: "Traceback: bad" });
export const RULE = "-".repeat(75);
export const result = (forms: Record<string, unknown>) => line({ type: "result", extra: {}, is_main_result: false, ...forms });
export const END = line({ type: "end_of_execution" });

/** Answers cells, and everything else as usual. */
export const executing = (answer: (call: Call) => Body | Response | Promise<Response>) => (call: Call) =>
  call.path.endsWith(EXECUTE) ? answer(call) : undefined;

export async function run(context: Context, chunks: Uint8Array<ArrayBuffer>[], options?: RunCodeOptions) {
  const { sandbox } = await fakeSandbox(
    context,
    executing(() => new Body(chunks)),
  );
  return sandbox.runCode("anything", options);
}

/** Where a kernel's picture would be. */
export const PIXEL = "iVBORw0KGgo=";
export const PIXEL_BYTES = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
