// The client in Node.
import * as sdk from "agent-sandbox-web";
import { afterAll, beforeAll, describe, inject, test } from "vitest";
import { FIRST_USE_MS, prepareRuntime } from "../support/runtime.ts";
import type { ScriptedServer } from "../support/scripted-server.ts";
import { suites } from "./suites/index.ts";
import { sceneServer } from "./support/scene-server.ts";

beforeAll(prepareRuntime, FIRST_USE_MS);

let scenes: ScriptedServer;
beforeAll(async () => {
  scenes = await sceneServer();
});
afterAll(() => scenes.close());

const { apiUrl, apiKey, sandboxUrl } = inject("platform");

for (const suite of suites) {
  describe(suite.name, () => {
    for (const { name, run, only } of suite.tests) {
      if (only === "page") continue;
      test(name, () =>
        run({ sdk, runtime: "node", scripted: scenes.address, platform: { apiUrl, apiKey, sandboxUrl }, pathUrl: sandboxUrl }),
      );
    }
  });
}
