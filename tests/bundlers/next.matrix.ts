// Next.js, without any configuration: a client component, whose first rendering is on the server, and routes of both of its runtimes.
import { test } from "vitest";
import { callsFiles, expectAllWell } from "../runtimes/running.ts";
import { printed, startProgram } from "../support/programs.ts";
import { appProject, expectToShow, IN_PAGE, toolProgram } from "./building.ts";

test("a built app streams in a client component, and its edge and Node routes make every call", async () => {
  const { folder } = await appProject("next", await callsFiles());
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
