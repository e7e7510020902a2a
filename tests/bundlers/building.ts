/** Small apps of people who use the package, built by their bundler and opened in Chromium. */
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Sandbox } from "agent-sandbox-web";
import { expect, inject } from "vitest";
import { launchChromium, openPage } from "../support/browser.ts";
import { example } from "../support/examples.ts";
import { type Project, packageProject, toolsOf } from "../support/package-project.ts";
import { servePages } from "../support/pages.ts";
import { printed } from "../support/programs.ts";

/** Loads a bundler that only these tests have. */
export const requireTool = createRequire(join(toolsOf("bundlers"), "package.json"));

/** A program of a bundler that only these tests have. */
export const toolProgram = (name: string) => join(toolsOf("bundlers"), "node_modules/.bin", name);

/** A project with one of the apps beside this file; with the tools of these tests in reach, as if they were installed there. */
export async function appProject(app: string, more: Record<string, string> = {}): Promise<Project> {
  const folder = fileURLToPath(new URL(`apps/${app}`, import.meta.url));
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const contents = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), await readFile(path, "utf8")] as const;
    }),
  );
  return packageProject({ ...Object.fromEntries(contents), ...more }, join(toolsOf("bundlers"), "projects"));
}

/** Runs the commands of an example of the package's README in a project, in which the tools are as if they were installed. */
export async function runReadme(name: string, folder: string): Promise<void> {
  const bins = [toolsOf("bundlers"), toolsOf("runtimes")].map((tools) => join(tools, "node_modules/.bin"));
  const commands = example("pkg/README.md", name).replaceAll("npx ", "");
  await printed("sh", ["-ec", `PATH=${bins.join(":")}:$PATH\n${commands}`], folder);
}

/** What an app shows when it is done: by default, what a command has printed. */
export interface Shown {
  page: string;
  worker?: string;
  server?: string;
}

const PRINTED = "1\n2\n3\n";
export const IN_PAGE: Shown = { page: PRINTED };
export const IN_PAGE_AND_WORKER: Shown = { page: PRINTED, worker: PRINTED };

/** Opens an app with a sandbox of its own, waits until it is done, and compares what it shows. */
export async function expectToShow(url: string, expected: Shown): Promise<void> {
  const { apiUrl, apiKey, sandboxUrl, sandboxHostUrl } = inject("platform");
  await using sandbox = await Sandbox.create("base", { apiUrl, apiKey, sandboxUrl });
  const connection = JSON.stringify({ handoff: sandbox.handoff(), sandboxUrl: sandboxHostUrl });
  const browser = await launchChromium();
  try {
    const { page, problems } = await openPage(browser, `${url}#${encodeURIComponent(connection)}`);
    await page.waitForFunction('document.title === "done"', { timeout: 60_000 }).catch((error: Error) => {
      throw new Error(`${error.message}; the page said ${problems.join("; ")}`);
    });
    const shown: Record<string, string> = {};
    for (const id of Object.keys(expected)) shown[id] = String(await page.evaluate(`document.getElementById("${id}").textContent`));
    expect(shown).toEqual(expected);
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
}

/** The same for an app that was built into a folder. */
export async function expectFolderToShow(folder: string, expected: Shown): Promise<void> {
  const pages = await servePages({ folders: { "/": folder } });
  try {
    await expectToShow(`${pages.url}/index.html`, expected);
  } finally {
    await pages.close();
  }
}
