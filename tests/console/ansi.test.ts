import { describe, expect, test } from "vitest";
import { OutputLines } from "../../www/elements/ansi.ts";

/** The lines as text. */
function text(lines: OutputLines): string[] {
  return lines.lines.map((line) => line.map((span) => span.text).join(""));
}

function written(...pieces: string[]): OutputLines {
  const lines = new OutputLines(100);
  for (const piece of pieces) lines.write(piece);
  return lines;
}

describe("OutputLines", () => {
  test("gives the same lines wherever the text is cut", () => {
    const whole =
      "a\x1b[1;31mred\x1b[0m\r\nb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n\x1b(Bd\x1b[38;2;1;2;3me\x1b[mf";
    const expected = written(whole).lines;
    for (let at = 0; at <= whole.length; at += 1) {
      expect(text(written(whole.slice(0, at), whole.slice(at)))).toEqual(["ared", "bclink", "def"]);
    }
    expect(text(written(...whole))).toEqual(["ared", "bclink", "def"]);
    expect(expected[0]?.[1]).toMatchObject({ text: "red", style: { bold: true, color: 1 } });
    expect(expected[2]?.find((span) => span.text === "e")?.style).toEqual({ color: "rgb(1 2 3)" });
  });

  test("a carriage return starts the line anew, so that progress stays one line", () => {
    expect(text(written("10 %\r20 %\r", "30 %\nnext"))).toEqual(["30 %", "next"]);
    expect(text(written("windows\r\nlines\r\n"))).toEqual(["windows", "lines", ""]);
  });

  test("sequences that move, clear or ask show nothing", () => {
    expect(text(written("a\x1b[2J\x1b[10;5Hb\x1b[6n\x1bP1$r0m\x1b\\c\x07\x00\x9b"))).toEqual(["abc"]);
  });

  test("a sequence without an end does not swallow what follows for ever", () => {
    const lines = written("\x1b]0;", "x".repeat(5000), "\nvisible");
    expect(text(lines).at(-1)).toBe("visible");
    expect(text(written("\x1büber"))).toEqual(["über"]);
  });

  test("keeps the last lines and counts the others", () => {
    const lines = new OutputLines(10);
    for (let at = 0; at < 1000; at += 1) lines.write(`${at}\n`);
    expect(lines.lines.length).toBeLessThanOrEqual(13);
    expect(text(lines).at(-2)).toBe("999");
    expect(lines.dropped + lines.lines.length).toBe(1001);
  });

  test("a line without an end is broken up", () => {
    const lines = written("x".repeat(100_000));
    expect(lines.lines.length).toBeGreaterThan(10);
    expect(text(lines).join("")).toBe("x".repeat(100_000));
  });

  test("keeps stdout and stderr apart, each with its own colours", () => {
    const lines = new OutputLines(10);
    lines.write("\x1b[32mout", "stdout");
    lines.write("err", "stderr");
    lines.write("out", "stdout");
    expect(lines.lines[0]).toMatchObject([
      { text: "out", channel: "stdout", style: { color: 2 } },
      { text: "err", channel: "stderr", style: {} },
      { text: "out", channel: "stdout", style: { color: 2 } },
    ]);
  });
});
