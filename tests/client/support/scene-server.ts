// Plays scenes: declared answers, step by step, that a test drives over HTTP, so that the same test runs in Node and in a page.
// The bytes and faults are the scripted server's; this adds what a test that runs elsewhere needs.
import { type Exchange, type Recorded, type ScriptedServer, scriptedServer } from "../../support/scripted-server.ts";

/** One thing an answer does. */
export type Step =
  /** Writes bytes (base64) as one HTTP chunk. */
  | { write: string }
  /** Writes text as one HTTP chunk. */
  | { text: string }
  /** Waits until the test opens the gate of that name. */
  | { gate: string }
  /** Resets the connection. */
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
  steps?: Step[];
}

/** What is answered to requests for a path. */
export interface Route {
  /** The end of the path, without the query. */
  path: string;
  /** Default: any. */
  method?: string;
  /** The first request gets the first answer and so on; the last one repeats. */
  answers: Answer[];
}

/** What the server saw of a request, as a driver gets it. */
export interface Seen {
  method: string;
  /** The path and query below the scene's own. */
  url: string;
  headers: Record<string, string>;
  /** Base64. */
  body: string;
  /** Whether the client left before the answer had ended. */
  aborted: boolean;
  /** Whether the answer is over, either way. */
  finished: boolean;
}

interface Scene {
  routes: { route: Route; requests: number }[];
  seen: Seen[];
  gates: Map<string, { opened: number; waiting: (() => void)[] }>;
  open: Set<Exchange>;
  changes: number;
  watchers: Set<() => void>;
}

/** Starts a server for scenes; `address` is its origin. */
export async function sceneServer(): Promise<ScriptedServer> {
  const server = await scriptedServer();
  const scenes = new Map<string, Scene>();
  for (const method of ["GET", "POST", "PUT", "DELETE"]) {
    server.on(method, "/control/*", (exchange) => control(server, scenes, exchange));
    server.on(method, "/scene/*", async (exchange) => {
      const [, , id = ""] = exchange.path.split("/");
      const scene = scenes.get(id);
      if (scene) await play(scene, exchange);
      else exchange.answer(404);
    });
  }
  return server;
}

/** `PUT /control/ID` makes a scene of routes, `GET` gives what it saw, `POST …/open/GATE` opens a gate, `DELETE` ends it. */
async function control(server: ScriptedServer, scenes: Map<string, Scene>, exchange: Exchange): Promise<void> {
  const [, , id = "", verb = "", name = ""] = exchange.path.split("/");
  if (exchange.method === "PUT") {
    const routes = (JSON.parse((await exchange.body).toString()) as Route[]).map((route) => ({ route, requests: 0 }));
    scenes.set(id, { routes, seen: [], gates: new Map(), open: new Set(), changes: 0, watchers: new Set() });
    return exchange.answer(204);
  }
  const scene = scenes.get(id);
  if (!scene) return exchange.answer(404);
  if (exchange.method === "DELETE") {
    scenes.delete(id);
    for (const open of scene.open) open.reset();
    return exchange.answer(204);
  }
  if (verb === "open") {
    const gate = gateOf(scene, name);
    const next = gate.waiting.shift();
    if (next) next();
    else gate.opened += 1;
    return exchange.answer(204);
  }
  // Answers when something has changed since the caller's last look, so that a test waits for an event and not for a while.
  if (verb === "changes" && Number(name) === scene.changes) {
    await new Promise<void>((changed) => {
      scene.watchers.add(changed);
      void exchange.abandoned.then(() => changed());
      setTimeout(changed, 5_000).unref();
    });
  }
  const preflights = server.preflights.filter(({ path }) => path.startsWith(`/scene/${id}/`)).length;
  exchange.answer(
    200,
    { "content-type": "application/json" },
    JSON.stringify({ changes: scene.changes, seen: scene.seen, preflights }),
  );
}

async function play(scene: Scene, exchange: Exchange): Promise<void> {
  const seen = record(scene, exchange);
  scene.open.add(exchange);
  void exchange.abandoned.then((aborted) => {
    scene.open.delete(exchange);
    Object.assign(seen, { aborted, finished: true });
    notify(scene);
  });
  seen.body = (await exchange.body).toString("base64");
  notify(scene);
  const found = scene.routes.find(
    ({ route }) => exchange.path.endsWith(route.path) && (route.method ?? exchange.method) === exchange.method,
  );
  if (!found) return exchange.answer(404, { "content-type": "text/plain" }, "404 page not found");
  const answer = found.route.answers[Math.min(found.requests, found.route.answers.length - 1)];
  found.requests += 1;
  // An origin that no page has: to a browser it is the same as none.
  const refused = answer?.cors === false ? { "access-control-allow-origin": "https://elsewhere.invalid" } : {};
  exchange.head(answer?.status ?? 200, { ...answer?.headers, ...refused });
  for (const step of answer?.steps ?? []) {
    if ("write" in step) await exchange.chunk(Buffer.from(step.write, "base64"));
    else if ("text" in step) await exchange.chunk(step.text);
    else if ("gate" in step) await Promise.race([passed(gateOf(scene, step.gate)), exchange.abandoned]);
    else if ("drop" in step) return exchange.reset();
    else await exchange.abandoned;
    if (seen.finished) return;
  }
  exchange.end();
}

function record(scene: Scene, { method, path, query, headers }: Recorded): Seen {
  const below = path.split("/").slice(3).join("/");
  const seen = {
    method,
    url: `/${encodeURI(below)}${query.size > 0 ? `?${query}` : ""}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: "",
    aborted: false,
    finished: false,
  };
  scene.seen.push(seen);
  notify(scene);
  return seen;
}

function passed(gate: { opened: number; waiting: (() => void)[] }): Promise<void> {
  if (gate.opened > 0) {
    gate.opened -= 1;
    return Promise.resolve();
  }
  return new Promise((done) => gate.waiting.push(done));
}

function gateOf(scene: Scene, name: string): { opened: number; waiting: (() => void)[] } {
  let gate = scene.gates.get(name);
  if (!gate) {
    gate = { opened: 0, waiting: [] };
    scene.gates.set(name, gate);
  }
  return gate;
}

function notify(scene: Scene): void {
  scene.changes += 1;
  for (const watcher of scene.watchers) watcher();
  scene.watchers.clear();
}
