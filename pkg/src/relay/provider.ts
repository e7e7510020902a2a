// What the relay knows of the cloud behind it: nothing that the client does not tell. Where the control plane is, how the key is sent, where
// a port is and what its requests carry, the client says by making a request that is looked at instead of sent. So the differences between
// clouds stand in one place, and a Worker's key that an async function gives is asked for by each request, as the client does.
import { Sandbox } from "agent-sandbox-web";
import type { ConnectionOptions } from "../agent_sandbox_web.js";

/** Where requests go, and what they carry. */
export interface Place {
  /** In front of the path, without a slash at its end. */
  readonly base: string;
  readonly headers: Record<string, string>;
}

/** What is known of a sandbox besides its id. */
export interface Whereabouts {
  readonly domain?: string | undefined;
  readonly traffic?: string | undefined;
}

/** Places of ports are remembered, up to so many: each costs a client of its own. */
const REMEMBERED = 1000;

const HEALTH = "/health";

export class Provider {
  readonly #connection: ConnectionOptions;
  readonly #ports = new Map<string, Place>();

  constructor(connection: ConnectionOptions) {
    this.#connection = connection;
  }

  /** The control plane. @throws {InvalidAPIKeyError} E1001 */
  async control(): Promise<Place> {
    const path = "/sandboxes/relay";
    return await this.#looked(path, (fetch) => Sandbox.getInfo("relay", { ...this.#connection, fetch }));
  }

  /** A port of a sandbox. */
  async port(sandbox: string, port: number, { domain, traffic }: Whereabouts): Promise<Place> {
    const key = JSON.stringify([sandbox, port, domain, traffic]);
    const kept = this.#ports.get(key);
    if (kept !== undefined) return kept;
    const place = await this.#looked(HEALTH, async (fetch) => {
      const handle = await this.#attach(sandbox, { domain, traffic }, fetch);
      await handle.serverAt({ port }).health();
    });
    if (this.#ports.size >= REMEMBERED) this.#ports.clear();
    this.#ports.set(key, place);
    return place;
  }

  /** Where pages can reach a sandbox by themselves, with placeholders; undefined where that takes headers which CORS refuses. */
  async url(sandbox: string, domain: string | undefined): Promise<string | undefined> {
    const { sandboxUrl } = (await this.#attach(sandbox, { domain })).handoff();
    return sandboxUrl?.includes("{") ? sandboxUrl : undefined;
  }

  /** How many sandboxes an owner has, counted up to `most`. */
  async count(tag: string, owner: string, most: number): Promise<number> {
    const metadata = { [tag]: owner };
    try {
      return await counted(Sandbox.list({ ...this.#connection, metadata }), () => true, most);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "E8004") throw error;
      // A provider that finds no sandboxes by their metadata.
      return counted(Sandbox.list(this.#connection), (info) => info.metadata[tag] === owner, most);
    }
  }

  #attach(sandboxId: string, { domain, traffic }: Whereabouts, fetch?: typeof globalThis.fetch): Promise<Sandbox> {
    const { provider, sandboxUrl } = this.#connection;
    const at = { sandboxId, provider, sandboxUrl, domain: domain ?? this.#connection.domain, trafficAccessToken: traffic };
    return Sandbox.attach(at, { ...this.#connection, domain: at.domain, ...(fetch ? { fetch } : {}) });
  }

  async #looked(path: string, call: (fetch: typeof globalThis.fetch) => Promise<unknown>): Promise<Place> {
    let place: Place | undefined;
    const fetch = (async (url: string, { headers }: { headers: Record<string, string> }) => {
      place = { base: url.slice(0, -path.length), headers: { ...headers } };
      return Response.json({ sandboxID: "relay", status: "ok" });
    }) as unknown as typeof globalThis.fetch;
    await call(fetch);
    if (place === undefined) throw new Error("The client made no request.");
    return place;
  }
}

async function counted<T>(pages: AsyncIterable<T>, counts: (one: T) => boolean, most: number): Promise<number> {
  let count = 0;
  for await (const one of pages) {
    if (counts(one) && ++count >= most) break;
  }
  return count;
}
