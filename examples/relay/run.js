// Building and serving the example, for start.js and for the tests.
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { filesOf } from "./files.js";
import { startProgram } from "./program.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const WASM = "agent_sandbox_web_bg.wasm";

/** How each runtime is started; a Worker runs inside of this process. */
const PROGRAMS = {
  node: (folder) => [process.execPath, [here("node.js"), folder]],
  deno: (folder, tools) => [
    fileOf(tools, "deno", "deno"),
    ["run", "--allow-net", "--allow-read", "--allow-env", here("deno.js"), folder],
  ],
  bun: (folder, tools) => [fileOf(tools, "bun", "bin/bun.exe"), [here("bun.js"), folder]],
};

/** A file of a package that is installed here, in the repository or in the folder of tools. */
function fileOf(tools, name, file) {
  const paths = [here("."), tools];
  return join(createRequire(import.meta.url).resolve(`${name}/package.json`, { paths }), "..", file);
}

/**
 * Builds the page into a temporary folder and serves it with its relay.
 * @param {"worker" | "node" | "deno" | "bun"} runtime
 * @param {{ apiKey: string, apiUrl: string, sandboxUrl: string, sandboxHostUrl: string }} platform
 * @param {number} port 0 for a free one
 * @param {string} [tools] where packages are installed that are not here
 * @returns {Promise<{ url: string, stop(): Promise<void> }>}
 */
export async function startExample(runtime, platform, port, tools = here(".")) {
  const folder = await mkdtemp(join(tmpdir(), "relay-example-"));
  const { apiKey: AGENT_SANDBOX_API_KEY, apiUrl: API_URL, sandboxUrl: SANDBOX_URL, sandboxHostUrl: PAGE_SANDBOX_URL } = platform;
  const environment = { AGENT_SANDBOX_API_KEY, API_URL, SANDBOX_URL, PAGE_SANDBOX_URL };
  try {
    await buildPage(folder);
    const serve = runtime === "worker" ? serveWorker : serveProgram;
    const { url, stop } = await serve(runtime, folder, environment, port, tools);
    return {
      url,
      stop: async () => {
        await stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function buildPage(folder) {
  const { build } = await import("vite");
  await build({ root: here("page"), configFile: false, logLevel: "error", build: { outDir: folder, target: "es2022" } });
}

/** The Worker as one module, with the WebAssembly module beside it: Workers compile none by themselves. */
async function buildWorker(folder) {
  const { rolldown } = await import("rolldown");
  const external = {
    name: "wasm-beside",
    resolveId: (id) => (id.endsWith(".wasm") ? { id: `./${WASM}`, external: true } : undefined),
  };
  const bundle = await rolldown({
    input: here("worker.js"),
    platform: "neutral",
    resolve: { conditionNames: ["workerd", "import", "default"] },
    plugins: [external],
  });
  const { output } = await bundle.write({ dir: folder, format: "esm", entryFileNames: "worker.js", codeSplitting: false });
  await copyFile(fileOf(".", "agent-sandbox-web", `dist/${WASM}`), join(folder, WASM));
  return output[0].code;
}

async function serveWorker(_, folder, bindings, port, tools) {
  const { Miniflare, Response: WorkerResponse } = createRequire(join(tools, "run.js"))("miniflare");
  const worker = await mkdtemp(join(tmpdir(), "relay-worker-"));
  const contents = await buildWorker(worker);
  const files = filesOf(folder, readFile);
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    port,
    compatibilityDate: "2026-04-01",
    modules: [
      { type: "ESModule", path: "worker.js", contents },
      { type: "CompiledWasm", path: WASM, contents: await readFile(join(worker, WASM)) },
    ],
    bindings,
    serviceBindings: {
      ASSETS: async (request) => {
        const { status, headers, body } = await files(new URL(request.url).pathname);
        return new WorkerResponse(body, { status, headers: Object.fromEntries(headers) });
      },
    },
  });
  const stop = async () => {
    await miniflare.dispose();
    await rm(worker, { recursive: true, force: true });
  };
  const { port: chosen } = await miniflare.ready;
  return { url: `http://localhost:${chosen}`, stop };
}

async function serveProgram(runtime, folder, environment, port, tools) {
  const [program, args] = PROGRAMS[runtime](folder, tools);
  const env = { ...process.env, ...environment, PORT: String(port) };
  const { line, stop } = await startProgram(program, args, { cwd: here("."), env });
  return { url: line, stop };
}
