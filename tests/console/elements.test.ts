// The elements on the page of somebody else's app: from the packed package, built by that app, under its own strict policy.
import { readFileSync, symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Sandbox } from "agent-sandbox-web";
import ts from "typescript";
import { build } from "vite";
import { expect, test } from "vitest";
import { launchChromium, screenshot } from "../support/browser.ts";
import { packageProject } from "../support/package-project.ts";
import { servePages } from "../support/pages.ts";
import { startPlatform } from "../support/platform.ts";
import { ConsolePage } from "./console-page.ts";

const root = new URL("../../", import.meta.url).pathname;
const json = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8")) as Record<string, Record<string, string>>;

const HTML = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Another app</title><link rel="icon" href="data:,">
<body style="text-align: center; letter-spacing: 2px; text-transform: uppercase"><h1>Another app</h1><main></main><script type="module" src="./app.ts"></script></body></html>`;

// What it may be called and given is checked by TypeScript too.
const APP = `import { Sandbox, type SandboxHandoff } from "agent-sandbox-web";
import "agent-sandbox-web/elements/theme.css";

declare global { var show: (handoff: SandboxHandoff, sandboxUrl: string, name: "terminal" | "files" | "notebook" | "metrics" | "console") => Promise<void>; }

globalThis.show = async (handoff, sandboxUrl, name) => {
  const sandbox = await Sandbox.attach(handoff, { sandboxUrl });
  const main = document.querySelector("main")!;
  if (name === "terminal") {
    await import("agent-sandbox-web/elements/terminal");
    const terminal = document.createElement("sandbox-terminal");
    terminal.active = true;
    terminal.sandbox = sandbox;
    main.replaceChildren(terminal);
  } else if (name === "files") {
    await import("agent-sandbox-web/elements/files");
    const files = document.createElement("sandbox-files");
    files.sandbox = sandbox;
    main.replaceChildren(files);
  } else if (name === "notebook") {
    await import("agent-sandbox-web/elements/notebook");
    const notebook = document.createElement("sandbox-notebook");
    notebook.sandbox = sandbox;
    main.replaceChildren(notebook);
  } else if (name === "metrics") {
    await import("agent-sandbox-web/elements/metrics");
    const metrics = document.createElement("sandbox-metrics");
    metrics.sandbox = sandbox;
    main.replaceChildren(metrics);
  } else {
    const { SandboxConsole } = await import("agent-sandbox-web/elements");
    const all = new SandboxConsole();
    all.sandbox = sandbox;
    main.replaceChildren(all);
  }
  (main.firstElementChild as HTMLElement).style.height = "560px";
};
`;

const POLICY = (port: number, more = "") =>
  `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; ` +
  `connect-src 'self' http://*.localhost:${port}; frame-src http://*.localhost:${port}; require-trusted-types-for 'script'; trusted-types lit-html sandbox-inert${more}`;

test("the package names what its elements need, as optional peers", () => {
  const { dependencies = {} } = json("www/package.json");
  const { peerDependencies = {}, peerDependenciesMeta = {} } = json("pkg/package.json");
  for (const [name, version] of Object.entries(dependencies)) {
    if (name === "agent-sandbox-web") continue;
    expect(peerDependencies[name], name).toBe(`^${version}`);
    expect(peerDependenciesMeta[name], name).toEqual({ optional: true });
  }
});

test("the guide names the packages of each element", () => {
  const guide = readFileSync(join(root, "docs/guide/elements.md"), "utf8");
  for (const name of ["terminal", "metrics", "files", "notebook"]) {
    const packages = new Set<string>();
    gather(join(root, `pkg/dist/elements/sandbox-${name}.js`), new Set(), packages);
    const row = guide.split("\n").findLast((line) => line.startsWith(`| \`<sandbox-${name}>\``)) ?? "";
    const named = [...(row.split("|")[2] ?? "").matchAll(/`([^`]+)`/g)].map(([, one]) => one);
    expect(named.sort(), name).toEqual([...packages].sort());
  }
});

/** The packages that a module and what it imports, now or later, ask for. */
function gather(file: string, seen: Set<string>, packages: Set<string>): void {
  if (seen.has(file)) return;
  seen.add(file);
  for (const [, id = ""] of readFileSync(file, "utf8").matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'\s]+)["']/g)) {
    if (id.startsWith(".")) gather(join(dirname(file), id), seen, packages);
    else if (id !== "agent-sandbox-web") packages.add(id.split("/", id.startsWith("@") ? 2 : 1).join("/"));
  }
}

test("each element works alone on another app's page, and loads its engine only when it is used", {
  timeout: 300_000,
}, async () => {
  const { folder } = await packageProject({ "index.html": HTML, "app.ts": APP });
  for (const name of [...Object.keys(json("www/package.json").dependencies ?? {}), "@types/d3-scale"]) {
    if (name === "agent-sandbox-web") continue;
    const link = join(folder, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.es2022.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
    types: [],
    skipLibCheck: true,
    noUncheckedSideEffectImports: true,
  };
  const program = ts.createProgram([join(folder, "app.ts")], options);
  const complaints = ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  expect(complaints).toEqual([]);

  const out = join(folder, "out");
  await build({
    root: folder,
    configFile: false,
    logLevel: "error",
    base: "./",
    build: { outDir: out, assetsInlineLimit: 0, target: "es2022" },
  });
  const platform = await startPlatform();
  const { apiUrl, apiKey, sandboxUrl, sandboxHostUrl } = platform.info;
  const port = Number(new URL(apiUrl).port);
  const index = readFileSync(join(out, "index.html"), "utf8");
  const serve = (policy: string) =>
    servePages({
      folders: { "/again/": out, "/": out },
      texts: { "/": index },
      headers: { "content-security-policy": policy },
    });
  const pages = await serve(POLICY(port));
  const twice = await serve(POLICY(port, " 'allow-duplicates'"));
  const browser = await launchChromium();
  try {
    const sandbox = await Sandbox.create({ apiUrl, apiKey, sandboxUrl });
    await sandbox.files.write("hello.txt", "for another app");
    const page = await ConsolePage.open(await browser.createBrowserContext(), pages.url);
    await page.page.waitForFunction("globalThis.show !== undefined");
    const loaded: string[] = [];
    page.page.on("request", (request) => loaded.push(request.url()));
    const engines = () => loaded.filter((url) => url.includes("-engine"));
    type Name = "files" | "terminal" | "metrics" | "notebook" | "console";
    const present = (name: Name, on = page) =>
      on.page.evaluate((handoff, url, name) => globalThis.show(handoff, url, name), sandbox.handoff(), sandboxHostUrl, name);

    await present("files");
    await page.find("sandbox-tree >>> .row", "hello.txt");
    expect(engines()).toEqual([]);
    // How the page sets its own text is not how rows of files, code and terminals are set.
    const row = await page.find("sandbox-tree >>> .row", "hello.txt");
    const set = await row.evaluate((row) => {
      const { textAlign, letterSpacing, textTransform } = getComputedStyle(row);
      return [textAlign, letterSpacing, textTransform];
    });
    expect(set).toEqual(["start", "normal", "none"]);
    await page.click("sandbox-tree >>> .row", "hello.txt");
    await page.editorHas("for another app");
    expect(engines().join()).toContain("editor-engine");

    await present("terminal");
    await page.page.waitForFunction(
      () => (window.deepQuery("sandbox-terminal", "")[0] as { phase?: string } | undefined)?.phase === "open",
      {
        timeout: 60_000,
      },
    );
    await page.page.keyboard.type("cat hello.txt\n");
    await page.terminalHas("\nfor another app");

    await present("metrics");
    await page.find("sandbox-processes >>> tbody td");
    // Usage and log are the control plane's, for which a handed over sandbox has no key: that is said, and the rest works.
    await page.find("sandbox-metrics >>> sandbox-error >>> .code", "E1001");
    await page.find("sandbox-metrics >>> sandbox-error >>> .title", "Reading usage and log");
    expect(await page.count("sandbox-metrics >>> sandbox-error")).toBe(1);
    await screenshot(page.page, "elements-metrics");

    await present("notebook");
    await page.find("sandbox-notebook");
    await present("console");
    await page.find("sandbox-console >>> [role=tab]", "Terminal 1");
    expect(page.problems).toEqual([]);

    // The same page with a second copy of the package: the elements of the first show the second one's sandbox and its errors.
    const both = await ConsolePage.open(await browser.createBrowserContext(), twice.url);
    await both.page.waitForFunction("globalThis.show !== undefined");
    await present("files", both);
    await both.find("sandbox-tree >>> .row", "hello.txt");
    await both.page.evaluate("globalThis.first = globalThis.show");
    const entry = /src="\.\/(assets\/[^"]+\.js)"/.exec(index)?.[1];
    await both.page.evaluate(`import("/again/${entry}")`);
    expect(await both.page.evaluate("globalThis.first === globalThis.show")).toBe(false);
    await present("console", both);
    await both.find("sandbox-console >>> [role=tab]", "Terminal 1");
    await present("metrics", both);
    await both.find("sandbox-metrics >>> sandbox-error >>> .code", "E1001");
    expect(both.problems).toEqual([]);
    await sandbox.kill();
  } finally {
    await browser.close();
    await pages.close();
    await twice.close();
    await platform.stop();
  }
});

declare global {
  var show: (handoff: unknown, sandboxUrl: string, name: string) => Promise<void>;
}
