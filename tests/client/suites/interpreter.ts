// Code cells in real kernels of the local platform. One sandbox serves all tests of a run: they keep to variables and contexts of their own.
import type { CodeContext, Result, Sandbox } from "agent-sandbox-web";
import { assert } from "chai";
import { rejected, withSandbox } from "../support/sandboxes.ts";
import { type Context, type Declare, suite } from "../support/suite.ts";

let shared: Promise<Sandbox> | undefined;

/** The sandbox of this run. It ends with the last test, or at the latest with the platform. */
function sandboxOf({ sdk, platform }: Context): Promise<Sandbox> {
  shared ??= sdk.Sandbox.create("code-interpreter", { ...platform, timeoutMs: 600_000 });
  return shared;
}

/** A cell that sets `stopped` in its context when it is interrupted, and says when it has begun. */
const ENDLESS = `import time
stopped = False
try:
    print("begun", flush=True)
    while True: time.sleep(0.01)
except KeyboardInterrupt:
    stopped = True
    raise`;

/** Whether the bytes are those of a picture in PNG: its signature in front, its last chunk at the end. */
function isWholePng(bytes: Uint8Array | undefined): boolean {
  const ascii = (part: Uint8Array) => String.fromCharCode(...part);
  return bytes !== undefined && ascii(bytes.slice(1, 4)) === "PNG" && ascii(bytes.slice(-8, -4)) === "IEND";
}

/** Frees what nobody holds; in Node. */
function collectGarbage(): void {
  process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
  process.getBuiltinModule("node:vm").runInNewContext("gc")();
}

/** Declares tests that get the shared sandbox. */
function cases(test: Declare["inNode"]) {
  return (name: string, run: (sandbox: Sandbox, context: Context) => Promise<void>) =>
    test(`[platform] ${name}`, async (context) => run(await sandboxOf(context), context));
}

export const interpreter = suite("interpreter", (test) => {
  const cell = cases(test);

  cell("variables stay, and a result tells how the cell went", async (sandbox) => {
    assert.isTrue(sandbox.capabilities.has("code"));
    await sandbox.runCode("x = 41");
    const { results, logs, executionTime, executionCount, ...rest } = await sandbox.runCode("print('é😀\\r\\n', end='')\nx + 1");
    assert.deepEqual(rest, { text: "42", stdout: "é😀\r\n", stderr: "", exitCode: 0, outputFiles: [], truncated: false });
    assert.deepEqual(logs, { stdout: ["é😀\r\n"], stderr: [] });
    assert.deepEqual(
      results.map((one) => [one.text, one.isMainResult, one.formats()]),
      [["42", true, ["text"]]],
    );
    assert.isAbove(executionTime, 0);
    assert.isAbove(executionCount ?? 0, 1);
  });

  cell("output comes while the cell runs", async (sandbox) => {
    // The cell ends when the callback has let it.
    const seen: string[] = [];
    const code = `import os, sys, time
print("ready", flush=True)
while not os.path.exists("/tmp/go"): time.sleep(0.01)
print("gone", file=sys.stderr)`;
    const { stdout, stderr } = await sandbox.runCode(code, {
      onStdout: async (text) => {
        seen.push(text.trim());
        await sandbox.files.write("/tmp/go", "");
      },
      onStderr: (text, { timestamp }) => {
        seen.push(text.trim());
        assert.isBelow(Math.abs(Date.now() - timestamp.getTime()), 60_000);
      },
    });
    assert.deepEqual({ stdout, stderr, seen }, { stdout: "ready\n", stderr: "gone\n", seen: ["ready", "gone"] });
  });

  cell("a figure arrives whole, with its data", async (sandbox) => {
    const code = "import matplotlib.pyplot as plt\nplt.bar(['a', 'b'], [1, 2])\nplt.title('T')\nplt.xlabel('time (s)')\nplt.show()";
    const shown: Result[] = [];
    const { results } = await sandbox.runCode(code, { onResult: (one) => void shown.push(one) });
    assert.equal(results.length, 1);
    assert.equal(shown[0], results[0]);
    const [figure] = results;
    assert.includeMembers(figure?.formats() ?? [], ["png", "chart"]);
    assert.isTrue(isWholePng(figure?.bytes("png")));
    const { chart } = figure ?? {};
    assert.equal(chart?.type, "bar");
    if (chart?.type !== "bar") return;
    assert.deepInclude(chart, { title: "T", xLabel: "time (s)", xUnit: "s" });
    assert.deepEqual(
      chart.elements.map(({ label, value }) => [label, value]),
      [
        ["a", 1],
        ["b", 2],
      ],
    );
  });

  cell("a table arrives whole, as text, HTML and columns", async (sandbox) => {
    const { results } = await sandbox.runCode("import pandas\npandas.DataFrame({'a': [1, None], 'b': ['<x>', 'y']})");
    const [table] = results;
    assert.deepEqual(table?.data, { a: [1, null], b: ["<x>", "y"] });
    assert.match(table?.html ?? "", /<table[\s\S]*&lt;x&gt;[\s\S]*<\/table>/);
    assert.match(table?.text ?? "", /a\s+b\n/);
  });

  cell("a formula arrives as LaTeX", async (sandbox) => {
    const { results } = await sandbox.runCode("import sympy\nsympy.sqrt(sympy.Symbol('x')) / 2");
    assert.equal(results[0]?.latex, "$\\displaystyle \\frac{\\sqrt{x}}{2}$");
  });

  cell("a progress bar arrives whole, its carriage returns kept", async (sandbox) => {
    const { stderr } = await sandbox.runCode("from tqdm import tqdm\nfor _ in tqdm(range(5)): pass");
    assert.match(stderr, /^\r *0%[\s\S]*\r *100%.*5\/5/);
  });

  cell("a traceback arrives whole", async (sandbox) => {
    const heard: unknown[] = [];
    const { error, exitCode } = await sandbox.runCode("def f():\n    return 1 / 0\nf()", {
      onError: (error) => void heard.push(error),
    });
    assert.equal(exitCode, 1);
    assert.deepInclude(error, { name: "ZeroDivisionError", value: "division by zero" });
    for (const part of ["Traceback", "line 3", "line 2, in f", "return 1 / 0", "ZeroDivisionError: division by zero"]) {
      assert.include(error?.traceback, part);
    }
    const [rule, head, place] = error?.traceback.split("\n") ?? [];
    assert.match(rule ?? "", /^-+$/);
    assert.match(head ?? "", /^ZeroDivisionError +Traceback \(most recent call last\)$/);
    assert.match(place ?? "", /^Cell In/);
    assert.deepEqual(heard, [error]);
  });

  cell("a working directory that is not there is told, and one that is, is used", async (sandbox, context) => {
    await rejected(sandbox.code.createContext({ cwd: "/no/such" }), context.sdk.FileNotFoundError, "E4001");
    const made = await sandbox.code.createContext({ cwd: "/tmp" });
    assert.equal((await sandbox.runCode("import os; os.getcwd()", { context: made })).text, "/tmp");
    await sandbox.code.removeContext(made);
  });

  cell("HTML, JSON, scripts and what no client knows are kept", async (sandbox) => {
    const code = `from IPython.display import display, HTML, JSON, Javascript, Markdown, SVG
display(HTML("<b>é</b>"), Markdown("*m*"), SVG("<svg xmlns='http://www.w3.org/2000/svg'/>"), Javascript("1"))
display({"image/gif": "R0lG", "application/x-unheard": {"a": [1]}}, raw=True)
[float("nan"), 1]`;
    const { results } = await sandbox.runCode(code);
    assert.deepEqual(
      results.map((one) => one.formats().filter((format) => format !== "text")),
      [["html"], ["markdown"], ["svg"], ["javascript"], ["application/x-unheard", "image/gif"], ["json"]],
    );
    assert.equal(results[0]?.html, "<b>é</b>");
    assert.deepEqual([...(results[4]?.bytes("image/gif") ?? [])], [...new TextEncoder().encode("GIF")]);
    assert.deepEqual(results[5]?.json, [null, 1]);
  });

  cell("a cell of 70 KB runs", async (sandbox) => {
    assert.equal((await sandbox.runCode(`#${"x".repeat(70_000)}\n5`)).text, "5");
  });

  cell("a cell's own variables are seen by it alone", async (sandbox) => {
    const look = "import os\nos.environ.get('MY_OWN')";
    assert.equal((await sandbox.runCode(look, { envs: { MY_OWN: "é $x `y`" } })).text, "é $x `y`");
    assert.equal((await sandbox.runCode(`print(${look.split("\n")[1]})`)).text, "None");
  });

  cell("a cell that is given up is interrupted, and its context lives on", async (sandbox, { sdk }) => {
    await sandbox.runCode("kept = 1");
    // On a busy machine a cell may be given up before it has begun.
    for (let [timeoutMs, begun] = [1_000, false]; !begun; timeoutMs *= 2) {
      const running = sandbox.runCode(ENDLESS, {
        timeoutMs,
        onStdout: () => {
          begun = true;
        },
      });
      const error = await rejected(running, sdk.CommandTimeoutError, "E3001");
      assert.include(error.message, `${timeoutMs} ms (timeoutMs)`);
    }
    assert.equal((await sandbox.runCode("(kept, stopped)")).text, "(1, True)");
    const controller = new AbortController();
    const reason = new Error("mine");
    const aborted = sandbox.runCode(ENDLESS, { signal: controller.signal, onStdout: () => controller.abort(reason) });
    assert.equal(await aborted.catch((error: unknown) => error), reason);
    assert.equal((await sandbox.runCode("(kept, stopped)")).text, "(1, True)");
  });

  cell("contexts run side by side, restart and end", async (sandbox, { sdk }) => {
    const { code } = sandbox;
    const [one, other] = (await Promise.all([code.createContext({ cwd: "/tmp" }), code.createContext()])) as [
      CodeContext,
      CodeContext,
    ];
    assert.deepInclude(one, { language: "python", cwd: "/tmp" });
    const listed = await code.listContexts();
    for (const context of [one, other]) assert.deepInclude(listed, context);
    // Each waits for the other: run one after the other they would never end.
    const meet = (context: CodeContext, own: number, them: number) =>
      sandbox.runCode(
        `import os, time\nopen('/tmp/meet${own}', 'w')\nwhile not os.path.exists('/tmp/meet${them}'): time.sleep(0.01)\nown = ${own}`,
        { context },
      );
    await Promise.all([meet(one, 0, 1), meet(other, 1, 0)]);
    assert.equal((await sandbox.runCode("(own, os.getcwd())", { context: one })).text, "(0, '/tmp')");
    assert.equal((await sandbox.runCode("own", { contextId: other.id })).text, "1");
    // A cell that runs ends with an error when its context is restarted.
    let restarted: Promise<CodeContext> | undefined;
    const cut = await sandbox.runCode(ENDLESS, {
      context: other,
      onStdout: () => {
        restarted = code.restartContext(other);
      },
    });
    assert.equal(cut.exitCode, 1);
    assert.include(["WebSocketError", "ContextRestarting"], cut.error?.name);
    assert.equal((await restarted)?.id, other.id);
    assert.equal((await sandbox.runCode("own", { context: other })).error?.name, "NameError");
    assert.isTrue(await code.removeContext(one));
    assert.isTrue(await code.removeContext(other.id));
    assert.isFalse(await code.removeContext(one));
    await rejected(sandbox.runCode("1", { context: one }), sdk.ExecutionError, "E3000");
    await rejected(code.restartContext(one), sdk.ExecutionError, "E3000");
  });

  cell("other languages run, and one that there is not is told", async (sandbox, { sdk }) => {
    assert.equal((await sandbox.runCode("echo hi", { language: "bash" })).stdout, "hi\n");
    await rejected(sandbox.runCode("1", { language: "cobol" }), sdk.ExecutionError, "E3000");
  });

  cell("a kernel that dies is told, and its context has a new one", async (sandbox) => {
    const context = await sandbox.code.createContext();
    const { error, exitCode } = await sandbox.runCode("import os\nos._exit(1)", { context });
    assert.deepEqual({ name: error?.name, exitCode }, { name: "ContextRestarting", exitCode: 1 });
    assert.equal((await sandbox.runCode("7", { context })).text, "7");
    await sandbox.code.removeContext(context);
  });

  cases(test.inNode)("100 MB of output come whole and leave memory flat", async (sandbox) => {
    const megabytes = 100;
    const reachable = () => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = reachable();
    let [heard, looked, most] = [0, 0, 0];
    const { stdout, truncated } = await sandbox.runCode(`for _ in range(${megabytes}): print("é" + "x" * 999_998)`, {
      capture: false,
      onStdout: ({ length }) => {
        heard += length;
        if (heard - looked < 16_000_000) return;
        looked = heard;
        most = Math.max(most, reachable() - before);
      },
    });
    assert.equal(heard, megabytes * 1_000_000);
    assert.deepEqual({ stdout, truncated }, { stdout: "", truncated: false });
    assert.isAbove(looked, 0);
    assert.isBelow(most, 32_000_000, "what is held is a few lines, not the output");
  });

  test("[platform] a sandbox without an interpreter says which template has one, and one that is gone that it is", async (context) => {
    await withSandbox(context, async (sandbox) => {
      const error = await rejected(sandbox.runCode("1"), context.sdk.CapabilityNotSupportedError, "E3004");
      assert.include(error.suggestion, "code-interpreter-v1");
      assert.isFalse(sandbox.capabilities.has("code"));
      await sandbox.kill();
      await rejected(sandbox.runCode("1"), context.sdk.SandboxNotFoundError, "E2009");
    });
  });

  cell("killing the sandbox ends a cell with one typed error", async (sandbox, { sdk }) => {
    // The last test: it ends the sandbox of this run.
    shared = undefined;
    const running = sandbox.runCode(ENDLESS, { onStdout: () => sandbox.kill() });
    await rejected(running, sdk.SandboxNotFoundError, "E2009");
  });
});
