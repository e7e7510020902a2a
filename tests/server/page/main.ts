// The page that the suite runs in.
import * as sdk from "agent-sandbox-web";
import { type Context, tests } from "../suite.ts";

declare global {
  interface Window {
    runServerTest(name: string, platform: Context["platform"]): Promise<string | undefined>;
  }
}

window.runServerTest = async (name, platform) => {
  try {
    await tests[name]?.({ sdk, platform });
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
};
