// A local platform for the example.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Starts a platform on a free port; gives what it says of itself. */
export async function startPlatform(binary) {
  const runtime = fileURLToPath(new URL("../../target/runtime", import.meta.url));
  const data = fileURLToPath(new URL("../../target/relay-example", import.meta.url));
  const args = ["serve", "--json", "--listen", "127.0.0.1:0", "--data-dir", data, "--runtime-dir", runtime];
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "inherit"] });
  child.once("error", () => console.error(`${binary} is missing: run "cargo xtask build" first.`));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return { info: JSON.parse(line), stop };
  }
  throw new Error("The platform ended before it was ready.");
}
