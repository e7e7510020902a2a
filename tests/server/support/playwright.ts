/** Playwright for the server, with this machine's Chromium in place of the browser that it would download. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { chromiumBinary } from "../../support/browser.ts";
import { pythonProgramsWithPlaywright } from "./python.ts";
import type { ServerOptions } from "./server.ts";

/** Asks Playwright where it looks for its browser. */
const WHERE = `
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    try:
        playwright.chromium.launch()
    except Exception as error:
        print(error)
`;

/** How a server with a browser is started, and the function that cleans up behind it. Names below .test lead to this machine. */
export function withBrowser(): { options: ServerOptions; remove: () => void } {
  const programs = pythonProgramsWithPlaywright();
  const browsers = mkdtempSync(join(tmpdir(), "playwright-browsers-"));
  const env = { PLAYWRIGHT_BROWSERS_PATH: browsers, PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS: "1" };
  const said = execFileSync(join(programs, "python"), ["-c", WHERE], { env: { ...process.env, ...env }, encoding: "utf8" });
  const program = /Executable doesn't exist at (\S+)/.exec(said)?.[1];
  if (program === undefined) throw new Error(`Playwright did not say where its browser would be:\n${said}`);
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, `#!/bin/sh\nexec ${chromiumBinary()} --host-resolver-rules="MAP *.test 127.0.0.1" "$@"\n`);
  chmodSync(program, 0o755);
  return {
    options: { groups: ["browser"], programs, env },
    remove: () => rmSync(browsers, { recursive: true, force: true, maxRetries: 5 }),
  };
}
