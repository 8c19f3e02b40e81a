"""Shared by the tests of `mousehole-live`: names, ways to run it, and checks of what it leaves behind."""

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
# A table size that nobody else uses, so that leftovers are known to be ours.
FLOWS = 20_000 + os.getpid() % 40_000
CAPABILITIES = "-all,+net_admin,+bpf,+perfmon"
UP = ("up", DEVICE, "--rate", "10mbit", "--scheme", "rio-ps", "--no-agent", "--flows", str(FLOWS))


def read_cookie(lab: Lab, net: str) -> int:
    """Returns the cookie of a network namespace, a number that the kernel never reuses."""
    with lab.inside(net), socket.socket() as one:
        return int.from_bytes(one.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8), "little")


def pretend_cake(folder: Path, **values: str | Path) -> tuple[str, ...]:
    """Builds cake.c in a folder.

    Returns a program, with its arguments, that has a command take token buckets for CAKEs. `values` are
    the variables that cake.c reads, such as ASKED.
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


def install_bucket(lab: Lab, handle: str) -> None:
    """Installs a token bucket at the device's root; `pretend_cake` shows one from 8000: on as a CAKE."""
    line = f"tc qdisc replace dev {DEVICE} root handle {handle} tbf rate 1gbit burst 64k limit 1m"
    lab.run(NEAR, *line.split())


def assert_restored(lab: Lab, before: dict[str, Any]) -> None:
    """Asserts that the device is in its earlier state, and our maps and programs are freed within 3 s."""
    assert lab.state(NEAR, DEVICE) == before
    deadline = time.monotonic() + 3
    # The kernel frees maps and programs a moment after their last pin.
    while lab.owned(FLOWS) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert lab.owned(FLOWS) == []


def assert_refused(done: subprocess.CompletedProcess[str], reason: str) -> None:
    """Asserts that a command failed with one sentence that matches `reason`, and printed nothing else."""
    assert done.returncode == 2
    assert re.search(reason, done.stderr), done.stderr
    assert done.stderr.startswith("mousehole-live: ")
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def run_up(lab: Lab, *words: str) -> None:
    """Runs `up` with these additional options; it must succeed."""
    done = lab.live(NEAR, *UP, *words)
    assert done.returncode == 0, done.stderr


def read_status(lab: Lab) -> dict[str, Any]:
    """Returns the status of the near end's only device; fails if there are none or several."""
    (device,) = json.loads(lab.live(NEAR, "status", "--json").stdout)["devices"]
    return dict(device)


def read_table(lab: Lab) -> dict[str, Any]:
    """Returns the flow table of the near end's only device, as `flows` lists it."""
    (device,) = json.loads(lab.live(NEAR, "flows", "--json").stdout)["devices"]
    return dict(device)


def find_flow(lab: Lab, **ends: Any) -> dict[str, Any]:
    """Returns the only listed flow with these fields, such as its `source_port`; fails otherwise."""
    (found,) = [one for one in read_table(lab)["flows"] if ends.items() <= one.items()]
    return dict(found)


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    """Waits until a condition holds, which is tried every 0.1 s; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not so within {seconds} s"
        time.sleep(0.1)
