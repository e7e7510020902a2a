// The SandboxServer in sandboxes of the local platform, from Node.
import * as sdk from "agent-sandbox-web";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { example, runExample } from "../support/examples.ts";
import type { Platform } from "../support/platform.ts";
import { tests } from "./suite.ts";
import { platformWithServer } from "./support/platform.ts";

let platform: Platform;
beforeAll(async () => {
  platform = await platformWithServer();
}, 600_000);
afterAll(() => platform?.stop());

test.each(Object.entries(tests))("%s", async (_, run) => {
  const { apiUrl, sandboxUrl, apiKey } = platform.info;
  await run({ sdk, platform: { apiUrl, sandboxUrl, apiKey, webSocket: WebSocket } });
});

test("the guide's example runs as it stands, but for the port", async () => {
  const { stdout, stderr } = await runExample(example("docs/sandbox-server.md", "server"), platform.info);
  expect(stdout).toBe("7\nLinux\nserver false policy:endpoints.group:terminal\ntrue E9002 command_not_allowed\n");
  expect(stderr).toBe("");
});
