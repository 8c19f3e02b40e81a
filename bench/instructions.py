"""Counts the instructions of fixed cases under callgrind and compares them with sim/instructions.txt.

Instructions are not time, but they are the same on every run and every machine of a kind, so that a rise
of a few per cent shows where clocks only show noise. `make instructions` compares, `make
bless-instructions` renews the file. Ends with 1 when a case rose beyond the bar, 2 when it could not
count. A fall beyond the bar is told and fails nothing: it is no regression, but once it is recorded a
rise back is.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import BINARY, ROOT

RECORD = ROOT / "sim" / "instructions.txt"
BAR = 0.03
BAR_OTHER_COMPILER = 0.10
HEAD = """\
# Instructions of fixed cases of mousehole-bench under callgrind, compared by make instructions.
# web-set-up is the web case cut after 1 simulated second, web is what comes after that.
# Written by make instructions BLESS=1.
"""


@dataclass(frozen=True)
class Case:
    """A run of mousehole-bench; the instructions of a shorter run `without` are subtracted from its count."""

    name: str
    command: tuple[str, ...]
    without: tuple[str, ...] = ()


CASES = (
    Case("bulk", ("bulk", "2")),
    Case("web-set-up", ("web", "1")),
    Case("web", ("web", "20"), without=("web", "1")),
)


@dataclass(frozen=True)
class Counts:
    """The instructions by case, and the compiler that made the program."""

    rustc: str
    instructions: Mapping[str, int]

    def text(self) -> str:
        """Returns the counts in the format of the file."""
        lines = [f"{name} {count}\n" for name, count in self.instructions.items()]
        return HEAD + f"rustc {self.rustc}\n" + "".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Counts the instructions, then compares them with the record or renews it; returns the exit status.

    It is 1 if a case rose beyond the bar, 2 if there is no record. Without valgrind it is 0, but 2 if CI is
    set.
    """
    options = parse_arguments(arguments)
    if not shutil.which("valgrind"):
        print("NOT RUN  instructions: valgrind is not installed; `make deps` as root installs it")
        return 2 if os.environ.get("CI") else 0
    counts = Counts(read_compiler(), count_all(options.binary))
    if options.bless:
        options.record.write_text(counts.text())
        print(f"instructions: {options.record.name} renewed for rustc {counts.rustc}")
        return 0
    if not options.record.exists():
        print(f"instructions: there is no {options.record.name}; make instructions BLESS=1 writes it")
        return 2
    faults = list(compare(counts, parse_record(options.record.read_text())))
    print("\n".join(faults) or "instructions: as recorded")
    return 1 if faults else 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--binary", type=Path, default=BINARY)
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--bless", action="store_true", help="renew the record instead of comparing")
    return parser.parse_args(arguments)


def read_compiler() -> str:
    """Returns the version of the Rust compiler in use, without its name.

    Raises `OSError` or `CalledProcessError` without a compiler.
    """
    done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.removeprefix("rustc ").strip()


def count_all(binary: Path) -> dict[str, int]:
    """Returns the instructions of every case; each command runs once, and the program ends if one fails."""
    commands = {case.command for case in CASES} | {case.without for case in CASES if case.without}
    taken = {command: count_instructions([str(binary), *command]) for command in sorted(commands)}
    return {case.name: taken[case.command] - taken.get(case.without, 0) for case in CASES}


def count_instructions(command: Sequence[str]) -> int:
    """Returns the instructions of one run; ends the program if it fails.

    The environment is nearly empty, since the loader reads it, which costs instructions.
    """
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    done = subprocess.run(valgrind, capture_output=True, text=True, check=False, env=environment)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not collected:
        raise SystemExit(f"instructions: {' '.join(valgrind)} failed:\n{done.stderr[-2000:]}")
    return int(collected[1])


def parse_record(text: str) -> Counts:
    """Returns the counts in the text of the record; raises `KeyError` without the compiler."""
    fields = dict(line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return Counts(fields.pop("rustc"), {name: int(number) for name, number in fields.items()})


def compare(now: Counts, then: Counts) -> Iterator[str]:
    """Prints one line per case and yields a line for each rise beyond the bar.

    The bar is higher if the compilers differ, which is printed too. Where the record has other cases, it
    yields only a line that says so.
    """
    bar = BAR if now.rustc == then.rustc else BAR_OTHER_COMPILER
    if now.rustc != then.rustc:
        print(f"instructions: recorded with rustc {then.rustc}, now it is {now.rustc}: ±{bar:.0%} is allowed")
    if now.instructions.keys() != then.instructions.keys():
        yield "instructions: the record has other cases; make instructions BLESS=1 renews it"
        return
    for name, number in now.instructions.items():
        change = number / then.instructions[name] - 1
        print(f"{name:12}{number:>15,} instructions{change:+9.2%}")
        if change > bar:
            yield f"FAILED   {name}: {change:+.1%}, at most {bar:+.0%} is allowed"
        elif change < -bar:
            print(f"{name}: {change:+.1%} is good; make instructions BLESS=1 records it")


if __name__ == "__main__":
    sys.exit(main())
