// Calls about sandboxes on behalf of a signed-in user: passed on with the key, under the policy, and never about another owner's sandbox.
import { isObject, object, sentObject } from "./bodies.js";
import type { Call } from "./calls.js";
import { Quota } from "./limits.js";
import type { Provider } from "./provider.js";
import { json, notFound, Refusal, redirected, unreachable } from "./refusal.js";
import { creation, forkCount, networkUpdate, plain } from "./rules.js";
import type { Sessions } from "./session.js";
import type { RelayIdentity, RelayPolicy } from "./types.d.ts";

/** What a platform may take for a call, in ms. Whoever asked has given up before. */
const PATIENCE_MS = 120_000;

/** How long it is remembered that a sandbox is an owner's, in ms. It never becomes another's. */
const REMEMBERED_MS = 30_000;
const REMEMBERED = 1000;

const DEFAULT_MAX_SANDBOXES = 5;

/** Ports of the things that the client talks to: envd, the interpreter, the SandboxServer and its terminals. */
const DEFAULT_PORTS = [49983, 49999, 9000, 9001];

/** The most pages that are looked through where a platform lists by offset. */
const PAGES = 50;
const PAGE = 100;

/** What the control side of a relay is made of. */
export interface ControlSettings {
  readonly provider: Provider;
  readonly sessions: Sessions;
  readonly fetch: typeof globalThis.fetch;
  readonly tag: string;
  readonly sessionMs: number;
  readonly direct: boolean;
  readonly pageSandboxUrl: string | undefined;
  readonly webSockets: () => boolean;
}

/** A request, and who makes it. */
export interface Asked {
  readonly request: Request;
  readonly url: URL;
  readonly call: Call;
  readonly id: string;
  readonly identity: RelayIdentity;
  readonly policy: RelayPolicy;
}

/** What a platform answered. */
interface Answered {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

export class Control {
  readonly #settings: ControlSettings;
  readonly #quota = new Quota();
  readonly #owners = new Map<string, { owner: string; domain: string | undefined; until: number }>();

  constructor(settings: ControlSettings) {
    this.#settings = settings;
  }

  async answer(asked: Asked): Promise<Response> {
    const { call, id, identity, policy, request, url } = asked;
    if (id !== "") await this.#own(id, identity);
    const path = call.path.replace(":id", id);
    const pass = (body?: Record<string, unknown>) => this.#ask(call.method, `${path}${query(url, call.query)}`, body);
    switch (call.kind) {
      case "create": {
        const body = await creation(await object(request), policy, identity, this.#settings.tag);
        return await this.#shown(await this.#making(asked, 1, () => pass(body)));
      }
      case "fork": {
        const body = plain(await object(request), policy, call.fields ?? []);
        return await this.#shown(await this.#making(asked, forkCount(body), () => pass(body)));
      }
      case "list":
        return await this.#list(asked);
      case "pages":
        return await this.#pages(asked);
      case "snapshots":
        await this.#own(url.searchParams.get("sandboxID") ?? "", identity);
        return await this.#shown(await pass());
      case "network":
        return await this.#shown(await pass(networkUpdate(await object(request), policy)));
      case "session":
        return await this.#session(asked);
      default: {
        // A body that nobody sent is not sent: one of the platforms wants none, and another wants an empty object.
        const sent = call.fields && (await sentObject(request));
        const answered = await pass(sent && plain(sent, policy, call.fields ?? []));
        if (call.right === "kill") this.#owners.delete(id);
        return await this.#shown(answered);
      }
    }
  }

  /** A token for the ports of a sandbox. */
  async #session({ request, id, identity, policy }: Asked): Promise<Response> {
    const { sessions, sessionMs, webSockets } = this.#settings;
    const { domain } = await this.#own(id, identity);
    const header = [...request.headers.keys()].find((name) => name.endsWith("-traffic-access-token"));
    const token = await sessions.sign({
      sandbox: id,
      owner: identity.owner,
      ports: policy.ports ?? DEFAULT_PORTS,
      exp: Date.now() + sessionMs,
      domain,
      traffic: (header && request.headers.get(header)) || undefined,
    });
    return json(200, { token, expiresInMs: sessionMs, webSockets: webSockets() });
  }

  #making({ identity, policy }: Asked, more: number, make: () => Promise<Answered>): Promise<Answered> {
    const most = policy.maxSandboxes ?? DEFAULT_MAX_SANDBOXES;
    const count = () => this.#settings.provider.count(this.#settings.tag, identity.owner, most);
    return this.#quota.making(identity.owner, more, most, count, make);
  }

  /** A page of the owner's sandboxes, of a platform that finds them by their tag. */
  async #list({ url, call, identity }: Asked): Promise<Response> {
    const { tag } = this.#settings;
    const asked = new URLSearchParams(query(url, call.query));
    const labels = [];
    for (const pair of (asked.get("metadata") ?? "").split("&").filter(Boolean)) {
      // Pairs are encoded once more than the query is.
      const [key = "", value = "", ...more] = pair.split("=").map(decoded);
      if (more.length > 0 || key === tag) throw new Refusal(400, "bad_request", "The filter by metadata is not one of labels.");
      labels.push([key, value]);
    }
    labels.push([tag, identity.owner]);
    asked.set("metadata", labels.map((label) => label.map((part) => encodeURIComponent(part ?? "")).join("=")).join("&"));
    // As the client encodes queries: a platform may take a plus sign for itself.
    const text = [...asked].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    const answered = await this.#ask("GET", `${call.path}?${text}`);
    const isOwn = (one: unknown) => this.#ownerOf(one) === identity.owner;
    return await this.#shown({ ...answered, body: Array.isArray(answered.body) ? answered.body.filter(isOwn) : answered.body });
  }

  /** A page of the owner's sandboxes, of a platform that lists all of an account's by offset. */
  async #pages({ url, call, identity }: Asked): Promise<Response> {
    const [limit, offset] = [number(url, "limit", PAGE), number(url, "offset", 0)];
    const status = query(url, ["status"]).replace("?", "&");
    const own: unknown[] = [];
    for (let page = 0; page < PAGES && own.length < offset + limit; page++) {
      const answered = await this.#ask("GET", `${call.path}?limit=${PAGE}&offset=${page * PAGE}${status}`);
      const { body } = answered;
      const ones = Array.isArray(body) ? body : isObject(body) ? (body.data ?? body.sandboxes) : undefined;
      if (answered.status !== 200 || !Array.isArray(ones)) return await this.#shown(answered);
      own.push(...ones.filter((one) => this.#ownerOf(one) === identity.owner));
      if (ones.length !== PAGE) break;
    }
    return await this.#shown({ status: 200, body: own.slice(offset, offset + limit), headers: {} });
  }

  #ownerOf(wire: unknown): unknown {
    return isObject(wire) && isObject(wire.metadata) ? wire.metadata[this.#settings.tag] : undefined;
  }

  /** Makes sure that a sandbox is the caller's. One of somebody else's is answered as one that is not there. */
  async #own(id: string, identity: RelayIdentity): Promise<{ domain: string | undefined }> {
    if (!/^[\w-]+$/.test(id)) throw notFound("without an id");
    const kept = this.#owners.get(id);
    if (kept && kept.until > Date.now()) {
      if (kept.owner !== identity.owner) throw notFound(id);
      return kept;
    }
    const { status, body, headers } = await this.#ask("GET", `/sandboxes/${id}`);
    if (status === 429) throw new Refusal(429, "rate_limit", "The platform gets too many requests: wait a moment.", headers);
    if (status !== 200 && status !== 404) throw unreachable();
    if (status === 404 || !isObject(body) || body.sandboxID !== id || this.#ownerOf(body) !== identity.owner) throw notFound(id);
    const domain = typeof body.domain === "string" && body.domain !== "" ? body.domain : undefined;
    if (this.#owners.size >= REMEMBERED) this.#owners.clear();
    const found = { owner: identity.owner, domain, until: Date.now() + REMEMBERED_MS };
    this.#owners.set(id, found);
    return found;
  }

  /** Asks the control plane. */
  async #ask(method: string, pathAndQuery: string, body?: Record<string, unknown>): Promise<Answered> {
    const { base, headers } = await this.#settings.provider.control();
    let answer: Response;
    try {
      answer = await this.#settings.fetch(`${base}${pathAndQuery}`, {
        method,
        headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: "manual",
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
    } catch {
      // What the runtime says of it may hold the URL, and is the operator's to know and not the page's.
      throw unreachable();
    }
    const text = await answer.text().catch(() => "");
    if (answer.type === "opaqueredirect" || (answer.status >= 300 && answer.status < 400)) throw redirected();
    // It is the relay's key that was refused, and nothing of the page's.
    if (answer.status === 401) throw new Refusal(502, "unreachable", "The platform refuses the relay's API key.");
    const kept: Record<string, string> = {};
    for (const name of ["x-next-token", "retry-after"]) {
      const value = answer.headers.get(name);
      if (value !== null) kept[name] = value;
    }
    return { status: answer.status, body: parsed(text), headers: kept };
  }

  /** An answer as a page gets it. */
  async #shown({ status, body, headers }: Answered): Promise<Response> {
    if (status === 204 || (status < 400 && body === undefined)) {
      return new Response(null, { status: 204, headers: { ...headers, "cache-control": "no-store" } });
    }
    if (status >= 400) return json(status, refusalOf(status, body), headers);
    const results = Array.isArray(body) ? await Promise.all(body.map((one) => this.#seen(one))) : await this.#seen(body);
    return json(status, results, headers);
  }

  /** What a page is told of a sandbox: where it can reach it, and no tag of the relay's. */
  async #seen(wire: unknown): Promise<unknown> {
    if (!isObject(wire)) return wire;
    // One of several forks.
    if (isObject(wire.sandbox)) return { ...wire, sandbox: await this.#seen(wire.sandbox) };
    const seen = { ...wire };
    if (isObject(wire.metadata)) {
      const { [this.#settings.tag]: _, ...metadata } = wire.metadata;
      seen.metadata = metadata;
    }
    const { direct, pageSandboxUrl, provider } = this.#settings;
    if (typeof wire.sandboxID === "string" && direct) {
      const domain = typeof wire.domain === "string" && wire.domain !== "" ? wire.domain : undefined;
      const sandboxUrl = pageSandboxUrl ?? (await provider.url(wire.sandboxID, domain));
      if (sandboxUrl !== undefined) seen.sandboxUrl = sandboxUrl;
    }
    return seen;
  }
}

/** A control plane's refusal: its message when it is one for users, and never a page of HTML. */
function refusalOf(status: number, body: unknown): Record<string, unknown> {
  const message = isObject(body) ? body.message : undefined;
  return {
    code: status,
    message: typeof message === "string" ? message : `The control plane answered with HTTP status ${status}.`,
  };
}

function parsed(text: string): unknown {
  try {
    return text.trim() === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The parameters of a query that a call takes, with the question mark. */
function query(url: URL, names: readonly string[] = []): string {
  const pairs = [...url.searchParams].filter(([name]) => names.includes(name));
  if (new Set(pairs.map(([name]) => name)).size !== pairs.length) {
    throw new Refusal(400, "bad_request", "A parameter stands twice in the query.");
  }
  return pairs.length === 0 ? "" : `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
}

function number(url: URL, name: string, otherwise: number): number {
  const text = url.searchParams.get(name);
  if (text === null) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new Refusal(400, "bad_request", `${name} must be a whole number.`);
  return Number(text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(400, "bad_request", "The filter by metadata is not one of labels.");
  }
}
