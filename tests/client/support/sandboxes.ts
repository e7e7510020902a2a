// Sandboxes for tests: over a scripted fetch, over a scene, and real ones.
import type { ConnectionOptions, Sandbox, SandboxCreateOptions, SandboxError } from "agent-sandbox-web";
import { assert } from "chai";
import { type Answerer, type Call, fakeFetch } from "./fake-fetch.ts";
import { Scene } from "./scene.ts";
import type { Route } from "./scene-server.ts";
import type { Context } from "./suite.ts";

/** Secrets that must show up nowhere. */
export const SECRETS = { apiKey: "key-5f1b0c7e2d", envdToken: "token-93ab41de77" };

/** The start of a process stream's path. */
export const START = "/process.Process/Start";

/** A sandbox whose every request goes to `answer`. */
export async function fakeSandbox(
  { sdk }: Context,
  answer: Answerer,
  options: ConnectionOptions = {},
): Promise<{ sandbox: Sandbox; calls: Call[] }> {
  const fetch = fakeFetch(answer);
  const sandbox = await sdk.Sandbox.attach(
    {
      sandboxId: "itest",
      sandboxUrl: "https://sandbox.test/s/{sandboxId}/{port}",
      envdAccessToken: SECRETS.envdToken,
      envdVersion: "0.6.13",
    },
    { fetch, ...options },
  );
  return { sandbox, calls: fetch.calls };
}

/** A sandbox behind the scripted server, and the scene to drive it. */
export async function sceneSandbox(
  { sdk, scripted }: Context,
  routes: Route[],
  options: ConnectionOptions & { path?: string } = {},
): Promise<{ sandbox: Sandbox; scene: Scene }> {
  const { path = "/s/{sandboxId}/{port}", ...connection } = options;
  const scene = await Scene.open(scripted, routes);
  const sandbox = await sdk.Sandbox.attach(
    { sandboxId: "itest", sandboxUrl: `${scene.url}${path}`, envdAccessToken: SECRETS.envdToken, envdVersion: "0.6.13" },
    connection,
  );
  return { sandbox, scene };
}

/** Runs a test in a real sandbox of its own and ends it. */
export async function withSandbox(
  { sdk, platform }: Context,
  run: (sandbox: Sandbox) => Promise<void>,
  options: SandboxCreateOptions = {},
): Promise<void> {
  const sandbox = await sdk.Sandbox.create({ ...platform, ...options });
  try {
    await run(sandbox);
  } finally {
    await sandbox.kill();
  }
}

/** Waits for a rejection, checks that it is whole and of that class, and gives it. */
export async function rejected<T extends SandboxError>(
  promise: Promise<unknown>,
  kind: (abstract new (...args: never[]) => T) | undefined,
  code?: string,
): Promise<T> {
  let error: unknown;
  try {
    const value = await promise;
    assert.fail(`resolved to ${JSON.stringify(value)} instead of rejecting`);
  } catch (caught) {
    error = caught;
  }
  return checked(error, kind, code);
}

/** The same for a function that throws. */
export function thrown<T extends SandboxError>(
  run: () => unknown,
  kind: (abstract new (...args: never[]) => T) | undefined,
  code?: string,
): T {
  let value: unknown;
  try {
    value = run();
  } catch (caught) {
    return checked(caught, kind, code);
  }
  return assert.fail(`returned ${JSON.stringify(value)} instead of throwing`);
}

function checked<T extends SandboxError>(
  error: unknown,
  kind: (abstract new (...args: never[]) => T) | undefined,
  code: string | undefined,
): T {
  if (error instanceof Error && error.name === "AssertionError") throw error;
  const what = String((error as Error | undefined)?.stack ?? error);
  assert.instanceOf(error, Error, what);
  const typed = error as T;
  if (kind) assert.isTrue(typed instanceof kind, `expected ${kind.name}: ${what}`);
  if (code) assert.equal(typed.code, code, what);
  assert.match(typed.code, /^E\d{4}$/, what);
  assert.isNotEmpty(typed.message, what);
  assert.isNotEmpty(typed.suggestion, what);
  assert.match(typed.docsUrl, /^https:\/\//, what);
  assert.isBelow(typed.message.length, 600, "an error message is for people to read");
  return typed;
}

/** Everything an error shows to whoever logs it, its causes included. */
export function shown(error: unknown): string {
  const parts: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    parts.push(String(at), at.stack ?? "", JSON.stringify(at), ...Object.values(at).map(String));
  }
  return parts.join("\n");
}

/** Waits until a condition holds, for what sends no event. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`never came: ${what}`);
    await new Promise((later) => setTimeout(later, 5));
  }
}

/** Every item of an async iterable. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
