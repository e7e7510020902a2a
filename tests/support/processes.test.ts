import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { descendants, isAlive } from "./processes.ts";

test("a process's grandchildren are found, and seen to end", async () => {
  const shell = spawn("sh", ["-c", "sh -c 'echo ready; exec sleep 600' & wait"], { stdio: ["ignore", "pipe", "ignore"] });
  await once(shell.stdout, "data");
  // "ready" comes before the inner shell becomes the sleeper.
  const sleeper = await vi.waitUntil(() => descendants(process.pid).find(({ command }) => command === "sleep 600"), {
    timeout: 60_000,
  });
  expect(isAlive(sleeper)).toBe(true);
  expect(descendants(process.pid).some(({ pid }) => pid === shell.pid)).toBe(true);
  process.kill(sleeper.pid, "SIGKILL");
  await once(shell, "exit");
  await expect.poll(() => isAlive(sleeper)).toBe(false);
});
