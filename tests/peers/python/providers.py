"""Makes one control-plane call after another with one vendor's Python SDK, and says to the recording server before each which one it is.

usage: providers.py MODULE URL
"""

import asyncio
import datetime
import inspect
import sys
import urllib.request

module, url = sys.argv[1:3]
KEY = "key-of-the-peer"
UTC = datetime.timezone.utc


def mark(name):
    urllib.request.urlopen(f"{url}/mark/{name}").read()


async def make(calls):
    """A call that fails has still asked for something."""
    for name, call in calls:
        mark(name)
        try:
            result = call()
            if inspect.isawaitable(result):
                await result
        except Exception as error:  # noqa: BLE001
            print(name, type(error).__name__, error, file=sys.stderr)


def agentbox():
    from agentbox import Sandbox

    options = {"api_key": KEY, "api_url": url, "sandbox_url": url}
    by_id = {"sandbox_id": "i1", **options}
    return [
        ("create", lambda: Sandbox.create(**options)),
        ("createFull", lambda: Sandbox.create("t", timeout=60, metadata={"a": "b"}, envs={"C": "d"}, secure=False, allow_internet_access=False, **options)),
        ("createPausing", lambda: Sandbox.create(lifecycle={"on_timeout": "pause", "auto_resume": True}, **options)),
        ("createWalled", lambda: Sandbox.create(network={"allow_out": ["a.test"], "deny_out": lambda ctx: [ctx.all_traffic], "allow_public_traffic": False, "mask_request_host": "h"}, **options)),
        (
            "createTransforming",
            lambda: Sandbox.create(
                iam={"tokens": {"id": {"audience": "a", "token_type": "JWT-SVID"}}},
                network={"rules": {"a.test": [{"transform": lambda ctx: {"headers": {"A": ctx.iam.tokens["id"]}}}]}},
                **options,
            ),
        ),
        ("connect", lambda: Sandbox.connect("i1", timeout=60, **options)),
        ("getInfo", lambda: Sandbox.get_info(**by_id)),
        ("kill", lambda: Sandbox.kill(**by_id)),
        ("setTimeout", lambda: Sandbox.set_timeout(timeout=60, **by_id)),
        ("pause", lambda: Sandbox.pause(**by_id)),
        ("pauseFiles", lambda: Sandbox.pause(keep_memory=False, **by_id)),
        ("fork", lambda: Sandbox.fork(timeout=60, count=2, **by_id)),
        ("createSnapshot", lambda: Sandbox.create_snapshot(name="snap", **by_id)),
        ("listSnapshots", lambda: Sandbox.list_snapshots(**by_id).next_items()),
        ("deleteSnapshot", lambda: Sandbox.delete_snapshot("team/snap:v1", **options)),
        ("getMetrics", lambda: Sandbox.get_metrics(start=datetime.datetime.fromtimestamp(10, UTC), **by_id)),
        ("updateNetwork", lambda: Sandbox.update_network(network={"deny_out": ["0.0.0.0/0"]}, **by_id)),
        ("list", lambda: Sandbox.list(limit=5, **options).next_items()),
    ]


async def alibaba():
    from agent_sandbox.api.sandbox import Sandbox

    options = {"sandbox_api_key": KEY, "sandbox_base_url": url}
    connected = []

    async def connect():
        connected.append(await Sandbox.connect("i1", **options))

    def on(method, *args):
        async def call():
            await getattr(connected[0], method)(*args)

        return call

    return [
        ("create", lambda: Sandbox.create(**options)),
        ("createFull", lambda: Sandbox.create("t", timeout=60, metadata={"a": "b"}, envs={"C": "d"}, **options)),
        ("createSized", lambda: Sandbox.create(cpu=2, memory=1024, disk=512, gpu="A10", **options)),
        ("connect", connect),
        ("getInfo", on("refresh_info")),
        ("setTimeout", on("set_timeout", 60)),
        # This version of the SDK has pause and resume in its face, and no cloud behind them.
        ("kill", on("kill")),
        ("list", lambda: Sandbox.list(limit=5, **options)),
    ]


if module == "agentbox":
    asyncio.run(make(agentbox()))
else:

    async def main():
        await make(await alibaba())

    asyncio.run(main())
