"""Makes the same calls as python.test.ts with the Python client, and prints what came of each as one JSON object."""

import asyncio
import json
import sys

from agent_sandbox.api import ServerClient


async def outcome(call):
    try:
        return {"value": await call}
    except Exception as error:
        keys = ["status_code", "error_type", "error_code", "endpoint", "scope", "limit", "command_name"]
        found = {key: getattr(error, key, None) for key in keys}
        return {"error": type(error).__name__, "code": getattr(error, "code", None), **{k: v for k, v in found.items() if v not in (None, "")}}


def plain(value):
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json", by_alias=False))
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return list(value)
    return value


async def items(generator):
    return [item async for item in generator]


async def main(url, base):
    client = ServerClient(url)
    f, p = client.files, client.process
    calls = {
        "health": lambda: client.health(),
        "upload": lambda: f.upload(f"{base}/py.txt", "für 中"),
        "readText": lambda: f.read_text(f"{base}/py.txt"),
        "download": lambda: f.download(f"{base}/py.txt"),
        "exists": lambda: f.exists(f"{base}/none"),
        "mkdir": lambda: f.mkdir(f"{base}/made"),
        "move": lambda: f.move(f"{base}/py.txt", f"{base}/made/py.txt"),
        "search": lambda: f.search(f"{base}/made", "*.txt"),
        "delete": lambda: f.delete(f"{base}/made"),
        "missing": lambda: f.list(f"{base}/none"),
        "outside": lambda: f.list("/etc"),
        "shell": lambda: p.shell("sh -c 'echo a; echo b >&2; exit 3'", cwd=base),
        "shellTimeout": lambda: p.shell("sleep 5", cwd=base, timeout=0.3),
        "shellMissing": lambda: p.shell("no-such-program", cwd=base),
        "runStream": lambda: p.run_stream("sh -c 'echo a; echo; exit 4'", cwd=base),
        "stream": lambda: items(p.shell_stream("sh -c 'echo a; exit 4'", cwd=base)),
        "process": lambda: p.get(999_999),
        "signal": lambda: p.signal(1),
        "output": lambda: p.output(999_999),
        "session": lambda: client.pty.get("0" * 12),
        "shellKind": lambda: client.pty.create(shell="/bin/cat"),
        "setEnv": lambda: client.system.set_env({"PY_SET": "1"}),
        "env": lambda: client.system.env(["PY_SET"]),
        "setPath": lambda: client.system.set_env({"PATH": "/"}),
        "packages": lambda: client.system.packages("cargo"),
        "commands": lambda: client.commands.list(),
        "run": lambda: client.commands.run("add", a=2),
        "runMissing": lambda: client.commands.run("nothing"),
        "runArguments": lambda: client.commands.run("add"),
        "runFails": lambda: client.commands.run("fail", kind="value"),
        "runTimesOut": lambda: client.commands.run("fail", kind="time"),
        "off": lambda: client.devtools.run_code("1"),
        "check": lambda: client.check("files_list", path="/etc"),
    }
    print(json.dumps({name: plain(await outcome(call())) for name, call in calls.items()}))


asyncio.run(main(*sys.argv[1:]))
