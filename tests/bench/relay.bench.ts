/** What a relay costs a small call: the way through one more server. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, test } from "vitest";
import { type Platform, startPlatform } from "../support/platform.ts";
import { holdBudget, series, spread } from "./report.ts";

const CALLS = 300;

let platform: Platform;
let server: ChildProcess;
let relay: string;

beforeAll(async () => {
  platform = await startPlatform();
  const program = new URL("relay-server.mjs", import.meta.url).pathname;
  server = spawn(process.execPath, [program, JSON.stringify(platform.info)], { stdio: ["ignore", "pipe", "inherit"] });
  if (server.stdout === null) throw new Error("the relay has no output");
  [relay] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
});

afterAll(async () => {
  server?.kill();
  await platform?.stop();
});

test("a small call through a relay", async () => {
  const { apiKey, apiUrl, sandboxUrl } = platform.info;
  await using relayed = await Sandbox.create("base", { relay });
  const straight = await Sandbox.connect(relayed.sandboxId, { apiKey, apiUrl, sandboxUrl });
  const ways = { straight, relayed };
  const took = { straight: [] as number[], relayed: [] as number[] };
  // By turns, so that what else the machine does hits both.
  for (let call = -20; call < CALLS; call++) {
    for (const way of ["straight", "relayed"] as const) {
      const started = performance.now();
      await ways[way].files.exists("/tmp");
      if (call >= 0) took[way].push(performance.now() - started);
    }
  }
  const [straightMs, relayedMs] = [series(took.straight).median, series(took.relayed).median];
  // One more server on the way: it costs what another request costs, and does not wait for anything.
  holdBudget(
    {
      what: "Node: files.exists through a relay",
      ours: `${spread(took.relayed, 2)} ms`,
      theirs: `${spread(took.straight, 2)} ms: straight`,
      ratio: `${(relayedMs - straightMs).toFixed(2)} ms more`,
      bound: "at most 5x and 2 ms",
    },
    relayedMs < straightMs * 5 + 2,
  );
});
