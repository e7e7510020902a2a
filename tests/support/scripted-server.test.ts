import { expect, test } from "vitest";
import { concat, cutAt, endOfStream, envelope, everyByte, message } from "./connect.ts";
import { scriptedServer } from "./scripted-server.ts";

test("the reader gets the bytes of the script, however they are cut", async () => {
  await using server = await scriptedServer();
  const bytes = concat(envelope(0, message([1, 7], [2, "é"])), endOfStream({ code: "internal", message: "broken" }));
  server.on("POST", "/bytes", async (exchange) => {
    exchange.head(200);
    await exchange.chunks(everyByte(bytes));
    exchange.end();
  });
  const answer = await fetch(`${server.address}/bytes?a=1`, { method: "POST", body: "question" });
  expect(new Uint8Array(await answer.arrayBuffer())).toEqual(bytes);
  const request = await server.next("POST", "/bytes");
  expect([(await request.body).toString(), request.query.get("a"), await request.abandoned]).toEqual(["question", "1", false]);
});

test("protobuf and envelopes have the bytes of their specifications", () => {
  expect([...message([1, 300], [2, "testing"], [3, -1])]).toEqual([
    0x08, 0xac, 0x02, 0x12, 7, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67, 0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    1,
  ]);
  expect([...envelope(1, Uint8Array.of(9), 0xffffffff)]).toEqual([1, 255, 255, 255, 255, 9]);
  expect(cutAt(Uint8Array.of(1, 2, 3), 1).map((piece) => [...piece])).toEqual([[1], [2, 3]]);
});

test("a cut or reset connection is an error for the reader", async () => {
  await using server = await scriptedServer();
  for (const fault of ["cut", "reset"] as const) {
    server.on("GET", `/${fault}`, async (exchange) => {
      exchange.head(200);
      await exchange.chunk("half");
      exchange[fault]();
    });
    await expect(fetch(`${server.address}/${fault}`).then((answer) => answer.text())).rejects.toThrow();
  }
});

test("a client that goes away is seen", async () => {
  await using server = await scriptedServer();
  server.on("GET", "/endless", async (exchange) => {
    exchange.head(200);
    await exchange.chunk("begin");
  });
  const abort = new AbortController();
  const answer = await fetch(`${server.address}/endless`, { signal: abort.signal });
  expect(answer.status).toBe(200);
  const request = await server.next("GET", "/endless");
  abort.abort();
  expect(await request.abandoned).toBe(true);
});
