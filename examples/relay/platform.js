// A local platform for the example.
import { fileURLToPath } from "node:url";
import { startProgram } from "./program.js";

/** Starts a platform on a free port; gives what it says of itself. */
export async function startPlatform(binary) {
  const runtime = fileURLToPath(new URL("../../target/runtime", import.meta.url));
  const data = fileURLToPath(new URL("../../target/relay-example", import.meta.url));
  const args = ["serve", "--json", "--listen", "127.0.0.1:0", "--data-dir", data, "--runtime-dir", runtime];
  try {
    const { line, stop } = await startProgram(binary, args);
    return { info: JSON.parse(line), stop };
  } catch (cause) {
    if (cause.code === "ENOENT") throw new Error(`${binary} is missing: run "cargo xtask build" first.`, { cause });
    throw cause;
  }
}
