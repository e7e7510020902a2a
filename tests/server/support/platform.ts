/** A local platform whose sandboxes share one environment of agent-sandbox-server, made by the first that wants it. */
import { dirname, join } from "node:path";
import { type Platform, platformBinary, startPlatform } from "../../support/platform.ts";

export function platformWithServer(): Promise<Platform> {
  return startPlatform({ args: ["--runtime-dir", join(dirname(platformBinary()), "..", "runtime")] });
}
