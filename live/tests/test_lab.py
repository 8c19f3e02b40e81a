"""The lab: it is visible only from inside, and ends with the process that made it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from validation.lab.live import Echo, Lab, strip_counters, transfer
from validation.lab.namespaces import ROOT


def test_lab__carries_datagrams_and_transfers(lab: Lab, echo: Echo) -> None:
    assert echo.answers_within(2)
    assert transfer(lab, "near", "far", "10.7.0.1", 100_000) < 5


def test_lab__is_seen_by_nobody_else(lab: Lab) -> None:
    assert "wan" in lab.run("near", "ip", "-br", "link")
    assert not Path("/run/netns/near").exists()
    lab.run("near", "mkdir", "/sys/fs/bpf/mousehole")
    assert lab.pinned() == ["/sys/fs/bpf/mousehole"]


def test_lab__vanishes_when_its_maker_is_killed() -> None:
    maker = (
        "from validation.lab.live import Lab\n"
        "import time\n"
        "lab = Lab()\n"
        "lab.add('near')\n"
        "lab.run('near', 'sh', '-c', 'setsid --fork sleep 4243 > /dev/null 2>&1')\n"
        "print(lab.keeper, flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", maker], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    keeper = process.stdout.readline().strip()
    assert keeper
    assert wait_for(lambda: any(b"4243" in line for line in list_sleeps()))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert wait_for(lambda: not any(b"4243" in line for line in list_sleeps()))
    assert wait_for(lambda: not is_alive(keeper))


def wait_for(condition: Callable[[], bool]) -> bool:
    """Waits up to 30 seconds for a condition. Returns whether it holds."""
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def is_alive(process: str) -> bool:
    """Returns whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def list_sleeps() -> list[bytes]:
    """Returns the command lines of all processes that run `sleep`."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes())
        except OSError:
            continue
    return [line for line in lines if line.startswith(b"sleep")]


def test_without_counters__keeps_what_was_set() -> None:
    said = [{"kind": "tbf", "bytes": 5, "options": {"rate": 1, "limit": 3000}}]
    assert strip_counters(said) == [{"kind": "tbf", "options": {"rate": 1, "limit": 3000}}]
