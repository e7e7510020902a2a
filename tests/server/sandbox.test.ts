// The SandboxServer in sandboxes of the local platform, from Node.
import * as sdk from "agent-sandbox-web";
import { afterAll, beforeAll, test } from "vitest";
import { WebSocket } from "ws";
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
