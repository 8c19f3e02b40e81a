"""Runs every Rust test in its own process and prints the outcomes as JSON lines.

Cargo reports as JSON which test programs it built, `--list` names their tests, and the exit code of
each run is the outcome; nothing is parsed from prose. A test that prints a line `NOT RUN: reason`
counts as not run. The documentation tests are one run, because rustdoc starts them itself. `python
-m tools.cargo_tests` prints the lines; `make test` and `make validation` use them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO", "cargo")
NOT_RUN = "NOT RUN:"

SEEDS = {"PROPTEST_RNG_SEED": "1"}
"""Property tests draw the same cases in every run, as Hypothesis does where CI is set.

The caller's environment wins.
"""


class Outcome(StrEnum):
    """The outcome of a test."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Program:
    """A test program: its package, the name of its target, its path, and the working folder of its tests."""

    package: str
    target: str
    path: str
    folder: str


@dataclass(frozen=True)
class Result:
    """The result of one test: `name` with its modules, and `output`, or the reason if it was not run."""

    package: str
    target: str
    name: str
    outcome: Outcome
    output: str = ""
    seconds: float = 0.0

    @property
    def label(self) -> str:
        """Returns package, target and name of the test, separated by spaces."""
        return f"{self.package} {self.target} {self.name}"


class BuildError(Exception):
    """The tests do not compile; the message is the compiler's output."""


def run_all(packages: Sequence[str] = ()) -> list[Result]:
    """Builds and runs all tests of these packages, by default of the default members.

    Tests run side by side, one for each core. Raises `BuildError` if they do not compile.
    """
    programs = build(packages)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(list_tests, programs))
        runs = [
            (program, test, test in ignored)
            for program, (tests, ignored) in zip(programs, found, strict=True)
            for test in tests
        ]
        results = list(pool.map(lambda one: run(*one), runs))
    return results + run_doc_tests(packages)


def build(packages: Sequence[str] = ()) -> list[Program]:
    """Compiles the tests of these packages, by default of the default members, and returns their programs.

    Raises `BuildError` if they do not compile.
    """
    command = [CARGO, "test", "--locked", "--no-run", "--message-format=json-render-diagnostics"]
    command += [f"--package={package}" for package in packages]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(done.stderr)
    return list(list_programs(done.stdout.splitlines()))


def list_programs(messages: Iterable[str]) -> Iterator[Program]:
    """Yields the test programs that Cargo's JSON messages name.

    Raises `ValueError` for a line that is no JSON.
    """
    for line in messages:
        message = json.loads(line)
        if (
            message["reason"] == "compiler-artifact"
            and message.get("executable")
            and message["profile"]["test"]
        ):
            folder = Path(message["manifest_path"]).parent
            target = message["target"]["name"]
            yield Program(
                parse_package_name(message["package_id"]), target, message["executable"], str(folder)
            )


def parse_package_name(identifier: str) -> str:
    """Returns the name in a package's id.

    Such an id is `path+file:///…/sim#mousehole-sim@0.1.0` or `…/policy#0.1.0`.
    """
    path, _, rest = identifier.partition("#")
    name, at, _ = rest.partition("@")
    return name if at else path.rsplit("/", 1)[1]


def list_tests(program: Program) -> tuple[list[str], set[str]]:
    """Returns the names of a program's tests, and of those that are ignored."""
    return list_names(program, ()), set(list_names(program, ("--ignored",)))


def list_names(program: Program, options: Sequence[str]) -> list[str]:
    """Returns the test names that `--list` prints; raises `CalledProcessError` if the program fails."""
    command = [program.path, "--list", "--format", "terse", *options]
    done = subprocess.run(command, cwd=program.folder, capture_output=True, text=True, check=True)
    return [line.removesuffix(": test") for line in done.stdout.splitlines() if line.endswith(": test")]


def run(program: Program, name: str, is_ignored: bool) -> Result:
    """Runs one test and returns its result; an ignored one is only reported as not run.

    The caller's variables win over `SEEDS`. There is no time limit.
    """
    if is_ignored:
        return Result(program.package, program.target, name, Outcome.NOT_RUN, "ignored")
    start = time.monotonic()
    command = [program.path, "--exact", name, "--show-output"]
    environment = {**SEEDS, **os.environ, "CARGO_MANIFEST_DIR": program.folder}
    done = subprocess.run(
        command, cwd=program.folder, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - start
    said = extract_output(name, done.stdout)
    reason = find_not_run_reason(f"{said}\n{done.stderr}")
    if done.returncode:
        said = f"{said}\n{done.stderr}".strip() or f"ended with {done.returncode}"
        return Result(program.package, program.target, name, Outcome.FAILED, said, seconds)
    if reason is not None:
        return Result(program.package, program.target, name, Outcome.NOT_RUN, reason, seconds)
    return Result(program.package, program.target, name, Outcome.PASSED, said, seconds)


def extract_output(name: str, output: str) -> str:
    """Returns the output of a test: the block under its name, up to libtest's own summary.

    It is empty if the test printed nothing.
    """
    block = output.partition(f"\n---- {name} stdout ----\n")[2]
    for summary in ("\n\nsuccesses:\n", "\n\nfailures:\n"):
        block = block.partition(summary)[0]
    return block.strip()


def find_not_run_reason(output: str) -> str | None:
    """Returns the reason after `NOT RUN:` at the start of a line, or None without such a line."""
    lines = (line for line in output.splitlines() if line.startswith(NOT_RUN))
    return next((line.removeprefix(NOT_RUN).strip() for line in lines), None)


def run_doc_tests(packages: Sequence[str] = ()) -> list[Result]:
    """Runs the documentation tests of these packages together; if one fails, all count as failed.

    Returns nothing where there are none. The packages are named together as in `build`: Cargo unifies the
    features of libraries over all named packages, so package by package each library would be compiled again.
    """
    command = [CARGO, "test", "--quiet", "--locked", "--doc", *(f"--package={one}" for one in packages)]
    found = subprocess.run(
        [*command, "--", "--list", "--format", "terse"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    tests = [line.removesuffix(": test") for line in found.stdout.splitlines() if line.endswith(": test")]
    if found.returncode == 0 and not tests:
        return []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    outcome = Outcome.FAILED if done.returncode else Outcome.PASSED
    said = (done.stdout + done.stderr).strip() if done.returncode else ""
    return [Result("workspace", "doc", name, outcome, said) for name in tests or ["documentation tests"]]


def main() -> int:
    """Prints a line of JSON for each test; returns 1 if the tests do not compile."""
    try:
        results = run_all()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    for result in results:
        print(json.dumps(asdict(result), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
