// A control plane over a scripted fetch, which says of every call what a platform would.
import type { ConnectionOptions } from "agent-sandbox-web";
import { text } from "./bytes.ts";
import { type Call, fakeFetch } from "./fake-fetch.ts";
import { SECRETS } from "./sandboxes.ts";
import type { Context } from "./suite.ts";

export const MADE = { sandboxID: "i2", templateID: "t2", envdVersion: "0.6.13", envdAccessToken: SECRETS.envdToken };

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });

export type Provider = "e2b" | "agentbox" | "alibaba";

/** A control plane that says of every call what a platform would. */
export function plane(answer: (call: Call) => Response | undefined = () => undefined) {
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

export const attach = ({ sdk }: Context, options: ConnectionOptions) => sdk.Sandbox.attach({ sandboxId: "i1" }, options);
