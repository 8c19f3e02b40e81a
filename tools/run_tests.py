"""Runs the Rust and the Python tests, lists those that did not run, and prints "N passed, N failed".

`python -m tools.run_tests live` runs those of `mousehole-live` instead, which need root, clang and
libelf. A test that was skipped or ignored, or that printed "NOT RUN:", counts neither as passed nor
as failed; it is listed. Where CI is set, or MOUSEHOLE_REQUIRE_DATA=1, a test that did not run fails
the whole.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools import cargo_tests
from tools.cargo_tests import Outcome, Result

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


@dataclass(frozen=True)
class Suite:
    """Tests that run together: Rust packages, pytest's folders, and the summary file.

    No packages stand for the default members.
    """

    packages: tuple[str, ...]
    folders: tuple[str, ...]
    summary: str
    parallel: bool
    """Whether Python's tests run in parallel, but for those marked `alone`."""


SUITES = {
    "all": Suite((), ("tests", "python/tests"), "tests.json", parallel=True),
    "live": Suite(("mousehole-live",), ("live/tests",), "live-tests.json", parallel=False),
}


@dataclass
class Tally:
    """The numbers of tests by outcome, of one runner."""

    runner: str
    passed: int = 0
    failed: int = 0
    not_run: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main() -> int:
    """Runs a suite, prints the summary and stores it in build/ for .ci/run; returns the exit status.

    It is 1 if a test failed, none passed or, if strict, one did not run. Raises `KeyError` for an unknown
    suite.
    """
    suite = SUITES[sys.argv[1] if len(sys.argv) > 1 else "all"]
    BUILD.mkdir(exist_ok=True)
    tallies = [
        run_timed(lambda: run_cargo(suite.packages)),
        run_timed(lambda: run_pytest(suite.folders, parallel=suite.parallel)),
    ]
    report(tallies)
    total = add_tallies(tallies)
    (BUILD / suite.summary).write_text(json.dumps(total.__dict__, indent=1) + "\n")
    print(f"{total.passed} passed, {total.failed} failed")
    return choose_exit_code(total, strict=is_strict())


def is_strict() -> bool:
    """Returns whether a test that did not run fails the whole.

    It does where CI is set, or MOUSEHOLE_REQUIRE_DATA=1.
    """
    return bool(os.environ.get("CI")) or os.environ.get("MOUSEHOLE_REQUIRE_DATA") == "1"


def choose_exit_code(total: Tally, *, strict: bool) -> int:
    """Returns 0 only if some test passed, none failed and, if strict, all ran; else 1."""
    return int(total.failed > 0 or total.passed == 0 or (strict and bool(total.not_run)))


def add_tallies(tallies: Iterable[Tally], runner: str = "all") -> Tally:
    """Returns the sum of tallies."""
    total = Tally(runner)
    for tally in tallies:
        total.passed += tally.passed
        total.failed += tally.failed
        total.not_run += tally.not_run
        total.seconds += tally.seconds
    return total


def run_timed(run: Callable[[], Tally]) -> Tally:
    """Runs one runner and returns its tally with the duration, s."""
    start = time.monotonic()
    tally = run()
    tally.seconds = time.monotonic() - start
    return tally


def report(tallies: Iterable[Tally]) -> None:
    """Prints a line for each runner, then the tests that did not run with their reasons."""
    print()
    for tally in tallies:
        counts = f"{tally.passed:5} passed {tally.failed:4} failed {len(tally.not_run):4} not run"
        print(f"{tally.runner:8}{counts}  {tally.seconds:6.1f} s")
    for tally in tallies:
        for line in tally.not_run:
            print(f"NOT RUN  {line}")


def run_cargo(packages: Sequence[str]) -> Tally:
    """Runs the Rust and C tests, prints the output of those that failed, and returns their tally.

    Tests that do not compile count as one failure.
    """
    print("test: Rust and C", flush=True)
    try:
        results = cargo_tests.run_all(packages)
    except cargo_tests.BuildError as error:
        print(error)
        return Tally("cargo", failed=1)
    for result in results:
        if result.outcome == Outcome.FAILED:
            print(f"FAILED   {result.label}\n{result.output}\n")
    return tally_cargo(results)


def tally_cargo(results: Iterable[Result]) -> Tally:
    """Returns the numbers of Rust tests by outcome."""
    tally = Tally("cargo")
    for result in results:
        tally.passed += result.outcome == Outcome.PASSED
        tally.failed += result.outcome == Outcome.FAILED
        if result.outcome == Outcome.NOT_RUN:
            tally.not_run.append(f"{result.label}, {result.output}")
    return tally


def run_pytest(folders: Sequence[str], *, parallel: bool) -> Tally:
    """Runs the Python tests of these folders and returns their tally.

    If `parallel`, those marked `alone` run after the others, one at a time.
    """
    print("test: Python", flush=True)
    if not parallel:
        return run_pytest_once(BUILD / "pytest.xml", folders)
    # In the order of the files: by default those with few tests, which are the long ones, would come last.
    order = ["--dist", "loadfile", "--no-loadscope-reorder"]
    at_once = ["-m", "not alone", "--numprocesses", "auto", *order]
    tallies = [
        run_pytest_once(BUILD / "pytest.xml", [*at_once, *folders]),
        run_pytest_once(BUILD / "pytest-alone.xml", ["-m", "alone", *(list_alone(folders) or folders)]),
    ]
    return add_tallies(tallies, "pytest")


def list_alone(folders: Iterable[str]) -> list[str]:
    """Returns the test files of these folders that contain the mark `alone`, to collect only these."""
    files = (file for folder in folders for file in sorted((ROOT / folder).rglob("test_*.py")))
    return [str(file) for file in files if "pytest.mark.alone" in file.read_text(encoding="utf-8")]


def run_pytest_once(results: Path, arguments: Sequence[str]) -> Tally:
    """Runs pytest once and returns its tally; `results` is the file of JUnit XML that it writes.

    An older file is deleted first. A run that fails without a failed test, as one without tests, counts as
    failed.
    """
    results.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "--continue-on-collection-errors",
        f"--junit-xml={results}",
        *arguments,
    ]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    tally = tally_junit(results.read_text()) if results.exists() else Tally("pytest")
    if code and not tally.failed:
        tally.failed = 1
    return tally


def tally_junit(text: str) -> Tally:
    """Returns the numbers of tests in the text of a JUnit XML file that pytest wrote.

    Errors count as failures. Raises `ParseError` for a text that is no XML.
    """
    tally = Tally("pytest")
    for case in ET.fromstring(text).iter("testcase"):  # noqa: S314 -- our own runner wrote it
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed += 1
        elif skipped is not None:
            tally.not_run.append(f"{case.get('classname')}.{case.get('name')}, {skipped.get('message')}")
        else:
            tally.passed += 1
    return tally


if __name__ == "__main__":
    sys.exit(main())
