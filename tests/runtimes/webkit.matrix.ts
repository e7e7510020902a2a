// WebKitGTK, by the small browser that comes with it, on a display that nobody sees.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll } from "vitest";
import { testPages } from "./pages.ts";

const BROWSER = process.env.WEBKIT ?? "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";

let screen: ChildProcess;
let display: string;

beforeAll(async () => {
  screen = spawn("Xvfb", ["-displayfd", "3", "-nolisten", "tcp"], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const [number] = await once(screen.stdio[3] as Readable, "data");
  display = `:${String(number).trim()}`;
});

afterAll(() => end(screen));

async function open(url: string): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), "webkit-"));
  const browser = spawn(BROWSER, ["--private", url], {
    stdio: "ignore",
    env: { PATH: process.env.PATH, HOME: home, DISPLAY: display, XDG_RUNTIME_DIR: home, GDK_BACKEND: "x11" },
  });
  return async () => {
    await end(browser);
    await rm(home, { recursive: true, force: true });
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill();
  await exited;
}

testPages(open);
