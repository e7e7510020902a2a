// Next.js, without any configuration: a client component, whose first rendering is on the server, and routes of both of its runtimes.
import { realpath } from "node:fs/promises";
import { Sandbox } from "agent-sandbox-web";
import { WebSocket } from "undici";
import { expect, test } from "vitest";
import { callsFiles, expectAllWell } from "../runtimes/running.ts";
import { toolsOf } from "../support/package-project.ts";
import { printed, startProgram } from "../support/programs.ts";
import { appProject, expectToShow, IN_PAGE, toolProgram } from "./building.ts";

test("a built app streams in a client component, and its edge and Node routes make every call", async () => {
  // What is installed for this repository, undici among it, is not installed in an app.
  const config = `export default { turbopack: { root: ${JSON.stringify(await realpath(toolsOf("bundlers")))} } };`;
  const { folder } = await appProject("next", { ...(await callsFiles()), "next.config.mjs": config });
  await printed(toolProgram("next"), ["build"], folder);
  const server = await startProgram(toolProgram("next"), ["start", "--port", "0"], folder, /http:\/\/localhost:\d+/);
  await expectToShow(server.found, IN_PAGE);
  for (const runtime of ["edge", "node"]) {
    const answer = await fetch(`${server.found}/api/${runtime}`);
    const body = await answer.text();
    if (!answer.ok) throw new Error(`${runtime}: ${answer.status} ${body}\n${server.log()}`);
    expectAllWell(JSON.parse(body));
  }
});

// With a route beside it that takes all of the package, where the relay takes a part.
test("a relay as a route makes sandboxes, passes files and output on as they come, and refuses a WebSocket by name", async () => {
  const { folder } = await appProject("next-relay", await callsFiles());
  await printed(toolProgram("next"), ["build"], folder);
  const server = await startProgram(toolProgram("next"), ["start", "--port", "0"], folder, /http:\/\/localhost:\d+/);
  const whole = await fetch(`${server.found}/api/whole`);
  expect(await whole.json()).toEqual({ alias: true, error: "InvalidArgumentError" });
  const relay = `${server.found}/api/sandbox`;
  await expect(Sandbox.create("base", { relay })).rejects.toMatchObject({ code: "E1000" });
  const options = { relay, apiHeaders: { "x-user": "alice" }, webSocket: WebSocket };
  await using sandbox = await Sandbox.create("code-interpreter", options);
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, at) => at % 251);
  await sandbox.files.write("large", new Blob([bytes]).stream());
  expect(Buffer.compare(await sandbox.files.readBytes("large"), bytes)).toBe(0);
  for await (const chunk of sandbox.commands.stream("echo first; exec sleep 600")) {
    expect(chunk).toMatchObject({ type: "stdout", data: "first\n" });
    break;
  }
  expect((await sandbox.runCode("6 * 7")).text).toBe("42");
  expect((await Sandbox.list(options).toArray()).map(({ sandboxId }) => sandboxId)).toEqual([sandbox.sandboxId]);
  const opening = sandbox.serverAt({ port: 9000 }).pty.connect("s1");
  await expect(opening).rejects.toMatchObject({ name: "CapabilityNotSupportedError", code: "E3004" });
});
