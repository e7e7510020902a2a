// How one file of tests runs both in Node and in a page: it only declares, and what runs it decides where.
import type * as Package from "agent-sandbox-web";

/** What a test needs. */
export interface Context {
  /** The package under test. */
  sdk: typeof Package;
  runtime: "node" | "page";
  /** The scripted server's origin. */
  scripted: string;
  /** How to reach the local platform, in the form that fits the runtime. */
  platform: Platform;
  /** Where the platform's sandboxes are reached by path. */
  pathUrl: string;
}

/** Where the local platform is. */
export interface Platform {
  apiUrl: string;
  sandboxUrl: string;
  apiKey: string;
}

/** One test. */
export interface Test {
  name: string;
  /** Where it runs; both when absent. */
  only?: Context["runtime"];
  run(context: Context): Promise<void>;
}

/** A named list of tests. */
export interface Suite {
  name: string;
  tests: Test[];
}

/** Declares a suite: `declare` gets a function that adds a test. */
export function suite(name: string, declare: (test: Declare) => void): Suite {
  const tests: Test[] = [];
  const test: Declare = Object.assign((title: string, run: Test["run"]) => void tests.push({ name: title, run }), {
    inNode: (title: string, run: Test["run"]) => void tests.push({ name: title, run, only: "node" }),
    inPage: (title: string, run: Test["run"]) => void tests.push({ name: title, run, only: "page" }),
  });
  declare(test);
  return { name, tests };
}

/** Adds a test. */
export interface Declare {
  (name: string, run: Test["run"]): void;
  inNode: (name: string, run: Test["run"]) => void;
  inPage: (name: string, run: Test["run"]) => void;
}
