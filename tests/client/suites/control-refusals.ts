// What is refused before the control plane is asked.
import { assert } from "chai";
import { attach, plane } from "../support/plane.ts";
import { rejected, shown } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";

export const controlRefusals = suite("refusals before the control plane is asked", (test) => {
  test("what cannot be meant is refused before any request", async ({ sdk: { Sandbox, InvalidArgumentError } }) => {
    const { options, asked } = plane();
    const wrong: [string, unknown][] = [
      ["network", { allowOut: "a" }],
      ["network", { allowOut: async () => [] }],
      ["network", { rules: { a: {} } }],
      ["network", { rules: { a: [{ transform: async () => ({}) }] } }],
      ["network", { rules: { a: [{ transform: () => [] }] } }],
      ["network", { rules: [] }],
      ["network", { allow_out: [] }],
      ["network", { allowPublicTraffic: "no" }],
      ["network", { egressProxy: {} }],
      ["network", []],
      ["iam", { tokens: { "": { audience: "a", tokenType: "b" } } }],
      ["iam", { tokens: { "a}": { audience: "a", tokenType: "b" } } }],
      ["iam", { tokens: { a: { audience: "a" } } }],
      ["iam", []],
      ["lifecycle", { onTimeout: "sleep" }],
      ["lifecycle", { onTimeout: { action: "kill", keepMemory: true } }],
      ["lifecycle", { autoResume: true }],
      ["lifecycle", { onTimeout: "kill", autoResume: true }],
      ["lifecycle", { onTimeout: { action: "pause", keepMemory: false }, autoResume: true }],
      ["volumeMounts", [{ name: "v", path: "v" }]],
      ["volumeMounts", { name: "v" }],
      ["metadata", ["a"]],
      ["logger", [1]],
      ["provider", {}],
      ["provider", [1]],
      ["provider", "aws"],
      ["provider", { name: "x", like: "aws" }],
      ["apiHeaders", { "a b": "c" }],
      ["apiHeaders", { a: "b\r\nc: d" }],
      ["apiHeaders", { a: "Ω" }],
      ["domain", "a/b"],
      ["sandboxUrl", "http://{id}.localhost"],
      ["sandboxUrl", "http://h/s/{sandboxId}/{PORT}"],
      ["signal", { aborted: false }],
      ["proxy", "ftp://p"],
    ];
    for (const [name, value] of wrong) {
      const error = await rejected(Sandbox.create({ ...options("e2b"), [name]: value } as never), InvalidArgumentError, "E0001");
      assert.match(error.message, new RegExp(name === "provider" ? "provider|options" : name), JSON.stringify(value));
    }
    const secure = { secure: false, network: { allowPublicTraffic: false } };
    await rejected(Sandbox.create({ ...options("e2b"), ...secure }), InvalidArgumentError, "E0001");
    assert.deepEqual(asked(), []);
  });

  test("a key that is known under another name is named", async (context) => {
    const { Sandbox, InvalidArgumentError } = context.sdk;
    const { options, asked } = plane();
    for (const [key, name] of [
      ["timeout", "timeoutMs"],
      ["env", "envs"],
      ["request_timeout", "requestTimeoutMs"],
      ["allow_internet_access", "allowInternetAccess"],
      ["api_key", "apiKey"],
    ] as const) {
      const error = await rejected(Sandbox.create({ ...options("e2b"), [key]: 1 } as never), InvalidArgumentError, "E0001");
      assert.include(error.message, `${key} `);
      assert.match(error.message, new RegExp(`\\b${name}\\b`));
    }
    const sandbox = await attach(context, options("e2b"));
    await rejected(sandbox.commands.run("x", { env: {} } as never), InvalidArgumentError, "E0001");
    await rejected(sandbox.pause({ keep_memory: true } as never), InvalidArgumentError, "E0001");
    assert.deepEqual(asked(), []);
  });

  test("an id that would lead elsewhere is refused before any request", async ({ sdk: { Sandbox, InvalidArgumentError } }) => {
    const { options, asked } = plane();
    const e2b = options("e2b");
    for (const id of [".", "..", "a/b", "a?b", "a#b", "a b", "a%2Fb", "ä", "a.b", "\n", 5 as never, undefined as never]) {
      await rejected(Sandbox.getInfo(id, e2b), InvalidArgumentError, "E0001");
      await rejected(Sandbox.kill(id, e2b), InvalidArgumentError, "E0001");
      await rejected(Sandbox.connect(id, e2b), InvalidArgumentError, "E0001");
      await rejected(Sandbox.fork(id, e2b), InvalidArgumentError, "E0001");
      await rejected(Sandbox.attach({ sandboxId: id }, e2b), InvalidArgumentError, "E0001");
    }
    for (const id of [".", "..", "", "a b", "a?"]) await rejected(Sandbox.deleteSnapshot(id, e2b), InvalidArgumentError, "E0001");
    assert.deepEqual(asked(), []);
  });

  test("wrong arguments of calls are refused before any request", async (context) => {
    const { InvalidArgumentError } = context.sdk;
    const { options, asked } = plane();
    const sandbox = await attach(context, options("e2b"));
    for (const call of [
      () => sandbox.fork({ count: 0 }),
      () => sandbox.fork({ count: 1.5 }),
      () => sandbox.pause({ keepMemory: "yes" as never }),
      () => sandbox.getMetrics({ start: 5 as never }),
      () => sandbox.getMetrics({ start: new Date(Number.NaN) }),
      () => sandbox.logs({ level: "loud" as never }),
      () => sandbox.logs({ limit: 5_000 }),
      () => sandbox.updateNetwork(undefined as never),
      () => sandbox.updateNetwork({ allowPublicTraffic: true } as never),
      () => sandbox.setTimeout("5" as never),
      () => sandbox.createSnapshot({ name: "" }),
      () => sandbox.resume({ timeoutMs: 0 }),
    ]) {
      await rejected(call(), InvalidArgumentError, "E0001");
    }
    assert.deepEqual(asked(), []);
  });

  test("a key that no header can carry is told from none, and is not repeated", async ({
    sdk: { Sandbox, InvalidAPIKeyError },
  }) => {
    const { options, asked } = plane();
    for (const apiKey of ["ключ-secret", "key secret", "key\u2026secret"]) {
      const error = await rejected(Sandbox.getInfo("i1", { ...options("e2b"), apiKey }), InvalidAPIKeyError, "E1001");
      assert.notMatch(error.message, /there is none/);
      assert.notInclude(shown(error), "secret");
    }
    assert.match(
      (await rejected(Sandbox.getInfo("i1", { ...options("e2b"), apiKey: " " }), InvalidAPIKeyError, "E1001")).message,
      /there is none/,
    );
    const form = { ...options("e2b"), apiKey: "not-e2b", validateApiKey: true };
    assert.include((await rejected(Sandbox.getInfo("i1", form), InvalidAPIKeyError, "E1001")).suggestion, "validateApiKey");
    assert.deepEqual(asked(), []);
  });

  test("credentials in a URL are refused and repeated nowhere", async ({ sdk: { Sandbox, InvalidArgumentError } }) => {
    const { options, asked } = plane();
    for (const name of ["apiUrl", "sandboxUrl"]) {
      for (const url of [
        "https://me:hunter2@api.test",
        "https://api.test?token=hunter2",
        "https://api.test#hunter2",
        "hunter2://api.test",
      ]) {
        const error = await rejected(Sandbox.create({ ...options("e2b"), [name]: url }), InvalidArgumentError, "E0001");
        assert.include(error.message, name);
        assert.notInclude(shown(error), "hunter2");
      }
    }
    assert.deepEqual(asked(), []);
  });
});
