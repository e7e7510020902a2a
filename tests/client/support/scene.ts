// The driver of the scripted server (tests/support/scripted.ts), for Node and pages alike.

import { concat, fromBase64, toBase64 } from "./bytes.ts";
import type { Answer, Route, Seen } from "./scene-server.ts";

/** What a request looked like. */
export interface SeenRequest extends Omit<Seen, "body"> {
  body: Uint8Array;
  path: string;
  query: URLSearchParams;
}

/** A set of answers with an origin of its own. */
export class Scene {
  readonly #control: string;
  /** The URL below which the scene's routes are. */
  readonly url: string;

  private constructor(origin: string, id: string) {
    // Another host name, so that streams which a page holds open leave connections for the driver.
    this.#control = `${origin.replace("127.0.0.1", "localhost")}/control/${id}`;
    this.url = `${origin}/scene/${id}`;
  }

  static async open(origin: string, routes: Route[]): Promise<Scene> {
    const scene = new Scene(origin, `s${crypto.randomUUID()}`);
    await fetch(scene.#control, { method: "PUT", body: JSON.stringify(routes) });
    return scene;
  }

  /** Lets one waiting answer, or the next to come, pass the gate. */
  async pass(gate: string): Promise<void> {
    await fetch(`${this.#control}/open/${encodeURIComponent(gate)}`, { method: "POST" });
  }

  /** The requests so far, preflights left out. */
  async seen(): Promise<SeenRequest[]> {
    return (await this.#look("")).seen;
  }

  /** How many preflights there were. */
  async preflights(): Promise<number> {
    return (await this.#look("")).preflights;
  }

  /** Waits until what was seen fulfils a condition, and gives what it returned. */
  async until<T>(condition: (seen: SeenRequest[]) => T | undefined | false, what: string): Promise<T> {
    const deadline = Date.now() + 60_000;
    let changes = -1;
    for (;;) {
      const look = await this.#look(`/changes/${changes}`);
      const { seen } = look;
      const result = condition(seen);
      if (result !== undefined && result !== false) return result;
      changes = look.changes;
      if (Date.now() > deadline) {
        const requests = seen.map(({ method, path, aborted, finished }) => ({ method, path, aborted, finished }));
        throw new Error(`never came: ${what}; the server saw ${JSON.stringify(requests)}`);
      }
    }
  }

  /** Ends every connection of the scene. */
  async close(): Promise<void> {
    await fetch(this.#control, { method: "DELETE" });
  }

  async #look(what: string): Promise<{ changes: number; preflights: number; seen: SeenRequest[] }> {
    const answer = await fetch(`${this.#control}${what}`, { cache: "no-store" });
    const { changes, preflights, seen } = (await answer.json()) as { changes: number; preflights: number; seen: Seen[] };
    return {
      changes,
      preflights,
      seen: seen.map((request) => {
        const url = new URL(request.url, "http://scene");
        return { ...request, body: fromBase64(request.body), path: url.pathname, query: url.searchParams };
      }),
    };
  }
}

/** A step that writes bytes as one chunk. */
export function write(...parts: Uint8Array[]): { write: string } {
  return { write: toBase64(concat(...parts)) };
}

/** An answer that is JSON. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, steps: [{ text: JSON.stringify(value) }] };
}
