// What the relay says when it says no: JSON that the client's errors are made from.
import type { RelayRefusal } from "./types.d.ts";

/** The relay's own no. Its message is for users, and never holds a secret or what an upstream server said. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly reason: RelayRefusal,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }

  response(): Response {
    const { status: code, message, reason } = this;
    const suggestion = SUGGESTIONS[reason];
    return json(code, { code, message, suggestion, reason }, { ...this.headers, [REASON_HEADER]: reason });
  }
}

/** What whoever meets a refusal can do about it; the client's errors take it in place of their class's, which knows of platforms alone. */
const SUGGESTIONS: Partial<Record<RelayRefusal, string>> = {
  unauthenticated: "Sign in to the application that the relay belongs to, then try again.",
  right_missing: "Do without, or have the relay's authorize give this user the right.",
  foreign_origin: "Name the page's origin in the relay's option origins, if it is yours.",
  header_missing: "Use this package's client, with the option relay.",
  policy: "Ask for what the relay's policy allows, or have the policy changed.",
  too_many_sandboxes: "End sandboxes that are not needed, or have maxSandboxes of the relay's policy raised.",
  unreachable: "Look on the relay's server whether the platform runs, and whether the key is good.",
  internal: "Look on the relay's server at what its onError heard.",
};

/** Tells the page's side that the relay said no, and not what stands behind it. */
export const REASON_HEADER = "x-sandbox-refusal";

/** An answer that nobody keeps. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const fixed = { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" };
  return new Response(JSON.stringify(body), { status, headers: { ...headers, ...fixed } });
}

export const notFound = (id: string) => new Refusal(404, "not_found", `There is no sandbox ${id} of yours.`);

export const unreachable = () => new Refusal(502, "unreachable", "The platform did not answer the relay.");

/** Servers that refuse a body by its headers, its size or its token may close the connection before they have said so. */
export const brokenOff = () =>
  new Refusal(
    502,
    "unreachable",
    "The connection to the sandbox's port ended while the request's body was being sent: it may not take one like this.",
  );

export const redirected = () =>
  new Refusal(502, "redirect", "What the relay asked answered with a redirect, which it does not follow.");

export const tooLarge = (limit: number) =>
  new Refusal(413, "body_too_large", `The request's body is larger than the relay takes here (${limit} bytes).`);
