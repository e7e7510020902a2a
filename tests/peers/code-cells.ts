/** Runs code cells with E2B's SDK for JavaScript, step by step as `python/code_cells.py` does in Python. */
import { Sandbox } from "@e2b/code-interpreter";
import type { PlatformInfo } from "../support/platform.ts";
import type { Results } from "./expectations.ts";

/** Runs every step and gives what each returned, or what it threw. */
export async function runCodeCells(platform: PlatformInfo): Promise<Results> {
  const results: Results = {};
  const step = async (name: string, work: () => Promise<unknown>) => {
    try {
      results[name] = await work();
    } catch (error) {
      results[name] = { raised: String(error).slice(0, 400) };
    }
  };
  const options = { apiKey: platform.apiKey, apiUrl: platform.apiUrl, sandboxUrl: platform.apiUrl };
  const sandbox = await Sandbox.create({ timeoutMs: 300_000, ...options });
  try {
    await values(sandbox, step);
    await control(sandbox, step);
    await languages(sandbox, step);
  } finally {
    await sandbox.kill();
  }
  return results;
}

type Step = (name: string, work: () => Promise<unknown>) => Promise<void>;

async function values(sandbox: Sandbox, step: Step): Promise<void> {
  await step("state", async () => {
    await sandbox.runCode("x = 1");
    return (await sandbox.runCode("x += 1\nx")).text;
  });
  await step("streams", async () => {
    const [stdout, stderr, shown]: [string[], string[], (string | undefined)[]] = [[], [], []];
    await sandbox.runCode("import sys\nprint('é😀')\nprint('oops', file=sys.stderr)\n'last'", {
      onStdout: (message) => void stdout.push(message.line),
      onStderr: (message) => void stderr.push(message.line),
      onResult: (result) => void shown.push(result.text),
    });
    return { stdout: stdout.join(""), stderr: stderr.join(""), results: shown };
  });
  await step("figure", async () => {
    const code = "import matplotlib.pyplot as plt\nplt.bar(['a', 'b'], [1, 2])\nplt.show()";
    const [figure] = (await sandbox.runCode(code)).results;
    return {
      png: (figure?.png ?? "").startsWith("iVBOR"),
      chart: figure?.chart?.type,
      labels: figure?.chart?.elements.map((element) => (element as { label: string }).label),
    };
  });
  await step("table", async () => {
    const [table] = (await sandbox.runCode("import pandas\npandas.DataFrame({'a': [1, None]})")).results;
    return { data: table?.data, html: table?.html?.includes("<table") };
  });
  await step("formula", async () => {
    const { results } = await sandbox.runCode("import sympy\nsympy.sqrt(sympy.Symbol('x'))");
    return results[0]?.latex?.includes("sqrt");
  });
  await step("progressBar", async () => {
    const { logs } = await sandbox.runCode("from tqdm import tqdm\nfor _ in tqdm(range(5)): pass");
    return logs.stderr.join("").includes("5/5");
  });
  await step("error", async () => {
    const { error } = await sandbox.runCode("1 / 0");
    return { name: error?.name, value: error?.value, traceback: error?.traceback.includes("1 / 0") };
  });
  await step("unknownType", async () => {
    const code = "from IPython.display import display\ndisplay({'image/gif': 'R0lG'}, raw=True)";
    return (await sandbox.runCode(code)).results.length === 1;
  });
}

async function control(sandbox: Sandbox, step: Step): Promise<void> {
  await step("timeout", async () => {
    const raised = await sandbox.runCode("while True: pass", { timeoutMs: 2000 }).then(
      () => "nothing",
      (error: Error) => error.name.replace(/Error$/, ""),
    );
    return { raised, next: (await sandbox.runCode("1 + 1")).text };
  });
  await step("contexts", async () => {
    const context = await sandbox.createCodeContext({ cwd: "/tmp" });
    const cwd = (await sandbox.runCode("import os\nos.getcwd()", { context })).text;
    const listed = (await sandbox.listCodeContexts()).some((other) => other.id === context.id);
    await sandbox.restartCodeContext(context);
    const restarted = (await sandbox.runCode("os", { context })).error?.name;
    await sandbox.removeCodeContext(context);
    return { cwd, listed, restarted, removed: await raises(() => sandbox.runCode("1", { context })) };
  });
  await step("parallel", async () => {
    // Each waits for the other: run one after the other they would never end.
    const meet = async (own: number, other: number) => {
      const context = await sandbox.createCodeContext();
      const code = `import os, time\nopen('/tmp/m${own}', 'w')\nwhile not os.path.exists('/tmp/m${other}'): time.sleep(0.01)\n${own}`;
      return (await sandbox.runCode(code, { context })).text;
    };
    return Promise.all([meet(0, 1), meet(1, 0)]);
  });
  await step("variables", async () => {
    const look = "import os\nprint(os.environ.get('ODD'), end='')";
    const inside = await sandbox.runCode(look, { envs: { ODD: 'it\'s "odd"\\n' } });
    return { inside: inside.logs.stdout.join(""), outside: (await sandbox.runCode(look)).logs.stdout.join("") };
  });
}

async function languages(sandbox: Sandbox, step: Step): Promise<void> {
  await step("javascript", async () => (await sandbox.runCode("const n = 3; n * 2", { language: "js" })).text);
  await step("typescript", async () => (await sandbox.runCode("const n: number = 3; n * 3", { language: "ts" })).text);
  await step("bash", async () => (await sandbox.runCode("echo hi", { language: "bash" })).logs.stdout.join(""));
  await step("unknownLanguage", () => raises(() => sandbox.runCode("1", { language: "r" })));
  await step("longCode", async () => (await sandbox.runCode(`#${"x".repeat(70_000)}\n5`)).text);
  await step("deadKernel", async () => {
    const { error } = await sandbox.runCode("import os\nos._exit(1)");
    return { error: error?.name, next: (await sandbox.runCode("7")).text };
  });
  await step("manyBytes", async () => {
    const lines: number[] = [];
    await sandbox.runCode("for _ in range(20_000): print('x' * 99)", {
      onStdout: (message) => void lines.push(message.line.length),
    });
    return lines.reduce((sum, length) => sum + length, 0);
  });
}

async function raises(work: () => Promise<unknown>): Promise<boolean> {
  return work().then(
    () => false,
    () => true,
  );
}
