"""Runs both test runners, says what was not run, and ends with "N passed, N failed".

A test that was skipped, ignored or printed "NOT RUN" counts neither as passed nor as failed; it is listed.
Where CI is set, or MOUSEHOLE_REQUIRE_DATA=1, anything not run fails the whole.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PYTEST_FOLDERS = ("tests", "python/tests", "papers")


@dataclass
class Tally:
    """What one runner did."""

    runner: str
    passed: int = 0
    failed: int = 0
    not_run: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main() -> int:
    """Run everything, print the summary, keep it in build/tests.json for .ci/run."""
    BUILD.mkdir(exist_ok=True)
    tallies = [timed(run_cargo), timed(run_pytest)]
    report(tallies)
    total = summed(tallies)
    (BUILD / "tests.json").write_text(json.dumps(total.__dict__, indent=1) + "\n")
    print(f"{total.passed} passed, {total.failed} failed")
    return exit_code(total, strict=is_strict())


def is_strict() -> bool:
    """Whether a test that is not run counts against the result."""
    return bool(os.environ.get("CI")) or os.environ.get("MOUSEHOLE_REQUIRE_DATA") == "1"


def exit_code(total: Tally, *, strict: bool) -> int:
    """0 only when something passed, nothing failed and, if strict, nothing was left out."""
    return int(total.failed > 0 or total.passed == 0 or (strict and bool(total.not_run)))


def summed(tallies: Iterable[Tally]) -> Tally:
    """All runners as one."""
    total = Tally("all")
    for tally in tallies:
        total.passed += tally.passed
        total.failed += tally.failed
        total.not_run += tally.not_run
        total.seconds += tally.seconds
    return total


def timed(run: Callable[[], Tally]) -> Tally:
    """One runner's tally with the seconds it took."""
    start = time.monotonic()
    tally = run()
    tally.seconds = time.monotonic() - start
    return tally


def report(tallies: Iterable[Tally]) -> None:
    """One line per runner, then the tests that were not run and why."""
    print()
    for tally in tallies:
        counts = f"{tally.passed:5} passed {tally.failed:4} failed {len(tally.not_run):4} not run"
        print(f"{tally.runner:8}{counts}  {tally.seconds:6.1f} s")
    for tally in tallies:
        for line in tally.not_run:
            print(f"NOT RUN  {line}")


def run_cargo() -> Tally:
    """The Rust and C tests; the full output goes to build/cargo-test.log."""
    print("test: Rust and C (cargo test)", flush=True)
    command = ["cargo", "test", "--locked", "--no-fail-fast", "--", "--show-output"]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    (BUILD / "cargo-test.log").write_text(done.stdout)
    tally = tally_cargo(done.stdout)
    if done.returncode and not tally.failed:
        tally.failed = 1
    if tally.failed:
        print(cargo_troubles(done.stdout))
    return tally


def tally_cargo(output: str) -> Tally:
    """Counts from the output of `cargo test -- --show-output`."""
    tally = Tally("cargo")
    for passed, failed in re.findall(r"^test result: \S+ (\d+) passed; (\d+) failed;", output, re.MULTILINE):
        tally.passed += int(passed)
        tally.failed += int(failed)
    for name, reason in re.findall(r"^test (\S+) \.\.\. ignored(.*)$", output, re.MULTILINE):
        tally.not_run.append(name + reason)
    for name, body in re.findall(r"^---- (\S+) stdout ----\n(.*?)(?=^----|^successes:)", output, re.M | re.S):
        reason = re.search(r"^NOT RUN:? *(.*)$", body, re.MULTILINE)
        if reason:
            tally.passed -= 1
            tally.not_run.append(f"{name}, {reason[1]}")
    return tally


def cargo_troubles(output: str) -> str:
    """Compiler errors and the output of failed tests, without what the passing ones printed."""
    blocks = re.findall(r"^error.*?(?=^\s*$|\Z)", output, re.MULTILINE | re.DOTALL)
    blocks += re.findall(r"^failures:\n\n----.*?(?=^test result)", output, re.MULTILINE | re.DOTALL)
    return "\n".join(blocks or [output[-4000:]])


def run_pytest() -> Tally:
    """The Python tests, those of the repository itself included."""
    print("test: Python (pytest)", flush=True)
    folders = [folder for folder in PYTEST_FOLDERS if (ROOT / folder).is_dir()]
    results = BUILD / "pytest.xml"
    results.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "--continue-on-collection-errors",
        f"--junit-xml={results}",
        *folders,
    ]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    tally = tally_junit(results.read_text()) if results.exists() else Tally("pytest")
    if code and not tally.failed:
        tally.failed = 1
    return tally


def tally_junit(text: str) -> Tally:
    """Counts from a JUnit XML file that pytest wrote."""
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
