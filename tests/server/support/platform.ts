/** A local platform whose sandboxes have agent-sandbox-server. */
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { type Platform, platformBinary, startPlatform } from "../../support/platform.ts";

/** Starts a platform; the server's Python environment is made once beside the binary, ahead of the tests that measure time. */
export function platformWithServer(): Promise<Platform> {
  const runtime = join(dirname(platformBinary()), "..", "runtime");
  execFileSync(platformBinary(), ["prepare", "--server-only", "--runtime-dir", runtime], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return startPlatform({ args: ["--runtime-dir", runtime] });
}
