// An HTTP server that plays exact answers: which bytes, in which chunks, when, and how the connection ends.
//
// A test opens a scene, gives its routes and gets an origin with a path of its own. The scene is driven over HTTP, so that the same test
// runs in Node and in a page: see `client/support/scene.ts` for the driver.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One thing an answer does. */
export type Step =
  /** Writes bytes (base64) as one HTTP chunk. */
  | { write: string }
  /** Writes text as one HTTP chunk. */
  | { text: string }
  /** Waits until the test opens the gate of that name. */
  | { gate: string }
  /** Waits that many milliseconds. */
  | { delay: number }
  /** Ends the connection without ending the answer. */
  | { drop: true }
  /** Keeps the answer open until the client leaves. */
  | { hold: true };

/** One answer. */
export interface Answer {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** Whether a page of another origin may read it. Default true. */
  cors?: boolean;
  /** Runs before anything is sent, the status included. */
  before?: Step[];
  steps?: Step[];
}

/** What is answered to requests for a path. */
export interface Route {
  /** The end of the path, without the query. */
  path: string;
  /** Default: any but OPTIONS. */
  method?: string;
  /** The first request gets the first answer and so on; the last one repeats. */
  answers: Answer[];
}

/** What the server saw of a request. */
export interface Seen {
  method: string;
  /** The path and query below the scene's own. */
  url: string;
  headers: Record<string, string>;
  /** Base64. */
  body: string;
  /** How many requests of the scene were under way when this one arrived, itself included, preflights left out. */
  inFlight: number;
  /** Whether the client left before the answer had ended. */
  aborted: boolean;
  /** Whether the answer has ended, either way. */
  finished: boolean;
}

interface Scene {
  routes: Route[];
  seen: Seen[];
  gates: Map<string, { opened: number; waiting: (() => void)[] }>;
  open: Set<ServerResponse>;
  watchers: Set<() => void>;
}

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "retry-after, x-next-token",
};

/** The server. */
export class ScriptedServer {
  readonly #scenes = new Map<string, Scene>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts the server on a free port of the loopback interface. */
  static async start(): Promise<ScriptedServer> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    const scripted = new ScriptedServer(server);
    server.on("request", (request, response) => {
      scripted.#serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    return scripted;
  }

  /** The server's origin. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends every connection and the server. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.socket?.setNoDelay(true);
    const [, first = "", ...rest] = (request.url ?? "/").split("/");
    if (first === "control") {
      await this.#control(request, response, rest);
      return;
    }
    const scene = this.#scenes.get(first);
    if (!scene) {
      response.writeHead(404, CORS).end();
      return;
    }
    await play(scene, `/${rest.join("/")}`, request, response);
  }

  /** `PUT /control/ID` makes a scene of routes, `GET` gives what it saw, `POST …/open/GATE` opens a gate, `DELETE` ends it. */
  async #control(request: IncomingMessage, response: ServerResponse, [id = "", verb = "", name = ""]: string[]): Promise<void> {
    const answer = (status: number, body?: unknown) =>
      response
        .writeHead(status, { ...CORS, "access-control-allow-methods": "*", "access-control-allow-headers": "*" })
        .end(body === undefined ? undefined : JSON.stringify(body));
    if (request.method === "OPTIONS") return void answer(204);
    if (request.method === "PUT") {
      const routes = JSON.parse((await bodyOf(request)).toString()) as Route[];
      this.#scenes.set(id, { routes, seen: [], gates: new Map(), open: new Set(), watchers: new Set() });
      return void answer(204);
    }
    const scene = this.#scenes.get(id);
    if (!scene) return void answer(404);
    if (request.method === "DELETE") {
      this.#scenes.delete(id);
      for (const open of scene.open) open.destroy();
      return void answer(204);
    }
    if (verb === "open") {
      const gate = gateOf(scene, decodeURIComponent(name));
      const next = gate.waiting.shift();
      if (next) next();
      else gate.opened += 1;
      return void answer(204);
    }
    // Answers when something has changed since the caller's last look, so that a test waits for an event and not for a while.
    if (verb === "changes" && Number(name) === changesOf(scene)) {
      await new Promise<void>((changed) => {
        scene.watchers.add(changed);
        response.on("close", changed);
        setTimeout(changed, 5_000).unref();
      });
    }
    answer(200, { changes: changesOf(scene), seen: scene.seen });
  }
}

async function play(scene: Scene, url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = url.split("?")[0] ?? "";
  const earlier = (route: Route) =>
    scene.seen.filter((seen) => routeOf(scene, seen.method, seen.url.split("?")[0] ?? "") === route).length;
  const preflight = request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
  const route = routeOf(scene, request.method ?? "", path);
  const answer = route?.answers[Math.min(earlier(route), route.answers.length - 1)];
  const seen: Seen = {
    method: request.method ?? "",
    url,
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    body: "",
    inFlight: preflight ? 0 : 1 + scene.seen.filter((other) => !other.finished && other.method !== "OPTIONS").length,
    aborted: false,
    finished: false,
  };
  scene.seen.push(seen);
  notify(scene);
  scene.open.add(response);
  response.on("close", () => {
    scene.open.delete(response);
    seen.aborted = !response.writableFinished;
    seen.finished = true;
    notify(scene);
  });
  if (preflight) {
    response.writeHead(204, {
      ...CORS,
      "access-control-allow-methods": "GET, POST, DELETE, PUT",
      "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "",
    });
    response.end();
    return;
  }
  seen.body = (await bodyOf(request)).toString("base64");
  notify(scene);
  if (!answer) {
    response.writeHead(404, { ...CORS, "content-type": "text/plain" }).end("404 page not found");
    return;
  }
  if (await walk(scene, response, answer.before ?? [])) return;
  response.writeHead(answer.status ?? 200, { ...(answer.cors === false ? {} : CORS), ...answer.headers });
  response.flushHeaders();
  if (await walk(scene, response, answer.steps ?? [])) return;
  response.end();
}

/** Whether the answer is over. */
async function walk(scene: Scene, response: ServerResponse, steps: Step[]): Promise<boolean> {
  for (const step of steps) {
    if (response.destroyed) return true;
    if ("write" in step) await written(response, Buffer.from(step.write, "base64"));
    else if ("text" in step) await written(response, Buffer.from(step.text));
    else if ("delay" in step) await new Promise((passed) => setTimeout(passed, step.delay));
    else if ("gate" in step) await passed(gateOf(scene, step.gate), response);
    else if ("drop" in step) {
      response.socket?.resetAndDestroy();
      return true;
    } else {
      await new Promise((left) => response.on("close", left));
      return true;
    }
  }
  return response.destroyed;
}

function written(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((done) => {
    response.write(bytes, () => done());
    response.once("close", () => done());
  });
}

function passed(gate: { opened: number; waiting: (() => void)[] }, response: ServerResponse): Promise<void> {
  if (gate.opened > 0) {
    gate.opened -= 1;
    return Promise.resolve();
  }
  return new Promise((done) => {
    gate.waiting.push(done);
    response.once("close", () => done());
  });
}

function gateOf(scene: Scene, name: string): { opened: number; waiting: (() => void)[] } {
  let gate = scene.gates.get(name);
  if (!gate) {
    gate = { opened: 0, waiting: [] };
    scene.gates.set(name, gate);
  }
  return gate;
}

function routeOf(scene: Scene, method: string, path: string): Route | undefined {
  return scene.routes.find((route) => path.endsWith(route.path) && (route.method ?? method) === method && method !== "OPTIONS");
}

function changesOf(scene: Scene): number {
  return scene.seen.reduce((sum, seen) => sum + 1 + Number(seen.finished) + Number(seen.body !== ""), 0);
}

function notify(scene: Scene): void {
  for (const watcher of scene.watchers) watcher();
  scene.watchers.clear();
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
