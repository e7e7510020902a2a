/** A download through the relay of a Worker is passed on as it comes: the Worker's memory stays where it is. */
import { expect, test } from "vitest";
import { printTable } from "../bench/report.ts";
import { signedIn, startExample } from "../relay/example.ts";
import { startPlatform } from "../support/platform.ts";
import { descendants } from "../support/processes.ts";
import { memoryBelow, most } from "./memory.ts";
import { MEBIBYTES } from "./size.ts";

const MIB = 1 << 20;
/** What a Worker may take for streams under way, however long they are, in bytes. */
const ROOM = 64 * MIB;

test(`${MEBIBYTES} MiB go through a Worker's relay in constant memory`, async () => {
  const { Sandbox } = await import("agent-sandbox-web");
  const platform = await startPlatform();
  const example = await startExample("worker", platform.info);
  try {
    const alice = await signedIn(example, "alice", platform.info.sandboxUrl);
    await using sandbox = await Sandbox.create("base", alice);
    const download = async (mebibytes: number) => {
      await sandbox.commands.run(`truncate -s ${mebibytes}M large`, { check: true });
      // Nothing straight: the sandbox's own address is that of the relay.
      const relayed = await Sandbox.attach(sandbox.handoff(), { ...alice, sandboxUrl: `${alice.relay}/s/{sandboxId}/{port}` });
      let bytes = 0;
      for await (const chunk of await relayed.files.read("large", { format: "stream" })) bytes += chunk.length;
      expect(bytes).toBe(mebibytes * MIB);
    };
    const worker = descendants(process.pid).find(({ command }) => command.includes("workerd"));
    if (worker === undefined) expect.fail("workerd runs");
    const held = () => memoryBelow(worker.pid);
    // Its code is loaded and its first stream is open by then.
    await download(16);
    const before = held();
    const started = performance.now();
    const highest = await most(held, () => download(MEBIBYTES));
    const seconds = (performance.now() - started) / 1000;
    printTable(
      `${MEBIBYTES} MiB through a Worker's relay, ${(MEBIBYTES / seconds).toFixed(0)} MiB a second`,
      ["the Worker's memory, MiB", ""],
      [
        ["before", (before / MIB).toFixed(1)],
        ["at most", (highest / MIB).toFixed(1)],
      ],
    );
    expect(highest - before).toBeLessThan(ROOM);
  } finally {
    await example.stop();
    await platform.stop();
  }
});
