/** How fast 134 MB of a command's output reach a program, and what they leave in its memory. */
import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { envelope, message } from "../support/connect.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import { compareInChromium, compareInNode, inNode } from "./compare.ts";
import type { Settings } from "./readers/settings.d.mts";
import { bounded, holdBudget, measuring, rounds, series, spread } from "./report.ts";
import { sandboxFor } from "./sandbox.ts";

const BYTES = 128 << 20;
const RUNS = 5;
const FILE = "/tmp/output";
/** `cat` reads and envd sends 32 KiB at a time. */
const COMMAND = `cat ${FILE}`;

const COMPARISON = {
  what: `${(BYTES / 1e6).toFixed(0)} MB of stdout in 32 KiB frames`,
  command: COMMAND,
  characters: BYTES,
  runs: RUNS,
};

let platform: Platform;
let settings: Settings;

beforeAll(async () => {
  platform = await startPlatform();
  settings = await sandboxFor(platform.info);
  await receive(start(`head -c ${BYTES} /dev/zero | tr '\\0' x > ${FILE}`));
});

afterAll(() => platform.stop());

const megabytesPerSecond = (bytes: number, seconds: number) => bytes / 1e6 / seconds;

/** A raw request through the gateway; what its answer holds is counted, not decoded. */
interface Raw {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: Uint8Array;
}

function start(command: string): Raw {
  const config = message([1, "/bin/bash"], [2, "-l"], [2, "-c"], [2, command]);
  const body = envelope(0, message([1, config]));
  return { method: "POST", path: "/process.Process/Start", headers: { "content-type": "application/connect+proto" }, body };
}

async function receive({ method, path, headers, body }: Raw): Promise<{ bytes: number; seconds: number }> {
  const url = settings.sandboxUrl.replace("{sandboxId}", settings.sandboxId).replace("{port}", "49983") + path;
  const started = performance.now();
  const call = request(url, { method, headers: { ...headers, "x-access-token": settings.envdAccessToken } });
  call.end(body);
  const [response] = await once(call, "response");
  let bytes = 0;
  response.on("data", (piece: Buffer) => {
    bytes += piece.length;
  });
  await once(response, "end");
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`);
  return { bytes, seconds: (performance.now() - started) / 1000 };
}

test("through the gateway, stdout reaches at least half the rate of a plain answer", () =>
  measuring("gateway: stdout against a plain answer", async () => {
    const plain: Raw = {
      method: "GET",
      path: `/files?path=${encodeURIComponent(FILE)}`,
      headers: { "accept-encoding": "identity" },
    };
    const rates = { stdout: [] as number[], plain: [] as number[] };
    for (const _ of rounds(RUNS)) {
      for (const [name, raw] of [["stdout", start(COMMAND)] as const, ["plain", plain] as const]) {
        const { bytes, seconds } = await bounded(name, receive(raw));
        expect(bytes).toBeGreaterThanOrEqual(BYTES);
        rates[name].push(megabytesPerSecond(BYTES, seconds));
      }
    }
    const ratio = series(rates.stdout).median / series(rates.plain).median;
    holdBudget(
      {
        what: "gateway: stdout against a plain answer",
        ours: `${spread(rates.stdout)} MB/s`,
        theirs: `${spread(rates.plain)} MB/s`,
        ratio: `${ratio.toFixed(2)}x the rate`,
        bound: "at least 0.5x",
      },
      ratio >= 0.5,
    );
  }));

test("in Node, output streams at 4 times the rate of the e2b SDK", () => compareInNode({ ...COMPARISON, bound: 4 }, settings));

test("in Chromium, output streams at 3 times the rate of the e2b SDK", () => {
  const sandboxUrl = platform.info.sandboxHostUrl;
  // A preflight carries no routing headers, so the SDK gets the host of its sandbox.
  const rootUrl = sandboxUrl.replace("{sandboxId}", settings.sandboxId).replace("{port}", "49983");
  return compareInChromium({ ...COMPARISON, bound: 3 }, { ...settings, sandboxUrl, rootUrl });
});

/** Readers in Node, and how much reachable memory may grow while they read or send, in MiB: room for what is in flight, not for what has passed. */
const FLAT = [
  { what: "134 MB of stdout are not kept", reader: "agent-sandbox-web", command: COMMAND, room: 16 },
  { what: "134 MB are read as a stream", reader: "download", command: FILE, room: 16 },
  { what: "134 MB are written from a stream", reader: "upload", command: "/tmp/uploaded", room: 64 },
] as const;

test.each(FLAT)("memory stays flat: $what", ({ what: passing, reader, command, room }) => {
  const what = `Node: memory while ${passing}`;
  return measuring(what, async () => {
    // The first one warms the process up, as where speed is measured: what is kept for good is not what grows with each stream.
    const [, ...measurements] = await inNode(reader, command, settings, 4, true);
    for (const { characters } of measurements) expect(characters).toBe(BYTES);
    const growth = measurements.map((measurement) => measurement.growth / (1 << 20));
    const ours = `${spread(growth, 1)} MiB`;
    holdBudget({ what, ours, bound: `below ${room} MiB` }, Math.max(...growth) < room);
  });
});
