/** The sandbox that readers measure. It is made without any client, so that all of them find it the same. */
import type { PlatformInfo } from "../support/platform.ts";
import type { Settings } from "./readers/settings.d.mts";

/** Makes a sandbox that outlives every measurement; gives what readers need to reach it by path. */
export async function sandboxFor({ apiUrl, apiKey, sandboxUrl }: PlatformInfo): Promise<Settings> {
  const answer = await fetch(`${apiUrl}/sandboxes`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ templateID: "base", timeout: 3600, secure: true }),
  });
  const created = (await answer.json()) as { sandboxID: string; envdAccessToken: string; envdVersion: string };
  const { sandboxID: sandboxId, envdAccessToken, envdVersion } = created;
  return { sandboxId, sandboxUrl, rootUrl: apiUrl, envdAccessToken, envdVersion };
}
