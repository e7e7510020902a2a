"""Drives a sandbox platform with one vendor's Python SDK and prints what happened as one JSON object.

The three SDKs (`e2b`, `agentbox`, `agent_sandbox`) have the same shape, so one scenario serves all. Every step is recorded under the name
that `expectations.ts` lists it by; a step that raises is recorded as the name of what it raised.

usage: scenario.py MODULE API_URL SANDBOX_URL API_KEY
"""

import hashlib
import http.client
import importlib
import json
import os
import re
import sys
import time
import urllib.parse
from datetime import datetime, timedelta, timezone

module_name, api_url, sandbox_url, api_key = sys.argv[1:5]
sdk = importlib.import_module(module_name)
Sandbox = sdk.Sandbox
options = {"api_url": api_url, "sandbox_url": sandbox_url, "api_key": api_key}

ODD_NAME = "a b#?%+ü😀.txt"
results = {}


def raised(error):
    return {"raised": type(error).__name__.removesuffix("Exception").removesuffix("Error")}


def step(name):
    """Runs a function at once and records what it returns."""

    def record(function):
        try:
            results[name] = function()
        except Exception as error:  # noqa: BLE001 - whatever an SDK raises is a result
            results[name] = {**raised(error), "message": str(error)[:400]}

    return record


def outcome(function):
    """The name of what a function raises, without its message; or what it returns."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return raised(error)


def command_outcome(function):
    """A command's result, also of one that failed."""
    try:
        result = function()
    except sdk.CommandExitException as error:
        result = error
    return {"exitCode": result.exit_code, "stdout": result.stdout, "stderr": result.stderr}


def until(condition):
    """Asks until the answer is true; some calls can only be asked again."""
    deadline = time.monotonic() + 20
    while not (answer := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return answer


def send(method, url, body=None, content_type=None, sandbox_id=None):
    """A plain HTTP request as any program would make it; names below localhost are looked up by nobody but browsers."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=30)
    headers = {"Host": parts.netloc}
    if not parts.hostname.endswith(".localhost"):
        headers.update({"E2b-Sandbox-Id": sandbox_id, "E2b-Sandbox-Port": "49983"})
    if content_type:
        headers["Content-Type"] = content_type
    connection.request(method, f"{parts.path}?{parts.query}", body=body, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def main():
    sandbox = Sandbox.create(timeout=120, metadata={"peer": module_name}, envs={"FROM_CREATE": "yes"}, **options)
    try:
        control(sandbox)
        commands(sandbox)
        files(sandbox)
        terminals(sandbox)
        lifecycle()
    finally:
        ends(sandbox)


def control(sandbox):
    @step("getInfo")
    def _():
        info = sandbox.get_info()
        return {
            "sameId": info.sandbox_id == sandbox.sandbox_id,
            "template": info.template_id,
            "metadata": info.metadata["peer"] == module_name,
            "state": info.state.value,
            "endsLater": info.end_at > info.started_at,
        }

    @step("isRunning")
    def _():
        return sandbox.is_running()

    @step("connect")
    def _():
        other = Sandbox.connect(sandbox.sandbox_id, timeout=120, **options)
        return {"sameId": other.sandbox_id == sandbox.sandbox_id, "runs": other.commands.run("echo through").stdout}

    @step("setTimeout")
    def _():
        sandbox.set_timeout(600)
        left = sandbox.get_info().end_at - datetime.now(timezone.utc)
        return timedelta(seconds=540) < left < timedelta(seconds=660)

    @step("list")
    def _():
        group = f"{module_name}-{os.getpid()}-{time.time_ns()}"
        made = [Sandbox.create(timeout=60, metadata={"group": group}, **options) for _ in range(3)]
        try:
            pages = []
            paginator = Sandbox.list(query=sdk.SandboxQuery(metadata={"group": group}), limit=2, **options)
            while paginator.has_next:
                pages.append([info.sandbox_id for info in paginator.next_items()])
            return {
                "pages": [len(page) for page in pages],
                "all": sorted(sum(pages, [])) == sorted(each.sandbox_id for each in made),
            }
        finally:
            for each in made:
                each.kill()

    @step("wrongKey")
    def _():
        wrong = api_key[:-1] + ("0" if api_key[-1] != "0" else "1")
        return outcome(lambda: Sandbox.create(**{**options, "api_key": wrong}))

    @step("unknownId")
    def _():
        return {
            "getInfo": outcome(lambda: Sandbox.get_info("i" + "0" * 19, **options)),
            "kill": outcome(lambda: Sandbox.kill("i" + "0" * 19, **options)),
        }

    @step("byId")
    def _():
        made = Sandbox.create(timeout=60, **options).sandbox_id
        Sandbox.set_timeout(sandbox_id=made, timeout=600, **options)
        left = Sandbox.get_info(made, **options).end_at - datetime.now(timezone.utc)
        in_time = timedelta(seconds=540) < left < timedelta(seconds=660)
        return [in_time, Sandbox.kill(made, **options), Sandbox.kill(made, **options)]

    @step("listNothing")
    def _():
        paginator = Sandbox.list(query=sdk.SandboxQuery(metadata={"group": f"{time.time_ns()}"}), **options)
        return [len(paginator.next_items()), paginator.has_next]

    @step("unknownTemplate")
    def _():
        return "raised" in outcome(lambda: Sandbox.create("no-such-template", **options))


# Waits until somebody who heard the first word lets it go on: however slow anybody is, the second is never in the same piece.
UNTIL_TOLD = "until rm /tmp/told 2>/dev/null; do sleep 0.02; done"


def commands(sandbox):
    run = sandbox.commands.run

    def heard(chunks):
        def hear(chunk):
            chunks.append(chunk)
            if len(chunks) == 1:
                sandbox.files.write("/tmp/told", "")

        return hear

    @step("run")
    def _():
        return command_outcome(lambda: run("echo hello; echo oops >&2"))

    @step("nonZeroExit")
    def _():
        return command_outcome(lambda: run("echo out; echo err >&2; exit 3"))

    @step("environment")
    def _():
        return run('echo "$GREETING"; pwd; echo "$FROM_CREATE"', envs={"GREETING": "grüezi"}, cwd="/tmp").stdout

    @step("identity")
    def _():
        return run('whoami; id -u; echo "$HOME"; pwd').stdout

    @step("missingCwd")
    def _():
        return outcome(lambda: run("pwd", cwd="/no/such/folder"))

    @step("timeout")
    def _():
        return outcome(lambda: run("sleep 30", timeout=1))

    @step("streaming")
    def _():
        chunks = []
        run(f"echo one; {UNTIL_TOLD}; echo two", on_stdout=heard(chunks))
        return chunks

    @step("errorStreaming")
    def _():
        chunks = []
        run(f"echo one >&2; {UNTIL_TOLD}; echo two >&2", on_stderr=heard(chunks))
        return chunks

    @step("signalled")
    def _():
        return command_outcome(lambda: run("kill -9 $$"))["exitCode"]

    @step("unknownUser")
    def _():
        return "raised" in outcome(lambda: {"result": run("true", user="nobody-here").exit_code})

    @step("atOnce")
    def _():
        handles = [run(f"cat; echo {number}", background=True, stdin=True) for number in range(1, 6)]
        for handle in reversed(handles):
            sandbox.commands.close_stdin(handle.pid)
        return [handle.wait().stdout.strip() for handle in handles]

    @step("manyBytes")
    def _():
        return len(run("head -c 5000000 /dev/zero | tr '\\0' x").stdout)

    @step("utf8")
    def _():
        return run("printf 'naïve 😀 日本'").stdout

    @step("stdin")
    def _():
        handle = run("cat", background=True, stdin=True)
        sandbox.commands.send_stdin(handle.pid, "ping\n")
        sandbox.commands.send_stdin(handle.pid, "pong\n")
        sandbox.commands.close_stdin(handle.pid)
        return command_outcome(handle.wait)

    @step("listAndKill")
    def _():
        handle = run("sleep 301", background=True)
        listed = [process for process in sandbox.commands.list() if process.pid == handle.pid]
        killed = sandbox.commands.kill(handle.pid)
        return {
            "command": [[process.cmd, *process.args] for process in listed],
            "killed": killed,
            "ended": outcome(handle.wait),
            "again": until(lambda: sandbox.commands.kill(handle.pid) is False),
        }

    @step("connectToProcess")
    def _():
        handle = run("cat", background=True, stdin=True)
        other = sandbox.commands.connect(handle.pid)
        sandbox.commands.send_stdin(handle.pid, "shared\n")
        sandbox.commands.close_stdin(handle.pid)
        return [command_outcome(other.wait)["stdout"], command_outcome(handle.wait)["stdout"]]

    @step("handleKill")
    def _():
        handle = run("sleep 302", background=True)
        return [handle.kill(), command_outcome(handle.wait)["exitCode"]]

    @step("disconnect")
    def _():
        handle = run("sleep 303", background=True)
        handle.disconnect()
        return [handle.pid in [process.pid for process in sandbox.commands.list()], sandbox.commands.kill(handle.pid)]

    @step("connectToNothing")
    def _():
        return "raised" in outcome(lambda: sandbox.commands.connect(99999))


def files(sandbox):
    fs = sandbox.files
    base = "/home/user/peer files"

    @step("makeDir")
    def _():
        return [fs.make_dir(base), fs.make_dir(base)]

    @step("writeAndRead")
    def _():
        path = f"{base}/{ODD_NAME}"
        written = fs.write(path, "line\nürgh 😀\n")
        return {"written": written.path == path, "name": written.name == ODD_NAME, "read": fs.read(path)}

    @step("bytes")
    def _():
        content = bytes(range(256)) * 3
        fs.write(f"{base}/bytes.bin", content)
        fs.write(f"{base}/empty", "")
        return [bytes(fs.read(f"{base}/bytes.bin", format="bytes")) == content, fs.read(f"{base}/empty")]

    @step("bigFile")
    def _():
        content = os.urandom(1 << 20) * 8
        fs.write("/tmp/big.bin", content)
        inside = sandbox.commands.run("sha256sum /tmp/big.bin").stdout.split()[0]
        back = bytes(fs.read("/tmp/big.bin", format="bytes"))
        return [hashlib.sha256(content).hexdigest() == inside, back == content]

    @step("overwrite")
    def _():
        fs.write(f"{base}/again", "long and longer")
        fs.write(f"{base}/again", "short")
        read = fs.read(f"{base}/again")
        fs.remove(f"{base}/again")
        return read

    @step("relativePath")
    def _():
        path = fs.write("relative.txt", "here").path
        return [path, fs.read("relative.txt"), fs.exists("/home/user/relative.txt")]

    @step("readStream")
    def _():
        return sum(len(chunk) for chunk in fs.read("/tmp/big.bin", format="stream"))

    @step("nestedFolders")
    def _():
        made = fs.make_dir(f"{base}/nested/inner")
        inner = fs.list(f"{base}/nested/inner")
        outer = [entry.name for entry in fs.list(f"{base}/nested")]
        fs.remove(f"{base}/nested")
        return [made, len(inner), outer, fs.exists(f"{base}/nested")]

    @step("manyWrites")
    def _():
        # One after another on kept connections: none may be closed under the next request.
        return len([fs.write("/tmp/again", str(number)) for number in range(40)])

    @step("writeSeveral")
    def _():
        made = fs.write_files([{"path": f"{base}/several/{name}", "data": name} for name in ("one", "two")])
        return [info.path.removeprefix(base) for info in made] + [fs.read(f"{base}/several/two")]

    @step("listFiles")
    def _():
        sandbox.commands.run(f"ln -s bytes.bin '{base}/link'")
        return sorted([entry.name, entry.type.value] for entry in fs.list(base))

    @step("listDepth")
    def _():
        return sorted(entry.path.removeprefix(base) for entry in fs.list(base, depth=2) if "several" in entry.path)

    @step("exists")
    def _():
        return [fs.exists(f"{base}/{ODD_NAME}"), fs.exists(f"{base}/nothing")]

    @step("info")
    def _():
        sandbox.commands.run(f"chmod 640 '{base}/bytes.bin'")
        info = fs.get_info(f"{base}/bytes.bin")
        fresh = abs((datetime.now(timezone.utc) - info.modified_time.astimezone(timezone.utc)).total_seconds()) < 600
        return [info.name, info.type.value, info.size, info.mode, info.permissions, info.owner, info.group, fresh]

    @step("symlink")
    def _():
        return fs.get_info(f"{base}/link").symlink_target

    @step("rename")
    def _():
        moved = fs.rename(f"{base}/empty", f"{base}/renamed")
        return [moved.path.removeprefix(base), fs.exists(f"{base}/empty"), fs.exists(f"{base}/renamed")]

    @step("remove")
    def _():
        fs.remove(f"{base}/renamed")
        fs.remove(f"{base}/several")
        return [fs.exists(f"{base}/renamed"), fs.exists(f"{base}/several")]

    @step("missing")
    def _():
        return [
            outcome(lambda: fs.read(f"{base}/nothing")),
            outcome(lambda: fs.list(f"{base}/nothing")),
            outcome(lambda: fs.get_info(f"{base}/nothing")),
        ]

    @step("moveMissing")
    def _():
        return outcome(lambda: fs.rename(f"{base}/nothing", f"{base}/something"))

    @step("fileAsDirectory")
    def _():
        return [outcome(lambda: fs.list(f"{base}/bytes.bin")), outcome(lambda: fs.make_dir(f"{base}/bytes.bin"))]

    @step("directoryAsFile")
    def _():
        return outcome(lambda: fs.read(base))

    @step("watch")
    def _():
        fs.make_dir(f"{base}/watched")
        watch = fs.watch_dir(f"{base}/watched")
        seen = []

        def saw(kind, name):
            seen.extend((event.type.value, event.name) for event in watch.get_new_events())
            return (kind, name) in seen

        fs.write(f"{base}/watched/new.txt", "new")
        created = until(lambda: saw("create", "new.txt")) and until(lambda: saw("write", "new.txt"))
        fs.rename(f"{base}/watched/new.txt", f"{base}/watched/old.txt")
        renamed = until(lambda: saw("rename", "new.txt")) and until(lambda: saw("create", "old.txt"))
        fs.remove(f"{base}/watched/old.txt")
        removed = until(lambda: saw("remove", "old.txt"))
        watch.stop()
        return [created, renamed, removed]

    @step("watchBelow")
    def _():
        fs.make_dir(f"{base}/watched/below")
        watch = fs.watch_dir(f"{base}/watched", recursive=True)
        fs.write(f"{base}/watched/below/deep.txt", "deep")

        def heard():
            return any((event.type.value, event.name) == ("create", "below/deep.txt") for event in watch.get_new_events())

        return [until(heard), watch.stop()][0]

    @step("signedUrls")
    def _():
        path = f"{base}/signed +&.txt"
        fs.write(path, "signed")
        url = sandbox.download_url(path, user="user", use_signature_expiration=60)
        upload = sandbox.upload_url(path, user="user", use_signature_expiration=60)
        forged = re.sub("signature=[^&]+", "signature=v1_" + "A" * 43, url)
        got = send("GET", url, sandbox_id=sandbox.sandbox_id)
        boundary = "between"
        form = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n'
            f"Content-Type: application/octet-stream\r\n\r\nuploaded\r\n--{boundary}--\r\n"
        ).encode()
        put = send("POST", upload, form, f"multipart/form-data; boundary={boundary}", sandbox_id=sandbox.sandbox_id)
        return {
            "download": [got[0], got[1].decode()],
            "forged": [forged != url, send("GET", forged, sandbox_id=sandbox.sandbox_id)[0]],
            "upload": [put[0], fs.read(path)],
        }


def terminals(sandbox):
    @step("terminal")
    def _():
        handle = sandbox.pty.create(sdk.PtySize(rows=24, cols=80), cwd="/tmp", envs={"FROM_PTY": "yes"}, timeout=60)
        output = bytearray()
        events = iter(handle)

        def type_and_see(line, wanted):
            sandbox.pty.send_stdin(handle.pid, line.encode())
            while wanted not in output:
                stdout, stderr, pty = next(events)
                output.extend(pty or b"")
            return True

        # The echo of a typed line must not pass for its output, hence the quotes inside the words.
        seen = [
            type_and_see('echo "si""ze $(stty size) $TERM $FROM_PTY $PWD"\n', b"size 24 80 xterm-256color yes /tmp"),
        ]
        sandbox.pty.resize(handle.pid, sdk.PtySize(rows=40, cols=120))
        seen.append(type_and_see('echo "si""ze $(stty size)"\n', b"size 40 120"))
        sandbox.pty.send_stdin(handle.pid, b"exit 7\n")
        return [*seen, command_outcome(handle.wait)["exitCode"]]

    @step("terminalKill")
    def _():
        handle = sandbox.pty.create(sdk.PtySize(rows=24, cols=80), timeout=60)
        return [sandbox.pty.kill(handle.pid), "raised" in outcome(handle.wait)]


# A number that only a running process knows, and the file in which it counts.
COUNTER = (
    "setsid bash -c 'n=0; while true; do n=$((n+1)); echo $n > count.new; mv count.new count; sleep 0.02; done' >/dev/null 2>&1 </dev/null & "
    "until [ -e count ]; do sleep 0.02; done; echo kept > file"
)


def lifecycle():
    group = f"{module_name}-{os.getpid()}-{time.time_ns()}"
    one = Sandbox.create(timeout=120, metadata={"group": group}, **options)
    others = []

    def count():
        return int(one.commands.run("cat count").stdout)

    try:
        one.commands.run(COUNTER)

        @step("pauseWithMemory")
        def _():
            before = count()
            paused = [one.pause(), one.pause()]
            seen = [one.get_info().state.value, one.is_running()]
            query = sdk.SandboxQuery(metadata={"group": group}, state=[sdk.SandboxState.PAUSED])
            listed = [info.sandbox_id == one.sandbox_id for info in Sandbox.list(query=query, **options).next_items()]
            Sandbox.connect(one.sandbox_id, timeout=120, **options)
            return {
                "paused": paused,
                "seen": seen,
                "listed": listed,
                "running": one.is_running(),
                "goesOn": until(lambda: count() > before),
            }

        @step("streamEndsAtPause")
        def _():
            handle = one.commands.run("sleep 300", background=True)
            one.pause()
            broken = "raised" in outcome(handle.wait)
            one.connect(timeout=120)
            return broken

        @step("pauseWithoutMemory")
        def _():
            paused = one.pause(keep_memory=False)
            one.connect(timeout=120)
            return [paused, one.commands.run("cat file; pgrep -f coun[t].new || echo stopped").stdout]

        @step("fork")
        def _():
            others.extend(fork for fork in one.fork(count=2, timeout=60) if isinstance(fork, Sandbox))
            return [[fork.sandbox_id != one.sandbox_id, fork.files.read("file")] for fork in others]

        @step("snapshots")
        def _():
            made = [one.create_snapshot(), one.create_snapshot(name=f"peer-{time.time_ns()}")]
            pages = []
            paginator = one.list_snapshots(limit=1)
            while paginator.has_next:
                pages.append([info.snapshot_id for info in paginator.next_items()])
            again = Sandbox.create(made[1].snapshot_id, timeout=60, **options)
            file = again.files.read("file")
            again.kill()
            return {
                "pages": [len(page) for page in pages],
                "newestFirst": sum(pages, []) == [info.snapshot_id for info in reversed(made)],
                "file": file,
                "deleted": [Sandbox.delete_snapshot(info.snapshot_id, **options) for info in [*made, made[0]]],
            }

        @step("metrics")
        def _():
            first = one.get_metrics()[0]
            later = datetime.now(timezone.utc) + timedelta(hours=1)
            return {
                "measured": min(first.cpu_count, first.mem_total, first.mem_used, first.disk_total) > 0,
                "none": len(one.get_metrics(start=later)),
            }

        @step("updateNetwork")
        def _():
            def interfaces():
                return one.commands.run("ls /proc/sys/net/ipv4/conf | grep -c eth0; true").stdout.strip()

            before = interfaces()
            one.update_network({"deny_out": ["0.0.0.0/0"]})
            cut = interfaces()
            one.update_network({})
            return {
                "cut": cut,
                "restored": interfaces() == before,
                "rule": "raised" in (outcome(lambda: one.update_network({"deny_out": ["10.0.0.0/8"]})) or {}),
            }

        @step("autoPauseAndResume")
        def _():
            lazy = Sandbox.create(lifecycle={"on_timeout": "pause", "auto_resume": True}, **options)
            others.append(lazy)
            lifecycle = lazy.get_info().lifecycle
            lazy.set_timeout(1)
            return {
                "lifecycle": {"onTimeout": lifecycle["on_timeout"], "autoResume": lifecycle["auto_resume"]},
                "paused": until(lambda: lazy.get_info().state.value == "paused"),
                "woken": lazy.commands.run("echo woken").stdout,
                "state": lazy.get_info().state.value,
            }
    finally:
        for each in [one, *others]:
            each.kill()


def ends(sandbox):
    @step("kill")
    def _():
        return [sandbox.kill(), sandbox.is_running(), sandbox.kill()]

    @step("afterKill")
    def _():
        return ["raised" in outcome(lambda: sandbox.commands.run("true")), outcome(sandbox.get_info)]


main()
json.dump(results, sys.stdout)
