"""What the tests of `mousehole-live` share: names, a command that starts it, and checks of what it leaves."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from validation.lab.live import Lab

NEAR, FAR, DEVICE = "near", "far", "wan"
NEAR_ADDRESS, FAR_ADDRESS = "10.7.0.1", "10.7.0.2"
SO_NETNS_COOKIE = 71
# A number of flows that nobody else's table has, so that what is left over is known to be ours.
FLOWS = 20_000 + os.getpid() % 40_000
CAPABILITIES = "-all,+net_admin,+bpf,+perfmon"
UP = ("up", DEVICE, "--rate", "10mbit", "--scheme", "rio-ps", "--no-agent", "--flows", str(FLOWS))


def cookie(lab: Lab, net: str) -> int:
    """Returns the number of a network namespace that the kernel never gives again."""
    with lab.inside(net), socket.socket() as one:
        return int.from_bytes(one.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8), "little")


def pretend_cake(folder: Path, **values: str | Path) -> tuple[str, ...]:
    """Returns the words before a command to which token buckets are to look like CAKEs: cake.c says which.

    `values` are what cake.c reads, such as ASKED.
    """
    library = folder / "cake.so"
    source = Path(__file__).parent / "cake.c"
    words = (
        os.environ.get("CC", "cc"),
        "-shared",
        "-fPIC",
        "-Wall",
        "-Werror",
        "-o",
        library,
        source,
        "-ldl",
    )
    subprocess.run(words, check=True)
    return ("env", f"LD_PRELOAD={library}", *(f"{name}={value}" for name, value in values.items()))


def put_bucket(lab: Lab, handle: str) -> None:
    """Puts a token bucket at the device's root; one from 8000: on is a CAKE to what `pretend_cake` starts."""
    line = f"tc qdisc replace dev {DEVICE} root handle {handle} tbf rate 1gbit burst 64k limit 1m"
    lab.run(NEAR, *line.split())


def assert_restored(lab: Lab, before: dict[str, Any]) -> None:
    assert lab.state(NEAR, DEVICE) == before
    deadline = time.monotonic() + 3
    # The kernel frees maps and programs a moment after their last pin.
    while lab.owned(FLOWS) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert lab.owned(FLOWS) == []


def assert_refused(done: subprocess.CompletedProcess[str], reason: str) -> None:
    assert done.returncode == 2
    assert re.search(reason, done.stderr), done.stderr
    assert done.stderr.startswith("mousehole-live: ")
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def up(lab: Lab, *words: str) -> None:
    done = lab.live(NEAR, *UP, *words)
    assert done.returncode == 0, done.stderr


def status(lab: Lab) -> dict[str, Any]:
    """Returns what `status` says of the one device."""
    (device,) = json.loads(lab.live(NEAR, "status", "--json").stdout)["devices"]
    return dict(device)


def table(lab: Lab) -> dict[str, Any]:
    """Returns what `flows` lists of the one device."""
    (device,) = json.loads(lab.live(NEAR, "flows", "--json").stdout)["devices"]
    return dict(device)


def flow_of(lab: Lab, **ends: Any) -> dict[str, Any]:
    """Returns the one flow with these fields, such as its `source_port`."""
    (found,) = [one for one in table(lab)["flows"] if ends.items() <= one.items()]
    return dict(found)


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not so within {seconds} s"
        time.sleep(0.1)
