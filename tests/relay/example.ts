/** The example application, whose JavaScript is as it stands, with its types for tests. */
import { WebSocket } from "undici";
import { toolsOf } from "../support/package-project.ts";
import type { PlatformInfo } from "../support/platform.ts";

export type Runtime = "worker" | "node" | "deno" | "bun";

export interface Example {
  readonly url: string;
  stop(): Promise<void>;
}

type Start = (runtime: Runtime, platform: PlatformInfo, port: number, tools: string) => Promise<Example>;

/** Serves the example on a free port. */
export async function startExample(runtime: Runtime, platform: PlatformInfo): Promise<Example> {
  const { startExample }: { startExample: Start } = await import(new URL("../../examples/relay/run.js", import.meta.url).href);
  return startExample(runtime, platform, 0, toolsOf("runtimes"));
}

/** Options of a client that is signed in, as one outside of pages says it. */
export async function signedIn(example: Example, name: string, sandboxUrl: string) {
  const answer = await fetch(`${example.url}/sign-in`, { method: "POST", body: JSON.stringify({ name }) });
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { relay: `${example.url}/api/sandbox`, apiHeaders: { cookie }, sandboxUrl, webSocket: WebSocket };
}
