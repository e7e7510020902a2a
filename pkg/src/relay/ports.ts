// Requests to ports of a sandbox: let through by a session token, streaming both ways.
import { streamed, whole } from "./bodies.js";
import { back, onward, SESSION_HEADER } from "./headers.js";
import type { Rate } from "./limits.js";
import type { Place, Provider } from "./provider.js";
import { brokenOff, Refusal, redirected, tooLarge, unreachable } from "./refusal.js";
import type { Session, Sessions } from "./session.js";
import type { RelayPolicy } from "./types.d.ts";

/** The SandboxServer's port. It reads bodies by their Content-Length alone, so they are gathered first. */
const SERVER_PORT = 9000;
/** The most that it takes, in bytes. */
export const SERVER_LIMIT = 10 * 1024 * 1024;

const DEFAULT_REQUESTS_PER_MINUTE = 6000;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Which port of which sandbox a request is for. */
export interface Target {
  readonly id: string;
  readonly port: number;
  /** With its slash, and the query behind it. */
  readonly rest: string;
}

export interface PortsSettings {
  readonly provider: Provider;
  readonly sessions: Sessions;
  readonly fetch: typeof globalThis.fetch;
  readonly policy: (session: Session) => RelayPolicy;
  readonly rate: Rate;
}

/** What `/s/ID/PORT/…` names, below the relay's path. */
export function targetOf(path: string, search: string): Target {
  const [, id = "", number = "", rest = ""] = /^\/s\/([^/]*)\/([^/]*)(.*)$/s.exec(path) ?? [];
  const port = /^\d{1,5}$/.test(number) ? Number(number) : 0;
  if (!/^[\w-]{1,128}$/.test(id) || port < 1 || port > 65_535) throw bad("names no port of a sandbox");
  if (climbs(rest)) throw bad("leads out of where it may");
  return { id, port, rest: `${rest || "/"}${search}` };
}

const bad = (what: string) => new Refusal(400, "bad_path", `The request's path ${what}.`);

/** Whether a path could be read as another one: by dots, empty parts or slashes that are hidden in an encoding, however often it is encoded. */
function climbs(path: string): boolean {
  for (let text = path, times = 0; times < 5; times++) {
    if (/[\\\p{Cc}]|\/\/|\/\.{1,2}(?:[/;]|$)/u.test(text)) return true;
    let next: string;
    try {
      next = decodeURIComponent(text);
    } catch {
      // Not the encoding of a text, which is what servers read paths as.
      return true;
    }
    if (next === text) return false;
    text = next;
  }
  return true;
}

export class Ports {
  readonly #settings: PortsSettings;

  constructor(settings: PortsSettings) {
    this.#settings = settings;
  }

  /** Where a request with this token goes, if it may. */
  async open(token: string | null, { id, port, rest }: Target): Promise<Place & { readonly policy: RelayPolicy }> {
    const { provider, sessions, rate } = this.#settings;
    const session = await sessions.verify(token);
    if (session.sandbox !== id) throw new Refusal(403, "other_sandbox", "The session token is for another sandbox.");
    if (!session.ports.includes(port)) {
      throw new Refusal(403, "right_missing", `The relay's policy does not let this user reach port ${port}.`);
    }
    const policy = this.#settings.policy(session);
    rate.take(session.owner, policy.requestsPerMinute ?? DEFAULT_REQUESTS_PER_MINUTE);
    const place = await provider.port(id, port, session);
    return { base: `${place.base}${rest}`, headers: place.headers, policy };
  }

  async answer(request: Request, target: Target): Promise<Response> {
    if (!METHODS.includes(request.method)) throw new Refusal(405, "no_route", "The relay passes no such method on.");
    const { base, headers, policy } = await this.open(request.headers.get(SESSION_HEADER), target);
    const init: RequestInit & { duplex?: "half" } = {
      method: request.method,
      headers: { ...onward(request, policy.headers ?? []), ...headers },
      redirect: "manual",
      signal: request.signal,
    };
    let sent: ReturnType<typeof streamed> | undefined;
    if (request.method !== "GET" && request.method !== "HEAD") {
      if (target.port === SERVER_PORT) {
        init.body = (await whole(request, Math.min(policy.maxBodyBytes ?? SERVER_LIMIT, SERVER_LIMIT))) ?? new Uint8Array();
      } else {
        sent = streamed(request, policy.maxBodyBytes);
        if (sent.body !== undefined) Object.assign(init, { body: sent.body, duplex: "half" });
      }
    }
    let answer: Response;
    try {
      answer = await this.#settings.fetch(base, init);
    } catch {
      throw sent?.refusal ?? (request.bodyUsed ? brokenOff() : unreachable());
    }
    if (sent?.refusal) {
      answer.body?.cancel().catch(() => undefined);
      throw tooLarge(policy.maxBodyBytes ?? 0);
    }
    if (answer.type === "opaqueredirect" || (answer.status >= 300 && answer.status < 400 && answer.status !== 304)) {
      answer.body?.cancel().catch(() => undefined);
      throw redirected();
    }
    return new Response(answer.body, { status: answer.status, headers: back(answer) });
  }
}
