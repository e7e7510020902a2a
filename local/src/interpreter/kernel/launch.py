"""Starts one Jupyter kernel of a sandbox: `launch.py python|bash -f CONNECTION_FILE`.

A stock kernel drops output when its reader is slow (ZeroMQ's limit) and keeps what it has not sent in memory without bound. Here a
kernel that is ahead of its reader waits, as a program does that writes into a full pipe.
"""

import sys

# The folder of this file is no place to import from.
sys.path.pop(0)

import base64
import json
import os
import threading
import types
import uuid

import zmq
from ipykernel.iostream import IOPubThread, OutStream
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.jsonutil import json_default

# Characters a stream message carries at most, and how many may wait unsent before `write` waits too.
PIECE = 64 * 1024
# Messages that may wait in the kernel, in the queue to the sending thread and in the socket.
BACKLOG = 64

_write, _flush, _send_multipart = OutStream.write, OutStream._flush, IOPubThread.send_multipart


def write(self, string):
    if isinstance(string, str) and len(string) > PIECE:
        for start in range(0, len(string), PIECE):
            write(self, string[start : start + PIECE])
    else:
        _write(self, string)
        self._unsent += len(string)
        if self._unsent >= PIECE:
            self.flush()
    return len(string)


def flush_now(self):
    self._unsent = 0
    _flush(self)


def send_multipart(self, *args, **kwargs):
    if threading.current_thread() is self.thread:
        # Sent now: a flush is over when its text is with ZeroMQ, and not behind what was said after it.
        self._really_send(*args, **kwargs)
        return
    _send_multipart(self, *args, **kwargs)
    if len(self._events) > BACKLOG and self.thread.is_alive():
        sent = threading.Event()
        self.schedule(sent.set)
        sent.wait()


OutStream.write, OutStream._flush, OutStream.flush_timeout, OutStream._unsent = write, flush_now, None, 0
IOPubThread.send_multipart = send_multipart


def pack(message):
    """JSON of a message. What JSON does not know (NaN, halves of surrogate pairs) is written as Python does, for the reader to mend."""
    try:
        return json.dumps(message, default=json_default, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return json.dumps(message, default=json_default).encode()


class KernelApp(IPKernelApp):
    def init_sockets(self):
        self.session.pack = pack
        super().init_sockets()

    def init_iopub(self, context):
        context.setsockopt(zmq.SNDHWM, BACKLOG)
        context.setsockopt(zmq.XPUB_NODROP, 1)
        try:
            super().init_iopub(context)
        finally:
            context.sockopts.pop(zmq.SNDHWM, None)
            context.sockopts.pop(zmq.XPUB_NODROP, None)


_saved_environments = []


def push_environment(encoded):
    """Sets variables (JSON in base64) and remembers what they were."""
    variables = json.loads(base64.b64decode(encoded))
    _saved_environments.append({name: os.environ.get(name) for name in variables})
    os.environ.update(variables)


def pop_environment():
    """Takes the last `push_environment` back."""
    if not _saved_environments:
        return
    for name, value in _saved_environments.pop().items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def insistent(kernel_class):
    """Bash's kernel interrupts once and waits for the prompt. An interrupt that comes while bash starts a program is lost: this one goes on
    until the prompt is there."""
    import pexpect

    class Insistent(kernel_class):
        def _start_bash(self):
            super()._start_bash()
            shell, child = self.bashwrapper, self.bashwrapper.child
            interrupt, expect = child.sendintr, shell._expect_prompt
            interrupts = 0

            def first_interrupt():
                nonlocal interrupts
                interrupts = 1
                interrupt()

            def settle():
                """Each further interrupt may have brought a prompt of its own, which would count as the next cell's end."""
                mark = uuid.uuid4().hex
                child.sendline(f"echo {mark[:8]}''{mark[8:]}")
                child.expect_exact(mark, timeout=5)
                expect(timeout=5)

            def expect_prompt(timeout=-1):
                nonlocal interrupts
                while interrupts:
                    try:
                        found = expect(timeout=1)
                        output = child.before
                        if interrupts > 1:
                            settle()
                        child.before = output
                        interrupts = 0
                        return found
                    except (KeyboardInterrupt, pexpect.TIMEOUT):
                        interrupts += 1
                        interrupt()
                return expect(timeout)

            child.sendintr, shell._expect_prompt = first_interrupt, expect_prompt

    return Insistent


def main():
    language, arguments = sys.argv[1], sys.argv[2:]
    options = {}
    if language == "bash":
        from bash_kernel.kernel import BashKernel

        options["kernel_class"] = insistent(BashKernel)
    app = KernelApp.instance(**options)
    app.config.HistoryManager.enabled = False
    app.config.InteractiveShell.colors = "nocolor"
    app.initialize(arguments)
    if language == "python":
        helper = types.ModuleType("_agent_sandbox")
        helper.push_environment, helper.pop_environment = push_environment, pop_environment
        sys.modules[helper.__name__] = helper
        results = os.path.join(os.path.dirname(__file__), "results.py")
        with open(results, encoding="utf-8") as source:
            exec(compile(source.read(), results, "exec"), {"__name__": "_agent_sandbox_results", "shell": app.shell})
    app.start()


main()
