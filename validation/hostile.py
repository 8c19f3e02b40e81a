"""Runs damaged and odd inputs against the command line, by kind, and counts how each run ends.

`make validation WHAT=hostile` makes `--tries` command lines with their files from `--seed`, runs
each in its own process, and writes the table of docs/reliability.md with `--write`. A try is at
fault if it ends by a traceback, a signal or not at all, with another status than 0 or 2, without a
sentence, or with several; if it leaves a file that it did not finish or changes an input; and if it
succeeds where it must be refused. The last line counts the faults.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import pathlib
import pkgutil
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mousehole.base import escape_controls

from tools import document
from validation import hostile_cases
from validation.hostile_try import STEERING, Try

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
KEPT = ROOT / "build" / "hostile.json"
"""Counts of the kinds that were tried one by one, until all are there."""
WAIT_S = 60.0
LONGEST_LINE = 1600
"""Characters of a sentence; a value is cut in it."""
MOVES = re.compile("\x1b\\[[?0-9;]*[A-Za-z]")
"""What a progress bar writes where colours are asked for."""
FAULTS = (
    "traceback", "signal", "no end", "wrong status", "no sentence", "several lines", "raw control characters",
    "half-written", "input changed", "silent success",
)  # fmt: skip


@dataclass(frozen=True)
class Ending:
    """The end of a try: exit status, output and files.

    The status is negative for a signal, and None if the program was still running.
    """

    status: int | None
    """None if it had to be killed; negative for a signal."""
    out: bytes
    err: str
    new_files: dict[str, bytes]
    is_input_changed: bool


def list_faults(tried: Try, ended: Ending) -> list[str]:
    """Returns the names of the faults in the end of a try, in the order of `FAULTS`."""
    shown = ended.err + ended.out.decode("utf-8", "surrogateescape")
    checks = {
        "traceback": "Traceback (most recent" in ended.err
        or "panicked at" in ended.err
        or ended.status == 70,
        "signal": ended.status is not None and ended.status < 0,
        "no end": ended.status is None,
        "wrong status": (ended.status or 0) >= 0 and ended.status not in (None, 70, *tried.statuses),
        "no sentence": ended.status in (1, 2) and not ended.err.strip(),
        "several lines": ended.status in (1, 2) and not _is_sentence(ended.err),
        "raw control characters": any(mark in shown for mark in STEERING),
        "half-written": any(_is_unfinished(name, content) for name, content in ended.new_files.items()),
        "input changed": ended.is_input_changed,
        "silent success": ended.status == 0 and tried.is_refused,
    }
    return [name for name in FAULTS if checks[name]]


def _is_sentence(err: str) -> bool:
    """Returns whether exactly one line, not too long, is an error; notes and warnings may precede it."""
    lines = MOVES.sub("", err).splitlines()
    errors = [line for line in lines if line.startswith("mousehole: error: ")]
    return len(errors) == 1 and len(errors[0]) <= LONGEST_LINE


def _is_unfinished(name: str, content: bytes) -> bool:
    """Returns whether an output file is unfinished, by its name, its end, or as JSON that cannot be read."""
    if ".part" in name:
        return True
    if name.endswith(".json"):
        try:
            json.loads(content)
        except ValueError:
            return True
    ends = {".html": b"</html>", ".svg": b"</svg>", ".png": b"IEND\xaeB`\x82", ".parquet": b"PAR1"}
    end = next((end for suffix, end in ends.items() if name.endswith(suffix)), b"")
    return not content.rstrip(b"\n").endswith(end)


def run_try(tried: Try, folder: Path) -> Ending:
    """Runs a try in `folder`, which is empty, in a process forked from this one; returns its end.

    Outputs go into files `out` and `err` next to the folder. A try with `kill_after_s` is first killed at
    that time; it ends there if a file is then unfinished, else it is run again.
    """
    for name, content in tried.files.items():
        (folder / name).write_bytes(content)
    for name, target in tried.links.items():
        (folder / name).symlink_to(target)
    before = _hash_files(folder)
    out, err = folder.parent / "out", folder.parent / "err"
    if tried.kill_after_s is not None:
        _wait_for_status(_fork(tried, folder, out, err), tried.kill_after_s)
        killed = {name for name in _hash_files(folder) if ".part" not in name and name not in before}
        half = {name: (folder / name).read_bytes() for name in killed}
        if any(_is_unfinished(name, content) for name, content in half.items()):
            return Ending(0, b"", "", half, False)
    status = _wait_for_status(_fork(tried, folder, out, err), WAIT_S)
    after = _hash_files(folder)
    known = set(before) | {out.name, err.name}
    new = {name: (folder / name).read_bytes() for name in after if name not in known}
    text = err.read_bytes().decode("utf-8", "surrogateescape")
    changed = any(after.get(name) != digest for name, digest in before.items() if name not in tried.outputs)
    return Ending(status, out.read_bytes(), text, new, changed)


def _fork(tried: Try, folder: Path, out: Path, err: Path) -> int:
    """Forks a process that runs a try; returns its process id, for which the caller waits."""
    child = os.fork()
    if child == 0:
        _run_child(tried, folder, out, err)
    return child


def _run_child(tried: Try, folder: Path, out: Path, err: Path) -> None:
    """Runs the try in this forked process and ends the process with its status; it does not return.

    Sets limits, environment, standard streams and folder of the process.
    """
    os.setsid()
    os.chdir(folder)
    for number, place in ((1, out), (2, err)):
        os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    sys.argv = ["mousehole", *tried.words]
    for name, value in tried.environment.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    time.tzset()
    for which, most in tried.limits:
        resource.setrlimit(which, (most, most))
    status = 70
    try:
        if tried.code:
            status = _play_code(tried.code)
        else:
            from mousehole.commands.launcher import main

            main()
            status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                status = status or 1
        os._exit(status)


def _play_code(code: str) -> int:
    """Runs Python code as a user's program would be; returns the exit status of a command with that error.

    A `MouseholeError` goes to standard error and gives 2, success gives 0. Other exceptions pass.
    """
    import datetime
    import decimal

    import duckdb
    import mousehole
    import numpy
    import pandas
    import polars
    import pyarrow  # type: ignore[import-untyped]
    from mousehole.base import MouseholeError

    known = {
        "mousehole": mousehole, "polars": polars, "pandas": pandas, "pyarrow": pyarrow, "duckdb": duckdb,
        "numpy": numpy, "datetime": datetime, "decimal": decimal, "pathlib": pathlib, "quit_well": sys.exit,
    }  # fmt: skip
    try:
        exec(code, known)  # noqa: S102 (our own)
    except MouseholeError as error:
        print(f"mousehole: error: {escape_controls(str(error))}", file=sys.stderr)
        return 2
    return 0


def _wait_for_status(child: int, wait_s: float) -> int | None:
    """Returns the exit status of a child, negative for a signal; kills it and returns None after `wait_s`.

    Its process group is killed with it.
    """
    begin = time.monotonic()
    while time.monotonic() - begin < wait_s:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    with suppress(ProcessLookupError):  # it has no group of its own yet
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _hash_files(folder: Path) -> dict[str, str]:
    """Returns the SHA-256 of each file directly in a folder, by name, without symbolic links."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file() and not path.is_symlink()
    }


def run_tries(tries: Sequence[Try], shown: int = 20) -> tuple[dict[str, int], dict[str, Counter[str]]]:
    """Runs all tries and prints the first `shown` that have a fault.

    Returns the number of tries, and the count of each fault, by kind. Each try has a temporary folder of its
    own; those with limits are run first.
    """
    counts: Counter[str] = Counter()
    found: dict[str, Counter[str]] = defaultdict(Counter)
    # Limits also hold while modules are loaded, so that these tries load all but the first on their own.
    from mousehole.commands import launcher  # noqa: F401

    for tried in sorted(tries, key=lambda tried: not tried.limits):
        if not tried.limits:
            _load_all()
        counts[tried.kind] += 1
        with tempfile.TemporaryDirectory(prefix="hostile-") as name:
            folder = Path(name) / "work"
            folder.mkdir()
            ended = run_try(tried, folder)
        faults = list_faults(tried, ended)
        found[tried.kind].update(faults)
        if faults and shown > 0:
            shown -= 1
            words = " ".join(word if len(word) < 80 else f"{word[:60]}…" for word in tried.words)
            words = words or tried.code[-300:]
            print(f"{', '.join(faults)}: {words!r} -> {ended.status}: {ended.err[-400:]!r}", flush=True)
    return dict(counts), found


@cache
def _load_all() -> None:
    """Imports every module that commands import lazily, once, since each try is forked from this process."""
    import altair  # noqa: F401
    import duckdb  # noqa: F401
    import mousehole
    import pandas  # noqa: F401

    for module in pkgutil.walk_packages(mousehole.__path__, "mousehole."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def list_table_lines(counts: dict[str, int], found: dict[str, Counter[str]]) -> list[str]:
    """Returns the lines of a Markdown table with a row for each kind."""
    lines = ["| kind | tried | at fault |", "|---|---|---|"]
    for kind, count in counts.items():
        said = ", ".join(f"{number} {fault}" for fault, number in found[kind].most_common()) or "0"
        lines.append(f"| {kind} | {count} | {said} |")
    return lines


def write_summary(counts: dict[str, int], found: dict[str, Counter[str]]) -> str:
    """Returns the last line: the number of tries, and that of tries with each fault."""
    total = sum(found.values(), Counter[str]())
    return f"{sum(counts.values())} tries: " + ", ".join(f"{total[name]} {name}" for name in FAULTS)


def _add_kept_counts(
    options: argparse.Namespace, counts: dict[str, int], found: dict[str, Counter[str]]
) -> tuple[dict[str, int], dict[str, Counter[str]]]:
    """Returns the counts merged with those that earlier runs of the same tries stored for other kinds.

    Stores all in the file `KEPT`; without `--kind`, those of earlier runs are dropped.
    """
    KEPT.parent.mkdir(exist_ok=True)
    name = f"{options.tries} {options.seed}"
    kept: dict[str, dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    rows = kept.setdefault(name, {}) if options.kind else {}
    rows |= {kind: {"tried": count, "faults": dict(found[kind])} for kind, count in counts.items()}
    KEPT.write_text(json.dumps(kept | {name: rows}, indent=1), encoding="utf-8")
    rows = {kind: rows[kind] for kind in hostile_cases.KINDS if kind in rows}
    all_found = defaultdict(Counter, {kind: Counter(row["faults"]) for kind, row in rows.items()})
    return {kind: row["tried"] for kind, row in rows.items()}, all_found


def main() -> None:
    """Runs the tries, prints the table, and writes it into the document if asked.

    Exits with 1 at any fault, else with 0.
    """
    parser = argparse.ArgumentParser(prog="make validation WHAT=hostile", description=__doc__)
    parser.add_argument("--tries", type=int, default=2900)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", help="only this kind; its row is added to those of earlier runs")
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    options = parser.parse_args()
    tries = hostile_cases.draw_tries(options.tries, options.seed)
    counts, found = run_tries([one for one in tries if options.kind in (None, one.kind)])
    counts, found = _add_kept_counts(options, counts, found)
    lines = list_table_lines(counts, found)
    print("\n".join([*lines, "", write_summary(counts, found)]))
    if options.write:
        said = f"`make validation WHAT=hostile ARGS='--tries {options.tries} --seed {options.seed} --write'`:"
        text = "\n".join([said, write_summary(counts, found).replace(": ", ":\n", 1) + ".", "", *lines])
        document.renew(PAGE, "validation WHAT=hostile", text + "\n")
    sys.exit(1 if any(found.values()) else 0)


if __name__ == "__main__":
    main()
