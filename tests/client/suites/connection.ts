// Where the control plane is, what goes to it beside the calls, and who hears of that.
import type { ConnectionOptions } from "agent-sandbox-web";
import { assert } from "chai";
import { fakeFetch } from "../support/fake-fetch.ts";
import { plane } from "../support/plane.ts";
import { rejected, SECRETS } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";

export const connection = suite("connection to the control plane", (test) => {
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
