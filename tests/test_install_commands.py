"""The commands that `compare` recommends: tc accepts each of them on a device of a namespace of our own."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from mousehole.answer import LINUX, QUEUES, Link, installation

SCHEMES = [*QUEUES, "fq-codel(ecn=false)", "red(min=16%,max=48%)", "ct-cake"]
NO_SUCH_QDISC = "Specified qdisc kind is unknown"
"""What the kernel says of a queue discipline that it was built without; tc has accepted the line by then."""


def shell(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)


@pytest.fixture(scope="module")
def namespace() -> Iterator[str]:
    """A network namespace with a pair of devices; deleted with all that is in it."""
    if os.geteuid() != 0 or shutil.which("tc") is None:
        pytest.skip("NOT RUN: needs root and tc (iproute2)")
    name = f"mousehole-tc-{os.getpid()}"
    assert shell("ip", "netns", "add", name).returncode == 0
    try:
        made = shell("ip", "-n", name, "link", "add", "dev0", "type", "veth", "peer", "name", "dev1")
        assert made.returncode == 0, made.stderr
        yield name
    finally:
        shell("ip", "netns", "delete", name)


@pytest.mark.parametrize("overhead", [0, 26])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_tc__accepts_the_commands(namespace: str, scheme: str, overhead: int) -> None:
    way = installation(scheme, Link(rate_bps=5_000_000, buffer_packets=50, overhead=overhead))
    assert way is not None
    assert way.place == LINUX
    lines = [line for line in way.lines if line.startswith("tc ")]
    assert lines
    shell("ip", "netns", "exec", namespace, "tc", "qdisc", "delete", "dev", "dev0", "root")
    for line in lines:
        done = shell("ip", "netns", "exec", namespace, *line.replace("DEV", "dev0").split())
        assert done.returncode == 0 or NO_SUCH_QDISC in done.stderr, f"{line}: {done.stderr}"


def test_tc__refuses_a_line_with_a_fault(namespace: str) -> None:
    """The check above can fail: an unknown word is refused before the kernel is asked."""
    line = "tc qdisc replace dev dev0 root cake bandwith 5mbit"
    done = shell("ip", "netns", "exec", namespace, *line.split())
    assert done.returncode != 0
    assert NO_SUCH_QDISC not in done.stderr
    assert re.search("bandwith", done.stderr)
