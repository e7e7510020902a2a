"""Runs code cells with E2B's SDK for Python, step by step as `code-cells.ts` does in JavaScript: `code_cells.py URL KEY`."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from e2b_code_interpreter import Sandbox

url, key = sys.argv[1:]
sandbox = Sandbox.create(timeout=300, api_key=key, api_url=url, sandbox_url=url)
results = {}


def step(work):
    try:
        results[work.__name__] = work()
    except Exception as error:
        results[work.__name__] = {"raised": repr(error)[:400]}


def raises(work):
    try:
        work()
    except Exception:
        return True
    return False


def state():
    sandbox.run_code("x = 1")
    return sandbox.run_code("x += 1\nx").text


def streams():
    stdout, stderr, shown = [], [], []
    sandbox.run_code(
        "import sys\nprint('é😀')\nprint('oops', file=sys.stderr)\n'last'",
        on_stdout=lambda message: stdout.append(message.line),
        on_stderr=lambda message: stderr.append(message.line),
        on_result=lambda result: shown.append(result.text),
    )
    return {"stdout": "".join(stdout), "stderr": "".join(stderr), "results": shown}


def figure():
    [shown] = sandbox.run_code("import matplotlib.pyplot as plt\nplt.bar(['a', 'b'], [1, 2])\nplt.show()").results
    labels = [element.label for element in shown.chart.elements]
    return {"png": shown.png.startswith("iVBOR"), "chart": shown.chart.type.value, "labels": labels}


def table():
    [shown] = sandbox.run_code("import pandas\npandas.DataFrame({'a': [1, None]})").results
    return {"data": shown.data, "html": "<table" in shown.html}


def formula():
    return "sqrt" in sandbox.run_code("import sympy\nsympy.sqrt(sympy.Symbol('x'))").results[0].latex


def progressBar():
    return "5/5" in "".join(sandbox.run_code("from tqdm import tqdm\nfor _ in tqdm(range(5)): pass").logs.stderr)


def error():
    raised = sandbox.run_code("1 / 0").error
    return {"name": raised.name, "value": raised.value, "traceback": "1 / 0" in raised.traceback}


def unknownType():
    code = "from IPython.display import display\ndisplay({'image/gif': 'R0lG'}, raw=True)"
    return sandbox.run_code(code).results[0].extra == {"image/gif": "R0lG"}


def timeout():
    try:
        sandbox.run_code("while True: pass", timeout=2)
        raised = "nothing"
    except Exception as error:
        raised = type(error).__name__.removesuffix("Exception")
    return {"raised": raised, "next": sandbox.run_code("1 + 1").text}


def contexts():
    context = sandbox.create_code_context(cwd="/tmp")
    cwd = sandbox.run_code("import os\nos.getcwd()", context=context).text
    listed = context.id in [other.id for other in sandbox.list_code_contexts()]
    sandbox.restart_code_context(context)
    restarted = sandbox.run_code("os", context=context).error.name
    sandbox.remove_code_context(context)
    return {"cwd": cwd, "listed": listed, "restarted": restarted, "removed": raises(lambda: sandbox.run_code("1", context=context))}


def parallel():
    def meet(own, other):
        context = sandbox.create_code_context()
        code = f"import os, time\nopen('/tmp/m{own}', 'w')\nwhile not os.path.exists('/tmp/m{other}'): time.sleep(0.01)\n{own}"
        return sandbox.run_code(code, context=context).text

    with ThreadPoolExecutor() as pool:
        return list(pool.map(meet, [0, 1], [1, 0]))


def variables():
    look = "import os\nprint(os.environ.get('ODD'), end='')"
    inside = sandbox.run_code(look, envs={"ODD": "it's \"odd\"\\n"})
    return {"inside": "".join(inside.logs.stdout), "outside": "".join(sandbox.run_code(look).logs.stdout)}


def javascript():
    return sandbox.run_code("const n = 3; n * 2", language="js").text


def typescript():
    return sandbox.run_code("const n: number = 3; n * 3", language="ts").text


def bash():
    return "".join(sandbox.run_code("echo hi", language="bash").logs.stdout)


def unknownLanguage():
    return raises(lambda: sandbox.run_code("1", language="r"))


def longCode():
    return sandbox.run_code("#" + "x" * 70_000 + "\n5").text


def deadKernel():
    name = sandbox.run_code("import os\nos._exit(1)").error.name
    return {"error": name, "next": sandbox.run_code("7").text}


def manyBytes():
    counts = []
    sandbox.run_code("for _ in range(20_000): print('x' * 99)", on_stdout=lambda message: counts.append(len(message.line)))
    return sum(counts)


try:
    for work in [
        *(state, streams, figure, table, formula, progressBar, error, unknownType, timeout, contexts),
        *(parallel, variables, javascript, typescript, bash, unknownLanguage, longCode, deadKernel, manyBytes),
    ]:
        step(work)
finally:
    sandbox.kill()
print(json.dumps(results))
