/** Chromium and Firefox, driven by puppeteer-core. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import puppeteer, { type Browser, type Page } from "puppeteer-core";

const artifacts = new URL("../artifacts/", import.meta.url).pathname;

/** The browser under test: CHROMIUM, or the system's. */
export function chromiumBinary(): string {
  const candidates = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const binary = candidates.find((path) => path !== undefined && existsSync(path));
  if (binary === undefined) throw new Error("there is no Chromium: run `cargo xtask test`, which installs it, or set CHROMIUM");
  return binary;
}

/** How a browser is driven. */
interface Driving {
  /** How long one call into a page may take, in ms; 0 is for ever. */
  protocolTimeout?: number;
  /** Whether requests are reported. Chromium then keeps every request's body, and sends it along. */
  networkEnabled?: boolean;
}

/** A headless Chromium that talks to nobody on its own account. */
export function launchChromium(args: string[] = [], driving: Driving = {}): Promise<Browser> {
  return puppeteer.launch({
    protocolTimeout: 180_000,
    ...driving,
    executablePath: chromiumBinary(),
    headless: true,
    args: [
      // Chromium refuses its own sandbox as root; the pages here are ours.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...args,
    ],
  });
}

/** A headless Firefox, the system's or what FIREFOX names. */
export function launchFirefox(): Promise<Browser> {
  return puppeteer.launch({ browser: "firefox", executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr", headless: true });
}

export interface OpenPage {
  readonly page: Page;
  /** Uncaught errors and `console.error` lines, in order. */
  readonly problems: string[];
}

/** Opens a page and collects what goes wrong in it. */
export async function openPage(browser: Browser, url: string): Promise<OpenPage> {
  const page = await browser.newPage();
  // On a busy machine a page may take minutes to open; what hangs is ended by the test's own time.
  page.setDefaultTimeout(140_000);
  const problems: string[] = [];
  page.on("pageerror", (error) =>
    problems.push(`uncaught: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
  );
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await page.goto(url, { waitUntil: "domcontentloaded" });
  return { page, problems };
}

/** Keeps a picture of a page as tests/artifacts/NAME.png. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(artifacts, { recursive: true });
  await page.screenshot({ path: join(artifacts, `${name}.png`) as `${string}.png` });
}
