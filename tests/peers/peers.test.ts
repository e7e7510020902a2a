/** Real SDKs of others judge the platform: each runs the same scenario, and must see the same. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import * as e2b from "e2b";
import * as e2bLatest from "e2b-latest";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { e2bClient, ourClient, type Sdk } from "./clients.ts";
import { expectations, type Results } from "./expectations.ts";
import { runScenario } from "./scenario.ts";

interface Peer {
  readonly name: string;
  readonly run: () => Promise<Results>;
  /** Steps that this SDK itself answers differently. */
  readonly differs?: Results;
}

const environments = process.env.PEER_ENVIRONMENTS ?? new URL("../../target/peers", import.meta.url).pathname;
const scenario = new URL("python/scenario.py", import.meta.url).pathname;

/** Runs the Python scenario in the virtual environment of one SDK. */
async function runPython(environment: string, module: string, host: string, env: Record<string, string> = {}): Promise<Results> {
  const platform = inject("platform");
  const url = `http://${host}:${new URL(platform.apiUrl).port}`;
  const { stdout } = await promisify(execFile)(
    join(environments, environment, "bin/python"),
    [scenario, module, url, url, platform.apiKey],
    { env: { PATH: process.env.PATH, ...env }, maxBuffer: 1 << 24 },
  );
  return JSON.parse(stdout) as Results;
}

/** Where this client's answers differ from those of the others, and are meant to. */
const MEANT: Results = {
  // The name says which of three times ran out.
  timeout: { raised: "CommandTimeout" },
  // A command that ends badly has ended: any exit code is a result, unless `check` asks for an error.
  listAndKill: { command: [["/bin/bash", "-l", "-c", "sleep 301"]], killed: true, ended: -1, again: true },
  // Types have whole words.
  listFiles: (expectations.listFiles as string[][]).map(([name, type]) => [name, type === "dir" ? "directory" : type]),
};

const peers: Peer[] = [
  { name: "this client", run: () => runScenario(ourClient(inject("platform"))), differs: MEANT },
  { name: "e2b for JavaScript 2.50.0", run: () => runScenario(e2bClient(e2b, inject("platform"))) },
  { name: "e2b for JavaScript, latest", run: () => runScenario(e2bClient(e2bLatest as unknown as Sdk, inject("platform"))) },
  { name: "e2b for Python", run: () => runPython("e2b", "e2b", "127.0.0.1") },
  // It makes host names of its sandbox URL, which an address cannot carry.
  { name: "AgentBox for Python", run: () => runPython("agentbox", "agentbox", "localhost") },
  {
    name: "Alibaba's Agent Sandbox for Python",
    run: () => runPython("alibaba", "agent_sandbox", "127.0.0.1"),
    // It has no such call.
    differs: { fork: expect.objectContaining({ raised: "Attribute" }) },
  },
];

describe.each(peers)("$name", ({ run, differs }) => {
  let results: Results;
  beforeAll(async () => {
    results = await run();
  });

  test.each(Object.keys(expectations))("%s", (step) => {
    expect(results[step]).toEqual(differs !== undefined && step in differs ? differs[step] : expectations[step]);
  });
});
