// SvelteKit, without any configuration: rendered on the server, where the package is used too, then in the page.
import { expect, test } from "vitest";
import { printed, startProgram } from "../support/programs.ts";
import { appProject, expectToShow, IN_PAGE, toolProgram } from "./building.ts";

test("a built app streams in its page, and uses the package on its server", async () => {
  const { folder } = await appProject("sveltekit");
  await printed(toolProgram("vite"), ["build"], folder);
  const server = await startProgram(toolProgram("vite"), ["preview", "--port", "0"], folder, /http:\/\/localhost:\d+/);
  expect(await (await fetch(server.found)).text()).toContain("https://sandbox.test/80");
  await expectToShow(server.found, { ...IN_PAGE, server: "https://sandbox.test/80" });
});
