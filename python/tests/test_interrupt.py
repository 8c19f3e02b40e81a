import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from mousehole.base import output
from mousehole.commands import cli
from support import MODULE

pytestmark = pytest.mark.alone


def run_interrupted(
    arguments: list[str], ready: str, cwd: Path, number: signal.Signals = signal.SIGINT
) -> tuple[int, str, float]:
    """Sends a signal to the command once `ready` is on its standard error.

    A command that still runs after 60 s is killed.

    Returns exit status, standard error, and seconds from the signal to the end.
    """
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
    os.kill(process.pid, number)
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
    status, said, seconds = run_interrupted([*LONG, "--jobs", jobs], "schemes ×", tmp_path)
    assert status == 130
    assert seconds < patience()
    assert re.search(r"mousehole: stopped (after \d+ of|before the first of) \d+ runs", said)
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


SLOW_WRITER = """
import sys, time
from mousehole.base import output
from mousehole.commands import launcher

def slowly(part):
    part.write_text("half of the results")
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)

output.write_text = lambda place, text: output.write_with(place, slowly)
sys.argv = ["mousehole", "schemes", "--json", "out.json"]
launcher.main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_to_end__leave_no_half_written_file(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER], stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline() == "writing\n"
        (part,) = tmp_path.iterdir()
        assert part.suffixes[1:] == [".part", ".json"]
        process.send_signal(number)
        said = process.stderr.read()
        assert process.wait(timeout=60) == 143
    assert said == "mousehole: terminated; nothing was written\n"
    assert list(tmp_path.iterdir()) == []


def test_sighup__is_ignored_under_nohup(tmp_path: Path) -> None:
    quick = SLOW_WRITER.replace("time.sleep(60)", "time.sleep(2)")
    with subprocess.Popen(
        [sys.executable, "-c", quick], stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline() == "writing\n"
        process.send_signal(signal.SIGHUP)
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 0
    assert (tmp_path / "out.json").read_text() == "half of the results"


def test_sigterm__ends_long_runs_at_once(tmp_path: Path) -> None:
    status, said, seconds = run_interrupted([*LONG, "--jobs", "2"], "schemes ×", tmp_path, signal.SIGTERM)
    assert status == 143
    assert seconds < patience()
    assert "mousehole: terminated; nothing was written" in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_stop__names_the_files_that_were_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "written", [])
    assert cli._describe_stop("stopped; nothing was written") == "mousehole: stopped; nothing was written"
    monkeypatch.setattr(output, "written", ["found.json", "a\nb.html"])
    said = cli._describe_stop("stopped; nothing was written")
    assert said == r"mousehole: stopped; written before: found.json, a\nb.html"
