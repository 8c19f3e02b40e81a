"""The command as a process: outputs that are closed, full or ASCII, Ctrl-C at any time, long runs."""

import ast
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import mousehole
import pytest
from mousehole.base import _interrupts as interrupts
from mousehole.base import _memory as memory
from mousehole.base import to_ascii
from mousehole.records import _records as records
from mousehole.runs import _estimate as estimate
from support import MODULE, SMALL_ARGUMENTS

ASCII = [
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
]
COMPARE = ["compare", "web:sfd", *SMALL_ARGUMENTS, "--seeds", "5", "--details"]
PACKAGE = Path(mousehole.__file__).parent


def run_command(*arguments: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    """Runs the command without the locale and Python variables of this process, and with `changes`."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHON"))
    }
    return subprocess.run(
        [*MODULE, *arguments], capture_output=True, env={**environment, **changes}, check=False
    )


@pytest.mark.parametrize("changes", ASCII, ids=lambda changes: next(iter(changes)) + "…")
@pytest.mark.parametrize(
    "arguments",
    [COMPARE, ["inspect", "web:sfd"], ["schemes"], ["schemes", "sfd"], ["paper"], ["compare", "--help"]],
    ids=" ".join,
)
def test_ascii__every_table_prints(arguments: list[str], changes: dict[str, str]) -> None:
    done = run_command(*arguments, **changes)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"\\u" not in done.stdout
    if changes.get("LC_ALL") != "POSIX":  # that locale may be coerced to UTF-8, which is fine
        assert done.stdout.isascii()
        assert done.stderr.isascii()
    if arguments == COMPARE and done.stdout.isascii():
        assert b"<= 15 kB" in done.stdout


def test_ascii__columns_stay_in_line() -> None:
    lines = run_command(*COMPARE, **ASCII[0]).stdout.decode().splitlines()
    is_row = ["|" in line or "-+-" in line for line in lines]
    tables = "\n".join(line if row else "" for line, row in zip(lines, is_row, strict=True)).split("\n\n")
    borders = [
        [find_border_positions(line) for line in table.strip("\n").splitlines()] for table in tables if table
    ]
    assert len(borders) > 3
    for own in borders:
        assert all(places <= max(own, key=len) for places in own), own


def find_border_positions(line: str) -> set[int]:
    """Returns the positions of borders in a line of a table; a plus counts only below the heading."""
    border = "+" if "-+-" in line else "|"
    return {place for place, letter in enumerate(line) if letter == border}


def test_ascii__errors_too() -> None:
    done = run_command("compare", "naïve – file", "--rate", "1mbit", **ASCII[0])
    assert done.returncode == 2
    assert b"naive - file" in done.stderr


def test_ascii__json_stays_utf_8() -> None:
    arguments = [*COMPARE[:-1], "--json", "-"]
    assert run_command(*arguments, **ASCII[0]).stdout == run_command(*arguments, PYTHONUTF8="1").stdout


def test_to_ascii__has_ascii_for_all_that_the_package_writes() -> None:
    written = {
        character
        for file in [*PACKAGE.glob("*.py"), *PACKAGE.glob("statistics/*.py")]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for character in node.value
    }
    unknown = [character for character in written if not character.isascii() and "\\" in to_ascii(character)]
    assert [character for character in unknown if not "\ud800" <= character <= "\udfff"] == []
    assert to_ascii("é–中") == "e-\\u4e2d"


def run_in_shell(command: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell command in which `mousehole` is the command; the status is that of `mousehole`."""
    python = f"{sys.executable} -m mousehole"
    script = f"set -o pipefail; {command.replace('mousehole', python)}"
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)


PRINTING = ["schemes", "inspect web:sfd", "paper", "policy headers", "--version"]


@pytest.mark.parametrize("arguments", PRINTING)
def test_closed_output__is_one_sentence_and_status_1(arguments: str) -> None:
    done = run_in_shell(f"mousehole {arguments} >&-")
    assert done.returncode == 1
    assert done.stderr == "mousehole: error: cannot write standard output; it is closed\n"


@pytest.mark.parametrize(
    "arguments",
    ["schemes", "schemes --json -", "inspect web:sfd", "paper", "policy headers", "--version", "--help"],
)
def test_full_output__is_one_sentence_and_status_1(arguments: str) -> None:
    done = run_in_shell(f"mousehole {arguments} > /dev/full")
    assert done.returncode == 1
    assert done.stderr == "mousehole: error: cannot write standard output; No space left on device\n"


@pytest.mark.parametrize("arguments", ["schemes", "schemes --json -", "paper", "policy headers"])
def test_closed_pipe__is_silent_and_status_141(arguments: str) -> None:
    done = run_in_shell(f"mousehole {arguments} | (exec <&-; sleep 0.01; true)")
    assert (done.returncode, done.stderr) == (141, "")


def test_head__is_silent() -> None:
    done = run_in_shell("mousehole schemes | head -1")
    assert done.returncode in (0, 141)
    assert (done.stdout, done.stderr) == ("Schemes\n", "")


def test_closed_standard_error__does_not_matter() -> None:
    done = run_in_shell("mousehole schemes 2>&-")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Schemes")


SLOW_IMPORT = """
import sys, time

class Slow:
    def find_spec(self, name, path, target=None):
        if name == "{module}":
            print("importing", file=sys.stderr, flush=True)
            time.sleep(30)

sys.meta_path.insert(0, Slow())
sys.argv = ["mousehole", "schemes"]
from mousehole.commands.launcher import main
main()
"""


@pytest.mark.parametrize("module", ["mousehole.commands.cli", "rich.console", "mousehole.inputs.show"])
def test_ctrl_c__while_modules_are_imported(module: str) -> None:
    script = SLOW_IMPORT.format(module=module)
    with subprocess.Popen(
        [sys.executable, "-c", script], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(timeout=20) == 130
    assert said == "mousehole: stopped; nothing was written\n"


def test_ctrl_c__that_is_ignored_stays_ignored() -> None:
    done = run_in_shell("trap '' INT; mousehole schemes & sleep 0.1; kill -INT $!; wait $!")
    assert done.returncode == 0
    assert done.stdout.startswith("Schemes")


LONG_RUN = """
warmup = "1s"
duration = "{duration}"
scheme = "droptail"
[link]
rate = "10mbit"
[traffic]
model = "poisson"
load = 0.5
"""


def test_run__of_years_says_what_it_takes_and_is_refused_if_memory_would_not_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "years.toml").write_text(LONG_RUN.format(duration="100000000s"))
    monkeypatch.setattr(records, "available_bytes", lambda: 4_000_000_000)
    begin = time.monotonic()
    with pytest.raises(mousehole.MouseholeError, match=r"this run needs about \d+ GB of memory, and 4.0 GB"):
        mousehole.run(tmp_path / "years.toml")
    assert time.monotonic() - begin < 30


class Reports:
    """Collects what a reporter is told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.total = self.advanced = self.finished = 0

    def say(self, text: str) -> None:
        """Notes the text."""
        self.said.append(text)

    def start(self, total: int, what: str = "runs") -> None:
        """Notes the total; asserts that progress is in percent."""
        assert what == "percent"
        self.total = total

    def advance(self) -> None:
        """Counts the call."""
        self.advanced += 1

    def finish(self) -> None:
        """Counts the call."""
        self.finished += 1


def test_run__that_is_long_says_how_long_and_reports_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LONG_S", 100.0)
    monkeypatch.setattr(interrupts, "POLL_S", 0.002)  # such a run may be over within a tenth of a second
    (tmp_path / "a.toml").write_text(LONG_RUN.format(duration="1000s"))
    reports = Reports()
    mousehole.run(tmp_path / "a.toml", reporter=reports)
    assert re.fullmatch(r"about .*: one run", reports.said[0])
    assert (reports.total, reports.finished) == (100, 1)
    assert 0 < reports.advanced < 100


def test_run__that_takes_longer_than_two_seconds_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "PATIENCE_S", 0.02)
    monkeypatch.setattr(interrupts, "POLL_S", 0.002)
    (tmp_path / "a.toml").write_text(LONG_RUN.format(duration="1000s"))
    reports = Reports()
    mousehole.run(tmp_path / "a.toml", reporter=reports)
    assert len(reports.said) == 1
    monkeypatch.setattr(records, "PATIENCE_S", 10.0)
    quick = Reports()
    (tmp_path / "b.toml").write_text(LONG_RUN.format(duration="1s"))
    mousehole.run(tmp_path / "b.toml", reporter=quick)
    assert (quick.said, quick.finished) == ([], 0)


def test_estimate_run__counts_the_packet_trace() -> None:
    plain_run = mousehole.run({
        "link": {"rate": "10mbit"}, "duration": "20s", "warmup": "1s", "scheme": "droptail",
        "traffic": {"model": "poisson", "load": 0.5},
    })  # fmt: skip
    traced = {**plain_run.scenario, "trace": True}
    without = estimate.estimate_run(plain_run.scenario, None).bytes_per_run
    with_trace = estimate.estimate_run(traced, None).bytes_per_run  # type: ignore[arg-type]
    events = mousehole.run(plain_run.scenario, trace=True).trace
    assert events is not None
    assert with_trace - without == pytest.approx(estimate.BYTES_PER_EVENT * events.height, rel=0.3)
    assert memory.available_bytes() is not None
