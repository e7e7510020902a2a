// Discovery, presets, identities with scopes, path rules, limits and rate limits, against the real server.
import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  AuthenticationError,
  CapabilityNotSupportedError,
  EndpointNotAvailableError,
  FilePolicyDeniedError,
  InvalidArgumentError,
  PayloadTooLargeError,
  PermissionDeniedError,
  PolicyDeniedError,
  RateLimitedError,
  ServerAPIError,
  ServerAuthError,
  ServerClient,
} from "agent-sandbox-web";
import { describe, expect, test } from "vitest";
import { scriptedServer } from "../support/scripted-server.ts";
import { rejected } from "./support/failures.ts";
import { startServer } from "./support/server.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Callable ids beside the three of the core. */
const PRESETS: [string, string[]][] = [
  ["transfer-only", ["files_download_stream", "files_upload_stream"]],
  [
    "read-only",
    [
      "env_get",
      "files_archive",
      "files_download_stream",
      "files_list",
      "files_search",
      "files_stat",
      "files_watch",
      "list_commands",
      "packages",
      "ports",
      "run_command",
      "system_info",
      "system_metrics",
    ],
  ],
  ["locked", ["list_commands", "run_command"]],
];

describe.each(PRESETS)("the preset %s", (preset, ids) => {
  test("lets through what discovery says, and refuses the rest before and after a request", async () => {
    await using server = await startServer({ preset });
    const client = server.client();
    await rejected(client.process.shell("true"), EndpointNotAvailableError, {
      statusCode: 404,
      errorCode: "endpoint_disabled",
      endpoint: "shell",
    });
    const capabilities = await client.discover();
    expect(client.capabilities).toBe(capabilities);
    const core = ["capabilities", "capabilities_check", "health"];
    expect(capabilities.available().filter((id) => id !== "GET /status")).toEqual([...ids, ...core].sort());
    expect(capabilities).toMatchObject({ preset, apiVersion: 2, configured: true, identityId: "anonymous" });
    const requests: string[] = [];
    const logged = server.client({
      logger: { debug: (line) => void requests.push(line), warn: (line) => void requests.push(line) },
    });
    await logged.discover();
    const before = requests.length;
    const refused = await rejected(logged.process.shell("true"), EndpointNotAvailableError, {
      code: "E9003",
      capability: "shell",
      errorCode: "endpoint_disabled",
    });
    expect(refused).toBeInstanceOf(CapabilityNotSupportedError);
    expect(refused.rule).not.toBe("");
    expect(requests.length).toBe(before);
    logged.forgetDiscovery();
    expect(logged.capabilities).toBeUndefined();
    await rejected(logged.process.shell("true"), EndpointNotAvailableError);
    expect(requests.length).toBe(before + 1);
  });
});

test("identities hold scopes", async () => {
  const policy = {
    version: 1,
    auth: {
      tokens: [
        { id: "reader", scopes: ["files:read"], token_sha256: sha256("read-me") },
        { id: "ops", scopes: ["*"], token_sha256: sha256("ops") },
      ],
    },
  };
  await using server = await startServer({ policy });
  const nobody = server.client();
  const unauthorized = await rejected(nobody.files.list(server.base), ServerAuthError, {
    code: "E9001",
    statusCode: 401,
    status: 401,
  });
  expect(unauthorized).toBeInstanceOf(AuthenticationError);
  expect(await nobody.health()).toBe(true);
  const reader = nobody.withToken("read-me");
  expect(reader.baseUrl).toBe(nobody.baseUrl);
  expect(await reader.files.list(server.base)).toEqual([]);
  const denied = { code: "E9002", statusCode: 403, errorCode: "missing_scope", scope: "process:run", endpoint: "shell" };
  expect(await rejected(reader.process.shell("true"), PolicyDeniedError, denied)).not.toBeInstanceOf(FilePolicyDeniedError);
  const capabilities = await reader.discover();
  expect([capabilities.identityId, [...capabilities.scopes]]).toEqual(["reader", ["files:read"]]);
  expect([capabilities.can("files_list"), capabilities.can("shell"), capabilities.denial("shell")]).toEqual([
    true,
    false,
    "missing_scope",
  ]);
  expect([capabilities.denial("files_list"), capabilities.denial("none")]).toEqual([undefined, "unknown_endpoint"]);
  await rejected(reader.process.shell("true"), PolicyDeniedError, denied);
  expect(capabilities.endpointsFor("process:run")).toEqual(["process_start", "shell", "shell_stream"]);
  expect(reader.withToken("ops").capabilities).toBeUndefined();
  await rejected(nobody.withToken("wrong").discover(), ServerAuthError);
  expect(() => server.client({ token: "a", headers: { Authorization: "b" } }).withToken("c")).not.toThrow();
  await rejected(server.client({ token: "a", headers: { Authorization: "b" } }).system.info(), InvalidArgumentError);
  const odd = await rejected(server.client({ token: "geheim\n" }).system.info(), InvalidArgumentError);
  expect(odd.message).not.toContain("geheim");
});

test("rules of paths, limits and rates", async () => {
  const policy = (base: string) => ({
    version: 1,
    endpoints: {
      files_list: {
        paths: { allow: [base], deny: ["**/secret*"], read_only: false, symlinks: "never" },
        limits: { rate_per_minute: 3, max_entries: 2 },
      },
      files_upload_stream: { limits: { max_bytes: 100 }, params: { overwrite: false, deny_extensions: [".exe"] } },
      files_download_stream: { limits: { max_bytes: 10 } },
      files_stat: { limits: { rate_per_minute: 30 } },
      process_start: { limits: { max_processes: 1 } },
      run_command: { limits: { max_concurrency: 1 } },
      shell: { params: { deny_commands: ["rm"] } },
      shell_stream: { limits: { max_output_bytes: 50 } },
    },
  });
  await using server = await startServer({ policy: policy("/tmp"), env: { TMPDIR: "/tmp" } });
  const { base } = server;
  const client = server.client();
  const at = (name: string) => join(base, name);

  await client.files.upload(at("a.txt"), "x".repeat(50));
  const exists = await rejected(client.files.upload(at("a.txt"), "y"), FilePolicyDeniedError, {
    statusCode: 409,
    errorCode: "file_exists",
  });
  expect(exists).toBeInstanceOf(PermissionDeniedError);
  await rejected(client.files.upload(at("a.exe"), "y"), FilePolicyDeniedError, { errorCode: "extension_not_allowed" });
  await rejected(client.files.upload(at("b"), "x".repeat(101)), PayloadTooLargeError, {
    code: "E9004",
    statusCode: 413,
    limit: 100,
  });
  await rejected(client.files.download(at("a.txt")), PayloadTooLargeError, { statusCode: 413, limit: 10 });
  await rejected(client.process.shell("rm x", { cwd: base }), PolicyDeniedError, { errorCode: "command_not_allowed" });
  await rejected(client.process.runStream("seq 100", { cwd: base }), PayloadTooLargeError, { statusCode: 0 });

  await client.process.start("sleep 20", { cwd: base });
  await rejected(client.process.start("sleep 20", { cwd: base }), ServerAPIError, {
    statusCode: 429,
    errorType: "ResourceError",
    errorCode: "",
  });

  // Whichever of two comes second is refused; a machine so slow that they do not meet gets another try.
  const outcomes: PromiseSettledResult<unknown>[] = [];
  while (!outcomes.some(({ status }) => status === "rejected")) {
    const both = [0, 1].map(() => client.commands.run("slow", { seconds: 2 }));
    outcomes.splice(0, 2, ...(await Promise.allSettled(both)));
  }
  const refused = outcomes.map(async (outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    expect(outcome.value).toBe("done");
  });
  await rejected(Promise.all(refused), RateLimitedError, { code: "E9005", errorCode: "concurrency_limited", retryAfter: 1 });

  await rejected(client.files.list(join(base, "secret")), FilePolicyDeniedError, { errorCode: "path_denied" });
  for (let call = 0; call < 2; call += 1) await client.files.list(base);
  const limited = await rejected(client.files.list(base), RateLimitedError, { statusCode: 429, errorCode: "rate_limited" });
  expect(limited.retryAfter).toBeGreaterThan(5);
  expect(limited.retryAfterMs).toBe(Number(limited.retryAfter) * 1000);
  // A limit that asks for a moment only is waited for.
  await Promise.all(Array.from({ length: 4 }, () => client.files.exists(base)));

  const capabilities = await client.discover();
  expect(capabilities.limit("files_upload_stream", "max_bytes")).toBe(100);
  expect(capabilities.limit("files_upload_stream", "max_files", 7)).toBe(7);
  expect(capabilities.param("files_upload_stream", "overwrite")).toBe(false);
  expect(capabilities.param("none", "overwrite", "d")).toBe("d");
  expect(capabilities.paths("files_list")).toEqual({
    allow: ["/tmp"],
    readOnly: false,
    denyCount: expect.any(Number),
    symlinks: "never",
  });
  expect(capabilities.paths("health")).toBeUndefined();
  expect(capabilities.info("files_list")).toMatchObject({
    name: "files_list",
    method: "GET",
    path: "/files/list",
    group: "file_ops",
    allowed: true,
  });
  expect(capabilities.info("none")).toBeUndefined();
  expect(capabilities.groups).toMatchObject({ file_ops: true, browser: false });
  expect(capabilities.groupSummary.file_ops).toEqual({ enabled: 10, total: 10 });
  expect(await capabilities.checkPath("files_list", "/etc", "read")).toMatchObject({ allowed: false });
  await rejected(client.files.upload(at("c"), "x".repeat(101)), PayloadTooLargeError, { statusCode: 0, limit: 100 });
});

test("a document of another version is refused, and everything with it until it is forgotten", async () => {
  await using server = await scriptedServer();
  const json = { "content-type": "application/json" };
  for (const document of ['{"api_version": 3, "endpoints": {}}', '{"api_version": 2}', "[]", "<html>"]) {
    server.on("GET", "/capabilities", (exchange) => exchange.answer(200, json, document));
    server.on("GET", "/system/info", (exchange) => exchange.answer(200, json, "{}"));
    const client = new ServerClient(server.address);
    await rejected(client.discover(), ServerAPIError, { statusCode: 200, errorType: "ProtocolError" });
    if (!document.startsWith("{")) continue;
    await rejected(client.system.info(), EndpointNotAvailableError, { errorCode: "unknown_endpoint" });
    client.forgetDiscovery();
    expect(await client.system.info()).toEqual({});
  }
});
