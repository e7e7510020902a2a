// One command for the whole example: npm start [-- worker | node | deno | bun]
//
// It starts a local platform, bundles the page and, for a Worker, the Worker, and serves them. Ctrl-C ends everything.
import { fileURLToPath } from "node:url";
import { startPlatform } from "./platform.js";
import { startExample } from "./run.js";

const runtime = process.argv[2] ?? "worker";
const binary =
  process.env.AGENT_SANDBOX_LOCAL ?? fileURLToPath(new URL("../../target/release/agent-sandbox-local", import.meta.url));

const platform = await startPlatform(binary);
const example = await startExample(runtime, platform.info, Number(process.env.PORT ?? 8787));
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await example.stop();
    await platform.stop();
    process.exit(0);
  });
}

console.log(`The example runs as ${runtime}: open ${example.url}\nCtrl-C ends it.`);
