// What broke for users of clients like this one, and the tests that would fail if it broke here.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { suites } from "./suites/index.ts";

/** Each case with its tests: parts of the names of tests in suites/, or `FILE: name` of another file in this folder. */
const CASES: Record<string, [string, string[]][]> = {
  "streams and errors": [
    [
      "a last payload shorter than an envelope's header; one byte at a time; a cut at any byte",
      [
        "a last payload shorter than an envelope's header is not lost",
        "a stream that comes one byte at a time is whole",
        "a stream cut in two at any byte gives the same result",
      ],
    ],
    [
      "no end-of-stream message, an empty 200, an end inside a header or a payload: connection lost",
      ["is a lost connection", "a web page with status 200 is no stream", "a body that ends before the confirmation is no watch"],
    ],
    [
      "a declared length of 0xFFFFFFFF; cancelling cancels the source once",
      ["a declared length of 0xFFFFFFFF is refused", "cancels the source exactly once", "cancelling it cancels the source once"],
    ],
    [
      "an end without exitCode is 0; unknown fields",
      ["an end without an exit code means 0", "fields unknown to this version are ignored"],
    ],
    [
      "killing a sandbox while a command streams",
      ["[platform] killing the sandbox while a command streams is one typed error", "however it shows"],
    ],
    ["runtimes word a dropped connection differently", ["in the same class whatever its words"]],
    [
      "429 and resource_exhausted on every path; a 502 page",
      [": 429 is a rate limit", "resource_exhausted is a rate limit", "resource_exhausted in a trailer", "without the page"],
    ],
    [
      "no callback after disconnect, from inside one too; the exit code survives",
      ["no callback is called after disconnect", "the exit code survives a disconnect"],
    ],
    [
      "dropping a promise or leaving a loop closes the request; Safari's web streams are no async iterables",
      [
        "a loop that is left early closes the request on the server",
        "[platform] leaving a stream early and aborting end the process",
        "web streams are no async iterables",
      ],
    ],
    [
      "three timeouts, each with its message; Start is never retried",
      ["three limits expire alone", "starting a command is not retried"],
    ],
    [
      "an abort before headers, mid body and after the end",
      [
        "an abort before the headers",
        "an abort in the middle of the body",
        "after the end an abort does nothing and no listener is left",
      ],
    ],
    [
      "silence on envd streams is a dead connection, on /execute it is not",
      ["a stream that is silent for more than twice", "keepalives keep a silent stream alive", "a queued cell gets no keepalives"],
    ],
    [
      "a file rewritten within the page is read fresh",
      ["a file is read fresh though the server lets it be cached", "that was rewritten is read fresh"],
    ],
    [
      "a platform behind a path; every request carries what routing needs",
      ["on a path platform", "without placeholders in its URL every request carries what routing needs"],
    ],
    [
      "errors from a gateway have no CORS headers",
      ["a gateway's error without CORS headers", "the control plane tells why a gateway's answer could not be read"],
    ],
    [
      "each extra header can break a server's CORS list",
      ["each request has only the headers it needs", "no header that costs a preflight"],
    ],
    ["workerd rejects mode, credentials, cache", ["edge.test.ts: an edge worker's fetch gets no field that it rejects"]],
  ],
  terminal: [
    [
      "UTF-8 cut across frames, on both streams; a cut character at the very end",
      ["UTF-8 cut across frames is whole", "a character that is cut by the end gives one U+FFFD", "also when a character is cut"],
    ],
    ["200 keys and Ctrl-C under random latency", ["200 keys and Ctrl-C under random latency arrive in order"]],
    [
      "`yes` for a while: memory stays bounded, Ctrl-C works",
      ["`yes` does not fill memory", "a session that nobody reads stops the reading"],
    ],
    [
      "pausing is shown as that, with a way to resume, and no storm of reconnects",
      ["a paused sandbox is told as that", "is tried with growing pauses"],
    ],
    [
      "TERM, LANG, LC_ALL; input without stdin, closeStdin on a PTY",
      ["a terminal has a UTF-8 environment", "input to a process without stdin, and the end of a terminal's"],
    ],
  ],
  files: [
    [
      "names of every kind in every operation",
      [
        "every operation keeps every name",
        "composed and decomposed names are two files",
        "several files are written in one call, each under its name",
        "half a surrogate pair in a path is refused by every operation",
        "saved to the browser's downloads under its own name",
      ],
    ],
    [
      "signatures contain + and /; streams of unknown length; progress rises and abort rejects",
      [
        "signatures with + and / open their files",
        "an upload tells how far it is, whatever it comes from",
        "without XMLHttpRequest a large file goes in parts",
        "aborting an upload rejects with the reason",
        "aborting an upload or a download under way",
      ],
    ],
    [
      "an empty file reads as the empty value; a large download keeps memory flat (and see tests/soak)",
      ["an empty file reads as the empty value of each format", "a file of 20 MB comes back whole as a stream"],
    ],
    [
      "stop() inside a watch callback, twice, or after the sandbox died",
      ["stopping inside the loop, twice, is one end without an error", "stopping after the sandbox died is no error"],
    ],
  ],
};

const names = suites.flatMap(({ tests }) => tests.map(({ name }) => name));

describe.each(Object.entries(CASES))("%s", (_, cases) => {
  test.each(cases)("%s", (_, wanted) => {
    expect(wanted).not.toEqual([]);
    for (const part of wanted) {
      const [, file, name] = /^(\S+\.test\.ts): (.*)$/.exec(part) ?? [];
      const found = file
        ? readFileSync(new URL(file, import.meta.url), "utf8").includes(`test("${name}"`)
        : names.some((one) => one.includes(part));
      expect(found, part).toBe(true);
    }
  });
});
