import type { ConnectionOptions } from "agent-sandbox-web";
import { ExplainedError } from "../elements/describe-error.js";

/** What the platform that serves this page tells of itself. */
export interface PlatformConfig {
  readonly version: string;
  /** How sandboxes are kept apart from the machine: `bwrap`, or `none`. */
  readonly isolation: string;
  /** Where a page reaches sandboxes, with placeholders. */
  readonly sandboxHostUrl: string;
  /** The page of another origin in which HTML results are shown. */
  readonly resultsUrl: string;
  /** Where else this page may connect, as sources of its policy. */
  readonly elsewhere: readonly string[];
}

/** Another platform than the one that serves this page. */
export interface Target {
  /** The cloud; `custom` for a platform that names its URLs. */
  readonly provider: "e2b" | "agentbox" | "alibaba" | "custom";
  /** The cloud whose protocol a custom platform speaks. */
  readonly like: "e2b" | "agentbox" | "alibaba";
  /** Of a custom platform: its control plane, and where its sandboxes are reached. */
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly apiKey: string;
}

/** What a target is called, for people. */
export function targetName({ provider, apiUrl }: Target): string {
  return provider === "custom"
    ? apiUrl.replace(/^https?:\/\//, "")
    : { e2b: "E2B", agentbox: "AgentBox", alibaba: "Alibaba" }[provider];
}

/** How the client reaches another platform. */
export function targetOptions({ provider, like, apiUrl, sandboxUrl, apiKey }: Target): ConnectionOptions {
  if (provider !== "custom") return { provider, apiKey };
  return {
    provider: { name: "custom", like },
    apiKey,
    apiUrl,
    validateApiKey: false,
    ...(sandboxUrl || isLocal(apiUrl) ? { sandboxUrl: sandboxUrl || hostForm(apiUrl) } : {}),
  };
}

/** Whether a URL is of this machine. Browsers find every name below `localhost` there. */
function isLocal(url: string): boolean {
  return /^http:\/\/(localhost|127\.0\.0\.1)(:|\/|$)/.test(url);
}

/** Where a local platform has its sandboxes: the form that gives each an origin of its own. */
function hostForm(apiUrl: string): string {
  const { port } = new URL(apiUrl);
  return `http://{port}-{sandboxId}.localhost${port && `:${port}`}`;
}

/** Reads the configuration. */
export async function readConfig(): Promise<PlatformConfig> {
  const suggestion = "Start the platform, then try again.";
  let response: Response;
  try {
    response = await fetch("/console/config");
  } catch (cause) {
    throw new ExplainedError("The platform does not answer", "Its configuration could not be read.", suggestion, { cause });
  }
  if (!response.ok) {
    throw new ExplainedError(
      "The platform refused",
      `It answered ${response.status} when asked for its configuration.`,
      response.status === 404
        ? "What answers here is no sandbox platform: open the page at the address that the platform printed."
        : suggestion,
    );
  }
  return (await response.json()) as PlatformConfig;
}

/** How the client reaches the platform that serves this page. */
export function connectionOptions(config: PlatformConfig, credential: string): ConnectionOptions {
  return {
    // The same origin: calls need no preflight, and the token is good only there.
    apiUrl: location.origin,
    // The form that gives every sandbox an origin of its own.
    sandboxUrl: config.sandboxHostUrl,
    apiKey: credential,
    // The console's token has a form of its own.
    validateApiKey: false,
  };
}
