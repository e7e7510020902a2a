// Cloudflare's workerd, without a compatibility flag: one worker makes every call in one request, and many at once in requests of their own.
import { expect, test } from "vitest";
import { packageProject } from "../support/package-project.ts";
import { callsFiles, expectAllWell, given } from "./running.ts";
import { startWorker } from "./workers.ts";

const WORKER = `import * as sdk from "agent-sandbox-web";
import { runCalls } from "./calls.js";
import given from "./given.js";

export default {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/calls") return Response.json(await runCalls(sdk, given));
    if (pathname === "/stream") {
      const sandbox = await sdk.Sandbox.attach(JSON.parse(searchParams.get("handoff")));
      const stream = sandbox.commands.stream("for i in 1 2 3; do echo $i; sleep 0.1; done", { output: "bytes" });
      return new Response(stream.readable.pipeThrough(new TransformStream({
        transform(chunk, to) { if (chunk.type === "stdout") to.enqueue(chunk.data); },
      })));
    }
    const sandbox = await sdk.Sandbox.attach(JSON.parse(searchParams.get("handoff")));
    const name = searchParams.get("name");
    await sandbox.files.write(name, name);
    const { stdout } = await sandbox.commands.run(["cat", name]);
    return Response.json({ stdout, read: await sandbox.files.read(name) });
  },
};
`;

const start = async () => startWorker(await packageProject({ "main.js": WORKER, ...(await callsFiles()) }), "main.js");

test("one request makes every call", async () => {
  const answer = await (await start()).dispatchFetch("http://worker.test/calls");
  const body = await answer.text();
  expect(answer.status, body).toBe(200);
  expectAllWell(JSON.parse(body));
});

test("twenty requests at a cold start do not wait for each other, and a stream of output is a response", async () => {
  const { Sandbox } = await import("agent-sandbox-web");
  await using sandbox = await Sandbox.create("base", given("path").platform);
  const handoff = encodeURIComponent(JSON.stringify(sandbox.handoff()));
  const worker = await start();
  const names = Array.from({ length: 20 }, (_, i) => `file ${i}`);
  const answers = await Promise.all(
    names.map(async (name) => {
      const answer = await worker.dispatchFetch(`http://worker.test/?name=${encodeURIComponent(name)}&handoff=${handoff}`);
      return answer.ok ? await answer.json() : await answer.text();
    }),
  );
  expect(answers).toEqual(names.map((name) => ({ stdout: name, read: name })));
  expect(await (await worker.dispatchFetch(`http://worker.test/stream?handoff=${handoff}`)).text()).toBe("1\n2\n3\n");
});
