"""Named commands and a route of the server under test."""

import time

from agent_sandbox.server import CapabilityGroup, ServerResponse, command, default_table


@command("add", description="Sum two integers")
def add(a: int, b: int = 5) -> int:
    return a + b


@command("deploy", scopes=["ops:deploy"])
def deploy():
    return None


@command("quiet", hidden=True)
def quiet():
    return "ok"


@command("numbers")
def numbers():
    return [float("nan"), float("inf"), float("-inf"), 'NaN "Infinity', 1.5]


@command("fail")
def fail(kind: str):
    raise {"value": ValueError, "time": TimeoutError, "key": KeyError}[kind]("on purpose")


@command("slow")
def slow(seconds: float):
    time.sleep(seconds)
    return "done"


@default_table().route("GET", "/status", group=CapabilityGroup.SYSTEM, scopes=("system:read",))
def status(req):
    return ServerResponse.ok({"up": True})
