/**
 * How fast output in tiny frames reaches a program: what a progress bar or a chatty build sends. A scripted server sends the frames, in the
 * codec of the request, because only it can keep them at 64 bytes; both clients read from it.
 */
import { afterAll, beforeAll, test } from "vitest";
import { concat, endOfStream, envelope, message } from "../support/connect.ts";
import { type ScriptedServer, scriptedServer } from "../support/scripted-server.ts";
import { compareInChromium, compareInNode } from "./compare.ts";

const FRAMES = 50_000;
const TEXT = "x".repeat(64);
const COMPARISON = { what: `${FRAMES} frames of 64 bytes`, command: "true", characters: FRAMES * TEXT.length, runs: 5, bound: 8 };

const json = (event: object) => envelope(0, Buffer.from(JSON.stringify({ event })));
const proto = (event: Uint8Array) => envelope(0, message([1, event]));

/** A whole answer as bytes, by the codec's media type. */
const answers: Record<string, Buffer> = {
  "application/connect+proto": answer(
    proto(message([1, message([1, 7])])),
    proto(message([2, message([1, TEXT])])),
    proto(message([3, message([2, 1], [3, "exit status 0"])])),
  ),
  "application/connect+json": answer(
    json({ start: { pid: 7 } }),
    json({ data: { stdout: Buffer.from(TEXT).toString("base64") } }),
    json({ end: { exited: true, status: "exit status 0" } }),
  ),
};

function answer(start: Uint8Array, frame: Uint8Array, end: Uint8Array): Buffer {
  return Buffer.concat([start, ...Array.from({ length: FRAMES }, () => frame), concat(end, endOfStream())]);
}

let server: ScriptedServer;
beforeAll(async () => {
  server = await scriptedServer();
  server.on("POST", "/*", (exchange) => {
    const type = exchange.headers["content-type"] ?? "";
    exchange.answer(200, { "content-type": type }, answers[type] ?? "");
  });
});
afterAll(() => server.close());

const settings = (url: string) => ({
  sandboxId: "i1",
  sandboxUrl: `${url}/s/{sandboxId}/{port}`,
  rootUrl: url,
  envdAccessToken: "token",
  envdVersion: "0.6.13",
});

test("in Node, frames of 64 bytes arrive at 8 times the rate of the e2b SDK", () =>
  compareInNode(COMPARISON, settings(server.address)));

test("in Chromium, frames of 64 bytes arrive at 8 times the rate of the e2b SDK", () =>
  compareInChromium(COMPARISON, settings(server.url)));
