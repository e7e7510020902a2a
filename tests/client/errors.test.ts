// The page of errors is data: each row of its tables is made to happen, and the error is whole and what the row says.
import { readFileSync } from "node:fs";
import type { SandboxError } from "agent-sandbox-web";
import * as sdk from "agent-sandbox-web";
import { describe, expect, test } from "vitest";
import { type Call, fakeFetch } from "./support/fake-fetch.ts";
import { SECRETS, shown } from "./support/sandboxes.ts";

const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");

function table(name: string): string[][] {
  const text = page.split(`<!-- table: ${name} -->\n`)[1]?.split("<!-- end -->")[0] ?? "";
  const rows = text.trim().split("\n").slice(2);
  return rows.map((row) => row.split(" | ").map((cell) => cell.replace(/^\| | \|$|`/g, "")));
}

type Answer = (call: Call) => Response;

/** Options with which every request of the control plane goes to `answer`. */
const control = (answer: Answer) => ({
  apiUrl: "https://api.test",
  sandboxUrl: "https://sandbox.test",
  apiKey: SECRETS.apiKey,
  fetch: fakeFetch(answer),
});

/** A sandbox whose every request goes to `answer`; nobody else can be asked about it. */
const here = (answer: Answer) =>
  sdk.Sandbox.attach(
    { sandboxId: "i1", sandboxUrl: "https://sandbox.test/s/{sandboxId}/{port}", envdAccessToken: SECRETS.envdToken },
    { fetch: fakeFetch(answer) },
  );

/** A call of every kind that the tables name. */
const CALLS: Record<string, (answer: Answer) => Promise<unknown>> = {
  create: (answer) => sdk.Sandbox.create(control(answer)),
  sandbox: (answer) => sdk.Sandbox.getInfo("i1", control(answer)),
  list: (answer) => sdk.Sandbox.list(control(answer)).nextItems(),
  process: async (answer) => (await here(answer)).commands.list(),
  filesystem: async (answer) => (await here(answer)).files.getInfo("a"),
  files: async (answer) => (await here(answer)).files.read("a"),
  code: async (answer) => (await here(answer)).code.listContexts(),
  health: async (answer) => (await here(answer)).isRunning(),
};

/** Statuses under which servers send Connect codes. */
const STATUSES: Record<string, number> = {
  invalid_argument: 400,
  out_of_range: 400,
  failed_precondition: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  resource_exhausted: 429,
  canceled: 499,
  unimplemented: 501,
  unavailable: 503,
  deadline_exceeded: 504,
};

async function thrownBy(call: Promise<unknown>): Promise<SandboxError> {
  return await call.then(
    (value) => expect.fail(`resolved to ${JSON.stringify(value)}`),
    (caught: unknown) => caught as SandboxError,
  );
}

const exported = sdk as unknown as Record<string, ErrorClass | undefined>;

/** What an error class is to these tests. */
type ErrorClass = { code: string; suggestion: string } & (new (message: string) => Error);

/** Checks that an error has everything that it must have, and nothing that it must not. */
function whole(error: SandboxError, className: string): void {
  expect(error.name, String(error.stack)).toBe(className);
  // What a runtime prints of an error that nobody caught.
  expect(error.constructor.name).toBe(className);
  const Class = exported[className] as ErrorClass;
  expect(Class, `${className} is exported`).toBeDefined();
  expect(error).toBeInstanceOf(Class);
  expect(error).toBeInstanceOf(sdk.SandboxError);
  expect(error.code).toBe(Class.code);
  expect(error.message).not.toBe("");
  expect(error.suggestion).not.toBe("");
  expect(error.docsUrl).toContain(`errors.md#${error.code.toLowerCase()}`);
  const json = JSON.parse(JSON.stringify(error));
  expect(json).toEqual({ ...error, name: error.name, message: error.message });
  for (const secret of Object.values(SECRETS)) expect(shown(error)).not.toContain(secret);
}

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...(status === 429 && { "retry-after": "0" }) },
  });

const rows = table("answers").flatMap(([asked = "", answer = "", className = "", advice = ""]) => {
  const calls = asked === "any" ? Object.keys(CALLS) : asked.split(", ");
  return calls.map((call) => ({ call, answer, className, advice }));
});

/** Rows that a row above, more exact, takes the answer from at this call. */
const TAKEN = ["create 502 to 504"];

describe("what an answer means", () => {
  test("the table is there", () => {
    expect(rows.length).toBeGreaterThan(50);
  });

  test.concurrent.each(rows.map((row) => [`${row.call} ${row.answer}`, row] as const))("%s", async (title, row) => {
    const { call, answer, className, advice } = row;
    // Of a range, a status that no row above names.
    const inside: Record<string, number> = { "400 to 428": 417, "405 to 428": 417, "401 to 403": 402 };
    const status = STATUSES[answer] ?? inside[answer] ?? (Number(answer.split(" to ").at(-1)) || 500);
    const code = /^[a-z]/.test(answer) ? answer : status;
    const error = await thrownBy(
      (CALLS[call] as (answer: Answer) => Promise<unknown>)(() => json(status, { code, message: "as the server says" })),
    );
    if (TAKEN.includes(title)) {
      expect(error.name).not.toBe(className);
      return;
    }
    whole(error, className);
    if (!["UnreachableError", "SandboxNotFoundError"].includes(className)) expect(error.message).toBe("as the server says");
    if (advice !== "(the class's own)") expect(error.suggestion).toBe(advice);
  });

  test.concurrent.each(table("words"))("%s say: %s", async (asked = "", part = "", className = "", advice = "") => {
    for (const call of asked.split(", ")) {
      const answer = () => json(500, { code: "internal", message: `Error: ${part} (x)` });
      const error = await thrownBy((CALLS[call] as (answer: Answer) => Promise<unknown>)(answer));
      whole(error, className === "(as above)" ? error.name : className);
      if (advice !== "(the class's own)") expect(error.suggestion).toBe(advice);
    }
  });

  test("a cause is kept, and one with a secret in it is the runtime's own", async () => {
    const cause = new TypeError("fetch failed");
    const error = await thrownBy(
      sdk.Sandbox.createSnapshot("i1", { ...control(() => json(200, {})), fetch: () => Promise.reject(cause) }),
    );
    whole(error, "SandboxConnectionError");
    expect(error.cause).toBe(cause);
  });
});

test("a class of two families is an instance of both", () => {
  for (const [name, ...parents] of [
    ["ServerAuthError", sdk.ServerAPIError, sdk.AuthenticationError],
    ["FilePolicyDeniedError", sdk.PolicyDeniedError, sdk.PermissionDeniedError, sdk.FileOperationError],
    ["EndpointNotAvailableError", sdk.ServerAPIError, sdk.CapabilityNotSupportedError],
    ["ProviderFeatureNotSupportedError", sdk.CapabilityNotSupportedError],
  ] as [string, ...(abstract new (...args: never[]) => Error)[]][]) {
    const error = new (exported[name] as ErrorClass)("x");
    for (const parent of parents) expect(error instanceof parent, `${name} is a ${parent.name}`).toBe(true);
    expect(error instanceof sdk.NetworkError).toBe(false);
  }
});
