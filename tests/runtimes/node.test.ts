// Node: import and require.
import { expect, test } from "vitest";
import { packageProject } from "../support/package-project.ts";
import { printed } from "../support/programs.ts";
import { callsFiles, expectAllWell, PROGRAM } from "./running.ts";

test("a module that imports the package makes every call", async () => {
  const project = await packageProject({ "main.js": PROGRAM, ...(await callsFiles()) });
  expectAllWell(JSON.parse(await printed(process.execPath, ["main.js"], project.folder)));
});

test("a script that requires the package makes every call, with the very classes that import gives", async () => {
  const script = `const sdk = require("agent-sandbox-web");
    (async () => {
      const { runCalls } = await import("./calls.js");
      const { default: given } = await import("./given.js");
      const same = (await import("agent-sandbox-web")).Sandbox === sdk.Sandbox;
      console.log(JSON.stringify({ same, outcomes: await runCalls(sdk, given) }));
    })();`;
  const project = await packageProject({ "main.cjs": script, ...(await callsFiles()) });
  const { same, outcomes } = JSON.parse(await printed(process.execPath, ["main.cjs"], project.folder));
  expect(same).toBe(true);
  expectAllWell(outcomes);
});
