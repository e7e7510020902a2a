// Calls that make something and are given up, by a request timeout or an abort, before it is known: nothing of it is left.
import type { Sandbox } from "agent-sandbox-web";
import { assert } from "chai";
import { heldTimers } from "../support/clock.ts";
import { Body, type Call } from "../support/fake-fetch.ts";
import { eventually, fakeSandbox, rejected, SECRETS } from "../support/sandboxes.ts";
import { type Context, suite } from "../support/suite.ts";
import { start, unary, unaryRequest } from "../support/wire.ts";

/** What is made, how a late answer tells of it, and how it is ended. */
const MADE: [
  what: string,
  make: (sandbox: Sandbox, options: object) => Promise<unknown>,
  path: RegExp,
  late: () => Response | Body,
  ended: (call: Call) => boolean,
][] = [
  ["a command", (one, options) => one.commands.run("x", options), /\/Start$/, () => new Body([start(31)], "stay"), kills(31)],
  [
    "a background command",
    (one, options) => one.commands.start("x", options),
    /\/Start$/,
    () => new Body([start(32)], "stay"),
    kills(32),
  ],
  ["a terminal", (one, options) => one.getTerminal(options), /\/Start$/, () => new Body([start(33)], "stay"), kills(33)],
  [
    "a code context",
    (one, options) => one.code.createContext(options),
    /\/contexts$/,
    () => Response.json({ id: "c1", language: "python", cwd: "/" }),
    ({ method, path }) => method === "DELETE" && path.endsWith("/contexts/c1"),
  ],
  [
    "a snapshot",
    (one, options) => one.createSnapshot(options),
    /\/snapshots$/,
    () => Response.json({ snapshotID: "s1", names: [] }, { status: 201 }),
    ({ method, path }) => method === "DELETE" && path === "/templates/s1",
  ],
];

function kills(pid: number): (call: Call) => boolean {
  return ({ path, body }) =>
    path.endsWith("/SendSignal") && (unaryRequest(body) as { process: { pid: number } }).process.pid === pid;
}

/** A sandbox whose answer to what `path` names is late; `give` gives it, and `asked` tells whether it is waited for. */
async function slow(context: Context, path: RegExp, late: () => Response | Body) {
  let [give, waited] = [() => {}, false];
  const gate = new Promise<void>((open) => {
    give = open;
  });
  const made = await fakeSandbox(
    context,
    async (call) => {
      if (!path.test(call.path)) return unary();
      waited = true;
      await gate;
      return late();
    },
    { apiUrl: "https://api.test", apiKey: SECRETS.apiKey, validateApiKey: false },
  );
  return { ...made, asked: () => waited, give };
}

export const givenUp = suite("given up", (test) => {
  for (const [what, make, path, late, ended] of MADE) {
    test(`${what} that a request timeout or an abort came too late for is ended`, async (context) => {
      for (const how of ["timeout", "abort"]) {
        const { sandbox, calls, asked, give } = await slow(context, path, late);
        const controller = new AbortController();
        const reason = new Error("mine");
        let error: unknown;
        await heldTimers(61_000, async (pass) => {
          const options = how === "timeout" ? { requestTimeoutMs: 61_000 } : { signal: controller.signal };
          const outcome = make(sandbox, options).catch((error: unknown) => error);
          await eventually(asked, "it is asked for");
          if (how === "abort") controller.abort(reason);
          else pass();
          error = await outcome;
        });
        if (how === "abort") assert.equal(error, reason);
        else await rejected(Promise.reject(error), context.sdk.RequestTimeoutError, "E5002");
        assert.isFalse(calls.some(ended), "nothing is known of it yet");
        give();
        await eventually(() => calls.some(ended), `${what} is ended`);
      }
    });
  }

  test("a snapshot with a name, under which there may be others, stays", async (context) => {
    const { sandbox, calls, asked, give } = await slow(context, /\/snapshots$/, () =>
      Response.json({ snapshotID: "team/n:v1", names: ["n"] }, { status: 201 }),
    );
    await heldTimers(61_000, async (pass) => {
      const making = sandbox.createSnapshot({ name: "n", requestTimeoutMs: 61_000 });
      const given = rejected(making, context.sdk.RequestTimeoutError, "E5002");
      await eventually(asked, "it is asked for");
      pass();
      await given;
    });
    give();
    await new Promise((turn) => setTimeout(turn, 20));
    assert.isFalse(calls.some(({ method }) => method === "DELETE"));
  });
});
