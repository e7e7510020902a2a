// What the README shows a newcomer really runs.
import { join } from "node:path";
import { createServer } from "vite";
import { beforeAll, expect, inject, test, vi } from "vitest";
import { startWorker } from "../runtimes/workers.ts";
import { launchChromium, openPage } from "../support/browser.ts";
import { example, forPlatform, runExample } from "../support/examples.ts";
import { packageProject } from "../support/package-project.ts";
import { FIRST_USE_MS, prepareRuntime } from "../support/runtime.ts";

beforeAll(prepareRuntime, FIRST_USE_MS);

/** Runs a program and gives what it printed. */
async function run(program: string): Promise<string> {
  const { stdout, stderr } = await runExample(program, inject("platform"));
  expect(stderr).toBe("");
  return stdout;
}

test("the README's example runs as it stands, but for the port", async () => {
  const code = example("README.md", "hello");
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(16);
  expect(await run(code)).toBe("Hello from a file\n1\n2\n3\n");
});

test("the README's example of code cells runs", async () => {
  const { apiUrl, sandboxUrl, apiKey } = inject("platform");
  const stdout = await run(`import { Sandbox } from "agent-sandbox-web";
const connection = ${JSON.stringify({ apiUrl, sandboxUrl, apiKey })};
${example("README.md", "cells")}
console.log(String.fromCharCode(...picture.slice(1, 4)));
await sandbox.kill();`);
  expect(stdout).toBe("drawn\ntext html data\ntext png chart\nPNG\n");
});

const here = (name: string) => forPlatform(example("README.md", name), inject("platform"));

/** Opens the README's page under Vite, with this key, and waits until its output is one that this expression holds of. */
async function opensUnderVite(apiKey: string | undefined, isAwaited: string): Promise<void> {
  vi.stubEnv("AGENT_SANDBOX_API_KEY", apiKey);
  const { folder } = await packageProject({
    "vite.config.mjs": here("vite-config"),
    "index.html": here("vite-page"),
    "main.js": here("vite-main"),
  });
  const configFile = join(folder, "vite.config.mjs");
  const server = await createServer({ root: folder, configFile, logLevel: "error", server: { port: 0 } });
  await server.listen();
  const browser = await launchChromium();
  try {
    const { page, problems } = await openPage(browser, server.resolvedUrls?.local[0] ?? "");
    const shown = 'document.getElementById("output").textContent';
    await page.waitForFunction(`(${isAwaited})(${shown})`, { timeout: 120_000 }).catch(async (error: Error) => {
      throw new Error(`${error.message}; the page shows ${await page.evaluate(shown)} and said ${problems.join("; ")}`);
    });
  } finally {
    await browser.close();
    await server.close();
    vi.unstubAllEnvs();
  }
}

test("the README's page streams under Vite", async () => {
  await opensUnderVite(inject("platform").apiKey, String.raw`(output) => output === "1\n2\n3\n"`);
});

test("the README's page says what to do when the key's variable is not set", async () => {
  await opensUnderVite(undefined, "(output) => /apiKey is undefined. Is the variable set.*Pass the option apiKey/.test(output)");
});

test("the README's worker streams", async () => {
  const project = await packageProject({ "worker.js": here("worker") });
  const worker = await startWorker(project, "worker.js", { AGENT_SANDBOX_API_KEY: inject("platform").apiKey });
  expect(await (await worker.dispatchFetch("http://worker.test/")).text()).toBe("1\n2\n3\n");
});
