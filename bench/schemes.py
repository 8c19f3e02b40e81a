"""Measures the cost of every scheme on two cases against drop-tail; `make bench` calls it after engine.py.

The measure is instructions (callgrind) per data packet that leaves the bottleneck forward. Each
program runs a case for a short and a long simulated time; the difference leaves set-up out.
Instructions are the same on every run, so a limit on them does not fail by noise. CPU times are
shown too: the ratio to drop-tail's in the same round, with the minimum and the maximum of the
rounds. Ends with 1 if a scheme takes more instructions than its bar allows: twice those of
drop-tail, or the value in `BARS`.
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
    """The median over the rounds, the minimum and the maximum."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        """Returns the median, with the minimum and the maximum in brackets."""
        return f"{self.median:.2f} ({self.least:.2f}–{self.most:.2f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Counts and measures, prints a table and writes JSON to the folder of bench.json.

    Returns 1 if a scheme exceeds its bar, else 0.
    """
    options = parse_arguments(arguments)
    counts = count_all(options.binary, options.schemes)
    costs = {case: measure_costs(options.binary, case, options.schemes, options.rounds) for case in CASES}
    print_table(counts, costs)
    over_droptail = {case: relate_to_droptail(of_case) for case, of_case in counts.items()}
    written = {"instructions_per_packet": counts, "us_per_packet": costs, "over_droptail": over_droptail}
    options.output.write_text(json.dumps(written, indent=2) + "\n")
    missed = list_misses(over_droptail)
    for line in missed:
        print(f"MISSED   {line}")
    return 1 if missed else 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options of the command line: those of engine.py, and the schemes, drop-tail first."""
    parser = engine.make_parser(__doc__, ROUNDS, "bench-schemes.json")
    parser.add_argument("--schemes", nargs="+", default=None)
    options = parser.parse_args(arguments)
    options.schemes = put_droptail_first(options.schemes or list_schemes())
    return options


def list_schemes() -> list[str]:
    """Returns the names of the schemes in the installed engine's catalogue."""
    from mousehole import _engine

    return [scheme["name"] for scheme in _engine.schemes()]


def put_droptail_first(schemes: Sequence[str]) -> list[str]:
    """Returns the schemes with drop-tail at the front, once."""
    return ["droptail", *(scheme for scheme in schemes if scheme != "droptail")]


def count_all(binary: Path, schemes: Sequence[str]) -> dict[str, dict[str, float]]:
    """Returns the instructions per packet by case and scheme; empty if valgrind is not installed.

    That is printed then. Ends the program if a run fails.
    """
    if not shutil.which("valgrind"):
        print(
            "bench: NOT RUN: instructions by scheme (valgrind is not installed; `make deps` as root does it)"
        )
        return {}
    return {case: {scheme: count_per_packet(binary, case, scheme) for scheme in schemes} for case in COUNTED}


def count_per_packet(binary: Path, case: str, scheme: str) -> float:
    """Returns the instructions per packet between the short and the long run.

    Ends the program if a run fails.
    """
    commands = [[str(binary), "scheme", case, str(seconds), scheme] for seconds in COUNTED[case]]
    short, long = (instructions.count_instructions(command) for command in commands)
    packets = [engine.run_ours(command).packets for command in commands]
    return (long - short) / (packets[1] - packets[0])


def measure_costs(binary: Path, case: str, schemes: Sequence[str], rounds: int) -> Costs:
    """Returns µs of CPU per packet by scheme, one value per round; ends the program if a run fails.

    Prints a line after each round.
    """
    costs: Costs = {scheme: [] for scheme in schemes}
    for number in range(rounds):
        for scheme in schemes:
            costs[scheme].append(measure_cost(binary, case, scheme))
        print(f"bench: {case}: round {number + 1} of {rounds} over {len(schemes)} schemes", flush=True)
    return costs


def measure_cost(binary: Path, case: str, scheme: str) -> float:
    """Returns µs of CPU per packet between the short and the long run."""
    short, long = (
        engine.run_ours([str(binary), "scheme", case, str(seconds), scheme]) for seconds in CASES[case]
    )
    return 1e6 * (long.cpu_s - short.cpu_s) / (long.packets - short.packets)


def relate_to_droptail(counts: Mapping[str, float]) -> dict[str, float]:
    """Returns the ratio of each scheme's instructions to drop-tail's; raises `KeyError` without drop-tail."""
    return {scheme: count / counts["droptail"] for scheme, count in counts.items()}


def compute_ratios(costs: Mapping[str, Sequence[float]]) -> dict[str, Spread]:
    """Returns the ratio of each scheme's time to drop-tail's in the same round, over the rounds.

    Raises `KeyError` without drop-tail.
    """
    base = costs["droptail"]
    found = {
        scheme: [own / other for own, other in zip(values, base, strict=True)]
        for scheme, values in costs.items()
    }
    return {scheme: Spread(statistics.median(of), min(of), max(of)) for scheme, of in found.items()}


def list_misses(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Returns a line for each scheme and case above its bar."""
    return [
        f"{scheme}: {ratio:.2f} times the instructions of drop-tail on {case}, above {bar:g}"
        for case, of_case in rows.items()
        for scheme, ratio in of_case.items()
        if ratio > (bar := BARS.get((scheme, case), MOST))
    ]


def print_table(counts: Mapping[str, Mapping[str, float]], costs: Mapping[str, Costs]) -> None:
    """Prints a line for each scheme and case: instructions, times, and their ratios to drop-tail's."""
    print(f"{'scheme':10}{'case':>6}{'instr':>8}{'÷ droptail':>12}{'µs':>8}{'÷ droptail':>20}")
    for case, of_case in costs.items():
        times, numbers = compute_ratios(of_case), counts.get(case, {})
        shares = relate_to_droptail(numbers) if numbers else {}
        for scheme, values in of_case.items():
            cells = f"{numbers[scheme]:>8.0f}{shares[scheme]:>12.2f}" if numbers else f"{'-':>8}{'-':>12}"
            row = f"{scheme:10}{case:>6}{cells}{statistics.median(values):>8.3f}"
            print(f"{row}{times[scheme]!s:>20}")


if __name__ == "__main__":
    sys.exit(main())
