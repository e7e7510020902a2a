// Whatever a code cell gives runs nothing in the console's origin, and reaches neither console nor platform.
import { describe, expect, test } from "vitest";
import { cell } from "./notebook-page.ts";
import { useNotebook } from "./use-console.ts";

const used = useNotebook();

/** Whether anything of the sandbox's ran in the page. */
const hit = () => used.page.page.evaluate(() => "hit" in window || document.title !== "Sandbox console");

/** Runs a cell that displays one MIME bundle. */
const display = (bundle: Record<string, unknown>) =>
  used.notebook.run(1, `import json\ndisplay(json.loads(${JSON.stringify(JSON.stringify(bundle))}), raw=True)`);

describe("hostile results", { timeout: 180_000 }, () => {
  test("markup in text, errors and names is text", async () => {
    const { notebook } = used;
    await notebook.run(
      1,
      "print('<img src=x onerror=window.hit=1><script>window.hit=1</script>\\x1b]0;owned\\x07\\x1b]52;c;aGk=\\x07')\nclass E(Exception): pass\nE.__name__ = '<b>'\nraise E('<img src=x onerror=window.hit=1>')",
    );
    await notebook.outputHas(1, "<img src=x onerror=window.hit=1><script>window.hit=1</script>");
    await notebook.outputHas(1, "<b>: <img");
    expect(await hit()).toBe(false);
  });

  test("an SVG is an image: its script and its handlers do not run", async () => {
    const { page } = used;
    await display({
      "image/svg+xml":
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="parent.hit=1"><script>parent.hit=1;document.title="x"</script><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;script&gt;top.hit=1&lt;/script&gt;"/></foreignObject><rect width="40" height="40"/></svg>',
    });
    await page.until(`window.deepQuery('${cell(1)} >>> sandbox-result >>> img', "")[0]?.naturalWidth === 40`);
    expect(await page.count(`${cell(1)} >>> svg:not(.icon)`)).toBe(0);
    expect(await hit()).toBe(false);
  });

  test("Markdown has no HTML, and only links that lead to the web", async () => {
    const { page } = used;
    await display({
      "text/markdown":
        "<img src=x onerror=window.hit=1>\n\n[bad](javascript:window.hit=1) [good](https://example.org/) ![tracker](http://127.0.0.1:9/x.png) $\\href{javascript:window.hit=1}{x}$",
    });
    await page.find(`${cell(1)} >>> .markdown`, "<img src=x onerror=window.hit=1>");
    const found = await page.page.evaluate(
      (path) => window.deepQuery(path, "").map((element) => element.getAttribute("href") ?? element.getAttribute("src")),
      `${cell(1)} >>> .markdown :is(a, img)`,
    );
    expect(found).toEqual(["https://example.org/"]);
    await page.click(`${cell(1)} >>> .markdown a`, "good");
    await page.find("sandbox-dialog >>> .detail", "https://example.org/");
    await page.answer("Cancel");
    expect(await hit()).toBe(false);
  });

  test("names and values of tables and charts are text", async () => {
    const { page, notebook } = used;
    const evil = "<img src=x onerror=window.hit=1>";
    await notebook.run(1, `import pandas as pd\npd.DataFrame({${JSON.stringify(evil)}: ["<script>window.hit=1</script>"]})`);
    await page.find(`${cell(1)} >>> sandbox-table >>> th`, evil);
    await page.find(`${cell(1)} >>> sandbox-table >>> td`, "<script>");
    await notebook.run(
      1,
      `import matplotlib.pyplot as plt\nfor label in ["a", ${JSON.stringify(evil)}]: plt.plot([1, 2], label=label)\nplt.title(${JSON.stringify(evil)}); plt.xlabel(${JSON.stringify(evil)}); plt.legend(); plt.show()`,
    );
    await page.click(`${cell(1)} >>> sandbox-result >>> button`, "Explore the chart");
    await page.find(`${cell(1)} >>> sandbox-chart >>> figcaption`, evil);
    await page.find(`${cell(1)} >>> sandbox-chart >>> .series`, evil);
    await display({ "application/json": { [evil]: evil } });
    await page.find(`${cell(1)} >>> sandbox-json >>> .key`, evil);
    await page.find(`${cell(1)} >>> sandbox-json >>> .text`, evil);
    expect(await hit()).toBe(false);
  });

  test("a formula has no links, and one that cannot be drawn is shown as it is written", async () => {
    const { page } = used;
    await display({ "text/latex": "$\\href{javascript:window.hit=1}{click} \\htmlId{x}{y}$" });
    await page.find(`${cell(1)} >>> .formula`);
    await page.until(`(window.deepQuery('${cell(1)} >>> .formula', "")[0]?.textContent ?? "") !== ""`);
    expect(await page.count(`${cell(1)} >>> .formula a`)).toBe(0);
    await display({ "text/latex": "$\\frac{<img src=x onerror=window.hit=1>$" });
    await page.find(`${cell(1)} >>> .formula pre`, "<img src=x onerror=window.hit=1>");
    expect(await hit()).toBe(false);
  });

  test("JavaScript is shown and not run, and an unknown type is named with its size", async () => {
    const { page } = used;
    await display({ "application/javascript": "window.hit = 1; alert(1)" });
    await page.find(`${cell(1)} >>> pre`, "window.hit = 1");
    await display({ "application/x-<b>odd": "AAAA" });
    await page.find(`${cell(1)} >>> .file`, "application/x-<b>odd");
    await page.find(`${cell(1)} >>> .file`, "3 B");
    expect(await hit()).toBe(false);
  });

  test("HTML runs in its frame, which can neither read, call, leave nor open anything", async () => {
    const { page, notebook, shared } = used;
    const { apiUrl } = shared.platform.info;
    const attempts = {
      parent: "parent.document.title",
      top: "top.location = 'http://127.0.0.1:9/'",
      storage: "sessionStorage.length",
      cookie: "(document.cookie = 'a=1', document.cookie.length || missing)",
      popup: "window.open('about:blank').closed",
    };
    const calls = [`${apiUrl}/sandboxes`, `${shared.url}console/config`, `${shared.url.replace("localhost", "results.localhost")}`];
    const script = `(async () => {
      const said = [];
      for (const [name, code] of Object.entries(${JSON.stringify(attempts)})) {
        try { eval(code); said.push(name + " worked"); } catch { said.push(name + " no"); }
      }
      for (const url of ${JSON.stringify(calls)}) await fetch(url, { mode: "no-cors" }).then(() => said.push("call worked"), () => said.push("call no"));
      parent.postMessage({ height: 99999, html: "<b>" }, "*");
      result.textContent = said.join(", ");
      result.dataset.done = "";
    })()`;
    await display({
      "text/html": `<img src=x onerror="document.body.dataset.ran = 1"><p id="result"></p><script>${script}</script>`,
    });
    const frame = await notebook.frame(1, "#result[data-done]");
    expect(await frame.$eval("#result", (element) => element.textContent)).toBe(
      "parent no, top no, storage no, cookie no, popup no, call no, call no, call no",
    );
    expect(await hit()).toBe(false);
    expect(page.page.url()).toBe(shared.url);
  });

  test("a frame that grows without end, or goes elsewhere, harms nothing", async () => {
    const { page, notebook } = used;
    await display({ "text/html": "<body style='height: calc(100vh + 50px)'><p id=tall>tall</p>" });
    await notebook.frame(1, "#tall");
    await page.until(`window.deepQuery('${cell(1)} >>> iframe', "")[0].clientHeight === 6000`);
    const requests: string[] = [];
    page.page.on("request", (request) => requests.push(request.url()));
    await display({
      "text/html": "<p id=gone>gone</p><script>location = 'http://127.0.0.1:9/leak?' + document.body.textContent</script>",
    });
    await page.until(`window.deepQuery('${cell(1)} >>> iframe', "").length === 1`);
    await notebook.run(1, "print('after')");
    await notebook.outputHas(1, "after");
    expect(requests.filter((url) => url.includes("/leak"))).toEqual([]);
    expect(await hit()).toBe(false);
  });

  test("a link in a frame is asked about, and only as http or https", async () => {
    const { page, notebook } = used;
    await display({
      "text/html": "<a id=bad href='javascript:parent.hit=1'>bad</a> <a id=good href='https://example.org/x'>good</a>",
    });
    const frame = await notebook.frame(1, "#good");
    await frame.click("#bad");
    await frame.click("#good");
    await page.find("sandbox-dialog >>> .detail", "https://example.org/x");
    expect(await page.count("sandbox-dialog >>> dialog")).toBe(1);
    await page.answer("Cancel");
    expect(await hit()).toBe(false);
  });

  test("much output leaves the page usable", async () => {
    const { page, notebook } = used;
    await notebook.run(1, "for i in range(30000): print('x' * 60, i)\nprint('the end')");
    await notebook.outputHas(1, "the end");
    await page.find(`${cell(1)} >>> sandbox-output >>> .dropped`, "earlier lines are not kept");
    await display({ "text/plain": "y".repeat(400_000) });
    await page.find(`${cell(1)} >>> sandbox-result >>> button`, "Show all 400,000 characters");
  });

  test("a notebook from a stranger runs nothing before it is run, and nothing of it in the page", async () => {
    const { page } = used;
    const evil = "<img src=x onerror=window.hit=1><script>window.hit=1</script>";
    const output = { output_type: "display_data", metadata: {}, data: { "text/html": evil, "text/plain": evil } };
    const file = {
      nbformat: 4,
      nbformat_minor: 5,
      metadata: { kernelspec: { name: evil, display_name: evil }, language_info: { name: evil } },
      cells: [
        { id: "a", cell_type: "markdown", metadata: {}, source: `${evil}\n\n[x](javascript:window.hit=1)` },
        { id: "b", cell_type: "code", metadata: {}, execution_count: 1, source: "open('ran', 'w')", outputs: [output] },
        { id: evil, cell_type: "code", metadata: {}, execution_count: null, source: "1", outputs: [] },
      ],
    };
    const notebookElement = await page.find("sandbox-notebook");
    await notebookElement.evaluate((element, text) => {
      const input = element.shadowRoot?.querySelector<HTMLInputElement>("input[type=file]");
      const data = new DataTransfer();
      data.items.add(new File([text], "evil.ipynb"));
      if (!input) return;
      input.files = data.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    }, JSON.stringify(file));
    await page.answer("Replace");
    await page.find(`${cell(1)} >>> .markdown`, evil);
    await page.find(`${cell(2)} >>> sandbox-result-frame >>> iframe`);
    await page.find(cell(3));
    expect(await page.count(`${cell(1)} >>> .markdown a`)).toBe(0);
    expect(await hit()).toBe(false);
  });

  test("nothing went wrong in the page but what its policy and the frame's stopped", () => {
    const { page } = used;
    const stopped = (problem: string) =>
      problem.startsWith("console:") && /results\.localhost|127\.0\.0\.1:9|Content Security Policy|sandboxed|ERR_/.test(problem);
    expect(page.problems.filter((problem) => !stopped(problem))).toEqual([]);
  });
});
