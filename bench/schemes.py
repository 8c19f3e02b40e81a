"""Counts what every scheme costs on two cases beside drop-tail; `make bench` calls it after engine.py.

The measure is instructions (callgrind) per data packet that leaves the bottleneck forward. Each program runs
a case for a short and a long simulated time; the difference leaves set-up out. Instructions are the same on
every run, so a limit on them does not fail by noise. Clocks are shown beside them: the ratio of CPU times to
drop-tail's in the same round, with the least and the most of the rounds. Ends with 1 when a scheme takes
more instructions than its bar allows: twice those of drop-tail, or what `BARS` says.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import engine, instructions

ROOT = engine.ROOT
CASES = {"bulk": (5, 45), "web": (20, 220)}
"""Seconds simulated in the short and the long run of each case, for clocks."""
COUNTED = {"bulk": (1, 3), "web": (4, 24)}
"""The same for instructions."""
MOST = 2.0
"""A scheme's instructions over drop-tail's, at most."""
BARS: Mapping[tuple[str, str], float] = {("ns2-sfd", "web"): 5.0, ("ns2-rio", "web"): 5.0}
"""Bars of schemes and cases in place of `MOST`: these walk a list of flows, as the code that they repeat."""
ROUNDS = 3

Costs = dict[str, list[float]]


@dataclass(frozen=True)
class Spread:
    """The median over the rounds, the least and the most."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f}–{self.most:.2f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Counts and measures, prints a table and writes JSON to the folder of bench.json."""
    options = parse(arguments)
    counts = counted_all(options.binary, options.schemes)
    costs = {case: measured(options.binary, case, options.schemes, options.rounds) for case in CASES}
    print_table(counts, costs)
    over_droptail = {case: over(of_case) for case, of_case in counts.items()}
    written = {"instructions_per_packet": counts, "us_per_packet": costs, "over_droptail": over_droptail}
    options.output.write_text(json.dumps(written, indent=2) + "\n")
    missed = misses(over_droptail)
    for line in missed:
        print(f"MISSED   {line}")
    return 1 if missed else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parses the command line: that of engine.py, and the schemes."""
    parser = engine.parser(__doc__, ROUNDS, "bench-schemes.json")
    parser.add_argument("--schemes", nargs="+", default=None)
    options = parser.parse_args(arguments)
    options.schemes = with_droptail(options.schemes or every_scheme())
    return options


def every_scheme() -> list[str]:
    """Returns the schemes of the catalogue, as the installed engine tells."""
    from mousehole import _engine

    return [scheme["name"] for scheme in _engine.schemes()]


def with_droptail(schemes: Sequence[str]) -> list[str]:
    """Returns the schemes with drop-tail in front."""
    return ["droptail", *(scheme for scheme in schemes if scheme != "droptail")]


def counted_all(binary: Path, schemes: Sequence[str]) -> dict[str, dict[str, float]]:
    """Instructions per packet by case and scheme; empty where valgrind is not installed."""
    if not shutil.which("valgrind"):
        print(
            "bench: NOT RUN: instructions by scheme (valgrind is not installed; `make deps` as root does it)"
        )
        return {}
    return {case: {scheme: counted(binary, case, scheme) for scheme in schemes} for case in COUNTED}


def counted(binary: Path, case: str, scheme: str) -> float:
    """Instructions per packet between the short and the long run."""
    commands = [[str(binary), "scheme", case, str(seconds), scheme] for seconds in COUNTED[case]]
    short, long = (instructions.count(command) for command in commands)
    packets = [engine.run_ours(command).packets for command in commands]
    return (long - short) / (packets[1] - packets[0])


def measured(binary: Path, case: str, schemes: Sequence[str], rounds: int) -> Costs:
    """Returns µs of CPU per packet by scheme, one per round."""
    costs: Costs = {scheme: [] for scheme in schemes}
    for number in range(rounds):
        for scheme in schemes:
            costs[scheme].append(cost(binary, case, scheme))
        print(f"bench: {case}: round {number + 1} of {rounds} over {len(schemes)} schemes", flush=True)
    return costs


def cost(binary: Path, case: str, scheme: str) -> float:
    """Returns µs of CPU per packet between the short and the long run."""
    short, long = (
        engine.run_ours([str(binary), "scheme", case, str(seconds), scheme]) for seconds in CASES[case]
    )
    return 1e6 * (long.cpu_s - short.cpu_s) / (long.packets - short.packets)


def over(counts: Mapping[str, float]) -> dict[str, float]:
    """Returns each scheme's instructions over drop-tail's."""
    return {scheme: count / counts["droptail"] for scheme, count in counts.items()}


def ratios(costs: Mapping[str, Sequence[float]]) -> dict[str, Spread]:
    """Returns each scheme's time over drop-tail's in the same round."""
    base = costs["droptail"]
    found = {
        scheme: [own / other for own, other in zip(values, base, strict=True)]
        for scheme, values in costs.items()
    }
    return {scheme: Spread(statistics.median(of), min(of), max(of)) for scheme, of in found.items()}


def misses(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Returns a line for each scheme and case above its bar."""
    return [
        f"{scheme}: {ratio:.2f} times the instructions of drop-tail on {case}, above {bar:g}"
        for case, of_case in rows.items()
        for scheme, ratio in of_case.items()
        if ratio > (bar := BARS.get((scheme, case), MOST))
    ]


def print_table(counts: Mapping[str, Mapping[str, float]], costs: Mapping[str, Costs]) -> None:
    """Prints one line per scheme and case: instructions and times, and both over drop-tail's."""
    print(f"{'scheme':10}{'case':>6}{'instr':>8}{'÷ droptail':>12}{'µs':>8}{'÷ droptail':>20}")
    for case, of_case in costs.items():
        times, numbers = ratios(of_case), counts.get(case, {})
        shares = over(numbers) if numbers else {}
        for scheme, values in of_case.items():
            cells = f"{numbers[scheme]:>8.0f}{shares[scheme]:>12.2f}" if numbers else f"{'-':>8}{'-':>12}"
            row = f"{scheme:10}{case:>6}{cells}{statistics.median(values):>8.3f}"
            print(f"{row}{times[scheme]!s:>20}")


if __name__ == "__main__":
    sys.exit(main())
