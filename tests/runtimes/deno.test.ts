// Deno, which may do nothing but reach the platform: it reads no file of the package with a permission, and no variable.
import { expect, inject, test } from "vitest";
import { packageProject } from "../support/package-project.ts";
import { printed } from "../support/programs.ts";
import { callsFiles, DENO, expectAllWell, PROGRAM } from "./running.ts";

test("every call, with no permission but the network's, and only for the platform", async () => {
  const project = await packageProject({ "main.js": PROGRAM, ...(await callsFiles()) });
  const { host } = new URL(inject("platform").apiUrl);
  const args = ["run", "--no-prompt", "--quiet", "--cached-only", `--allow-net=${host}`, "main.js"];
  expectAllWell(JSON.parse(await printed(DENO, args, project.folder)));
});

test("an address that is not allowed is an error of the network that names the reason", async () => {
  const program = `import { NetworkError, Sandbox } from "agent-sandbox-web";
    const sandbox = await Sandbox.attach({ sandboxId: "i1", sandboxUrl: ${JSON.stringify(inject("platform").sandboxUrl)} });
    const error = await sandbox.files.exists("a").catch((error) => error);
    console.log(JSON.stringify({ typed: error instanceof NetworkError, cause: String(error.cause) }));`;
  const project = await packageProject({ "main.js": program });
  const told = JSON.parse(await printed(DENO, ["run", "--no-prompt", "--quiet", "--cached-only", "main.js"], project.folder));
  expect(told).toMatchObject({ typed: true });
  expect(told.cause).toContain("--allow-net");
});
