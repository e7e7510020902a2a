// The page that the suites run in. The driver calls `runTest` for each test and gets what went wrong, if anything did.
import * as sdk from "agent-sandbox-web";
import { suites } from "../suites/index.ts";
import type { Context } from "../support/suite.ts";

declare global {
  interface Window {
    runTest(suite: number, test: number, context: Omit<Context, "sdk" | "runtime">): Promise<Failure | undefined>;
  }
}

/** A test's failure in a form that leaves the page. */
export interface Failure {
  message: string;
  stack: string;
}

window.runTest = async (suite, test, context) => {
  try {
    await suites[suite]?.tests[test]?.run({ sdk, runtime: "page", ...context });
    return undefined;
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { message, stack: stack ?? "" };
  }
};
