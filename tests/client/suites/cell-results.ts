// What becomes of a code cell: its forms, charts, text, output and traceback.
import { assert } from "chai";
import { concat, utf8 } from "../support/bytes.ts";
import { Body } from "../support/fake-fetch.ts";
import { END, executing, line, PIXEL, PIXEL_BYTES, RULE, result, run, stderr, stdout } from "../support/interpreter.ts";
import { fakeSandbox } from "../support/sandboxes.ts";
import { suite } from "../support/suite.ts";

export const cellResults = suite("results of code cells", (test) => {
  test("a result keeps every form", async (context) => {
    const forms = {
      text: "t",
      html: "<b>",
      markdown: "*m*",
      svg: "<svg/>",
      png: `${PIXEL.slice(0, 4)}\n${PIXEL.slice(4)}`,
      jpeg: PIXEL,
      pdf: PIXEL,
      latex: "$x$",
      json: 0,
      javascript: "alert(1)",
      data: { a: [1, null] },
    };
    const extra = { "image/gif": PIXEL, "application/vnd.x+json": { a: 1 }, "text/x": "no base64!" };
    const chunks = [
      result({ ...forms, chart: null, extra, hologram: "h", is_main_result: true }),
      result({ png: PIXEL }),
      result({ chart: { type: "pie", title: null, elements: [{ label: "a", angle: 90, radius: 1 }] } }),
      result({ extra: { "model/unheard-of": [1] } }),
      result({ chart: {} }),
      END,
    ];
    const seen: string[][] = [];
    const { results, text: main } = await run(context, [concat(...chunks)], { onResult: (one) => void seen.push(one.formats()) });
    const [all, picture, chart, unheard, blank] = results;
    assert.equal(main, "t");
    assert.deepEqual(JSON.parse(JSON.stringify(all)), { ...forms, extra: { hologram: "h", ...extra }, isMainResult: true });
    assert.deepEqual(all?.formats(), [...Object.keys(forms), "hologram", ...Object.keys(extra)]);
    assert.deepEqual(
      seen,
      results.map((one) => one.formats()),
    );
    for (const format of ["png", "jpeg", "pdf", "image/gif"])
      assert.deepEqual([...(all?.bytes(format) ?? [])], PIXEL_BYTES, format);
    for (const format of ["video/mp4", "constructor", "extra", "isMainResult"]) assert.isUndefined(all?.bytes(format), format);
    for (const format of ["text/x", "data"]) {
      assert.throws(() => all?.bytes(format), context.sdk.InvalidArgumentError as never, format);
    }
    assert.deepEqual(JSON.parse(JSON.stringify(picture)), { png: PIXEL, extra: {}, isMainResult: false });
    assert.isUndefined(picture?.bytes("jpeg"));
    assert.deepEqual(chart?.chart, { type: "pie", elements: [{ label: "a", angle: 90, radius: 1 }] });
    assert.deepEqual(unheard?.formats(), ["model/unheard-of"]);
    assert.deepEqual(blank?.chart, { type: "unknown", elements: [] });
  });

  test("charts come under the names of this package, nested ones too", async (context) => {
    const line = { type: "line", x_label: "t (s)", x_unit: "s", y_label: null, x_ticks: [0, 1], x_tick_labels: ["0", "1"] };
    const box = { label: "a", min: 1, first_quartile: 2, median: 3, third_quartile: 4, max: 5, outliers: [9] };
    const chart = {
      type: "superchart",
      elements: [
        { ...line, elements: [{ label: "Line 0", points: [[0, null]] }] },
        { type: "box_and_whisker", elements: [box] },
      ],
    };
    const { results } = await run(context, [concat(result({ chart }), END)]);
    const points = { label: "Line 0", points: [[0, null]] };
    const { first_quartile: firstQuartile, third_quartile: thirdQuartile, ...rest } = box;
    assert.deepEqual(results[0]?.chart as unknown, {
      type: "superchart",
      elements: [
        { type: "line", xLabel: "t (s)", xUnit: "s", xTicks: [0, 1], xTickLabels: ["0", "1"], elements: [points] },
        { type: "box_and_whisker", elements: [{ ...rest, firstQuartile, thirdQuartile }] },
      ],
    });
  });

  test("the text is the main result's, else the output without white space at its end", async (context) => {
    const printed = stdout("a \n\n");
    assert.equal((await run(context, [printed, result({ text: "shown" }), END])).text, "a");
    assert.equal((await run(context, [printed, result({ text: "", is_main_result: true }), END])).text, "");
    assert.equal((await run(context, [printed, result({ html: "h", is_main_result: true }), END])).text, "a");
  });

  test("output that is not captured reaches callbacks alone", async (context) => {
    const seen: string[] = [];
    const whole = await run(context, [concat(stdout("a"), result({ text: "r" }), END)], {
      capture: false,
      onStdout: (piece) => void seen.push(piece),
    });
    assert.deepEqual(seen, ["a"]);
    assert.deepInclude(whole, { text: "", stdout: "", truncated: false });
    assert.deepEqual(whole.logs, { stdout: [], stderr: [] });
    assert.equal(whole.results.length, 1);
  });

  test.inNode("64 MiB of each output are kept, and not a character more", async (context) => {
    const piece = "x".repeat(24 * 1024 * 1024);
    const printed = stdout(piece);
    let heard = 0;
    const whole = await run(context, [printed, printed, printed, stderr("e"), END], {
      onStdout: ({ length }) => {
        heard += length;
      },
    });
    assert.equal(whole.stdout.length, 64 * 1024 * 1024);
    assert.equal(heard, 3 * piece.length);
    assert.deepInclude(whole, { stderr: "e", truncated: true });
  });

  test.inNode("a line takes time in proportion to its length", async (context) => {
    const megabyte = utf8("y".repeat(1024 * 1024));
    // Time of this process's processors, not of the clock: what else the machine does is not counted.
    const worked = () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    const work = async (megabytes: number) => {
      const [head, tail] = [utf8('{"type":"stdout","text":"'), utf8('"}\n')];
      // In small chunks: a reader that looks at all of the line with each of them takes time in proportion to the square.
      const chunks = Array.from({ length: megabytes * 64 }, (_, at) =>
        megabyte.subarray((at % 64) * 16_384, ((at % 64) + 1) * 16_384),
      );
      const before = worked();
      const { stdout: printed } = await run(context, [head, ...chunks, tail, END], { timeoutMs: 0 });
      assert.equal(printed.length, megabytes * 1024 * 1024);
      return worked() - before;
    };
    const best = async (megabytes: number) => Math.min(await work(megabytes), await work(megabytes));
    const [short, long] = [await best(4), await best(32)];
    assert.isBelow(long / short, 20, `4 MB: ${short} ms, 32 MB: ${long} ms; the square would be 64 times`);
  });

  test("a traceback whose parts came glued together is told in lines", async (context) => {
    const heads = "ValueError                                Traceback (most recent call last)";
    const frame = "Cell In[1], line 1\n----> 1 f()\n\nValueError: bad";
    const traceback = `${RULE}${heads}${frame}`;
    const { sandbox } = await fakeSandbox(
      context,
      executing(() => new Body([line({ type: "error", name: "ValueError", value: "bad", traceback }), END])),
    );
    assert.equal((await sandbox.runCode("f()")).error?.traceback, [RULE, heads, frame].join("\n"));
  });
});
