// Every row of the two seed documents on sandboxes, commands, files, network, errors and models: what it is called here, and the test that
// covers it. `surface.test.ts` fails when a row has no export, no type, or names a test that does not exist.
//
// Members: `Class.name` a static, `Class#name` a member of its objects, `Interface.name` an option or a field, a bare name an export.

export interface Row {
  /** Section of the list of rows, and what the seed calls it. */
  readonly section: string;
  readonly seed: string;
  readonly here: string;
  /** A part of the test's title. */
  readonly test: string;
}

const CREATE = "a sandbox is created, found, connected to, handed over and ended";
const BODY = "the body, by provider";
const ASKED = "what is asked, by provider";
const PAGES = "a list comes in pages";
const FILTERS = "a list asks for what the provider can filter by";
const COMMANDS = "commands: results, environment, folder, input, signals, listing";
const NAMES = "every operation keeps every name";
const DATA = "every kind of data is written as its bytes, and every format gives them back";
const SIGNED = "signatures with + and / open their files without headers";
const SHELL = "a shell runs, echoes, resizes and ends";
const CLASSES = "error classes stand where they are declared to stand";
const TOKENS = "workload tokens have the provider's placeholders";
const SNAPSHOTS = "snapshots come in pages, of one sandbox or of all";
const CELL = "variables stay, and a result tells how the cell went";
const WATCHED = "what a watch takes goes with its request";
const FORKS = "fork gives sandboxes and errors, in the platform's order";

/** Section, then lines of `seed | here | test`. */
const SECTIONS: [section: string, lines: [seed: string, here: string, test: string][]][] = [
  [
    "1.1 class methods",
    [
      ["class Sandbox", "Sandbox", CREATE],
      ["Sandbox.create()", "Sandbox.create", CREATE],
      ["create template", "SandboxCreateOptions.template", BODY],
      ["create timeout", "SandboxCreateOptions.timeoutMs", BODY],
      ["create webSocket", "ConnectionOptions.webSocket", "no WebSocket, no address, nobody there"],
      ["create request_timeout", "CallOptions.requestTimeoutMs", "three limits expire alone"],
      ["create metadata", "SandboxCreateOptions.metadata", BODY],
      ["create envs", "SandboxCreateOptions.envs", BODY],
      ["create cpu", "SandboxCreateOptions.cpu", BODY],
      ["create memory", "SandboxCreateOptions.memory", BODY],
      ["create disk", "SandboxCreateOptions.disk", BODY],
      ["create gpu", "SandboxCreateOptions.gpu", BODY],
      ["create secure", "SandboxCreateOptions.secure", BODY],
      ["create api_key", "ConnectionOptions.apiKey", "an API key may come from a function"],
      ["create api_url", "ConnectionOptions.apiUrl", "credentials in a URL are refused"],
      ["create domain", "ConnectionOptions.domain", "each provider's environment is read"],
      ["create access_key_id", "ConnectionOptions.accessKeyId", "cloud key pairs are refused"],
      ["create access_key_secret", "ConnectionOptions.accessKeySecret", "cloud key pairs are refused"],
      ["Sandbox.connect()", "Sandbox.connect", CREATE],
      ["Sandbox.list()", "Sandbox.list", PAGES],
      ["list status", "SandboxListOptions.status", FILTERS],
      ["list limit", "SandboxListOptions.limit", PAGES],
      ["list offset", "SandboxListOptions.offset", FILTERS],
      ["list as list", "SandboxPaginator#toArray", PAGES],
      ["Sandbox.kill_by_id()", "Sandbox.killById", CREATE],
    ],
  ],
  [
    "1.2 instance methods",
    [
      ["kill()", "Sandbox#kill", CREATE],
      ["set_timeout()", "Sandbox#setTimeout", ASKED],
      ["is_running()", "Sandbox#isRunning", CREATE],
      ["pause()", "Sandbox#pause", ASKED],
      ["resume()", "Sandbox#resume", ASKED],
      ["refresh_info()", "Sandbox#refreshInfo", CREATE],
      ["run_code()", "Sandbox#runCode", CELL],
      ["get_terminal()", "Sandbox#getTerminal", SHELL],
      ["get_terminal cols", "PtyOptions.cols", SHELL],
      ["get_terminal rows", "PtyOptions.rows", SHELL],
      ["get_terminal shell", "PtyOptions.shell", "a terminal has a UTF-8 environment and a login shell"],
      ["TerminalSession", "TerminalSession", SHELL],
      ["TerminalSession.send", "TerminalSession#send", SHELL],
      ["TerminalSession.receive", "TerminalSession#receive", "receive gives nothing after its time"],
      ["TerminalSession.output_stream", "TerminalSession#outputStream", "output comes byte for byte"],
      ["TerminalSession.resize", "TerminalSession#resize", "several resizes in a row are joined"],
      ["TerminalSession.is_connected", "TerminalSession#isConnected", "detach lets the shell go on"],
      ["TerminalSession.close", "TerminalSession#close", "close ends the one it started"],
      ["list_commands()", "Sandbox#listCommands", "startServer gives a client: commands, files"],
      ["run()", "Sandbox#run", "startServer gives a client: commands, files"],
    ],
  ],
  [
    "1.3 properties",
    [
      ["id", "Sandbox#id", CREATE],
      ["sandbox_id", "Sandbox#sandboxId", CREATE],
      ["status", "Sandbox#status", "pause is, and answers as its first attempt would have"],
      ["url", "Sandbox#url", "has nothing that is not declared"],
      ["info", "Sandbox#info", "printing and JSON show what an object is"],
      ["capabilities", "Sandbox#capabilities", "has nothing that is not declared"],
      ["commands", "Sandbox#commands", CREATE],
      ["files", "Sandbox#files", CREATE],
      ["network", "Sandbox#network", CREATE],
      ["code", "Sandbox#code", CELL],
      ["async with", "Sandbox#[Symbol.asyncDispose]", "await using ends what create made"],
    ],
  ],
  [
    "1.4 commands",
    [
      ["run()", "Commands#run", COMMANDS],
      ["run timeout", "CommandOptions.timeoutMs", "a command that runs too long is killed"],
      ["run env", "CommandOptions.envs", COMMANDS],
      ["run cwd", "CommandOptions.cwd", COMMANDS],
      ["run user", "CommandOptions.user", "what envd says in words counts"],
      ["run background", "RunOptions.background", COMMANDS],
      ["stream()", "Commands#stream", "leaving a stream early and aborting end the process"],
      ["start()", "Commands#start", "lines come while the command runs"],
      ["list()", "Commands#list", COMMANDS],
      ["kill()", "Commands#kill", COMMANDS],
      ["send_input()", "Commands#sendInput", "calls of sendInput for one process are sent in the order"],
      ["send_stdin()", "Commands#sendStdin", "handles and streams have the members"],
      ["send_signal()", "Commands#sendSignal", COMMANDS],
    ],
  ],
  [
    "1.5 files",
    [
      ["read()", "Files#read", DATA],
      ["read_bytes()", "Files#readBytes", DATA],
      ["write()", "Files#write", DATA],
      ["list()", "Files#list", "what stands in a folder is told as what it is"],
      ["remove()", "Files#remove", NAMES],
      ["exists()", "Files#exists", NAMES],
      ["make_dir()", "Files#makeDir", NAMES],
      ["watch()", "Files#watch", "changes are seen, and stopping after the sandbox died is no error"],
      ["watch recursive", "WatchOptions.recursive", WATCHED],
      ["watch include_entry", "WatchOptions.includeEntry", WATCHED],
      ["watch allow_network_mounts", "WatchOptions.allowNetworkMounts", WATCHED],
      ["move()", "Files#move", NAMES],
      ["rename()", "Files#rename", "has nothing that is not declared"],
      ["get_info()", "Files#getInfo", NAMES],
      ["upload()", "Files#upload", "an upload tells how far it is, whatever it comes from"],
      ["download()", "Files#download", "a download goes into a blob, a stream or a file"],
      ["upload_url()", "Files#uploadUrl", SIGNED],
      ["download_url()", "Files#downloadUrl", SIGNED],
    ],
  ],
  [
    "1.6 network",
    [
      ["get_host()", "Network#getHost", "ports have URLs, and on a path platform no host"],
      ["get_url()", "Network#getUrl", "ports have URLs, and on a path platform no host"],
      ["get_access_headers()", "Network#getAccessHeaders", "ports have URLs, and on a path platform no host"],
    ],
  ],
  [
    "1.10 errors",
    [
      "SandboxError",
      "ServerAPIError",
      "ServerAuthError",
      "PolicyDeniedError",
      "FilePolicyDeniedError",
      "EndpointNotAvailableError",
      "PayloadTooLargeError",
      "RateLimitedError",
      "CapabilityNotSupportedError",
      "ProviderFeatureNotSupportedError",
      "SandboxConnectionError",
      "ConnectionError_",
      "CommandNotFoundError",
      "InvalidArgumentError",
      "AuthenticationError",
      "PermissionDeniedError",
      "FileNotFoundError_",
    ].map((name) => [name, name, CLASSES]),
  ],
  [
    "1.11 models",
    [
      ["SandboxStatus", "SandboxStatus", "the states have names"],
      ["SandboxInfo.sandbox_id", "SandboxInfo.sandboxId", CREATE],
      ["SandboxInfo.template", "SandboxInfo.template", ASKED],
      ["SandboxInfo.status", "SandboxInfo.status", CREATE],
      ["SandboxInfo.envd_url", "SandboxInfo.envdUrl", CREATE],
      ["SandboxInfo.envd_access_token", "SandboxInfo.envdAccessToken", "information keeps the token out of printing"],
      ["SandboxInfo.metadata", "SandboxInfo.metadata", CREATE],
      ["SandboxInfo.started_at", "SandboxInfo.startedAt", CREATE],
      ...["text", "stdout", "stderr", "exitCode", "executionTime", "outputFiles"].map((name): [string, string, string] => [
        `CodeResult.${name}`,
        `CodeResult.${name}`,
        CELL,
      ]),
      ["OutputFile", "OutputFile", CELL],
      ...["stdout", "stderr", "exitCode", "executionTime", "success"].map((name): [string, string, string] => [
        `ProcessResult.${name}`,
        `CommandResult.${name}`,
        COMMANDS,
      ]),
      ["ProcessChunk", "ProcessChunk", "leaving a stream early and aborting end the process"],
      ["FileInfo", "EntryInfo", "what stands in a folder is told as what it is"],
      ["FileType", "FileType", "what stands in a folder is told as what it is"],
      ["ProcessInfo", "ProcessInfo", COMMANDS],
      ["StreamReader", "ChunkStream", "a readable gives the same chunks"],
      ["WatchEvent", "WatchEvent", "it resolves when the server has confirmed"],
      ["SANDBOX_HTTP_TIMEOUT", "CallOptions.requestTimeoutMs", "the environment's timeout is a request timeout"],
    ],
  ],
  [
    "2 AsyncSandbox",
    [
      ["class AsyncSandbox", "AsyncSandbox", "the exports are those that are declared"],
      ["logger", "ConnectionOptions.logger", "the logger hears of each request"],
      ["commands.connect", "Commands#connect", COMMANDS],
      ["commands.close_stdin", "Commands#closeStdin", "handles and streams have the members"],
      ["pty", "Sandbox#pty", CREATE],
      ["pty.create", "Pty#create", "a terminal has a UTF-8 environment"],
      ["pty.connect", "Pty#connect", "handles and streams have the members"],
      ["pty.kill", "Pty#kill", "has nothing that is not declared"],
      ["pty.send_stdin", "Pty#sendInput", "has nothing that is not declared"],
      ["pty.resize", "Pty#resize", "bad arguments are refused before any request"],
      ["allow_internet_access", "SandboxCreateOptions.allowInternetAccess", BODY],
      ["network", "SandboxCreateOptions.network", BODY],
      ["network.allow_out", "NetworkOptions.allowOut", BODY],
      ["network.deny_out", "NetworkOptions.denyOut", BODY],
      ["ctx.all_traffic", "NetworkSelectorContext.allTraffic", BODY],
      ["ctx.rules", "NetworkSelectorContext.rules", BODY],
      ["network.rules", "NetworkOptions.rules", BODY],
      ["transform", "NetworkRule.transform", TOKENS],
      ["ctx.iam.tokens", "NetworkTransformContext.iam", TOKENS],
      ["allow_public_traffic", "NetworkOptions.allowPublicTraffic", BODY],
      ["mask_request_host", "NetworkOptions.maskRequestHost", BODY],
      ["iam", "SandboxCreateOptions.iam", TOKENS],
      ["lifecycle", "SandboxCreateOptions.lifecycle", BODY],
      ["lifecycle.on_timeout", "SandboxLifecycle.onTimeout", BODY],
      ["lifecycle.auto_resume", "SandboxLifecycle.autoResume", BODY],
      ["api_headers", "ConnectionOptions.apiHeaders", "headers of one's own go to the control plane alone"],
      ["debug", "ConnectionOptions.debug", "debug is this machine"],
      ["proxy", "ConnectionOptions.proxy", "requests go through the proxy"],
      ["sandbox_url", "ConnectionOptions.sandboxUrl", "without placeholders in its URL every request carries what routing needs"],
      ["connect()", "Sandbox#connect", ASKED],
      ["create_snapshot()", "Sandbox#createSnapshot", ASKED],
      ["create_snapshot name", "SnapshotOptions.name", ASKED],
      ["snapshot_id", "SnapshotInfo.snapshotId", SNAPSHOTS],
      ["names", "SnapshotInfo.names", SNAPSHOTS],
      ["delete_snapshot()", "Sandbox.deleteSnapshot", "the same calls by id"],
      ["fork()", "Sandbox#fork", FORKS],
      ["fork by id", "Sandbox.fork", FORKS],
      ["fork timeout", "ForkOptions.timeoutMs", FORKS],
      ["fork count", "ForkOptions.count", FORKS],
      ["RateLimitException", "RateLimitError", FORKS],
      ["get_info()", "Sandbox#getInfo", ASKED],
      ["get_metrics()", "Sandbox#getMetrics", ASKED],
      ["get_metrics start", "MetricsOptions.start", ASKED],
      ["get_metrics end", "MetricsOptions.end", ASKED],
      ["kill() of the class", "Sandbox.kill", CREATE],
      ["SandboxQuery.metadata", "SandboxListOptions.metadata", FILTERS],
      ["next_token", "SandboxListOptions.nextToken", FILTERS],
      ["next_items()", "SandboxPaginator#nextItems", PAGES],
      ["has_next", "SandboxPaginator#hasNext", PAGES],
      ["list_snapshots()", "Sandbox#listSnapshots", SNAPSHOTS],
      ["list_snapshots of all", "Sandbox.listSnapshots", SNAPSHOTS],
      ["pause keep_memory", "PauseOptions.keepMemory", ASKED],
      ["update_network()", "Sandbox#updateNetwork", ASKED],
      ["logs", "Sandbox#logs", ASKED],
      ["volume_mounts", "SandboxCreateOptions.volumeMounts", BODY],
      ["mcp", "SandboxCreateOptions.mcp", BODY],
    ],
  ],
  [
    "3 in neither seed",
    [
      ["signal", "CallOptions.signal", "an abort before the call makes no request"],
      ["validateApiKey", "ConnectionOptions.validateApiKey", "a key that no header can carry is told from none"],
      ["provider", "ConnectionOptions.provider", BODY],
      ["routingHeaderPrefix", "ProviderProfile.routingPrefix", "without placeholders in its URL"],
      ["iamPlaceholderPrefix", "ProviderProfile.placeholderPrefix", TOKENS],
      ["fetch", "ConnectionOptions.fetch", "a proxy and a fetch of one's own exclude each other"],
      ["sandboxUrl", "ConnectionOptions.sandboxUrl", "another control plane's sandboxes are not looked for"],
      ["attach", "Sandbox.attach", "a handoff has the sandbox's tokens"],
      ["handoff", "Sandbox#handoff", "a handoff has the sandbox's tokens"],
    ],
  ],
];

export const ROWS: Row[] = SECTIONS.flatMap(([section, lines]) =>
  lines.map(([seed, here, test]) => ({ section, seed, here, test })),
);
