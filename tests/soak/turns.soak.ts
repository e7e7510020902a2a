/** Sandboxes that come and go leave nothing: in the client's memory, among its handles, among the platform's processes. */
import { readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { init, Sandbox } from "agent-sandbox-web";
import { expect, test } from "vitest";
import { printTable } from "../bench/report.ts";
import { startPlatform } from "../support/platform.ts";
import { descendants } from "../support/processes.ts";
import { MINUTES, TURNS } from "./size.ts";

const glue = new URL("../../pkg/dist/agent_sandbox_web.js", import.meta.url).href;

/** Frees what nobody holds any more; WebAssembly hears of it a moment later. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  await new Promise((later) => setTimeout(later, 50));
}

test(`${TURNS} times, or for ${MINUTES} minutes, create, run and kill leave nothing behind`, async () => {
  const platform = await startPlatform();
  try {
    const { apiUrl, apiKey, sandboxUrl, pid } = platform.info;
    const turn = async () => {
      const sandbox = await Sandbox.create({ apiUrl, apiKey, sandboxUrl });
      const { stdout } = await sandbox.commands.run(["echo", sandbox.sandboxId]);
      expect(stdout.trim()).toBe(sandbox.sandboxId);
      expect(await sandbox.kill()).toBe(true);
    };
    const { default: instance } = (await import(glue)) as { default: () => Promise<WebAssembly.Exports> };
    await init();
    // The build gives exports names of its own.
    const memory = Object.values(await instance()).find((one) => one instanceof WebAssembly.Memory);
    if (!memory) expect.fail("the client exports its memory");
    const look = async () => {
      await collectGarbage();
      return {
        "wasm memory, KiB": memory.buffer.byteLength / 1024,
        "Node's resources": process.getActiveResourcesInfo().length,
        "Node's descriptors": readdirSync("/proc/self/fd").length,
        "the platform's processes": descendants(pid).length,
        "the platform's descriptors": readdirSync(`/proc/${pid}/fd`).length,
      };
    };
    const end = performance.now() + MINUTES * 60_000;
    const turns = async (count: number) => {
      let made = 0;
      while (made < count && performance.now() < end) {
        await turn();
        // Handles are freed with the objects that hold them: memory is to show what leaks, not what waits to be freed.
        if (++made % 20 === 0) await collectGarbage();
      }
      return made;
    };
    // Pools and caches fill first.
    await turns(Math.min(40, TURNS));
    const before = await look();
    const started = performance.now();
    const made = await turns(TURNS);
    expect(made).toBeGreaterThan(0);
    const seconds = (performance.now() - started) / 1000;
    const after = await look();
    const names = Object.keys(before) as (keyof typeof before)[];
    printTable(
      `${made} turns, ${(made / seconds).toFixed(1)} a second`,
      ["what", "before", "after"],
      names.map((name) => [name, String(before[name]), String(after[name])]),
    );
    // Room for a pooled connection more or less, not for something that each turn leaves.
    for (const name of names) expect(after[name], name).toBeLessThanOrEqual(before[name] + (name === "wasm memory, KiB" ? 64 : 4));
  } finally {
    await platform.stop();
  }
});
