"""Compares the CPU time of two wheels on common commands: `make bench WHAT=wheels ARGS='A.whl B.whl'`.

Each command runs under both in turns. The ratio of the second wheel's CPU time to the first's is
printed, start-up included: the median over the rounds, and the range. Both must give the same
results.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.verdicts import read_used_s

CASES = (
    "web:sfd --rate 5mbit --load 0.9 --duration 200s --warmup 20s",
    "poisson --rate 10mbit --load 0.9 --duration 60s --warmup 10s",
    "web:rio-ps --rate 10mbit --load 0.8 --duration 60s --warmup 10s",
    "home --down 20mbit --up 1mbit --duration 200s --warmup 20s",
)
SHARED = "--seeds 3 --jobs 1 --schemes droptail,sfd,fq-codel,cake,excess-cake"


def main(arguments: Sequence[str] | None = None) -> int:
    """Times all cases; returns 1 if a case gave different results under the two wheels, else 0.

    The wheels are unpacked into a temporary folder.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("wheels", nargs=2, type=Path, metavar="WHEEL")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    differs = False
    with tempfile.TemporaryDirectory() as folder:
        sites = [unpack(wheel, Path(folder) / name) for wheel, name in zip(options.wheels, "ab", strict=True)]
        for case in CASES:
            rounds = [play(case, sites, is_even=number % 2 == 0) for number in range(options.rounds)]
            ratios = sorted(second / first for (first, second), _ in rounds)
            print(f"{statistics.median(ratios):.3f} ({ratios[0]:.3f}–{ratios[-1]:.3f})  {case}", flush=True)
            differs |= any(one != other for _, (one, other) in rounds)
    if differs:
        print("wheels: a case has other results under the second wheel")
    return int(differs)


def unpack(wheel: Path, folder: Path) -> Path:
    """Unpacks a wheel into a folder, which it returns."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def play(case: str, sites: Sequence[Path], is_even: bool) -> tuple[list[float], list[Any]]:
    """Returns CPU seconds and results of a case under each wheel, in the order of `sites`.

    In even rounds the first wheel runs first, in odd ones the second.
    """
    found = {site: compare(case, site) for site in (sites if is_even else reversed(sites))}
    return [found[site][0] for site in sites], [found[site][1] for site in sites]


def compare(case: str, site: Path) -> tuple[float, Any]:
    """Returns the CPU seconds of a comparison, and its document without the build's name.

    Raises `CalledProcessError` if it fails.
    """
    before = read_used_s()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, "-m", "mousehole", "compare", *case.split(), *SHARED.split()]
        command += ["--json", file.name]
        environment = {**os.environ, "PYTHONPATH": str(site)}
        subprocess.run(command, env=environment, capture_output=True, check=True)
        document = json.loads(Path(file.name).read_text("utf-8"))
    document["manifest"].pop("git_revision")
    return read_used_s() - before, document


if __name__ == "__main__":
    sys.exit(main())
