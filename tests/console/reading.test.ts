// What the console reads from a sandbox before it shows it: lines of grep, charts, keys; whole or hostile.
import { describe, expect, test } from "vitest";
import { indentationOf } from "../../www/elements/editor/indentation.ts";
import { MatchLines } from "../../www/elements/files/grep.ts";
import { freeName } from "../../www/elements/files/upload.ts";
import { meansItself } from "../../www/elements/itself.ts";
import { readCharts } from "../../www/elements/notebook/charts.ts";
import { fromFile, toFile } from "../../www/elements/notebook/file.ts";
import { isNumeric } from "../../www/elements/notebook/tables.ts";
import { readableTraceback } from "../../www/elements/notebook/traceback.ts";
import { keyAction } from "../../www/elements/terminal/keys.ts";

describe("lines of grep", () => {
  const bytes = new TextEncoder().encode("/a\nb: 7:\x003:one: two\n/ü\x0012:zwölf\n");
  const whole = [
    { path: "/a\nb: 7:", line: 3, text: "one: two" },
    { path: "/ü", line: 12, text: "zwölf" },
  ];

  test("are read wherever they are cut, and names may hold newlines and colons", () => {
    for (let size = 1; size <= bytes.length; size += 1) {
      const lines = new MatchLines();
      const read = [];
      for (let at = 0; at < bytes.length; at += size) read.push(...lines.read(bytes.subarray(at, at + size)));
      expect(read).toEqual(whole);
    }
  });

  test("of any length are shortened", () => {
    const lines = new MatchLines();
    const part = new TextEncoder().encode("x".repeat(100_000));
    expect(lines.read(new TextEncoder().encode("/f\x001:"))).toEqual([]);
    for (let time = 0; time < 20; time += 1) expect(lines.read(part)).toEqual([]);
    expect(lines.read(new TextEncoder().encode("\n"))).toEqual([{ path: "/f", line: 1, text: "x".repeat(300) }]);
  });
});

describe("charts", () => {
  test("of every kind are read, several in one figure too", () => {
    const charts = readCharts({
      type: "superchart",
      elements: [
        {
          type: "line",
          title: "t",
          xScale: "datetime",
          elements: [
            {
              label: "a",
              points: [
                ["2026-01-01", 1],
                ["2026-01-02", 2],
              ],
            },
          ],
        },
        {
          type: "scatter",
          xScale: "log",
          yScale: "log",
          elements: [
            {
              label: "a",
              points: [
                [1, 10],
                [10, 1],
              ],
            },
          ],
        },
        { type: "bar", elements: [{ label: "x", group: "g", value: "3" }] },
        { type: "pie", elements: [{ label: "half", angle: 180, radius: 1 }] },
        {
          type: "box_and_whisker",
          elements: [{ label: "b", min: 1, firstQuartile: 2, median: 3, thirdQuartile: 4, max: 5, outliers: [9] }],
        },
      ],
    });
    expect(charts.map(({ kind }) => kind)).toEqual(["points", "points", "bars", "pie", "boxes"]);
    expect(charts[0]).toMatchObject({
      joined: true,
      xScale: "time",
      series: [
        {
          points: [
            [Date.UTC(2026, 0, 1), 1],
            [Date.UTC(2026, 0, 2), 2],
          ],
        },
      ],
    });
    expect(charts[1]).toMatchObject({ joined: false, xScale: "log", yScale: "log" });
  });

  test("that are none are left out, and points that are none too", () => {
    for (const none of [
      null,
      "x",
      {},
      { type: "line" },
      { type: "line", elements: [{ points: "x" }] },
      { type: "pie", elements: [{ angle: {} }] },
    ]) {
      expect(readCharts(none)).toEqual([]);
    }
    const [chart] = readCharts({
      type: "line",
      xScale: "log",
      elements: [{ label: { toString: 1 }, points: [[0, 1], [2, null], "x", [3, 4]] }],
    });
    expect(chart).toMatchObject({
      xScale: "linear",
      series: [
        {
          label: "",
          points: [
            [0, 1],
            [3, 4],
          ],
        },
      ],
    });
  });
});

test("a notebook's file comes back as it was, with what nothing here shows", () => {
  const file = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      kernelspec: { name: "mine", display_name: "Mine", language: "python" },
      language_info: { name: "python", version: "3" },
      toc: 1,
    },
    cells: [
      { cell_type: "raw", id: "r", metadata: { format: "text/x" }, source: ["raw\n", "text"] },
      {
        cell_type: "markdown",
        id: "m",
        metadata: {},
        attachments: { "a.png": { "image/png": "AA==" } },
        source: ["![a](attachment:a.png)"],
      },
      {
        cell_type: "code",
        id: "c",
        metadata: { tags: ["x"] },
        execution_count: 3,
        source: ["f()"],
        outputs: [
          { output_type: "stream", name: "stdout", text: ["one\n", "two"] },
          { output_type: "stream", name: "stderr", text: ["three\n"] },
          {
            output_type: "display_data",
            data: { "image/png": "AA==", "application/vnd.e2b.chart+json": { type: "line", elements: [] } },
            metadata: { "image/png": { width: 2 } },
          },
          { output_type: "execute_result", data: { "text/plain": "4" }, metadata: {}, execution_count: 3 },
          { output_type: "error", ename: "E", evalue: "v", traceback: ["a", "b"] },
        ],
      },
    ],
  };
  const content = fromFile(JSON.stringify(file));
  const written = JSON.parse(toFile(content));
  expect(written.cells[2].outputs[2].data["e2b/chart"]).toBeUndefined();
  const whole = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, value) => (key === "text/plain" && Array.isArray(value) ? value.join("") : value));
  expect(whole(written)).toEqual(file);
  // The same id twice, which another program may have written, is mended.
  const twice = fromFile(JSON.stringify({ ...file, cells: [file.cells[0], file.cells[0]] }));
  expect(JSON.parse(toFile(twice)).cells.map(({ id }: { id: string }) => id)).toEqual(["r", "r-1"]);
});

test("keys: what is selected is copied, else the program is interrupted; pasting is the browser's", () => {
  const key = (code: string, ...held: ("ctrlKey" | "shiftKey" | "metaKey")[]) =>
    ({
      code,
      ctrlKey: false,
      shiftKey: false,
      altKey: false,
      metaKey: false,
      ...Object.fromEntries(held.map((name) => [name, true])),
    }) as KeyboardEvent;
  expect(keyAction(key("KeyC", "ctrlKey"), false, "Linux")).toBe("type");
  expect(keyAction(key("KeyC", "ctrlKey"), true, "Linux")).toBe("copy");
  expect(keyAction(key("KeyC", "ctrlKey"), true, "MacIntel")).toBe("type");
  expect(keyAction(key("KeyV", "ctrlKey"), false, "Linux")).toBe("type");
  expect(keyAction(key("KeyV", "ctrlKey", "shiftKey"), false, "Linux")).toBe("browser");
  expect(keyAction(key("KeyV", "ctrlKey"), false, "Win32")).toBe("browser");
  expect(keyAction(key("F6"), false, "Linux")).toBe("leave");
});

test("the rule above a traceback is one line, whether its end is there or was lost", () => {
  const rule = "-".repeat(75);
  const first = (traceback: string) => {
    const lines = readableTraceback({ name: "E", value: "v", traceback }).split("\n");
    return lines.map((line) => line.replaceAll("\x1b", "").replaceAll(/\[[\d;]*m/g, "")).slice(0, 2);
  };
  expect(first(`${rule}\nE  Traceback`)).toEqual([rule, "E  Traceback"]);
  expect(first(`${rule}E  Traceback`)).toEqual([rule, "E  Traceback"]);
});

test("addresses of the machine itself are told from others", () => {
  const mine = ["localhost:1", "127.0.0.1:8000", "127.1.2.3", "0.0.0.0:8000", "0:8000", "[::]:8000", "[::1]", "LOCALHOST"];
  const others = ["localhost.example.org", "127.0.0.1.example.org", "10.0.0.1", "[::2]", "8000-id.localhost:7300"];
  expect([...mine, ...others].filter((host) => meansItself(new URL(`http://${host}/`)))).toEqual(mine);
});

test("indentation is that of the file; columns of numbers are told from columns of words", () => {
  expect(indentationOf("def f():\n    if x:\n        y\n  # odd\n")).toBe("    ");
  expect(indentationOf("a:\n  b:\n    c\n")).toBe("  ");
  expect(indentationOf("a {\n\tb\n\t\tc\n}")).toBe("\t");
  expect(indentationOf("a\n * b\n\n")).toBeUndefined();
  expect(isNumeric([1, "2.5", "", null, "-1e3", "nan"])).toBe(false);
  expect(isNumeric([1, "2.5", "", null, "-1e3"])).toBe(true);
});

test("a name beside those that are taken", () => {
  expect(freeName("a.tar.gz", new Set(["a.tar.gz"]))).toBe("a.tar (1).gz");
  expect(freeName(".env", new Set([".env", ".env (1)"]))).toBe(".env (2)");
});
