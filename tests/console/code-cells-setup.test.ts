// The first sandbox with code cells on a machine: what is going to be installed is said beforehand, then shown as it goes, and waited for.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { FIRST_USE_MS, prepareRuntime, runtimeDir } from "../support/runtime.ts";
import { type Console, openConsole } from "./console.ts";
import { ConsolePage } from "./console-page.ts";

let shared: Console;
let folder: string;
let release: () => Promise<void>;

beforeAll(async () => {
  await prepareRuntime();
  folder = mkdtempSync(join(tmpdir(), "code-cells-setup-"));
  mkdirSync(join(folder, "runtime"));
  release = await hold(join(folder, "runtime/lock"));
  shared = await openConsole(["--runtime-dir", join(folder, "runtime")]);
}, FIRST_USE_MS);

afterAll(async () => {
  await release?.();
  await shared?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Holds the lock of a runtime that is being made, as another platform would that makes it. */
async function hold(lock: string): Promise<() => Promise<void>> {
  const holder = spawn("flock", [lock, "sh", "-c", "echo held; cat"], { stdio: ["pipe", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  return async () => {
    if (holder.exitCode !== null) return;
    const ended = once(holder, "exit");
    holder.stdin.end();
    await ended;
  };
}

const headers = () => ({ "x-api-key": shared.platform.info.apiKey, "content-type": "application/json" });

/** How far the platform is with code cells. */
async function state(): Promise<string> {
  const answer = await fetch(`${shared.platform.info.apiUrl}/code-cells`, { headers: headers() });
  return ((await answer.json()) as { state: string }).state;
}

/** Asks the platform for a sandbox with code cells, and waits until it makes their runtime for it. */
async function beginSetUp(): Promise<void> {
  const body = JSON.stringify({ templateID: "code-interpreter-v1" });
  void fetch(`${shared.platform.info.apiUrl}/sandboxes`, { method: "POST", headers: headers(), body }).catch(() => {});
  while ((await state()) !== "making") await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("the first use of code cells", { timeout: 120_000 }, () => {
  test("what is installed and how long that takes is said before the start", async () => {
    const { first, platform } = shared;
    await first.click("button", "New sandbox");
    await (await first.find("console-new-sandbox >>> #template")).select("code-interpreter-v1");
    await first.find("console-new-sandbox >>> .hint", "about 600 MB");
    await first.find("console-new-sandbox >>> .hint", "usually 1 to 4 minutes");
    await screenshot(first.page, "code-cells-before");
    expect(platform.log()).toContain("Code cells are not set up yet");
  });

  test("progress is shown, a platform that lets nobody wait longer is asked again, and then the sandbox is there", async () => {
    const { page } = shared.first;
    // The platform answers so after a minute; here it does as soon as the set-up has begun, the first time.
    let refused = 0;
    await page.setRequestInterception(true);
    page.on("request", (request) => {
      if (request.method() !== "POST" || !request.url().endsWith("/sandboxes") || refused > 0) return void request.continue();
      refused += 1;
      void beginSetUp().then(() => {
        const body = JSON.stringify({ code: 503, message: "Code cells are being set up on this machine for the first time" });
        return request.respond({ status: 503, contentType: "application/json", body });
      });
    });
    await shared.first.click("console-new-sandbox >>> button", "Start");
    await shared.first.find("console-new-sandbox >>> .setup progress");
    await shared.first.find("console-new-sandbox >>> .setup .detail", "Waiting for another process");
    await screenshot(page, "code-cells-progress");
    expect(await shared.first.count("console-new-sandbox >>> sandbox-error >>> .panel")).toBe(0);
    const made = readdirSync(runtimeDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of made) symlinkSync(join(runtimeDir, name), join(folder, "runtime", name));
    await release();
    await shared.first.gone("console-new-sandbox >>> dialog");
    await shared.first.find("sandbox-console");
    expect(refused).toBe(1);
    const status = await fetch(`${shared.platform.info.apiUrl}/code-cells`, {
      headers: { "x-api-key": shared.platform.info.apiKey },
    });
    expect(await status.json()).toMatchObject({ state: "ready" });
  });

  test("what cannot be told in parts is shown as going on", async () => {
    const tab = await ConsolePage.open(shared.context, shared.url);
    let detail = "Package 20 of 57: numpy";
    // Only this page is told so: the platform has them.
    await tab.page.setRequestInterception(true);
    tab.page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.pathname === "/code-cells") {
        const status = { state: "making", detail, packages: 57, megabytes: 600, minutes: "1 to 4" };
        return void request.respond({ status: 200, contentType: "application/json", body: JSON.stringify(status) });
      }
      // The sandbox waits for them.
      if (request.method() === "POST" && url.pathname === "/sandboxes") return;
      return void request.continue();
    });
    const told = async (text: string) => {
      detail = text;
      await tab.find("console-new-sandbox >>> .setup .detail", text);
      return (await tab.find("console-new-sandbox >>> .setup progress")).evaluate((bar) => (bar as HTMLProgressElement).position);
    };
    await tab.click("button", "New sandbox");
    await (await tab.find("console-new-sandbox >>> #template")).select("base");
    await (await tab.find("console-new-sandbox >>> #template")).select("code-interpreter-v1");
    await tab.find("console-new-sandbox >>> .setup progress");
    await tab.click("console-new-sandbox >>> button", "Start");
    expect(await told("Package 40 of 57: pandas")).toBeCloseTo((0.66 * 40) / 57);
    expect(await told("Unpacking and compiling the packages")).toBeCloseTo(0.7);
    expect(await told("Making the Python environment of agent-sandbox-server")).toBe(-1);
    expect(await told("Package 1 of 2: websockets")).toBeCloseTo(0.33);
    await tab.click("console-new-sandbox >>> button", "Cancel");
    expect(tab.problems).toEqual([]);
    await tab.page.close();
  });

  test("nothing went wrong in the page", () => {
    expect(shared.first.problems.filter((problem) => !problem.includes("503"))).toEqual([]);
  });
});
