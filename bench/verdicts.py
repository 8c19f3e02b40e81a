"""Measures the CPU time that a verdict costs: `make bench WHAT=verdicts`.

A verdict is the finding of a scheme's mean response time of short transfers against the baseline. Its
interval narrows with the square root of the work, so the CPU time of a command is scaled to intervals of
± 5 percentage points: what is compared is time at equal width, however many replications a command makes.
Start-up and the account that the command prints are included.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import ROOT

CASES = (
    "compare home --down 20mbit --up 1mbit",
    "compare office --down 50mbit --up 10mbit",
    "compare web:sfd --rate 5mbit --load 0.9",
    "compare web:sfd --rate 3mbit --rtt 80ms --buffer 50p --load 0.9 --duration 120s --seeds 5 --schemes "
    "droptail,red,fq-codel,cake,sfd(mode=coupled),s-sfd,rio-ps,shred,lfp,excess-cake,pias,srpt",
    "compare poisson --rate 10mbit --load 0.8",
)
"""The README's commands and their like."""
ENDPOINT = "short_response_mean_s"
HALF_WIDTH = 0.05
"""Half-width of an interval, as a share, to which CPU time is scaled."""


@dataclass(frozen=True)
class Cost:
    """What a command took, and how wide its intervals are."""

    cpu_s: float
    wall_s: float
    half_widths: list[float]
    """Of each verdict, as a share."""

    def verdict_s(self) -> float:
        """Returns the CPU seconds of a verdict whose interval has the half-width `HALF_WIDTH`.

        There must be at least one verdict; raises `StatisticsError` otherwise.
        """
        mean_square = statistics.fmean(one**2 for one in self.half_widths)
        return self.cpu_s * mean_square / HALF_WIDTH**2 / len(self.half_widths)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures every case in rounds and prints a table; returns 0.

    Raises `CalledProcessError` if a command fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mousehole", type=Path, default=ROOT / ".venv" / "bin" / "mousehole")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    print("| command | CPU s | wall s | verdicts | half-width, points | CPU s per verdict at ± 5 points |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        costs = [measure(case, options.mousehole) for _ in range(options.rounds)]
        print(format_row(case, costs), flush=True)
    return 0


def measure(case: str, program: Path) -> Cost:
    """Runs a command once in a child and returns its cost; raises `CalledProcessError` if it fails."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        used_s, began_s = read_used_s(), time.monotonic()
        subprocess.run([program, *case.split(), "--json", file.name], capture_output=True, check=True)
        cpu_s, wall_s = read_used_s() - used_s, time.monotonic() - began_s
        document: dict[str, Any] = json.loads(Path(file.name).read_text("utf-8"))
    return Cost(cpu_s, wall_s, list_half_widths(document))


def list_half_widths(document: dict[str, Any]) -> list[float]:
    """Returns the half-width of the interval of every verdict of a comparison's document, as a share.

    Findings without an interval are left out.
    """
    findings = [one for cell in document["cells"] for one in cell["findings"] if one["endpoint"] == ENDPOINT]
    return [(one["change_high"] - one["change_low"]) / 2 for one in findings if one["change_low"] is not None]


def format_row(case: str, costs: Sequence[Cost]) -> str:
    """Returns a line of the table: medians of the rounds, of the last column with its range.

    There must be at least one round, with an interval.
    """
    cpu_s, wall_s = (
        statistics.median(one.cpu_s for one in costs),
        statistics.median(one.wall_s for one in costs),
    )
    widths, each_s = costs[0].half_widths, sorted(one.verdict_s() for one in costs)
    points = 100 * statistics.fmean(widths)
    spread = f"{statistics.median(each_s):.2f} ({each_s[0]:.2f}–{each_s[-1]:.2f})"
    return f"| `{case}` | {cpu_s:.1f} | {wall_s:.1f} | {len(widths)} | {points:.1f} | {spread} |"


def read_used_s() -> float:
    """Returns the CPU seconds of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
