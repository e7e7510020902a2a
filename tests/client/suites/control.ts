// What is asked of the control plane, byte for byte, by provider; and what is refused before anything is asked.
import type { ConnectionOptions, Sandbox, SandboxCreateOptions } from "agent-sandbox-web";
import { assert } from "chai";
import { text } from "../support/bytes.ts";
import { type Call, fakeFetch } from "../support/fake-fetch.ts";
import { rejected, SECRETS, shown } from "../support/sandboxes.ts";
import { type Context, suite } from "../support/suite.ts";

const MADE = { sandboxID: "i2", templateID: "t2", envdVersion: "0.6.13", envdAccessToken: SECRETS.envdToken };

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });

type Provider = "e2b" | "agentbox" | "alibaba";

/** A control plane that says of every call what a platform would. */
function plane(answer: (call: Call) => Response | undefined = () => undefined) {
  const fetch = fakeFetch((call) => {
    if (call.url.host !== "api.test") return undefined;
    const given = answer(call);
    if (given) return given;
    if (call.path.endsWith("/fork"))
      return json([{ sandbox: { ...MADE, sandboxID: "i3" } }, { error: { code: 429, message: "enough" } }], 201);
    if (call.path.endsWith("/metrics"))
      return json([
        {
          timestamp: "2026-01-01T00:00:00Z",
          timestampUnix: 1_767_225_600,
          cpuCount: 2,
          cpuUsedPct: 12.5,
          memUsed: 1,
          memTotal: 2,
          memCache: 0,
          diskUsed: 3,
          diskTotal: 4,
        },
      ]);
    if (call.path.endsWith("/logs"))
      return json({ logs: [{ timestamp: "2026-01-01T00:00:00.5Z", level: "warn", message: "hm", fields: { a: "b" } }] });
    if (call.method === "POST" && call.path.endsWith("/snapshots"))
      return json({ snapshotID: "team/snap:v1", names: ["snap"] }, 201);
    if (call.path === "/snapshots")
      return json([{ snapshotID: "s1", names: [] }], 200, call.url.searchParams.has("nextToken") ? {} : { "x-next-token": "more" });
    if (call.path.endsWith("/v2/sandboxes") || (call.path === "/sandboxes" && call.method === "GET")) return json([]);
    const isQuiet = call.method === "DELETE" || /\/(timeout|pause|network)$/.test(call.path);
    return isQuiet ? new Response(null, { status: 204 }) : json(MADE, call.path === "/sandboxes" ? 201 : 200);
  });
  const options = (provider: Provider | undefined): ConnectionOptions => ({
    ...(provider && { provider }),
    apiUrl: "https://api.test",
    sandboxUrl: "https://sandbox.test/s/{sandboxId}/{port}",
    apiKey: SECRETS.apiKey,
    validateApiKey: false,
    fetch,
  });
  /** Requests to the control plane as `METHOD /path?query body`. */
  const asked = () =>
    fetch.calls
      .filter(({ url }) => url.host === "api.test")
      .map(({ method, path, url, body }) => `${method} ${path}${url.search}${body.length > 0 ? ` ${text(body)}` : ""}`);
  return { fetch, options, asked };
}

/** Every call about a sandbox: what is asked of E2B, AgentBox and Alibaba (null: refused as not supported), and what comes of it. */
const CALLS: [
  name: string,
  call: (sandbox: Sandbox) => Promise<unknown>,
  asked: [string, string | null],
  result: (value: never) => void,
][] = [
  ["kill", (one) => one.kill(), ["DELETE /sandboxes/i1", "DELETE /sandboxes/i1"], (value) => assert.isTrue(value)],
  [
    "getInfo",
    (one) => one.getInfo(),
    ["GET /sandboxes/i1", "GET /sandboxes/i1"],
    (value) => assert.deepInclude(value, { sandboxId: "i2", template: "t2" }),
  ],
  [
    "setTimeout",
    (one) => one.setTimeout(1_500),
    ['POST /sandboxes/i1/timeout {"timeout":2}', 'POST /sandboxes/i1/timeout {"timeout":2}'],
    (value) => assert.isUndefined(value),
  ],
  [
    "connect",
    (one) => one.connect({ timeoutMs: 60_000 }),
    ['POST /sandboxes/i1/connect {"timeout":60}', "GET /sandboxes/i1"],
    (value) => assert.equal((value as Sandbox).sandboxId, "i1"),
  ],
  [
    "resume",
    (one) => one.resume(),
    ['POST /sandboxes/i1/connect {"timeout":300}', "POST /sandboxes/i1/resume"],
    (value) => assert.equal((value as Sandbox).status, "running"),
  ],
  ["pause", (one) => one.pause(), ["POST /sandboxes/i1/pause {}", "POST /sandboxes/i1/pause"], (value) => assert.isTrue(value)],
  [
    "pause without memory",
    (one) => one.pause({ keepMemory: false }),
    ['POST /sandboxes/i1/pause {"memory":false}', null],
    (value) => assert.isTrue(value),
  ],
  [
    "createSnapshot",
    (one) => one.createSnapshot({ name: "snap" }),
    ['POST /sandboxes/i1/snapshots {"name":"snap"}', null],
    (value) => assert.deepEqual(value, { snapshotId: "team/snap:v1", names: ["snap"] } as never),
  ],
  [
    "getMetrics",
    (one) => one.getMetrics({ start: new Date(1_500), end: new Date(9_000) }),
    ["GET /sandboxes/i1/metrics?start=1&end=9", null],
    (value) =>
      assert.deepEqual(value, [
        {
          timestamp: new Date("2026-01-01T00:00:00Z"),
          cpuCount: 2,
          cpuUsedPct: 12.5,
          memUsed: 1,
          memTotal: 2,
          memCache: 0,
          diskUsed: 3,
          diskTotal: 4,
        },
      ] as never),
  ],
  [
    "logs",
    (one) => one.logs({ start: new Date(1_500), limit: 5, direction: "forward", level: "warn", search: "a&b" }),
    ["GET /v2/sandboxes/i1/logs?cursor=1500&limit=5&direction=forward&level=warn&search=a%26b", null],
    (value) =>
      assert.deepEqual(value, [
        { timestamp: new Date("2026-01-01T00:00:00.5Z"), level: "warn", message: "hm", fields: { a: "b" } },
      ] as never),
  ],
  [
    "updateNetwork",
    (one) => one.updateNetwork({ denyOut: ({ allTraffic }) => [allTraffic], allowInternetAccess: true }),
    ['PUT /sandboxes/i1/network {"denyOut":["0.0.0.0/0"],"allow_internet_access":true}', null],
    (value) => assert.isUndefined(value),
  ],
];

const attach = ({ sdk }: Context, options: ConnectionOptions) => sdk.Sandbox.attach({ sandboxId: "i1" }, options);

export const control = suite("control plane", (test) => {
  for (const [name, call, [family, alibaba], result] of CALLS) {
    test(`${name}: what is asked, by provider`, async (context) => {
      for (const provider of ["e2b", "agentbox", "alibaba"] as const) {
        const { options, asked } = plane();
        const sandbox = await attach(context, options(provider));
        const expected = provider === "alibaba" ? alibaba : family;
        if (expected === null) {
          const error = await rejected(call(sandbox), context.sdk.ProviderFeatureNotSupportedError, "E8004");
          assert.include(error.message, provider);
          assert.isTrue(error instanceof context.sdk.CapabilityNotSupportedError);
          assert.deepEqual(asked(), []);
          continue;
        }
        result((await call(sandbox)) as never);
        assert.deepEqual(asked(), [expected], provider);
      }
    });
  }

  test("the same calls by id", async ({ sdk: { Sandbox } }) => {
    const { options, asked } = plane();
    const e2b = options(undefined);
    await Sandbox.pause("i1", { ...e2b, keepMemory: true });
    await Sandbox.createSnapshot("i1", e2b);
    assert.isTrue(await Sandbox.deleteSnapshot("team/snap:v1", e2b));
    await Sandbox.getMetrics("i1", e2b);
    await Sandbox.logs("i1", e2b);
    await Sandbox.updateNetwork("i1", {}, e2b);
    assert.deepEqual(asked(), [
      'POST /sandboxes/i1/pause {"memory":true}',
      "POST /sandboxes/i1/snapshots {}",
      "DELETE /templates/team%2Fsnap%3Av1",
      "GET /sandboxes/i1/metrics",
      "GET /v2/sandboxes/i1/logs",
      "PUT /sandboxes/i1/network {}",
    ]);
  });

  test("fork gives sandboxes and errors, in the platform's order", async (context) => {
    const { Sandbox, RateLimitError, ProviderFeatureNotSupportedError } = context.sdk;
    const { options, asked } = plane();
    const sandbox = await attach(context, options("e2b"));
    for (const made of [
      await sandbox.fork({ count: 2, timeoutMs: 60_000 }),
      await Sandbox.fork("i1", { ...options("e2b"), count: 2, timeoutMs: 60_000 }),
    ]) {
      assert.lengthOf(made, 2);
      assert.isTrue(made[0] instanceof Sandbox);
      assert.equal((made[0] as Sandbox).sandboxId, "i3");
      assert.isTrue(made[1] instanceof RateLimitError, String(made[1]));
      assert.equal((made[1] as Error).message, "enough");
    }
    const one = 'POST /sandboxes/i1/fork {"timeout":60,"count":2}';
    assert.deepEqual(asked(), [one, one]);
    const alibaba = await attach(context, options("alibaba"));
    await rejected(alibaba.fork(), ProviderFeatureNotSupportedError, "E8004");
  });

  test("fork and createSnapshot are not retried; pause is, and answers as its first attempt would have", async (context) => {
    const broken = plane(() => new Response("", { status: 503 }));
    const sandbox = await attach(context, broken.options("e2b"));
    await rejected(sandbox.fork(), context.sdk.SandboxError);
    await rejected(sandbox.createSnapshot(), context.sdk.SandboxError);
    assert.lengthOf(broken.asked(), 2);
    let attempts = 0;
    const { options } = plane(({ path }) =>
      path.endsWith("/pause") ? new Response("", { status: ++attempts === 1 ? 502 : 409 }) : undefined,
    );
    const paused = await attach(context, options("e2b"));
    assert.isTrue(await paused.pause());
    assert.equal(paused.status, "paused");
    assert.isFalse(await paused.pause());
    await paused.resume();
    assert.equal(paused.status, "running");
  });

  test("a fork whose caller gives up is ended", async (context) => {
    const event = () => {
      let happen = (_?: string) => {};
      const happened = new Promise<string | undefined>((resolve) => {
        happen = resolve;
      });
      return { happen: (what?: string) => happen(what), happened };
    };
    const [asked, answered, killed] = [event(), event(), event()];
    const fetch = fakeFetch(async ({ method, path }) => {
      if (method === "DELETE") killed.happen(path);
      if (!path.endsWith("/fork")) return undefined;
      asked.happen();
      await answered.happened;
      return json([{ sandbox: { ...MADE, sandboxID: "i3" } }], 201);
    });
    const sandbox = await attach(context, { ...plane().options("e2b"), fetch });
    const controller = new AbortController();
    const forking = sandbox.fork({ signal: controller.signal }).catch((reason: unknown) => reason);
    await asked.happened;
    controller.abort("no more");
    assert.equal(await forking, "no more");
    answered.happen();
    assert.equal(await killed.happened, "/sandboxes/i3");
  });

  test("snapshots come in pages, of one sandbox or of all", async (context) => {
    const { Sandbox, SnapshotPaginator, ProviderFeatureNotSupportedError } = context.sdk;
    const { options, asked } = plane();
    const sandbox = await attach(context, options("e2b"));
    const pages = sandbox.listSnapshots({ limit: 1 });
    assert.isTrue(pages instanceof SnapshotPaginator);
    assert.deepEqual(await pages.toArray(), [
      { snapshotId: "s1", names: [] },
      { snapshotId: "s1", names: [] },
    ]);
    await Sandbox.listSnapshots({ ...options("agentbox"), sandboxId: "i9", name: "a:b" }).nextItems();
    assert.deepEqual(asked(), [
      "GET /snapshots?sandboxID=i1&limit=1",
      "GET /snapshots?sandboxID=i1&limit=1&nextToken=more",
      "GET /snapshots?sandboxID=i9&name=a%3Ab&limit=100",
    ]);
    await rejected(Sandbox.listSnapshots(options("alibaba")).nextItems(), ProviderFeatureNotSupportedError, "E8004");
  });

  test("a list asks for what the provider can filter by, and filters the rest itself", async ({
    sdk: { Sandbox, ProviderFeatureNotSupportedError },
  }) => {
    const { options, asked } = plane(({ path, method }) =>
      path === "/sandboxes" && method === "GET"
        ? json({
            data: [
              { sandboxID: "a", state: "running" },
              { sandboxID: "b", state: "stopped" },
              { sandboxID: "c", state: "paused" },
            ],
          })
        : undefined,
    );
    const ids = async (status?: string | string[]) => {
      const items = await Sandbox.list({ ...options("alibaba"), offset: 4, ...(status && { status }) }).nextItems();
      return items.map(({ sandboxId }) => sandboxId).join();
    };
    assert.equal(await ids(), "a,c");
    assert.equal(await ids(["stopped", "paused"]), "b,c");
    await ids("stopped");
    await Sandbox.list({ ...options("e2b"), metadata: { "a b": "ü&=" }, status: "paused", limit: 7, nextToken: "t=" }).nextItems();
    assert.deepEqual(asked(), [
      "GET /sandboxes?limit=100&offset=4",
      "GET /sandboxes?limit=100&offset=4",
      "GET /sandboxes?limit=100&offset=4&status=stopped",
      "GET /v2/sandboxes?metadata=a%2520b%3D%25C3%25BC%2526%253D&state=paused&limit=7&nextToken=t%3D",
    ]);
    for (const [provider, wrong] of [
      ["alibaba", { metadata: { a: "b" } }],
      ["alibaba", { nextToken: "t" }],
      ["e2b", { status: "stopped" }],
    ] as const) {
      await rejected(Sandbox.list({ ...options(provider), ...wrong }).nextItems(), ProviderFeatureNotSupportedError, "E8004");
    }
  });

  const BASE = { templateID: "base", timeout: 300, secure: true, allow_internet_access: true };
  const ALIBABA = { templateID: "base", timeout: 300, autoPause: false, metadata: {}, envVars: {} };
  // A placeholder of the platform's, and none of JavaScript's.
  const MASK = ["h:$", "{PORT}"].join("");
  const iam = { tokens: { id: { audience: "a", tokenType: "JWT-SVID" } } };
  /** Options of a creation: the body at E2B and AgentBox, and at Alibaba; null where they are refused as not supported. */
  const CREATIONS: [SandboxCreateOptions, object | null, object | null, (object | null)?][] = [
    [{}, BASE, ALIBABA],
    [
      { metadata: { a: "b" }, envs: { C: "d" }, timeoutMs: 1 },
      { ...BASE, timeout: 1, metadata: { a: "b" }, envVars: { C: "d" } },
      { ...ALIBABA, timeout: 1, metadata: { a: "b" }, envVars: { C: "d" } },
    ],
    [{ secure: false }, { ...BASE, secure: false }, ALIBABA],
    [{ allowInternetAccess: false }, { ...BASE, allow_internet_access: false }, null],
    [{ cpu: 2, memory: 1024, disk: 10, gpu: "A10" }, null, { ...ALIBABA, cpuCount: 2, memoryMB: 1024, diskSizeMB: 10, gpu: "A10" }],
    [{ lifecycle: { onTimeout: "pause", autoResume: true } }, { ...BASE, autoPause: true, autoResume: { enabled: true } }, null],
    [
      { lifecycle: { onTimeout: { action: "pause", keepMemory: false } } },
      { ...BASE, autoPause: true, autoPauseMemory: false },
      null,
    ],
    [{ lifecycle: { onTimeout: "kill", autoResume: false } }, { ...BASE, autoPause: false, autoResume: { enabled: false } }, null],
    [{ lifecycle: {} }, BASE, null],
    [
      {
        network: {
          allowOut: ["a.test"],
          denyOut: ({ allTraffic }) => [allTraffic],
          allowPublicTraffic: false,
          maskRequestHost: MASK,
        },
      },
      {
        ...BASE,
        network: { allowOut: ["a.test"], denyOut: ["0.0.0.0/0"], allowPublicTraffic: false, maskRequestHost: MASK },
      },
      null,
    ],
    [
      {
        network: {
          rules: new Map([["a.test", [{ transform: { headers: { A: "b" } } }, {}]]]),
          allowOut: ({ rules }) => [...rules.keys()],
        },
      },
      { ...BASE, network: { allowOut: ["a.test"], rules: { "a.test": [{ transform: { headers: { A: "b" } } }, {}] } } },
      null,
    ],
    [{ iam: { tokens: {} } }, BASE, null],
    [
      { volumeMounts: [{ name: "v", path: "/v" }] },
      { ...BASE, volumeMounts: [{ name: "v", path: "/v" }] },
      { ...ALIBABA, volumeMounts: [{ name: "v", path: "/v" }] },
      null,
    ],
    [{ mcp: { github: {} } }, { ...BASE, mcp: { github: {} } }, null, null],
    [{ network: { egressProxy: { address: "p:1" } } }, { ...BASE, network: { egressProxy: { address: "p:1" } } }, null, null],
  ];
  for (const [given, e2b, alibaba, agentbox = e2b] of CREATIONS) {
    test(`create ${JSON.stringify(given)}: the body, by provider`, async ({
      sdk: { Sandbox, ProviderFeatureNotSupportedError },
    }) => {
      for (const [provider, body] of [
        ["e2b", e2b],
        ["agentbox", agentbox],
        ["alibaba", alibaba],
      ] as const) {
        const { options, fetch, asked } = plane();
        if (body === null) {
          await rejected(Sandbox.create({ ...options(provider), ...given }), ProviderFeatureNotSupportedError, "E8004");
          assert.deepEqual(asked(), [], provider);
          continue;
        }
        await Sandbox.create({ ...options(provider), ...given });
        assert.deepEqual(JSON.parse(text(fetch.calls[0]?.body ?? new Uint8Array())), body, provider);
      }
    });
  }

  test("workload tokens have the provider's placeholders, and unknown ones are refused", async (context) => {
    const { Sandbox, InvalidArgumentError } = context.sdk;
    const rules = (name: string) => ({
      "a.test": [
        {
          transform: ({ iam }: { iam: { tokens: Readonly<Record<string, string>> } }) => ({
            headers: { Authorization: `Bearer ${iam.tokens[name]}` },
          }),
        },
      ],
    });
    for (const [provider, prefix] of [
      ["e2b", "e2b"],
      ["agentbox", "agentbox"],
    ] as const) {
      const { options, fetch, asked } = plane();
      await Sandbox.create({ ...options(provider), iam, network: { rules: rules("id") } });
      const body = JSON.parse(text(fetch.calls[0]?.body ?? new Uint8Array()));
      assert.deepEqual(body.iam, iam);
      assert.equal(body.network.rules["a.test"][0].transform.headers.Authorization, `Bearer \${${prefix}.identity.tokens.id}`);
      const error = await rejected(
        Sandbox.create({ ...options(provider), iam, network: { rules: rules("other") } }),
        InvalidArgumentError,
        "E0001",
      );
      assert.include(error.message, "other");
      // Later, the sandbox has its tokens, and their names are not known here.
      await Sandbox.updateNetwork("i1", { rules: rules("other") }, options(provider));
      assert.include(asked()[1], `\${${prefix}.identity.tokens.other}`);
    }
  });

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

  test("a profile of one's own is like a cloud that it names, and nobody else's cloud gets its key", async ({
    sdk: { Sandbox, InvalidArgumentError, ProviderFeatureNotSupportedError },
  }) => {
    const { fetch } = plane();
    const api = { fetch, apiKey: SECRETS.apiKey };
    const nowhere = { ...api, provider: { name: "mine" } };
    assert.include((await rejected(Sandbox.getInfo("i1", nowhere), InvalidArgumentError, "E0001")).message, "mine");
    assert.lengthOf(fetch.calls, 0);
    const like = { ...api, provider: { name: "mine", like: "alibaba", apiUrl: "https://api.test", domain: "d.test" } as const };
    assert.include((await rejected(Sandbox.fork("i1", like), ProviderFeatureNotSupportedError, "E8004")).message, "mine");
    await Sandbox.create({ ...like, cpu: 2, secure: false });
    assert.equal(fetch.calls[0]?.headers.get("authorization"), `Bearer ${SECRETS.apiKey}`);
    assert.equal(fetch.calls[1]?.url.href, "http://49983-i2.d.test/health");
    assert.isNull(fetch.calls[1]?.headers.get("x-access-token"));
  });

  test("debug is this machine", async (context) => {
    const { Sandbox, ProviderFeatureNotSupportedError } = context.sdk;
    const { fetch } = plane();
    const sandbox = await Sandbox.attach({ sandboxId: "i1" }, { debug: true, fetch, apiKey: SECRETS.apiKey });
    assert.equal(sandbox.getHost(80), "localhost:80");
    assert.equal(sandbox.getUrl(80), "http://localhost:80");
    await rejected(sandbox.getInfo(), context.sdk.SandboxError);
    assert.equal(fetch.calls[0]?.url.href, "http://localhost:3000/sandboxes/i1");
    await rejected(
      Sandbox.attach({ sandboxId: "i1" }, { debug: true, provider: "alibaba" }),
      ProviderFeatureNotSupportedError,
      "E8004",
    );
  });

  test("the logger hears of each request, and never a key or a token", async (context) => {
    const { options } = plane();
    const lines: unknown[] = [];
    const logger = { debug: (...line: unknown[]) => void lines.push(line), warn: (...line: unknown[]) => void lines.push(line) };
    const sandbox = await context.sdk.Sandbox.create({ ...options("e2b"), logger });
    await sandbox.getMetrics({ start: new Date(0) });
    const said = JSON.stringify(lines);
    assert.match(said, /POST.*\/sandboxes.*"status":201/);
    assert.match(said, /GET.*\/metrics/);
    for (const secret of Object.values(SECRETS)) assert.notInclude(said, secret);
  });

  test("headers of one's own go to the control plane alone", async (context) => {
    const { options, fetch } = plane();
    const sandbox = await context.sdk.Sandbox.create({ ...options("e2b"), apiHeaders: { "X-Mine": "yes" } });
    await sandbox.files.exists("a").catch(() => undefined);
    assert.deepEqual(
      fetch.calls.map(({ headers, url }) => [url.host, headers.get("x-mine")]),
      [
        ["api.test", "yes"],
        ["sandbox.test", null],
        ["sandbox.test", null],
      ],
    );
  });

  test.inNode(
    "each provider's environment is read, options count over it, and a profile has none",
    async ({ sdk: { Sandbox } }) => {
      const { env } = process;
      const seen = async (
        provider: ConnectionOptions["provider"],
        variables: Record<string, string>,
        options: ConnectionOptions = {},
      ) => {
        const { fetch } = plane();
        Object.assign(env, variables);
        try {
          const read = Sandbox.getInfo("i1", { ...(provider && { provider }), fetch, ...options });
          await read.catch(() => undefined);
        } finally {
          for (const name of Object.keys(variables)) delete env[name];
        }
        const [call] = fetch.calls;
        return call && [call.url.origin, call.headers.get("x-api-key") ?? call.headers.get("authorization")];
      };
      const e2b = { E2B_API_KEY: "e2b_ab", E2B_API_URL: "https://api.test" };
      assert.deepEqual(await seen(undefined, e2b), ["https://api.test", "e2b_ab"]);
      assert.deepEqual(await seen("e2b", { ...e2b, E2B_API_URL: "", E2B_DOMAIN: "d.test" }), ["https://api.d.test", "e2b_ab"]);
      assert.deepEqual(await seen("e2b", { E2B_API_KEY: "e2b_ab", E2B_DEBUG: "true" }), ["http://localhost:3000", "e2b_ab"]);
      assert.deepEqual(await seen("e2b", e2b, { apiKey: "e2b_cd", apiUrl: "https://other.test" }), [
        "https://other.test",
        "e2b_cd",
      ]);
      assert.isUndefined(await seen("e2b", { E2B_API_KEY: "other", E2B_DOMAIN: "e2b.app" }));
      assert.deepEqual(await seen("e2b", { E2B_API_KEY: "other", E2B_DOMAIN: "e2b.app", E2B_VALIDATE_API_KEY: "false" }), [
        "https://api.e2b.app",
        "other",
      ]);
      const agentbox = { AGENTBOX_API_KEY: "ab_1", AGENTBOX_DOMAIN: "ab.test" };
      assert.deepEqual(await seen("agentbox", agentbox), ["https://api.ab.test", "ab_1"]);
      const alibaba = { ABX_SANDBOX_API_KEY: "k", ABX_SANDBOX_BASE_URL: "https://api.test", SANDBOX_HTTP_TIMEOUT: "20" };
      assert.deepEqual(await seen("alibaba", alibaba), ["https://api.test", "Bearer k"]);
      assert.isUndefined(await seen("agentbox", e2b));
      assert.isUndefined(await seen({ name: "mine", apiUrl: "https://api.test" }, e2b));
    },
  );

  test.inNode("the environment's timeout is a request timeout, in seconds", async ({ sdk: { Sandbox, RequestTimeoutError } }) => {
    process.env.SANDBOX_HTTP_TIMEOUT = "0.2";
    const fetch = fakeFetch(() => new Promise(() => undefined));
    const options = { provider: "alibaba", apiUrl: "https://api.test", apiKey: "k", fetch } as const;
    const error = await rejected(
      Sandbox.getInfo("i1", options).finally(() => {
        delete process.env.SANDBOX_HTTP_TIMEOUT;
      }),
      RequestTimeoutError,
      "E5002",
    );
    assert.include(error.message, "200 ms");
  });

  test.inPage("a proxy is refused in a page", async ({ sdk: { Sandbox, InvalidArgumentError } }) => {
    const error = await rejected(
      Sandbox.getInfo("i1", { apiKey: "k", proxy: "http://127.0.0.1:1" }),
      InvalidArgumentError,
      "E0001",
    );
    assert.include(error.message, "Node");
  });

  test("information keeps the token out of printing and JSON", async ({ sdk: { Sandbox } }) => {
    const info = await Sandbox.getInfo("i2", plane().options("e2b"));
    assert.equal(info.envdAccessToken, SECRETS.envdToken);
    assert.notInclude(JSON.stringify(info), SECRETS.envdToken);
    assert.deepEqual(Object.keys({ ...info }).includes("envdAccessToken"), false);
  });
});
