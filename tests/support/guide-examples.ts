/**
 * The examples of the guides. A block that begins with ```ts is a module: it is compiled, and run in Node on a local platform, with the names
 * of tests/docs/guide-globals.d.ts at hand. After ```ts no-run it is only compiled, since it needs a page, another runtime or a cloud; and so
 * is ```tsx. Of ```html the module scripts are checked as the JavaScript that they are. `// → text` at the end of a line tells what is
 * printed; a block that tells any of its lines tells all.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { forPlatform } from "./examples.ts";
import type { PlatformInfo } from "./platform.ts";

/** For all blocks together on a machine of any speed: one that hangs still ends. */
const RUN_MS = 600_000;

const ROOT = new URL("../../", import.meta.url).pathname;

/** One block. */
export interface Example {
  /** Its file and the line it begins in. */
  readonly place: string;
  readonly language: "ts" | "tsx" | "html";
  readonly attributes: readonly string[];
  /** A module. */
  readonly code: string;
}

/** How a block went. */
export interface Ran {
  /** What it printed with `console.log`. */
  readonly lines: string[];
  /** What it threw. */
  readonly error?: string;
}

/** The blocks of a file of the repository that hold a module. */
export function examples(file: string): Example[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/^```(tsx?|html)\b(.*)\n([\s\S]*?)^```$/gm)].flatMap((match): Example[] => {
    const [, language = "", attributes = "", code = ""] = match;
    const place = `${file}:${text.slice(0, match.index).split("\n").length}`;
    if (language === "html") return moduleScripts(code).map((script) => ({ place, language, attributes: [], code: script }));
    const words = attributes.split(" ").filter((word) => word !== "");
    return [{ place, language: language === "tsx" ? language : "ts", attributes: words, code }];
  });
}

/** What a page's module scripts hold, each behind as many lines as stand in front of it. */
function moduleScripts(page: string): string[] {
  return [...page.matchAll(/<script type="module">([\s\S]*?)<\/script>/g)].map(
    ({ 1: script = "", index }) => page.slice(0, index).replaceAll(/[^\n]/g, "") + script,
  );
}

/** Whether a block is run. */
export function isRun({ language, attributes }: Example): boolean {
  return language === "ts" && !attributes.includes("no-run");
}

/** What a block says that it prints. */
export function promisedOutput(code: string): string[] {
  return [...code.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1] ?? "");
}

const BASE: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ["lib.es2022.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
  types: ["node"],
  noEmit: true,
  skipLibCheck: true,
};

/** As strict as a reader's project may be set. */
const STRICT: ts.CompilerOptions = {
  ...BASE,
  jsx: ts.JsxEmit.ReactJSX,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
};

/** What a script of a page says of itself: nothing but names and how they are called. */
const PLAIN: ts.CompilerOptions = { ...BASE, allowJs: true, checkJs: true, strict: false };

/** What the compiler has against the blocks, each with its place in the guide. */
export function compile(blocks: readonly Example[]): string[] {
  const scripts = blocks.filter(({ language }) => language === "html");
  const modules = blocks.filter(({ language }) => language !== "html");
  return [...compileAs(STRICT, modules, ({ language }) => language), ...compileAs(PLAIN, scripts, () => "js")];
}

function compileAs(options: ts.CompilerOptions, blocks: readonly Example[], ending: (block: Example) => string): string[] {
  const sources = new Map(blocks.map((block, index) => [join(ROOT, `tests/docs/block-${index}.${ending(block)}`), block]));
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  const code = (name: string) => sources.get(name)?.code;
  host.fileExists = (name) => sources.has(name) || fileExists(name);
  host.readFile = (name) => code(name) ?? readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const text = code(name);
    return text === undefined ? getSourceFile(name, version, ...rest) : ts.createSourceFile(name, text, version);
  };
  const globals = join(ROOT, "tests/docs/guide-globals.d.ts");
  const program = ts.createProgram({ rootNames: [globals, ...sources.keys()], options, host });
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const place = file === undefined ? "" : (sources.get(file.fileName)?.place ?? file.fileName);
    const line = file === undefined || start === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    return `${place} +${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}

/** Runs blocks one after the other in one Node process with one sandbox. */
export async function runInOneProcess(blocks: readonly Example[], platform: PlatformInfo): Promise<Map<Example, Ran>> {
  // Where a bare import finds the package, and nothing else looks.
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "guide-examples-"));
  try {
    blocks.forEach(({ code }, index) => {
      const { outputText } = ts.transpileModule(forPlatform(code, platform), {
        compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
      });
      writeFileSync(join(folder, `${index}.mjs`), outputText);
    });
    const runner = join(ROOT, "tests/support/guide-runner.mjs");
    const report = join(folder, "report.json");
    const env = { ...process.env, AGENT_SANDBOX_API_KEY: platform.apiKey };
    const { apiUrl, sandboxUrl, apiKey } = platform;
    const settings = JSON.stringify({ folder, count: blocks.length, report, connection: { apiUrl, sandboxUrl, apiKey } });
    const { stderr } = await promisify(execFile)(process.execPath, [runner, settings], { env, cwd: folder, timeout: RUN_MS });
    if (!existsSync(report)) throw new Error(`the examples did not run to their end\n${stderr}`);
    const outcomes: Ran[] = JSON.parse(readFileSync(report, "utf8"));
    return new Map(blocks.map((block, index) => [block, outcomes[index] ?? { lines: [], error: "did not run" }]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
