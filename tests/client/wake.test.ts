// A computer that slept, or was away from the network: terminals and watches attach again at once, and what listens for that goes with them.
import * as sdk from "agent-sandbox-web";
import { afterEach, expect, test, vi } from "vitest";
import { text } from "./support/bytes.ts";
import { Body, type Call } from "./support/fake-fetch.ts";
import { fakeSandbox } from "./support/sandboxes.ts";
import type { Context } from "./support/suite.ts";
import { start, unary, watchStart } from "./support/wire.ts";

/** The intervals that run, and the listeners of `online`. */
const looks = new Map<unknown, () => void>();
const listeners = new Set<() => void>();
let slept = 0;

function stub(): void {
  const { setInterval, clearInterval } = globalThis;
  const { now } = Date;
  vi.stubGlobal("setInterval", (handler: () => void, ms: number) => {
    const timer = setInterval(handler, ms);
    // The other intervals watch for silence.
    if (ms === 30_000) looks.set(timer, handler);
    return timer;
  });
  vi.stubGlobal("clearInterval", (timer: NodeJS.Timeout) => {
    looks.delete(timer);
    clearInterval(timer);
  });
  vi.stubGlobal("addEventListener", (name: string, listener: () => void) => name === "online" && listeners.add(listener));
  vi.stubGlobal("removeEventListener", (_: string, listener: () => void) => listeners.delete(listener));
  vi.spyOn(Date, "now").mockImplementation(() => now() + slept);
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Lets time pass until the next look at the clock. */
function pass(ms: number): void {
  slept += ms;
  for (const look of looks.values()) look();
}

const ofWatch = ({ path }: Call) => path.endsWith("/WatchDir");
const ofConnect = ({ path }: Call) => path.endsWith("/Connect");

test("terminals and watches attach again on waking and on the network's return, and leave no timer and no listener", async () => {
  stub();
  const { sandbox, calls } = await fakeSandbox({ sdk } as Context, (call) => {
    if (ofWatch(call)) return new Body([watchStart()], "stay");
    return /\/(Start|Connect)$/.test(call.path) ? new Body([start(11)], "stay") : unary();
  });
  const session = await sandbox.getTerminal();
  const events = await sandbox.files.watch("/d");
  const watching = events[Symbol.asyncIterator]();
  expect([looks.size, listeners.size]).toEqual([1, 1]);
  const wakings = [() => pass(200_000), () => listeners.forEach((listener) => void listener())];
  for (const [at, wakeUp] of wakings.entries()) {
    const next = watching.next();
    // A look that is not late wakes nobody.
    pass(31_000);
    wakeUp();
    expect(text((await session.receive(60_000)) as Uint8Array)).toMatch(/connection was lost/);
    expect((await next).value?.type).toBe("gap");
    expect([calls.filter(ofConnect).length, calls.filter(ofWatch).length]).toEqual([at + 1, at + 2]);
  }
  await session.detach();
  expect([looks.size, listeners.size]).toEqual([1, 1]);
  await events.cancel();
  expect([looks.size, listeners.size]).toEqual([0, 0]);
});
