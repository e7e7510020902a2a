/** One platform for the whole run; tests get at it with `inject("platform")`. A test that needs one of its own starts it itself. */
import type { TestProject } from "vitest/node";
import { type PlatformInfo, startPlatform } from "./platform.ts";
import { runtimeDir } from "./runtime.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The platform that all test files share. */
    platform: PlatformInfo;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const platform = await startPlatform({ args: ["--runtime-dir", runtimeDir] });
  project.provide("platform", platform.info);
  return () => platform.stop();
}
