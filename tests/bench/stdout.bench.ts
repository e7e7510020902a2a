/** How fast 134 MB of a command's output reach a program, and what they leave in its memory. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBundle } from "../support/bundle.ts";
import { envelope, message } from "../support/connect.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import type { Settings } from "./readers/settings.d.mts";
import { printTable, series, spread } from "./report.ts";
import { sandboxFor } from "./sandbox.ts";

const BYTES = 128 << 20;
const RUNS = 5;
const FILE = "/tmp/output";
/** `cat` reads and envd sends 32 KiB at a time. */
const COMMAND = `cat ${FILE}`;

const READERS = ["agent-sandbox-web", "e2b"] as const;
type ReaderName = (typeof READERS)[number];

interface Measurement {
  readonly characters: number;
  readonly seconds: number;
  readonly growth: number;
}

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

async function inNode(reader: ReaderName, runs: number, memory = false): Promise<Measurement[]> {
  const program = new URL("readers/node.mjs", import.meta.url).pathname;
  const args = ["--expose-gc", program, reader, COMMAND, String(runs), String(memory), JSON.stringify(settings)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 });
  return JSON.parse(stdout) as Measurement[];
}

/** Prints both readers' rates and gives how many times ours is the other's, from the medians. */
function compare(where: string, rates: Record<ReaderName, number[]>, bound: number): number {
  const ratio = series(rates["agent-sandbox-web"]).median / series(rates.e2b).median;
  printTable(
    `${where}: ${(BYTES / 1e6).toFixed(0)} MB of stdout in 32 KiB frames, ${RUNS} runs`,
    ["reader", "MB/s, median (spread)"],
    [...READERS.map((reader) => [reader, spread(rates[reader])]), ["ratio", `${ratio.toFixed(1)} (at least ${bound})`]],
  );
  return ratio;
}

test("through the gateway, stdout reaches at least half the rate of a plain answer", async () => {
  const plain: Raw = { method: "GET", path: `/files?path=${encodeURIComponent(FILE)}`, headers: { "accept-encoding": "identity" } };
  const rates = { stdout: [] as number[], plain: [] as number[] };
  for (let run = 0; run < RUNS; run++) {
    for (const [name, raw] of [["stdout", start(COMMAND)] as const, ["plain", plain] as const]) {
      const { bytes, seconds } = await receive(raw);
      expect(bytes).toBeGreaterThanOrEqual(BYTES);
      rates[name].push(megabytesPerSecond(BYTES, seconds));
    }
  }
  const ratio = series(rates.stdout).median / series(rates.plain).median;
  printTable(
    `Through the gateway, raw reader in Node: ${(BYTES / 1e6).toFixed(0)} MB, ${RUNS} runs`,
    ["what", "MB/s, median (spread)", "envd 0.6.13 without a gateway, on a machine of 2 cores"],
    [
      ["stdout, connect+proto", spread(rates.stdout), "424 (raw reader, cat of a file)"],
      ["plain answer", spread(rates.plain), ""],
      ["ratio", `${ratio.toFixed(2)} (at least 0.5)`, ""],
    ],
  );
  expect(ratio).toBeGreaterThanOrEqual(0.5);
});

test("in Node, output streams at 4 times the rate of the e2b SDK", async () => {
  const rates: Record<ReaderName, number[]> = { "agent-sandbox-web": [], e2b: [] };
  for (let run = 0; run < RUNS; run++) {
    for (const reader of READERS) {
      // The first reading in a process warms it up.
      const measurement = (await inNode(reader, 2))[1];
      expect(measurement?.characters).toBe(BYTES);
      rates[reader].push(megabytesPerSecond(BYTES, measurement?.seconds ?? Number.NaN));
    }
  }
  expect(
    compare(`Node ${process.version} (envd 0.6.13 and a plain fetch with decoding: 195 MB/s)`, rates, 4),
  ).toBeGreaterThanOrEqual(4);
});

test("in Chromium, output streams at 3 times the rate of the e2b SDK", async () => {
  const chromium = await openBundle(new URL("readers/page.mjs", import.meta.url).pathname);
  try {
    const sandboxUrl = platform.info.sandboxHostUrl;
    // A preflight carries no routing headers, so the SDK gets the host of its sandbox.
    const rootUrl = sandboxUrl.replace("{sandboxId}", settings.sandboxId).replace("{port}", "49983");
    const inPage = { ...settings, sandboxUrl, rootUrl };
    const rates: Record<ReaderName, number[]> = { "agent-sandbox-web": [], e2b: [] };
    for (let run = 0; run <= RUNS; run++) {
      for (const reader of READERS) {
        const measurement = await chromium.call<Measurement>("measureIn", reader, COMMAND, inPage);
        expect(measurement.characters).toBe(BYTES);
        if (run > 0) rates[reader].push(megabytesPerSecond(BYTES, measurement.seconds));
      }
    }
    expect(chromium.problems).toEqual([]);
    expect(compare(await chromium.browser.version(), rates, 3)).toBeGreaterThanOrEqual(3);
  } finally {
    await chromium.close();
  }
});

test("output that is not kept leaves memory flat", async () => {
  const growth: number[] = [];
  for (const measurement of await inNode("agent-sandbox-web", 3, true)) growth.push(measurement.growth / (1 << 20));
  printTable(
    "Node: reachable memory beyond the start while 134 MB stream",
    ["reader", "MiB, median (spread)"],
    [["agent-sandbox-web", spread(growth, 1)]],
  );
  // Room for buffers in flight, not for a part of the output that grows with it.
  expect(Math.max(...growth)).toBeLessThan(16);
});
