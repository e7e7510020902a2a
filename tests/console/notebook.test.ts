// A person writes code cells: a figure, a table, a formula, a progress bar, a traceback; stops, restarts, reloads.
import { Sandbox } from "agent-sandbox-web";
import { describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { cell } from "./notebook-page.ts";
import { useNotebook } from "./use-console.ts";

const used = useNotebook();

describe("the notebook", { timeout: 240_000 }, () => {
  test("a value is shown with its number, and Shift-Enter goes on to a new cell that knows it", async () => {
    const { page, notebook } = used;
    await notebook.write(1, "a = 6 * 7\na");
    await notebook.press("Shift", "Enter");
    await notebook.ended(1);
    expect(await notebook.number(1)).toBe("[1]");
    await page.find(`${cell(1)} >>> sandbox-result >>> pre`, "42");
    await page.find(`${cell(2)} >>> .cm-focused`);
    await notebook.run(2, "print(a + 1)");
    await notebook.outputHas(2, "43");
    expect(await notebook.number(2)).toBe("[2]");
    // Brackets that belong together are marked where one writes, and nowhere else.
    const marked = () =>
      page.page.evaluate(
        (path) => window.deepQuery(path, "").filter((bracket) => getComputedStyle(bracket).outlineStyle !== "none").length,
        `${cell(2)} >>> .cm-matchingBracket`,
      );
    await expect.poll(marked).toBe(2);
    await page.click(`${cell(1)} >>> .cm-content`);
    await expect.poll(marked).toBe(0);
    await page.click(`${cell(2)} >>> .cm-content`);
    await notebook.press("Control", "a");
    await page.page.keyboard.type("if a:\nb");
    await expect.poll(() => page.text(`${cell(2)} >>> .cm-line:nth-child(2)`)).toBe("    b");
  });

  test("a figure is an image, with its data behind it", async () => {
    const { page, notebook } = used;
    await notebook.run(
      2,
      "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9], label='squares')\nplt.title('A figure')\nplt.show()",
    );
    const image = await page.find(`${cell(2)} >>> sandbox-result >>> img`);
    await page.until(`window.deepQuery('${cell(2)} >>> sandbox-result >>> img', "")[0].naturalWidth > 300`);
    expect(await image.evaluate((image) => (image as HTMLImageElement).src.slice(0, 22))).toBe("data:image/png;base64,");
    await screenshot(page.page, "notebook-figure");
    await page.click(`${cell(2)} >>> sandbox-result >>> button`, "Explore the chart");
    const chart = await page.find(`${cell(2)} >>> sandbox-chart >>> svg`);
    await chart.evaluate((chart) => chart.scrollIntoView({ block: "center" }));
    const box = await chart.boundingBox();
    const point = await page.page.evaluate(
      (path) => window.deepQuery(path, "")[0]?.getBoundingClientRect().toJSON() as DOMRect,
      `${cell(2)} >>> sandbox-chart >>> circle:nth-of-type(2)`,
    );
    expect(box?.width).toBeGreaterThan(300);
    await page.page.mouse.move(point.x + 2, point.y + 2);
    await page.find(`${cell(2)} >>> sandbox-chart >>> .said`, "squares: 1, 4");
    await screenshot(page.page, "notebook-chart");
    await (await page.find(`${cell(2)} >>> sandbox-result >>> select`)).select("2");
    await page.find(`${cell(2)} >>> sandbox-table >>> caption`, "A figure");
    await page.find(`${cell(2)} >>> sandbox-table >>> tr`, "squares29");
  });

  test("a data frame is a table with its index, sorted by a click", async () => {
    const { page, notebook } = used;
    await notebook.run(2, "import pandas as pd\npd.DataFrame({'n': [10, 9, 100], 'w': ['x', None, 'z']}, index=['b', 'c', 'a'])");
    const rows = () =>
      page.page.evaluate(
        (path) => window.deepQuery(path, "").map((row) => row.textContent),
        `${cell(2)} >>> sandbox-table >>> tbody tr`,
      );
    await page.find(`${cell(2)} >>> sandbox-table >>> tbody tr`);
    expect(await rows()).toEqual(["b10x", "c9—", "a100z"]);
    const aligned = await page.page.evaluate(
      (path) => window.deepQuery(path, "").map((element) => getComputedStyle(element).textAlign),
      `${cell(2)} >>> sandbox-table >>> tr:first-child :is(button, th[scope=row], td)`,
    );
    expect(aligned).toEqual(["start", "end", "start", "start", "end", "start"]);
    await page.click(`${cell(2)} >>> sandbox-table >>> thead button`, "n");
    expect(await rows()).toEqual(["c9—", "b10x", "a100z"]);
    await notebook.run(2, "pd.DataFrame({'n': range(200)})");
    await page.click(`${cell(2)} >>> sandbox-table >>> button`, "more of 200 rows");
    await page.find(`${cell(2)} >>> sandbox-table >>> tbody tr:nth-child(200)`, "199");
  });

  test("a formula is drawn", async () => {
    const { page, notebook } = used;
    await notebook.run(2, "from sympy import Integral, Symbol, sqrt\nx = Symbol('x')\nIntegral(sqrt(1 / x), x)");
    await page.find(`${cell(2)} >>> sandbox-result >>> .katex-html`);
    await page.until(
      `document.fonts.check("16px KaTeX_Main") && [...document.fonts].some((font) => font.family === "KaTeX_Math" && font.status === "loaded")`,
    );
    await screenshot(page.page, "notebook-formula");
  });

  test("a progress bar stays one line, live", async () => {
    const { page, notebook } = used;
    await notebook.start(
      2,
      "from tqdm import tqdm\nimport time\nfor i in tqdm(range(30)):\n    time.sleep(0.2)\nprint('\\033[32mdone\\033[0m')",
    );
    // Both at one moment: it does not run for long.
    await page.until(
      `window.deepQuery('${cell(2)} >>> .count', "[*]").length > 0 && window.deepQuery('${cell(2)} >>> sandbox-output >>> .line', "/30").length > 0`,
    );
    await notebook.ended(2);
    const lines = (await notebook.lines(2)).filter((line) => line !== "");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain("30/30");
    const done = await page.find(`${cell(2)} >>> sandbox-output >>> span`, "done");
    expect(await done.evaluate((span) => span.style.color)).toBe("var(--sb-ansi-2)");
  });

  test("an error shows its traceback in colour and stops what waits behind it", async () => {
    const { page, notebook } = used;
    await notebook.write(2, "def f():\n    return 1 / 0\nf()");
    await page.click("sandbox-notebook >>> .add button", "Code");
    await notebook.write(3, "print('never')");
    await page.click('sandbox-notebook >>> button[aria-label="Run all cells"]');
    await notebook.ended(2);
    await notebook.outputHas(2, "ZeroDivisionError: division by zero");
    await notebook.outputHas(2, "return 1 / 0");
    await page.find(`${cell(2)} >>> .state`, "failed");
    const colours = await page.page.evaluate(
      (path) => window.deepQuery(path, "").filter((span) => span.style.color !== "").length,
      `${cell(2)} >>> sandbox-output >>> span`,
    );
    expect(colours).toBeGreaterThan(0);
    await page.until(`window.deepQuery('${cell(3)}', "")[0].cell.state === "idle"`);
    expect(await notebook.lines(3)).toEqual([]);
    await screenshot(page.page, "notebook-traceback");
  });

  test("a cell that does not end is stopped, and the variables stay", async () => {
    const { page, notebook } = used;
    await notebook.start(3, "import time\nb = 5\nprint('begun', flush=True)\ntime.sleep(1000)");
    await notebook.outputHas(3, "begun");
    await page.click('sandbox-notebook >>> button[aria-label="Stop"]');
    await notebook.ended(3);
    await page.find(`${cell(3)} >>> .state`, "stopped");
    await notebook.run(3, "print(a, b)");
    await notebook.outputHas(3, "42 5");
  });

  test("a restart takes the variables, also out of a cell that hangs", async () => {
    const { page, notebook } = used;
    await notebook.start(3, "import time\nprint('hangs', flush=True)\ntime.sleep(1000)");
    await notebook.outputHas(3, "hangs");
    await page.click('sandbox-notebook >>> button[aria-label="Restart kernel"]');
    await notebook.ended(3);
    await page.find("sandbox-notebook >>> .state", "variables are gone");
    await notebook.run(3, "print('a' in globals())");
    await notebook.outputHas(3, "False");
    expect(await notebook.number(3)).toBe("[1]");
  });

  test("a figure with a table beside it is shown whole at once", async () => {
    const { page, notebook } = used;
    await notebook.run(
      3,
      "import matplotlib.pyplot as plt, pandas as pd\nplt.plot([1, 2])\nprint('drawn')\npd.DataFrame({'n': range(5)})",
    );
    await page.find(`${cell(3)} >>> sandbox-table`);
    await page.until(
      `window.deepQuery('${cell(3)} >>> img', "")[0]?.complete && window.deepQuery('${cell(3)} >>> img', "")[0].clientHeight > 400`,
    );
    // The height is measured in the frame after that of the picture.
    await page.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await page.count(`${cell(3)} >>> button`, "Show all")).toBe(0);
    const hidden = await (await page.find(`${cell(3)} >>> .scroll`)).evaluate(
      (scroll) => scroll.scrollHeight - scroll.clientHeight,
    );
    expect(hidden).toBe(0);
  });

  test("long output is cut to a part of the page, and shown whole when asked", async () => {
    const { page, notebook } = used;
    await notebook.run(3, "for i in range(300): print('line', i)");
    const height = async () => (await page.find(`${cell(3)} >>> .scroll`)).evaluate((element) => element.clientHeight);
    await page.find(`${cell(3)} >>> button`, "Show all");
    expect(await height()).toBeLessThan(560);
    await page.click(`${cell(3)} >>> button`, "Show all");
    await page.find(`${cell(3)} >>> button`, "Show less");
    expect(await height()).toBeGreaterThan(3000);
  });

  test("HTML and plotly run in a frame of another origin that has no way to the page", async () => {
    const { page, notebook, shared } = used;
    await notebook.run(3, "import plotly.graph_objects as go\ngo.Figure(go.Bar(y=[2, 1, 3])).show()");
    const plotly = await notebook.frame(3, ".js-plotly-plot .bars .point");
    expect(new URL(plotly.url()).host).toBe(`results.localhost:${new URL(shared.url).port}`);
    await page.until(`window.deepQuery('${cell(3)} >>> iframe', "")[0].clientHeight > 300`);
    await screenshot(page.page, "notebook-plotly");
    await notebook.run(
      3,
      'from IPython.display import HTML\nHTML(\'<p id="p">HTML</p><script>p.textContent = [origin, (() => { try { return parent.document.title } catch { return "no way" } })()].join(" ")</script>\')',
    );
    const frame = await notebook.frame(3, "p");
    expect(await frame.$eval("p", (paragraph) => paragraph.textContent)).toBe("null no way");
  });

  test("cells are moved, deleted and rendered from Markdown", async () => {
    const { page, notebook } = used;
    await page.click("sandbox-notebook >>> .add button", "Markdown");
    await notebook.write(4, "# Title\n\nText with *emphasis*, `code` and $x^2$.\n\n| a | b |\n|---|---|\n| 1 | 2 |");
    await notebook.press("Control", "Enter");
    await page.find(`${cell(4)} >>> sandbox-result >>> h3`, "Title");
    await page.find(`${cell(4)} >>> sandbox-result >>> .katex-html`);
    await page.find(`${cell(4)} >>> sandbox-result >>> td`, "2");
    await page.click(`${cell(4)} >>> button[aria-label="Move cell 4 up"]`);
    await page.find(`${cell(3)} >>> sandbox-result >>> h3`, "Title");
    await page.click(`${cell(2)} >>> button[aria-label="Delete cell 2"]`);
    await page.answer("Delete");
    await page.gone(cell(4));
    expect(await notebook.count()).toBe(3);
  });

  test("a reload keeps cells, results and variables", async () => {
    const { page, notebook } = used;
    await notebook.run(3, "kept = 'still here'\nprint('before the reload')");
    await page.until(`Object.values(sessionStorage).some((value) => value.includes("before the reload"))`);
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("sandbox-console");
    await notebook.show();
    expect(await notebook.count()).toBe(3);
    await page.find(`${cell(2)} >>> sandbox-result >>> h3`, "Title");
    await notebook.outputHas(3, "before the reload");
    await notebook.run(3, "print(kept)");
    await notebook.outputHas(3, "still here");
  });

  test("a reload while a cell runs says that it was interrupted, and keeps what it has printed", async () => {
    const { page, notebook } = used;
    await notebook.start(3, "import time\nprint('half', 'way', flush=True)\nwhile True: time.sleep(0.05)");
    await notebook.outputHas(3, "half way");
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.find("sandbox-console");
    await notebook.show();
    await page.find(`${cell(3)} >>> .state`, "interrupted by the reload");
    await notebook.outputHas(3, "half way");
    await notebook.run(3, "print(kept)");
    await notebook.outputHas(3, "still here");
    await page.gone(`${cell(3)} >>> .state`, "interrupted");
  });

  test("bash and JavaScript have contexts of their own", async () => {
    const { page, notebook } = used;
    const language = await page.find('sandbox-notebook >>> select[aria-label="Language of the code"]');
    await language.select("bash");
    await notebook.run(3, "here=bash; echo $here $((40+2))");
    await notebook.outputHas(3, "bash 42");
    await language.select("python");
    await notebook.run(3, "print(kept)");
    await notebook.outputHas(3, "still here");
  });

  test("two contexts run at once, each with its own stop", async () => {
    const { page, notebook } = used;
    await notebook.start(3, "import time\nprint('python waits', flush=True)\nwhile True: time.sleep(0.05)");
    await notebook.outputHas(3, "python waits");
    const language = await page.find('sandbox-notebook >>> select[aria-label="Language of the code"]');
    await language.select("bash");
    await page.click("sandbox-notebook >>> .add button", "Code");
    await notebook.run(4, "echo beside $((40+3))");
    await notebook.outputHas(4, "beside 43");
    expect(await notebook.number(3)).toBe("[*]");
    await page.click(`${cell(3)} >>> button[aria-label="Stop cell 3"]`);
    await notebook.ended(3);
    await language.select("python");
  });

  test("a kernel that dies is told, and the next cell has a new one", async () => {
    const { notebook } = used;
    await notebook.run(3, "import os\nos._exit(3)");
    await notebook.outputHas(3, "kernel died");
    await notebook.run(3, "print('alive', 'kept' in globals())");
    await notebook.outputHas(3, "alive False");
  });

  test("much output, long values and long tables leave the page usable and begin at their beginning", async () => {
    const { page, notebook } = used;
    await notebook.run(3, "for i in range(40_000): print('x' * 50, i)");
    await notebook.outputHas(3, "39999");
    await page.find(`${cell(3)} >>> sandbox-output >>> .dropped`, "earlier lines");
    await notebook.run(3, "'z' * 60_000");
    await page.click(`${cell(3)} >>> sandbox-result >>> button`, "Show all 60,000 characters");
    await page.until(`window.deepQuery('${cell(3)} >>> sandbox-result >>> pre', "")[0].textContent.length === 60_000`);
    await notebook.run(3, "'z' * 3_000_000");
    await page.find(`${cell(3)} >>> sandbox-result >>> button`, "Download all 3,000,000 characters");
    await notebook.run(3, "import pandas as pd\npd.DataFrame({'n': range(50_000), 's': [f'row {i}' for i in range(50_000)]})");
    await page.find(`${cell(3)} >>> sandbox-table >>> button`, "of 50,000 rows");
    expect(await (await page.find(`${cell(3)} >>> .scroll`)).evaluate((scroll) => scroll.scrollTop)).toBe(0);
    await screenshot(page.page, "notebook-long-table");
    await page.click(`${cell(3)} >>> sandbox-table >>> thead button`, "n");
    await page.click(`${cell(3)} >>> sandbox-table >>> thead button`, "n");
    await page.find(`${cell(3)} >>> sandbox-table >>> tbody tr:first-child`, "49999");
  });

  test("its file is one that Jupyter takes", async () => {
    const { page, notebook } = used;
    await notebook.run(3, "import matplotlib.pyplot as plt, pandas as pd\nplt.plot([1, 2])\nplt.show()\npd.DataFrame({'n': [1]})");
    await page.until(`Object.values(sessionStorage).some((value) => value.includes("vnd.e2b.chart+json"))`);
    const file = await page.page.evaluate(
      () =>
        JSON.parse(Object.values(sessionStorage).find((value) => value.includes("vnd.e2b.chart+json")) ?? "{}").notebook as string,
    );
    await notebook.run(
      4,
      `import nbformat, base64\nnbformat.validate(nbformat.reads(base64.b64decode("${Buffer.from(file).toString("base64")}").decode(), as_version=nbformat.NO_CONVERT))\nprint("sound")`,
    );
    await notebook.outputHas(4, "sound");
  });

  test("it is saved into the sandbox, and opened from its files", async () => {
    const { page, notebook } = used;
    await page.click('sandbox-notebook >>> button[aria-label="Save in the sandbox"]');
    await page.answer("Save", "saved.ipynb");
    await page.find("sandbox-notebook >>> .file", "saved.ipynb");
    const count = await notebook.count();
    await page.click("sandbox-notebook >>> .add button", "Code");
    await page.find(cell(count + 1));
    await page.click('button[aria-label="Show the files above"]');
    await page.click("sandbox-tree >>> .row", "saved.ipynb");
    await page.answer("Replace");
    await page.gone(cell(count + 1));
    // The cell has the number of its last run, in the file, already.
    await notebook.start(3, "print(6 * 7)");
    await notebook.outputHas(3, "42");
    await page.find("sandbox-notebook >>> .state", "finished");
    await page.click('sandbox-notebook >>> button[aria-label="Save in the sandbox"]');
    await page.find("sandbox-notebook >>> .state", "Saved as");
    await (await page.find("sandbox-tree >>> .row", "saved.ipynb")).click({ button: "right" });
    await page.click("sandbox-tree >>> [role=menuitem]", "Open as text");
    await page.find("sandbox-editor >>> .cm-line", '"cells"');
    await page.click('button[aria-label="Use the whole height"]');
    await notebook.start(3, "print('print(6 * 7)' in open('/home/user/saved.ipynb').read())");
    await notebook.outputHas(3, "True");
    // What somebody else has written there is not replaced unasked.
    await notebook.start(3, "open('/home/user/saved.ipynb', 'a').write(' ' * 9); print('written')");
    await notebook.outputHas(3, "written");
    await page.click('sandbox-notebook >>> button[aria-label="Save in the sandbox"]');
    await page.answer("Replace");
    await page.find("sandbox-notebook >>> .state", "Saved as");
  });

  test("a sandbox from a snapshot is asked whether it has an interpreter, and says so", async () => {
    const { page, notebook, connection } = used;
    const { snapshotId } = await Sandbox.createSnapshot(await page.text("console-sandbox-bar >>> h2"), connection);
    const { sandboxId } = await Sandbox.create(snapshotId, connection);
    await page.click("console-sandboxes >>> .item", sandboxId);
    await page.find("console-sandbox-bar >>> h2", sandboxId);
    const asked = page.page.waitForResponse((response) => response.url().includes(`49999-${sandboxId}`));
    await notebook.show();
    expect((await asked).ok()).toBe(true);
    await notebook.run(1, "print(6 * 7)");
    await notebook.outputHas(1, "42");
    expect(await page.count("sandbox-notebook >>> .unable")).toBe(0);
  });

  test("a sandbox from a snapshot without an interpreter says that it has none", async () => {
    const { page, notebook, connection } = used;
    const plain = await Sandbox.create("base", connection);
    const { snapshotId } = await plain.createSnapshot();
    const { sandboxId } = await Sandbox.create(snapshotId, connection);
    await page.click("console-sandboxes >>> .item", sandboxId);
    await page.find("console-sandbox-bar >>> h2", sandboxId);
    await notebook.show();
    await page.find("sandbox-notebook >>> .unable", "Code cells do not run in this sandbox");
    await plain.kill();
  });

  test("a sandbox without an interpreter says so and leads to the notebook of one that has it", async () => {
    const { page, notebook } = used;
    // What was once chosen by hand is not what the dialog says when it is opened for another template.
    await page.click("button", "New sandbox");
    await (await page.find("console-new-sandbox >>> #template")).select("code-interpreter-v1");
    await page.click("console-new-sandbox >>> button", "Cancel");
    const plain = await page.createSandbox("base");
    await notebook.show();
    await page.find("sandbox-notebook >>> .unable button", "New sandbox with code cells");
    await notebook.start(1, "1 + 1");
    await page.find(`${cell(1)} >>> sandbox-error >>> .title`, "has no code interpreter");
    await page.click(`${cell(1)} >>> button`, "New sandbox with code cells");
    const chosen = await page.find("console-new-sandbox >>> #template");
    expect(await chosen.evaluate((select) => (select as HTMLSelectElement).value)).toBe("code-interpreter-v1");
    await screenshot(page.page, "notebook-no-interpreter");
    await page.click("console-new-sandbox >>> button", "Start");
    await page.gone("console-new-sandbox >>> dialog");
    await page.gone("console-sandbox-bar >>> h2", plain);
    await page.find("sandbox-notebook >>> .toolbar");
    expect(await page.count("sandbox-notebook >>> .unable")).toBe(0);
    await notebook.run(1, "print(6 * 7)");
    await notebook.outputHas(1, "42");
  });

  test("nothing went wrong in the page", () => {
    const { page } = used;
    // A port that nothing listens on is answered by the gateway with 502, which the browser notes by itself.
    const closed = (problem: string) => problem.startsWith("console: Failed to load resource") && problem.includes("://49999-");
    expect(page.problems.filter((problem) => !closed(problem))).toEqual([]);
  });

  test("a pause cuts off what runs and says so; a cell that is run then asks for the sandbox to go on, and runs", async () => {
    const { page, notebook } = used;
    const id = await notebook.begin();
    await notebook.write(1, "1");
    await notebook.press("Shift", "Enter");
    await notebook.ended(1);
    await page.find(`${cell(2)} >>> .cm-focused`);
    await notebook.start(
      1,
      "import os, time\nmade_before = 40 + 2\nprint('before the pause')\nwhile not os.path.exists('/tmp/go'): time.sleep(0.1)",
    );
    await notebook.outputHas(1, "before the pause");
    await page.click("console-sandbox-bar >>> button", "Pause");
    await page.find(`${cell(1)} >>> .state`, "cut off by the pause");
    await page.find("sandbox-notebook >>> .state", "Paused");
    expect(await page.count("sandbox-cell >>> sandbox-error")).toBe(0);
    expect(await notebook.lines(1)).toContain("before the pause");
    await screenshot(page.page, "console-notebook-paused");
    await notebook.start(2, "made_before");
    await page.answer("Cancel");
    await page.find("sandbox-notebook >>> .state", "Paused");
    await notebook.start(2, "made_before");
    await page.answer("Resume and run");
    await page.gone("sandbox-notebook >>> .state", "Paused");
    // The cell from before may have gone on, and the next one waits for it then.
    const outside = await Sandbox.connect(id, used.connection);
    await outside.files.write("/tmp/go", "");
    await outside.close();
    await page.find(`${cell(2)} >>> sandbox-result >>> pre`, "42");
    expect(await page.count("sandbox-cell >>> sandbox-error")).toBe(0);
  });
});
