// The package around the client: when the module is loaded, from where, in which runtimes.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Browser } from "puppeteer-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launchChromium, openPage } from "../support/browser.ts";
import { servePages } from "../support/pages.ts";

const pkg = fileURLToPath(new URL("../../pkg", import.meta.url));
const dist = join(pkg, "dist");
const run = promisify(execFile);

/** Runs a script in a Node of its own, below this folder so that the package is found, and gives what it printed as JSON. */
async function inNode(script: string, type: "module" | "commonjs" = "module"): Promise<unknown> {
  const { stdout } = await run(process.execPath, [`--input-type=${type}`, "--eval", script], { cwd: import.meta.dirname });
  return JSON.parse(stdout);
}

/** Counts how often the package's own module is made; Node makes others for itself. */
const COUNT = `
  let loads = 0;
  const real = WebAssembly.instantiate;
  WebAssembly.instantiate = (source, imports) => {
    if (imports && "asw" in imports) loads += 1;
    return real(source, imports);
  };
`;
const ATTACH = `Sandbox.attach({ sandboxId: "i1", sandboxUrl: "https://sandbox.test/{port}" })`;

/** A module whose memory grows by no more than a megabyte. */
function withLittleMemory(module: Uint8Array): Uint8Array {
  const number = (at: number): [value: number, end: number] => {
    let [value, shift, end] = [0, 0, at];
    for (;;) {
      const byte = module[end++] as number;
      value |= (byte & 127) << shift;
      shift += 7;
      if (byte < 128) return [value, end];
    }
  };
  for (let at = 8; at < module.length; ) {
    const [length, start] = number(at + 1);
    if (module[at] === 5) {
      // One memory, its flags, its least size in pages of 64 KiB; then its largest.
      const [pages] = number(start + 2);
      const sizes = [pages, pages + 16].flatMap((size) => [(size & 127) | 128, size >> 7]);
      return Uint8Array.from([...module.subarray(0, at), 5, 2 + sizes.length, 1, 1, ...sizes, ...module.subarray(start + length)]);
    }
    at = start + length;
  }
  throw new Error("there is no memory");
}

describe("in Node", () => {
  test("importing loads nothing, and calls at the same time load once", async () => {
    const result = await inNode(`${COUNT}
      const { Sandbox, init } = await import("agent-sandbox-web");
      const imported = loads;
      const pages = Sandbox.list({ apiKey: "x" });
      const listed = loads;
      await Promise.all([${ATTACH}, ${ATTACH}, init(), init()]);
      await init();
      const sandbox = await ${ATTACH};
      console.log(JSON.stringify({ imported, listed, loads, hasNext: pages.hasNext, url: sandbox.getUrl(80), same: sandbox instanceof Sandbox }));
    `);
    expect(result).toEqual({ imported: 0, listed: 0, loads: 1, hasNext: true, url: "https://sandbox.test/80", same: true });
  });

  // No bad input makes the client panic; memory that ends does.
  test("a panic fails every call under way with a PanicError, and the next one works", async () => {
    const result = await inNode(`
      const { readFileSync } = await import("node:fs");
      const { PanicError, Sandbox, init } = await import("agent-sandbox-web");
      const module = readFileSync(${JSON.stringify(join(dist, "agent_sandbox_web_bg.wasm"))});
      await init(await WebAssembly.compile((${withLittleMemory})(module)));
      let answers = false;
      const fetch = () => (answers ? Promise.resolve(Response.json({ entry: { name: "a", path: "/a" } })) : new Promise(() => {}));
      const attach = () => Sandbox.attach({ sandboxId: "i1", sandboxUrl: "https://sandbox.test/{port}" }, { fetch });
      const caught = (promise) => promise.then(() => "no error", (error) => error instanceof PanicError && error.code);
      const sandbox = await attach();
      const under = [caught(sandbox.files.exists("a")), caught(sandbox.commands.run("x"))];
      const panicked = await caught(sandbox.commands.run("x", { input: new Uint8Array(64 * 1024 * 1024) }));
      const failed = await Promise.all(under);
      answers = true;
      console.log(JSON.stringify({ panicked, failed, next: await (await attach()).files.exists("a"), same: await sandbox.files.exists("a") }));
    `);
    expect(result).toEqual({ panicked: "E0002", failed: ["E0002", "E0002"], next: true, same: true });
  });

  test("require() works", async () => {
    const result = await inNode(
      `const { Sandbox } = require("agent-sandbox-web");
       ${ATTACH}.then((sandbox) => console.log(JSON.stringify(sandbox.id)));`,
      "commonjs",
    );
    expect(result).toBe("i1");
  });

  test("the package that only the option proxy needs is looked for by no bundler", async () => {
    // Turbopack looks through constants, and refuses an app in which undici is not installed. The matrix builds one.
    expect(await readFile(join(dist, "node.js"), "utf8")).toMatch(
      /import\(\/\* webpackIgnore: true \*\/ \/\* turbopackIgnore: true \*\/ UNDICI\)/,
    );
  });

  test("a stream that ended or was left does not keep the program alive", async () => {
    // Without exit(): the program ends when nothing is left to wait for.
    const result = await inNode(`
      const { Sandbox } = await import("agent-sandbox-web");
      const bytes = (...hex) => Uint8Array.from(hex.join("").match(/../g), (pair) => parseInt(pair, 16));
      const started = "00000000060a040a02082a", ended = "00000000060a041a021001", over = "02000000027b7d";
      const answer = (stay, ...parts) => new ReadableStream({ start(body) { body.enqueue(bytes(...parts)); if (!stay) body.close(); } });
      const bodies = [answer(false, started, ended, over), answer(true, started)];
      const fetch = async () => new Response(bodies.shift(), { headers: { "content-type": "application/connect+proto" } });
      const sandbox = await Sandbox.attach({ sandboxId: "i1", sandboxUrl: "https://sandbox.test/{port}" }, { fetch });
      globalThis.kept = [await sandbox.commands.start("a"), await sandbox.commands.start("b")];
      const { exitCode } = await kept[0].wait();
      await kept[1].disconnect();
      // What keeps it alive for a while is a timer: of 25 s for silence, of 60 s for the command.
      const done = performance.now();
      process.on("exit", () => console.log(JSON.stringify({ exitCode, atOnce: performance.now() - done < 20_000 })));
    `);
    expect(result).toEqual({ exitCode: 0, atOnce: true });
  });

  test("a killed terminal that nobody reads does not keep the program alive", async () => {
    const { apiUrl, apiKey, sandboxUrl } = inject("platform");
    const killed = await inNode(`
      const { Sandbox } = await import("agent-sandbox-web");
      const sandbox = await Sandbox.create(${JSON.stringify({ apiUrl, apiKey, sandboxUrl })});
      // Kept, so that no collector does what kill() has to do.
      globalThis.kept = [await sandbox.pty.create(), await sandbox.commands.start(["yes"])];
      const killed = [];
      for (const one of kept) killed.push(await one.kill());
      killed.push((await kept[1].wait()).success, await sandbox.kill());
      console.log(JSON.stringify(killed));
    `);
    expect(killed).toEqual([true, true, false, true]);
  });

  test("the manual entry says what to do, takes bytes, a module or a URL, and can be tried again", async () => {
    const result = (await inNode(`
      const { Sandbox, init, SandboxError } = await import("agent-sandbox-web/manual");
      const { readFile } = await import("node:fs/promises");
      const told = await ${ATTACH}.catch((error) => ({ code: error.code, suggestion: error.suggestion, typed: error instanceof SandboxError }));
      const listed = await Sandbox.list({ apiKey: "x" }).nextItems().catch((error) => error.code);
      const broken = await init(new Uint8Array(8)).catch((error) => ({ code: error.code, cause: error.cause instanceof Error }));
      const bytes = await readFile(new URL(import.meta.resolve("agent-sandbox-web/agent_sandbox_web_bg.wasm")));
      await init(await WebAssembly.compile(bytes));
      console.log(JSON.stringify({ told, listed, broken, id: (await ${ATTACH}).id }));
    `)) as { told: { suggestion: string } };
    expect(result).toMatchObject({
      told: { code: "E0001", typed: true },
      listed: "E0001",
      broken: { code: "E5000", cause: true },
      id: "i1",
    });
    expect(result.told.suggestion).toContain("init(");
  });
});

/** What `init` is given besides what the test of the manual entry gives it, as code. */
const SOURCES = {
  "a response": 'new Response(bytes, { headers: { "content-type": "application/wasm" } })',
  "the promise of a response of no particular type": "Promise.resolve(new Response(bytes))",
  "a buffer": "bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)",
};

test.each(Object.entries(SOURCES))("init takes %s, and two calls at once load once", async (_, source) => {
  const result = await inNode(`${COUNT}
    const streaming = WebAssembly.instantiateStreaming;
    // A response of another type is refused, and read instead.
    WebAssembly.instantiateStreaming = async (...given) => {
      const made = await streaming(...given);
      loads += 1;
      return made;
    };
    const { Sandbox, init } = await import("agent-sandbox-web/manual");
    const { readFile } = await import("node:fs/promises");
    const bytes = await readFile(new URL(import.meta.resolve("agent-sandbox-web/agent_sandbox_web_bg.wasm")));
    await Promise.all([init(${source}), init()]);
    console.log(JSON.stringify({ loads, id: (await ${ATTACH}).id }));
  `);
  expect(result).toEqual({ loads: 1, id: "i1" });
});

test.each([false, true])("a bundle of the manual entry keeps members and the places of calls; minified: %s", async (minify) => {
  const folder = await mkdtemp(join(inject("packed").installed, "manual-"));
  const entry = join(folder, "entry.js");
  // Methods keep their names. An answer comes when its call has long returned.
  await writeFile(
    entry,
    `
      import { readFileSync } from "node:fs";
      import { init, Sandbox } from "agent-sandbox-web/manual";
      await init(readFileSync(process.argv[2]));
      const fetch = () => new Promise((late) => setTimeout(() => late(new Response("", { status: 400 })), 1));
      const sandbox = await Sandbox.attach({ sandboxId: "i1", sandboxUrl: "https://sandbox.test/{port}" }, { fetch });
      const options = { apiUrl: "https://api.test", apiKey: "k", validateApiKey: false, fetch };
      const calls = {
        whoReads: () => sandbox.files.read("a"),
        whoRuns: () => sandbox.commands.run("a"),
        whoAsks: () => Sandbox.getInfo("i1", options),
      };
      const stacks = {};
      for (const [name, call] of Object.entries(calls)) stacks[name] = (await call().catch((error) => error)).stack;
      console.log(JSON.stringify({ members: [typeof Sandbox.create, typeof Sandbox.prototype.runCode], stacks }));
    `,
  );
  await build({
    root: folder,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: { ssr: entry, outDir: "built", minify, rolldownOptions: { output: { entryFileNames: "entry.mjs" } } },
  });
  const { stdout } = await run(process.execPath, [join(folder, "built/entry.mjs"), join(dist, "agent_sandbox_web_bg.wasm")]);
  const { members, stacks } = JSON.parse(stdout) as { members: string[]; stacks: Record<string, string> };
  expect(members).toEqual(["function", "function"]);
  for (const [name, stack] of Object.entries(stacks)) expect(stack).toMatch(new RegExp(`^\\s+at .*\\b${name}\\b`, "m"));
});

test("no entry but Node's has a built-in of Node among its imports", async () => {
  const names = (await readdir(dist)).filter((name) => name.endsWith(".js") && name !== "node.js");
  expect(names).toEqual(expect.arrayContaining(["browser.js", "core.js", "deno.js", "edge-light.js", "manual.js", "workerd.js"]));
  for (const name of names) {
    const code = await readFile(join(dist, name), "utf8");
    expect(code, name).not.toMatch(/["'`]node:|(?<![.\w])require\(["'`]|from ?["'](fs|path|util|crypto|url)["']/);
    // An await at the top of a module breaks service workers and classic bundles.
    expect(code, name).not.toMatch(/^(await |(const|let|export) .*= await )/m);
  }
});

/** A page's script: calls the package and leaves what it saw in the document's title, or posts it from a worker. */
const SCRIPT = `
  import { Sandbox, SandboxError, init } from "agent-sandbox-web";
  const report = (value) => globalThis.document ? (document.title = JSON.stringify(value)) : postMessage(value);
  const fetched = () => performance.getEntriesByType("resource").filter(({ name }) => name.includes(".wasm")).length;
  const before = fetched();
  const sandbox = await Sandbox.attach({ sandboxId: "i1", sandboxUrl: "https://sandbox.test/{port}" });
  const error = await sandbox.files.read("a\\0").catch((error) => error);
  report({ before, after: fetched(), url: sandbox.getUrl(80), same: sandbox instanceof Sandbox, typed: error instanceof SandboxError, code: error.code });
`;
const EXPECTED = { before: 0, after: 1, url: "https://sandbox.test/80", same: true, typed: true, code: "E0001" };

describe("in Chromium", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium();
  });

  afterAll(() => browser?.close());

  async function seenAt(url: string): Promise<unknown> {
    const { page, problems } = await openPage(browser, url);
    try {
      await page.waitForFunction('document.title.startsWith("{")', { timeout: 60_000 }).catch((error: Error) => {
        throw new Error(`${error.message}; the page said ${problems.join("; ")}`);
      });
      return JSON.parse(await page.title());
    } finally {
      await page.close();
    }
  }

  test("a page and a worker use the files as they are, without a bundler, under a strict policy", async () => {
    const map = '<script type="importmap">{"imports":{"agent-sandbox-web":"/pkg/browser.js"}}</script>';
    const pages = await servePages({
      folders: { "/pkg/": dist },
      texts: {
        "/": `<!doctype html><title>…</title>${map}<script type="module" src="/main.js"></script>`,
        "/worker": '<!doctype html><title>…</title><script type="module" src="/start.js"></script>',
        "/main.js": SCRIPT,
        // Import maps do not reach workers.
        "/worker.js": SCRIPT.replace('"agent-sandbox-web"', '"/pkg/browser.js"'),
        "/start.js": `const worker = new Worker("/worker.js", { type: "module" });
          worker.onmessage = ({ data }) => { document.title = JSON.stringify(data); };`,
      },
    });
    const strict = await servePages({
      folders: { "/pkg/": dist },
      headers: { "content-security-policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" },
      texts: {
        "/": '<!doctype html><title>…</title><script type="module" src="/main.js"></script>',
        "/main.js": SCRIPT.replace('"agent-sandbox-web"', '"/pkg/browser.js"'),
      },
    });
    try {
      expect(await seenAt(`${pages.url}/`)).toEqual(EXPECTED);
      expect(await seenAt(`${pages.url}/worker`)).toEqual(EXPECTED);
      expect(await seenAt(`${strict.url}/`)).toEqual(EXPECTED);
    } finally {
      await Promise.all([pages.close(), strict.close()]);
    }
  });

  test("a page where the file is missing gets a typed error, and may try again with another URL", async () => {
    const files = Object.fromEntries(
      await Promise.all(
        (await filesBelow(dist))
          .filter((name) => name.endsWith(".js"))
          .map(async (name) => [`/pkg/${name}`, await readFile(join(dist, name), "utf8")] as const),
      ),
    );
    const pages = await servePages({
      folders: { "/elsewhere/": dist },
      texts: {
        ...files,
        "/": '<!doctype html><title>…</title><script type="module" src="/main.js"></script>',
        "/main.js": `import { Sandbox, init, NetworkError } from "/pkg/browser.js";
          const first = await ${ATTACH}.catch((error) => error);
          await init("/elsewhere/agent_sandbox_web_bg.wasm");
          const sandbox = await ${ATTACH};
          document.title = JSON.stringify({ typed: first instanceof NetworkError, code: first.code, suggestion: first.suggestion, id: sandbox.id });`,
      },
    });
    try {
      const seen = (await seenAt(`${pages.url}/`)) as { suggestion: string };
      expect(seen).toMatchObject({ typed: true, code: "E5000", id: "i1" });
      expect(seen.suggestion).toContain("wasm-unsafe-eval");
    } finally {
      await pages.close();
    }
  });
});

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
