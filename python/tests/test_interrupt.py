import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from support import MODULE


def interrupted(arguments: list[str], ready: str, cwd: Path) -> tuple[int, str, float]:
    """Sends SIGINT once `ready` is on standard error; gives status, standard error, seconds to the end."""
    process = subprocess.Popen(
        [*MODULE, *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=cwd,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    assert process.stderr is not None
    seen = ""
    while ready not in seen and (line := process.stderr.readline()):
        seen += line
    time.sleep(0.3)
    begin = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    seen += process.stderr.read()
    status = process.wait()
    watchdog.cancel()
    return status, seen, time.monotonic() - begin


def patience() -> float:
    """A second, or five times what the command takes to start, on a machine that is so busy."""
    begin = time.monotonic()
    subprocess.run([*MODULE, "--version"], check=True, stdout=subprocess.DEVNULL)
    return max(1.0, 5 * (time.monotonic() - begin))


LONG = [
    "compare",
    "web:sfd",
    "--rate",
    "10mbit",
    "--load",
    "0.9",
    "--duration",
    "20000s",
    "--json",
    "out.json",
]


@pytest.mark.parametrize("jobs", ["1", "4"])
def test_compare__stops_within_a_second_and_says_what_was_finished(tmp_path: Path, jobs: str) -> None:
    status, said, seconds = interrupted([*LONG, "--jobs", jobs], "schemes ×", tmp_path)
    assert status == 130
    assert seconds < patience()
    assert re.search(r"mousehole: stopped (after \d+ of|before the first of) \d+ runs", said)
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
