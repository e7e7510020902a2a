// When a person is told that a sandbox is about to end: once for each deadline, and once more shortly before it.
import type { SandboxInfo } from "agent-sandbox-web";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadlines } from "../../www/app/deadlines.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A sandbox that ends at this second. */
function ends(second: number, status: SandboxInfo["status"] = "running"): SandboxInfo {
  return { sandboxId: "i1", status, endAt: new Date(second * 1000) } as SandboxInfo;
}

/** How many seconds were left in each warning while the clock went on to `until`. */
function warnings(deadlines: Deadlines, info: SandboxInfo, until: number): number[] {
  const left: number[] = [];
  for (let now = Date.now() / 1000; now <= until; now += 1) {
    vi.setSystemTime(now * 1000);
    left.push(...deadlines.check([info]).due.map((warning) => warning.left / 1000));
  }
  return left;
}

test("two minutes and half a minute before the end, and again when the end has moved", () => {
  const deadlines = new Deadlines();
  expect(warnings(deadlines, ends(300), 250)).toEqual([120]);
  expect(deadlines.check([ends(1200)])).toEqual({ due: [], over: ["i1"] });
  expect(warnings(deadlines, ends(1200), 1199)).toEqual([120, 30]);
  vi.setSystemTime(1200_000);
  expect(deadlines.check([ends(1200)])).toEqual({ due: [], over: ["i1"] });
});

test("a short life is told of at once, a paused one never", () => {
  expect(warnings(new Deadlines(), ends(60), 10)).toEqual([60]);
  expect(warnings(new Deadlines(), ends(60, "paused"), 60)).toEqual([]);
  const deadlines = new Deadlines();
  deadlines.check([ends(90)]);
  expect(deadlines.check([])).toEqual({ due: [], over: ["i1"] });
});
