// What is asked of the control plane, byte for byte, by provider.
import type { Sandbox, SandboxCreateOptions } from "agent-sandbox-web";
import { assert } from "chai";
import { text } from "../support/bytes.ts";
import { fakeFetch } from "../support/fake-fetch.ts";
import { attach, json, MADE, plane } from "../support/plane.ts";
import { rejected } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";

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
});
