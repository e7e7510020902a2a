// Every member that the SandboxServer's client promises, by class. A name that goes missing from the types or from the package fails here;
// the surface test then compares the types with the package member by member.
import { readFileSync } from "node:fs";
import * as sdk from "agent-sandbox-web";
import ts from "typescript";
import { expect, test } from "vitest";

const ROWS: Record<string, string> = {
  ServerClient:
    "ENDPOINT_METHODS baseUrl files process pty system devtools browser commands capabilities health discover forgetDiscovery check withToken close [Symbol.asyncDispose]",
  ServerFiles:
    "list stat exists mkdir delete move search archive watch watchFor upload download readText uploadFile downloadFile uploadLegacy downloadLegacy",
  ServerProcesses: "shell shellStream runStream start list get signal terminate kill sendStdin closeStdin output follow wait",
  ServerPty: "create list get resize delete connect",
  PtyConnection:
    "sessionId pid isConnected closed send sendBytes resize signal receive expect close [Symbol.asyncIterator] [Symbol.asyncDispose]",
  ServerSystem: "info metrics env setEnv ports packages",
  ServerDevtools: "runCode gitStatus gitDiff",
  ServerBrowser: "navigate screenshot content click type evaluate pdf console",
  ServerCommands: "list run",
  ServerCapabilities:
    "can denial rule require info limit param paths endpointsFor available checkPath groups groupSummary identityId scopes preset revision warnings apiVersion serverVersion configured",
  Sandbox: "server serverAt startServer listCommands run",
  // Models and options.
  ServerClientOptions: "token headers ptyUrl timeoutMs fetch webSocket logger",
  SandboxServerOptions: "port ptyPort token headers timeoutMs",
  StartServerOptions: "port ptyPort commands policy token envs command wait timeoutMs signal",
  EndpointInfo: "name method path group summary streaming enabled allowed reason rule scopes limits params paths",
  EndpointPaths: "allow readOnly denyCount symlinks",
  PathDecision: "endpoint allowed code reason rule",
  ServerFileEntry: "name type size modified",
  ServerFileInfo: "name path type size permissions modified accessed created exists",
  ServerWatchEvent: "type path isDir",
  ServerProcess: "pid command state startedAt exitCode",
  ProcessOutput: "pid events next state exitCode dropped",
  ProcessOutputEvent: "seq stream data",
  ShellResult: "stdout stderr exitCode truncated",
  PtySessionInfo: "id pid createdAt cols rows alive",
  PtyCreated: "sessionId pid wsUrl",
  SystemInfo: "os arch cpuCount memoryTotalMb memoryAvailableMb diskTotalGb diskFreeGb pythonVersion hostname",
  SystemMetrics:
    "cpuLoad1m cpuLoad5m cpuLoad15m memoryUsedMb memoryTotalMb memoryPercent diskUsedGb diskTotalGb diskPercent uptimeSeconds",
  ListeningPort: "port protocol address pid",
  ServerCommand: "name description args",
  // Errors: what each adds to its parent.
  ServerAPIError: "statusCode errorType errorCode endpoint rule",
  PolicyDeniedError: "scope",
  EndpointNotAvailableError: "capability",
  PayloadTooLargeError: "limit",
  RateLimitedError: "retryAfter retryAfterMs",
  CommandNotFoundError: "commandName",
};

/** Class, code, parents: the first by `extends`, others by `instanceof`. */
const ERRORS: [string, string, ...string[]][] = [
  ["SandboxError", "E0000"],
  ["ServerAPIError", "E9000", "SandboxError"],
  ["CommandArgumentError", "E9000", "ServerAPIError"],
  ["CommandExecutionError", "E9000", "ServerAPIError"],
  ["ServerAuthError", "E9001", "ServerAPIError", "AuthenticationError"],
  ["PolicyDeniedError", "E9002", "ServerAPIError"],
  ["FilePolicyDeniedError", "E9002", "PolicyDeniedError", "PermissionDeniedError"],
  ["EndpointNotAvailableError", "E9003", "ServerAPIError", "CapabilityNotSupportedError"],
  ["PayloadTooLargeError", "E9004", "ServerAPIError"],
  ["RateLimitedError", "E9005", "ServerAPIError"],
  ["CapabilityNotSupportedError", "E3004", "SandboxError"],
  ["CommandNotFoundError", "E3005", "ExecutionError"],
  ["ProviderFeatureNotSupportedError", "E8004", "CapabilityNotSupportedError"],
  ["SandboxConnectionError", "E5001", "SandboxError"],
  ["InvalidArgumentError", "E0001", "SandboxError"],
];

const text = readFileSync(new URL("../../pkg/dist/index.d.ts", import.meta.url), "utf8");
const source = ts.createSourceFile("index.d.ts", text, ts.ScriptTarget.ES2022, true);
const declared = new Map<string, Set<string>>();
for (const statement of source.statements) {
  if (!(ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement)) || !statement.name) continue;
  const names = declared.get(statement.name.text) ?? new Set();
  for (const { name } of statement.members) if (name) names.add(name.getText(source));
  declared.set(statement.name.text, names);
}

test.each(Object.entries(ROWS))("%s has all its members", (name, members) => {
  const missing = members.split(" ").filter((member) => !declared.get(name)?.has(member));
  expect(missing).toEqual([]);
});

test.each(ERRORS)("%s has its code and its parents", (name, code, ...parents) => {
  const exported = sdk as unknown as Record<string, new (message: string) => Error & { code: string }>;
  const error = new (exported[name] as new (message: string) => Error & { code: string })("m");
  expect([error.code, error.name]).toEqual([code, name]);
  for (const parent of parents) expect(error instanceof (exported[parent] as never), parent).toBe(true);
});

test("ports have names", () => {
  expect([sdk.DEFAULT_SERVER_PORT, sdk.DEFAULT_PTY_PORT]).toEqual([9000, 9001]);
});
