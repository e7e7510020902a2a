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
      suggestion,
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
