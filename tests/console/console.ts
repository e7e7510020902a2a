/** A platform of its own with a browser on its console: the code in a console's address is good once. */
import type { Browser, BrowserContext } from "puppeteer-core";
import { launchChromium } from "../support/browser.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import { ConsolePage } from "./console-page.ts";

export interface Console {
  readonly platform: Platform;
  readonly browser: Browser;
  /** The person's browser: its tabs share what a browser shares. */
  readonly context: BrowserContext;
  /** The tab that opened the address of the platform. */
  readonly first: ConsolePage;
  /** The console's address without a code. */
  readonly url: string;
  /** Ends the platform before the test does. */
  stopPlatform(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a platform and opens its console, in Chromium unless told otherwise. */
export async function openConsole(args: string[] = [], launch: () => Promise<Browser> = launchChromium): Promise<Console> {
  const platform = await startPlatform({ args });
  let browser: Browser | undefined;
  try {
    browser = await launch();
    const context = await browser.createBrowserContext();
    const { consoleUrl } = platform.info;
    const first = await ConsolePage.open(context, consoleUrl);
    await first.find("console-sandboxes");
    const started = browser;
    let stopped: Promise<void> | undefined;
    const stopPlatform = () => {
      stopped ??= platform.stop();
      return stopped;
    };
    return {
      platform,
      browser,
      context,
      first,
      url: consoleUrl.replace(/#.*$/, ""),
      stopPlatform,
      close: async () => {
        await started.close();
        await stopPlatform();
      },
    };
  } catch (error) {
    await browser?.close();
    await platform.stop();
    throw error;
  }
}
