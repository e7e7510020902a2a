// Contexts of code cells, and sandboxes without an interpreter.
import { assert } from "chai";
import { text } from "../support/bytes.ts";
import { Body, fakeFetch } from "../support/fake-fetch.ts";
import { END } from "../support/interpreter.ts";
import { fakeSandbox, rejected, sceneSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";
import { entry } from "../support/wire.ts";

export const contexts = suite("code contexts", (test) => {
  test("half a character in a cell's code, and a directory that is none, are refused before a context or cell is asked for", async (context) => {
    const { sandbox, calls } = await fakeSandbox(context, ({ path }) =>
      path.endsWith("/Stat") ? Response.json({ entry: entry("/file") }) : undefined,
    );
    const { InvalidArgumentError } = context.sdk;
    assert.match((await rejected(sandbox.runCode("'\ud83d'"), InvalidArgumentError, "E0001")).message, /lone surrogate/);
    assert.match((await rejected(sandbox.code.createContext({ cwd: "file" }), InvalidArgumentError, "E0001")).message, /absolute/);
    assert.match(
      (await rejected(sandbox.code.createContext({ cwd: "/file" }), InvalidArgumentError, "E0001")).message,
      /directory/,
    );
    assert.deepEqual([...new Set(calls.map(({ path }) => path.split("/").at(-1)))], ["Stat"]);
  });

  test("contexts are made, listed, restarted and removed", async (context) => {
    const known = [{ id: "a/b", language: "python", cwd: "/home/user" }];
    const { sandbox, calls } = await fakeSandbox(context, ({ method, path }) => {
      if (method === "DELETE")
        return path.includes("gone") ? new Response("Context gone not found", { status: 404 }) : Response.json(null);
      if (path.endsWith("/restart")) return Response.json(null);
      if (path.endsWith("/Stat")) return Response.json({ entry: { ...entry("/tmp"), type: "FILE_TYPE_DIRECTORY" } });
      return Response.json(method === "POST" ? { id: "new", language: "bash", cwd: "/tmp" } : known);
    });
    const { code } = sandbox;
    assert.equal(sandbox.code, code);
    assert.deepEqual(await code.createContext({ language: "bash", cwd: "/tmp" }), { id: "new", language: "bash", cwd: "/tmp" });
    await code.createContext();
    assert.deepEqual(await code.listContexts(), known);
    known.push({ id: "new", language: "bash", cwd: "/tmp" });
    assert.deepEqual(await code.restartContext("new"), known[1]);
    assert.isTrue(await code.removeContext({ id: "new?#é", language: "", cwd: "" }));
    assert.isFalse(await code.removeContext("gone"));
    const asked = calls.filter(({ path }) => path.includes("/49999"));
    assert.deepEqual(
      asked.map(({ method, url, body }) => `${method} ${url.href.split("/49999")[1]} ${text(body)}`),
      [
        'POST /contexts {"language":"bash","cwd":"/tmp"}',
        "POST /contexts {}",
        "GET /contexts ",
        "POST /contexts/new/restart ",
        "GET /contexts ",
        "DELETE /contexts/new%3F%23%C3%A9 ",
        "DELETE /contexts/gone ",
      ],
    );
    for (const { headers } of asked) assert.notInclude([...headers.keys()], "x-access-token");
  });

  test("answers about contexts that make no sense are a lost connection", async (context) => {
    for (const answer of ["null", "5", "<html>", "{}"]) {
      const { sandbox } = await fakeSandbox(context, () => new Response(answer));
      await rejected(sandbox.code.listContexts(), context.sdk.SandboxConnectionError, "E5001");
    }
    const { sandbox } = await fakeSandbox(context, ({ method }) => Response.json(method === "POST" ? null : []));
    await rejected(sandbox.code.restartContext("lost"), context.sdk.SandboxConnectionError, "E5001");
  });

  test("a sandbox without an interpreter is told from one that is gone", async (context) => {
    const { CapabilityNotSupportedError, UnreachableError } = context.sdk;
    const closed = { message: "The sandbox is running but port is not open", sandboxId: "itest", port: 49999, code: 502 };
    const none = () => new Response(null, { status: 502 });
    const hidden = () => Promise.reject(new TypeError("Failed to fetch"));
    for (const [name, interpreter, envd, kind] of [
      ["a gateway that says so", () => Response.json(closed, { status: 502 }), none, CapabilityNotSupportedError],
      ["a gateway that says nothing", none, () => new Response(null, { status: 204 }), CapabilityNotSupportedError],
      ["a gateway that cannot be read", hidden, () => new Response(null, { status: 204 }), CapabilityNotSupportedError],
      ["nobody at all", hidden, hidden, UnreachableError],
      ["a gateway that says nothing of anything", none, none, UnreachableError],
    ] as const) {
      const { sandbox } = await fakeSandbox(context, ({ path }) => (path.includes("/49999/") ? interpreter() : envd()));
      for (const call of [() => sandbox.runCode("1"), () => sandbox.code.createContext()]) {
        const error = await rejected(call(), kind);
        if (kind === CapabilityNotSupportedError) {
          assert.equal(error.code, "E3004", name);
          assert.include(error.suggestion, '"code-interpreter-v1"');
        }
      }
    }
    // A page gets nothing from a port that wants a token, whether or not anybody listens there.
    const fetch = fakeFetch(({ path }) => (path.includes("/49999/") ? hidden() : undefined));
    const handoff = { sandboxId: "i1", sandboxUrl: "https://x.test/{sandboxId}/{port}", trafficAccessToken: "t" };
    const locked = await context.sdk.Sandbox.attach(handoff, { fetch });
    await rejected(locked.runCode("1"), UnreachableError, "E5004");
    const agentbox = await fakeSandbox(context, () => Response.json(closed, { status: 502 }), { provider: "agentbox" });
    const error = await rejected(agentbox.sandbox.runCode("1"), CapabilityNotSupportedError);
    assert.include(error.suggestion, '"code-interpreter"');
  });

  test("the first answer corrects what the sandbox is known to have", async (context) => {
    const template = { sandboxId: "i1", sandboxUrl: "https://x.test/{sandboxId}/{port}" };
    const closed = { message: "port is not open", sandboxId: "i1", port: 49999, code: 502 };
    const answer = { ok: false };
    const fetch = fakeFetch(() => (answer.ok ? new Body([END]) : Response.json(closed, { status: 502 })));
    const named = await context.sdk.Sandbox.attach({ ...template, template: "code-interpreter-v1" }, { fetch });
    assert.isTrue(named.capabilities.has("code"));
    await rejected(named.runCode("1"), context.sdk.CapabilityNotSupportedError);
    assert.isFalse(named.capabilities.has("code"));
    const unnamed = await context.sdk.Sandbox.attach({ ...template, template: "mine" }, { fetch });
    assert.isFalse(unnamed.capabilities.has("code"));
    answer.ok = true;
    await unnamed.runCode("1");
    assert.isTrue(unnamed.capabilities.has("code"));
  });

  test.inPage("a page that cannot read what gateways say still learns that there is no interpreter", async (context) => {
    const { sandbox, scene } = await sceneSandbox(context, [
      { path: "/49983/health", answers: [{ status: 204 }] },
      { path: "", answers: [{ status: 502, cors: false }] },
    ]);
    await rejected(sandbox.runCode("1"), context.sdk.CapabilityNotSupportedError, "E3004");
    await scene.close();
  });
});
