/** Running the calls of calls.ts in pages and their workers, whatever the browser: a page posts how they went to its own server. */
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, inject, test } from "vitest";
import { packageProject } from "../support/package-project.ts";
import { servePages } from "../support/pages.ts";
import type { Outcome } from "./calls.ts";
import { callsFiles, expectAllWell, requireTool } from "./running.ts";

/** Opens an address in a browser; what it gives closes it again. */
export type Open = (url: string) => Promise<() => Promise<void>>;

/** One way to use the package in a page. */
interface Kind {
  /** Files by URL path, given where another origin has the package's files. */
  files(elsewhere: string): Record<string, string>;
  headers?: Record<string, string>;
  /** The source of `/app.js`: a classic script, made of this module by esbuild. */
  app?: string;
}

/** Says what goes wrong before anything can be run. */
const WATCHED = `<!doctype html><link rel="icon" href="data:,"><script>
  const tell = (problem) => fetch("/report", { method: "POST", body: JSON.stringify({ problem: String(problem) }) });
  addEventListener("error", ({ message }) => tell(message));
  addEventListener("unhandledrejection", ({ reason }) => tell(reason?.stack ?? reason));
</script>`;

const RUN = `import { runCalls } from "./calls.js";
import given from "./given.js";

export async function run(sdk) {
  const report = await runCalls(sdk, given).then((outcomes) => ({ outcomes }), (error) => ({ problem: String(error.stack) }));
  await fetch("/report", { method: "POST", body: JSON.stringify(report) });
}`;

const withImportMap = (elsewhere: string, script: string) => `${WATCHED}
  <script type="importmap">{ "imports": { "agent-sandbox-web": "${elsewhere}/dist/browser.js" } }</script>
  <script type="module">${script}</script>`;

const MODULE = `import * as sdk from "agent-sandbox-web"; import { run } from "/run.js"; await run(sdk);`;

/** Import maps reach pages only. */
const BY_URL = `import * as sdk from "/package/dist/browser.js"; import { run } from "/run.js";`;

const registering = (options: string) => `${WATCHED}<script type="module">
  const registration = await navigator.serviceWorker.register("/worker.js"${options});
  const worker = registration.active ?? registration.installing ?? registration.waiting;
  const start = () => worker.state === "activated" && worker.postMessage("run");
  worker.addEventListener("statechange", start);
  start();
</script>`;

const ON_MESSAGE = `addEventListener("message", (event) => event.waitUntil(run(sdk)));`;

const KINDS = {
  "a page without a bundler, the package from another origin": {
    files: (elsewhere) => ({ "/": withImportMap(elsewhere, MODULE) }),
  },
  "a cross-origin-isolated page": {
    headers: { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" },
    files: (elsewhere) => ({
      "/": withImportMap(elsewhere, `if (!crossOriginIsolated) throw new Error("the page is not isolated"); ${MODULE}`),
    }),
  },
  "a classic script that esbuild made": {
    files: () => ({ "/": `${WATCHED}<script src="/app.js"></script>` }),
    app: `import * as sdk from "agent-sandbox-web/manual"; import { run } from "./run.js";
      sdk.init("/package/dist/agent_sandbox_web_bg.wasm").then(() => run(sdk));`,
  },
  "a module worker": {
    files: () => ({
      "/": `${WATCHED}<script type="module">new Worker("/worker.js", { type: "module" }).onerror = ({ message }) => tell(message);</script>`,
      "/worker.js": `${BY_URL} await run(sdk);`,
    }),
  },
  "a module service worker": {
    files: () => ({ "/": registering(', { type: "module" }'), "/worker.js": `${BY_URL} ${ON_MESSAGE}` }),
  },
  "a classic service worker": {
    files: () => ({ "/": registering(""), "/worker.js": 'importScripts("/app.js");' }),
    app: `import * as sdk from "agent-sandbox-web/manual"; import { run } from "./run.js";
      const ready = () => sdk.init("/package/dist/agent_sandbox_web_bg.wasm");
      addEventListener("message", (event) => event.waitUntil(ready().then(() => run(sdk))));`,
  },
} satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

/** Every kind of page and worker. */
const EVERY_KIND = Object.keys(KINDS) as KindName[];

/** Declares a test for each of these kinds. */
export function testPages(open: Open, names: KindName[] = EVERY_KIND): void {
  test.each(names)("%s makes every call", async (name) => expectAllWell(await outcomesIn(KINDS[name], open)));
}

/** The same in tabs of a browser that is driven by puppeteer. */
export function testPagesIn(launch: () => Promise<Browser>, names?: KindName[]): void {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());
  const open: Open = async (url) => {
    const page = await browser.newPage();
    await page.goto(url);
    return () => page.close();
  };
  testPages(open, names);
}

async function outcomesIn(kind: Kind, open: Open): Promise<Outcome[]> {
  const sources = { ...(await callsFiles("host")), "run.js": RUN };
  const folder = join(inject("packed").installed, "node_modules/agent-sandbox-web");
  const elsewhere = await servePages({
    folders: { "/": folder },
    headers: { "access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin" },
  });
  let posted: (body: string) => void = () => {};
  const report = new Promise<string>((resolve) => {
    posted = resolve;
  });
  const pages = await servePages({
    folders: { "/package/": folder },
    texts: {
      ...Object.fromEntries(Object.entries(sources).map(([name, text]) => [`/${name}`, text])),
      ...kind.files(elsewhere.url),
      ...(kind.app === undefined ? {} : { "/app.js": await classicScript(kind.app, sources) }),
    },
    ...(kind.headers ? { headers: kind.headers } : {}),
    posted: (_, body) => posted(body),
  });
  const close = await open(`${pages.url}/`);
  try {
    const { outcomes, problem } = JSON.parse(await report) as { outcomes?: Outcome[]; problem?: string };
    if (outcomes === undefined) throw new Error(problem);
    return outcomes;
  } finally {
    await close();
    await Promise.all([pages.close(), elsewhere.close()]);
  }
}

/** Bundles a module and what it imports into a classic script, as the package's README shows. */
async function classicScript(source: string, files: Record<string, string>): Promise<string> {
  const project = await packageProject({ ...files, "main.js": source });
  const { outputFiles } = await requireTool("esbuild").build({
    entryPoints: [join(project.folder, "main.js")],
    bundle: true,
    format: "iife",
    write: false,
    logLevel: "error",
  });
  return outputFiles[0].text;
}
