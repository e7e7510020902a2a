/** Options of {@link Sandbox.create}. */
export interface SandboxCreateOptions extends ConnectionOptions {
  /** The template's name or id, or a snapshot's id. Default `"base"`. */
  template?: string | undefined;
  /** How long the sandbox lives unless extended, in ms: above 0, at most 86,400,000; sent in seconds, rounded up. Default 300,000. */
  timeoutMs?: number | undefined;
  /** Labels to find the sandbox by. */
  metadata?: Record<string, string> | undefined;
  /** Variables of every process in the sandbox. */
  envs?: Record<string, string> | undefined;
  /** Whether envd demands a token (`alibaba`: whether ports do, over https). Default `true`. */
  secure?: boolean | undefined;
  /** Whether the sandbox reaches the internet. Default `true`. `alibaba` has no `false`. */
  allowInternetAccess?: boolean | undefined;
  /** What the sandbox may reach, and who may reach it. `e2b` and `agentbox`. */
  network?: NetworkOptions | undefined;
  /** Workload tokens, for {@link NetworkTransformContext}. `e2b` and `agentbox`. */
  iam?: { tokens?: Record<string, { audience: string; tokenType: string }> } | undefined;
  /** What happens at the end of the sandbox's time. `e2b` and `agentbox`. */
  lifecycle?: SandboxLifecycle | undefined;
  /** Volumes by name, and the absolute paths where they appear. `e2b` and `alibaba`. */
  volumeMounts?: readonly { name: string; path: string }[] | undefined;
  /** Servers of the Model Context Protocol that the platform takes note of, as it wants them. `e2b`. */
  mcp?: object | undefined;
  /** Virtual CPUs. `alibaba`; elsewhere the template has its size. */
  cpu?: number | undefined;
  /** MiB. `alibaba`. */
  memory?: number | undefined;
  /** MiB. `alibaba`. */
  disk?: number | undefined;
  /** The kind of GPU, such as `"A10"`. `alibaba`. */
  gpu?: string | undefined;
}

/** Hosts and ranges: a list, or a function that is called before the request and returns one at once. */
export type NetworkSelector = readonly string[] | ((context: NetworkSelectorContext) => readonly string[]);

/** What a {@link NetworkSelector} gets. */
export interface NetworkSelectorContext {
  /** All of IPv4: `"0.0.0.0/0"`. */
  readonly allTraffic: string;
  /** The rules by host. */
  readonly rules: ReadonlyMap<string, readonly NetworkRule[]>;
}

/** What becomes of requests to a host. */
export interface NetworkRule {
  /** Changes to a request, or a function that is called before the sandbox's request and returns them at once. */
  transform?: NetworkTransform | ((context: NetworkTransformContext) => NetworkTransform) | undefined;
}

/** Changes to a request. */
export interface NetworkTransform {
  /** Headers to set. Values may hold placeholders. */
  headers?: Record<string, string> | undefined;
}

/** What a transform gets. */
export interface NetworkTransformContext {
  /** The workload's identity. */
  readonly iam: {
    /**
     * Placeholders of workload tokens by name: the platform puts a token in their place. At a creation, one that `iam.tokens` does not
     * have throws {@link InvalidArgumentError}.
     */
    readonly tokens: Readonly<Record<string, string>>;
  };
}

/** What a sandbox may reach. */
export interface NetworkEgress {
  /** IP addresses, ranges and hosts (`*.example.com` too) that may be reached. Counts over `denyOut`. */
  allowOut?: NetworkSelector | undefined;
  /** IP addresses and ranges that may not be reached. With a host in `allowOut` this must be `"0.0.0.0/0"`. */
  denyOut?: NetworkSelector | undefined;
  /** What becomes of requests, by host. */
  rules?: Readonly<Record<string, readonly NetworkRule[]>> | ReadonlyMap<string, readonly NetworkRule[]> | undefined;
  /** A SOCKS5 proxy, `host:port`, for everything. `e2b`. */
  egressProxy?: { address: string; username?: string; password?: string } | undefined;
}

/** What a sandbox may reach, and who may reach it. */
export interface NetworkOptions extends NetworkEgress {
  /** Whether ports but envd's are open to whoever knows the sandbox's id; else they want {@link Network.getAccessHeaders}. Default `true`. */
  allowPublicTraffic?: boolean | undefined;
  /** The `Host` header that servers in the sandbox see; `${PORT}` stands for the port. */
  maskRequestHost?: string | undefined;
}

/** A change of what a sandbox may reach: whatever is left out is open from then on. */
export interface NetworkUpdate extends NetworkEgress {
  /** Whether the sandbox reaches the internet. */
  allowInternetAccess?: boolean | undefined;
}

/** What happens at the end of a sandbox's time. */
export interface SandboxLifecycle {
  /**
   * `"kill"` (what platforms do unless told) or `"pause"`. `keepMemory: false` keeps the files alone: processes are lost, and only
   * {@link Sandbox.connect} resumes it.
   */
  onTimeout?: "kill" | "pause" | { action: "kill" | "pause"; keepMemory?: boolean | undefined } | undefined;
  /** Whether traffic resumes the paused sandbox. Goes with `"pause"`, and with the memory kept. */
  autoResume?: boolean | undefined;
}

/** Options of {@link Sandbox.connect}. */
export interface SandboxConnectOptions extends ConnectionOptions {
  /** The sandbox lives at least this long from now, in ms; never shortens. Default 300,000. */
  timeoutMs?: number | undefined;
}

/** What {@link Sandbox.attach} needs. It holds the sandbox's own tokens and never the API key: still hand it only to who may use the sandbox. */
export interface SandboxHandoff {
  /** The sandbox's id. */
  sandboxId: string;
  /** Where sandboxes are reached, with placeholders where the platform has them. */
  sandboxUrl?: string | undefined;
  /** The domain sandboxes are reached under, where there is no URL. */
  domain?: string | undefined;
  /** The cloud, unless it is `"e2b"`. */
  provider?: ConnectionOptions["provider"];
  /** The token of envd. Secret. */
  envdAccessToken?: string | undefined;
  /** The token of ports that are not public. Secret. */
  trafficAccessToken?: string | undefined;
  /** envd's version, which tells what it can do. */
  envdVersion?: string | undefined;
  /** The template's id, from which `capabilities` are derived. */
  template?: string | undefined;
}
