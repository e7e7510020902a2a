import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { descendants, isAlive } from "./processes.ts";

test("a process's grandchildren are found, and seen to end", async () => {
  const shell = spawn("sh", ["-c", "sh -c 'echo ready; exec sleep 600' & wait"], { stdio: ["ignore", "pipe", "ignore"] });
  await once(shell.stdout, "data");
  const found = descendants(process.pid).filter(({ command }) => command === "sleep 600" || command.startsWith("sh -c"));
  expect(found.map(isAlive)).toEqual(found.map(() => true));
  const sleeper = found.find(({ command }) => command === "sleep 600");
  if (sleeper === undefined) throw new Error("the grandchild was not found");
  process.kill(sleeper.pid, "SIGKILL");
  await once(shell, "exit");
  await expect.poll(() => isAlive(sleeper)).toBe(false);
});
