// Real Chromium, without its own network chatter.
import { existsSync } from "node:fs";
import puppeteer, { type Browser, type LaunchOptions } from "puppeteer-core";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser's program: the one that CHROMIUM names, else the system's. */
export function chromiumPath(): string {
  const found = [process.env.CHROMIUM ?? "", ...PATHS].find((path) => path !== "" && existsSync(path));
  if (!found) throw new Error("Chromium is not installed; set CHROMIUM to its path");
  return found;
}

/** Starts a headless Chromium. */
export function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  return puppeteer.launch({
    executablePath: chromiumPath(),
    headless: true,
    ...options,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...(options.args ?? []),
    ],
  });
}
