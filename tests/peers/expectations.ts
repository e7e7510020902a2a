/** What every SDK must see of a platform, whatever its language: the scenarios record under these names. */

export type Results = Record<string, unknown>;

const refused = (name: string) => ({ raised: name });

export const expectations: Results = {
  getInfo: { sameId: true, template: "base", metadata: true, state: "running", endsLater: true },
  isRunning: true,
  connect: { sameId: true, runs: "through\n" },
  setTimeout: true,
  list: { pages: [2, 1], all: true },
  wrongKey: refused("Authentication"),
  unknownId: { getInfo: refused("SandboxNotFound"), kill: false },
  unknownTemplate: true,

  run: { exitCode: 0, stdout: "hello\n", stderr: "oops\n" },
  nonZeroExit: { exitCode: 3, stdout: "out\n", stderr: "err\n" },
  environment: "grüezi\n/tmp\nyes\n",
  identity: "user\n1000\n/home/user\n/home/user\n",
  missingCwd: refused("InvalidArgument"),
  timeout: refused("Timeout"),
  streaming: ["one\n", "two\n"],
  manyBytes: 5_000_000,
  utf8: "naïve 😀 日本",
  stdin: { exitCode: 0, stdout: "ping\npong\n", stderr: "" },
  listAndKill: { command: [["/bin/bash", "-l", "-c", "sleep 301"]], killed: true, ended: refused("CommandExit"), again: true },
  connectToProcess: ["shared\n", "shared\n"],
  connectToNothing: true,

  makeDir: [true, false],
  writeAndRead: { written: true, name: true, read: "line\nürgh 😀\n" },
  bytes: [true, ""],
  bigFile: [true, true],
  manyWrites: 40,
  writeSeveral: ["/several/one", "/several/two", "two"],
  listFiles: [
    ["a b#?%+ü😀.txt", "file"],
    ["bytes.bin", "file"],
    ["empty", "file"],
    // `type` is what a link leads to.
    ["link", "file"],
    ["several", "dir"],
  ],
  listDepth: ["/several", "/several/one", "/several/two"],
  exists: [true, false],
  info: ["bytes.bin", "file", 768, 0o640, "-rw-r-----", "user", "user", true],
  symlink: "/home/user/peer files/bytes.bin",
  rename: ["/renamed", false, true],
  remove: [false, false],
  missing: [refused("FileNotFound"), refused("FileNotFound"), refused("FileNotFound")],
  directoryAsFile: refused("InvalidArgument"),
  watch: [true, true, true],
  signedUrls: { download: [200, "signed"], forged: [true, 401], upload: [200, "uploaded"] },

  terminal: [true, true, 7],
  terminalKill: [true, true],

  pauseWithMemory: { paused: [true, false], seen: ["paused", false], listed: [true], running: true, goesOn: true },
  streamEndsAtPause: true,
  pauseWithoutMemory: [true, "kept\nstopped\n"],
  fork: [
    [true, "kept\n"],
    [true, "kept\n"],
  ],
  snapshots: { pages: [1, 1], newestFirst: true, file: "kept\n", deleted: [true, true, false] },
  metrics: { measured: true, none: 0 },
  updateNetwork: { cut: "0", restored: true, rule: true },
  autoPauseAndResume: { lifecycle: { onTimeout: "pause", autoResume: true }, paused: true, woken: "woken\n", state: "running" },

  kill: [true, false, false],
  afterKill: [true, refused("SandboxNotFound")],
};
