/** Workers in Cloudflare's workerd. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Project } from "../support/package-project.ts";
import { requireTool } from "./running.ts";

/** The part of Miniflare that is needed. */
interface Miniflare {
  dispatchFetch(url: string): Promise<Response>;
  dispose(): Promise<void>;
}

/** Bundles a project's worker as Cloudflare's own tool does, .wasm files kept as modules, and starts it. It ends with the test. */
export async function startWorker(project: Project, main: string, bindings: Record<string, string> = {}): Promise<Miniflare> {
  const out = join(project.folder, "out");
  await requireTool("esbuild").build({
    entryPoints: [join(project.folder, main)],
    outdir: out,
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    logLevel: "error",
  });
  const { Miniflare } = requireTool("miniflare");
  const workers = new Miniflare({
    scriptPath: join(out, main),
    modules: true,
    modulesRoot: out,
    modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
    compatibilityDate: "2026-04-01",
    bindings,
  }) as Miniflare;
  onTestFinished(() => workers.dispose());
  return workers;
}
