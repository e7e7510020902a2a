// The relay: what a request asks for, whether it may, and what the log hears of it.
//
// It is TypeScript and not Rust because it is all headers, streams and sockets of the runtime that it runs in, which reach WebAssembly by
// copying alone, and because whoever trusts it with a key must be able to read it. What it knows of clouds it asks of the client.
import { callOf } from "./calls.js";
import { Control } from "./control.js";
import { SESSION_HEADER } from "./headers.js";
import { Rate } from "./limits.js";
import { Origins, RELAY_HEADER } from "./origins.js";
import { Ports, targetOf } from "./ports.js";
import { tokenOf } from "./protocol.js";
import { Provider } from "./provider.js";
import { Refusal } from "./refusal.js";
import { Sessions } from "./session.js";
import { checked, checkIdentity, checkPolicy, type Identity } from "./settings.js";
import { canHandOn, handOn, type Upstream } from "./sockets.js";
import type { RelayIdentity, RelayLogEntry, RelayOptions, RelayPolicy } from "./types.d.ts";

const DEFAULT_CALLS_PER_MINUTE = 120;

/** What the entries of runtimes make their relays of. */
export class Core {
  readonly #options: ReturnType<typeof checked>;
  readonly #origins: Origins;
  readonly #control: Control;
  readonly #ports: Ports;
  readonly #calls = new Rate();
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: RelayOptions) {
    this.#options = checked(options);
    const { provider: cloud, apiKey, apiUrl, sandboxUrl, domain, apiHeaders, validateApiKey, debug } = this.#options;
    const connection = { provider: cloud, apiKey, apiUrl, sandboxUrl, domain, apiHeaders, validateApiKey, debug };
    const provider = new Provider(connection);
    const sessions = new Sessions(secretOf(this.#options.secret, provider));
    const own = this.#options.fetch;
    this.#fetch = own ?? ((...args) => globalThis.fetch(...args));
    this.#origins = new Origins(this.#options.origins);
    this.#control = new Control({
      provider,
      sessions,
      fetch: this.#fetch,
      tag: this.#options.ownerTag,
      sessionMs: this.#options.sessionMs,
      direct: this.#options.direct ?? true,
      pageSandboxUrl: this.#options.pageSandboxUrl,
      webSockets: () => this.#options.webSockets ?? canHandOn(),
    });
    const policy = ({ owner }: { owner: string }) => this.#policyOf({ owner });
    this.#ports = new Ports({ provider, sessions, fetch: this.#fetch, policy, rate: new Rate() });
  }

  /** Answers a request; undefined where the runtime has answered it with a WebSocket. */
  async fetch(request: Request, server?: unknown): Promise<Response | undefined> {
    let cors: Record<string, string> = {};
    return await this.#logged(
      request,
      async (named) => {
        const url = new URL(request.url);
        const origin = this.#origins.check(request, url);
        if (origin !== undefined) cors = this.#origins.headers(origin);
        return await this.#answer(request, url, named, server);
      },
      () => cors,
    );
  }

  /** Where a request for a WebSocket leads, for a runtime that hands sockets on by itself. Its refusals are answers. */
  async upstream(request: Request): Promise<Upstream | Response> {
    let upstream: Upstream | undefined;
    const answer = await this.#logged(request, async (named) => {
      const url = new URL(request.url);
      this.#origins.check(request, url);
      upstream = await this.#upstream(request, url, named);
      return undefined;
    });
    return answer ?? upstream ?? new Refusal(500, "internal", "The relay failed.").response();
  }

  async #answer(request: Request, url: URL, named: (route: string) => void, server: unknown): Promise<Response | undefined> {
    if (request.headers.get("upgrade")?.toLowerCase() === "websocket") {
      return await handOn(request, await this.#upstream(request, url, named), this.#fetch, server);
    }
    const path = this.#below(url);
    if (request.method === "OPTIONS") {
      named("preflight");
      return this.#origins.preflight(request, url);
    }
    if (path.startsWith("/s/")) {
      named("/s/:id/:port");
      return await this.#ports.answer(request, targetOf(path, url.search));
    }
    const found = callOf(request.method, path);
    if (found === undefined) throw noRoute();
    named(found.call.path);
    if (request.headers.get(RELAY_HEADER) === null) {
      throw new Refusal(403, "header_missing", `The request lacks the header ${RELAY_HEADER}, which the client sends by itself.`);
    }
    const identity = await this.#identity(request);
    if (!identity.rights.includes(found.call.right)) {
      throw new Refusal(403, "right_missing", `This user may not do this: the right ${found.call.right} is missing.`);
    }
    const policy = this.#policyOf(identity);
    this.#calls.take(identity.owner, policy.callsPerMinute ?? DEFAULT_CALLS_PER_MINUTE);
    return await this.#control.answer({ request, url, identity, policy, ...found });
  }

  async #upstream(request: Request, url: URL, named: (route: string) => void): Promise<Upstream> {
    const path = this.#below(url);
    if (!path.startsWith("/s/")) throw noRoute();
    named("/s/:id/:port");
    const token = tokenOf(request.headers.get("sec-websocket-protocol")) ?? request.headers.get(SESSION_HEADER);
    const { base, headers } = await this.#ports.open(token, targetOf(path, url.search));
    return { url: base, headers };
  }

  /** Whether a path is the relay's to answer. */
  isBelow(path: string): boolean {
    return path.startsWith(`${this.#options.path}/`);
  }

  #below(url: URL): string {
    if (!this.isBelow(url.pathname)) throw noRoute();
    return url.pathname.slice(this.#options.path.length);
  }

  async #identity(request: Request): Promise<Identity> {
    // Without its body, which is the relay's to read.
    const { url, method, headers } = request;
    const identity = checkIdentity(await this.#options.authorize(new Request(url, { method, headers })));
    if (identity === undefined)
      throw new Refusal(401, "unauthenticated", "The relay does not know who makes this request: sign in.");
    return identity;
  }

  #policyOf(identity: RelayIdentity): RelayPolicy {
    const { policy } = this.#options;
    return typeof policy === "function" ? checkPolicy(policy(identity)) : policy;
  }

  async #logged(
    request: Request,
    work: (named: (route: string) => void) => Promise<Response | undefined>,
    cors: () => Record<string, string> = () => ({}),
  ): Promise<Response | undefined> {
    const started = performance.now();
    let route = "";
    let reason: RelayLogEntry["reason"];
    let answer: Response | undefined;
    try {
      answer = await work((name) => {
        route = name;
      });
    } catch (error) {
      // What else fails is a mistake of the application's or ours, and its message nobody's business but the operator's.
      const refusal = error instanceof Refusal ? error : new Refusal(500, "internal", "The relay failed: see its log.");
      reason = refusal.reason;
      answer = refusal.response();
      try {
        if (!(error instanceof Refusal)) this.#options.onError?.(error);
      } catch {}
    }
    for (const [name, value] of Object.entries(answer === undefined ? {} : cors())) answer?.headers.set(name, value);
    try {
      const { method } = request;
      this.#options.logger?.({ method, route, status: answer?.status ?? 101, ms: performance.now() - started, reason });
    } catch {}
    return answer;
  }
}

/** How long what session tokens are signed with is remembered, in ms, before the API key is looked at again. */
const SECRET_MS = 60_000;

/** What tokens are signed with: the operator's secret, or else what a control-plane request carries, wherever the API key comes from. */
function secretOf(given: string | undefined, provider: Provider): () => Promise<string> {
  let kept = { secret: given ?? "", until: given === undefined ? 0 : Number.POSITIVE_INFINITY };
  return async () => {
    if (Date.now() >= kept.until) {
      const { headers } = await provider.control();
      kept = { secret: JSON.stringify(headers), until: Date.now() + SECRET_MS };
    }
    return kept.secret;
  };
}

function noRoute(): Refusal {
  return new Refusal(404, "no_route", "The relay has no such call.");
}
