"""Times every scheme on two cases beside drop-tail in the same rounds; `make bench` calls it after bench.py.

The measure is bench.py's: µs of CPU per data packet that leaves the bottleneck forward, set-up left out. Each
round runs every scheme once; the ratio to drop-tail is taken within the round, and its median is shown. Ends
with 1 when a scheme costs more than twice drop-tail and docs/performance.md does not name it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools import bench

ROOT = bench.ROOT
CASES = {"bulk": (5, 45), "web": (20, 220)}
"""Seconds simulated in the short and the long run of each case."""
MOST = 2.0
"""A scheme's cost over drop-tail's that needs no word in the docs."""
ROUNDS = 3

Costs = dict[str, list[float]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints a table and writes JSON to the folder of bench.json."""
    options = parse(arguments)
    costs = {case: measured(options.binary, case, options.schemes, options.rounds) for case in CASES}
    print_table(costs)
    rows = {case: ratios(of_case) for case, of_case in costs.items()}
    options.output.write_text(json.dumps({"us_per_packet": costs, "over_droptail": rows}, indent=2) + "\n")
    missed = misses(rows, (ROOT / "docs" / "performance.md").read_text(encoding="utf-8"))
    for line in missed:
        print(f"MISSED   {line}")
    return 1 if missed else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parses the command line: that of bench.py, and the schemes."""
    parser = bench.parser(__doc__, ROUNDS, "bench-schemes.json")
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
        bench.run_ours([str(binary), "scheme", case, str(seconds), scheme]) for seconds in CASES[case]
    )
    return 1e6 * (long.cpu_s - short.cpu_s) / (long.packets - short.packets)


def ratios(costs: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Returns the median over the rounds of each scheme's cost over drop-tail's in the same round."""
    base = costs["droptail"]
    return {
        scheme: statistics.median(own / other for own, other in zip(values, base, strict=True))
        for scheme, values in costs.items()
    }


def misses(rows: Mapping[str, Mapping[str, float]], document: str) -> list[str]:
    """Returns the schemes above the bar that the document does not name as such."""
    return [
        f"{scheme}: {ratio:.2f} times drop-tail on {case}, above {MOST:g}; not named in docs/performance.md"
        for case, of_case in rows.items()
        for scheme, ratio in of_case.items()
        if ratio > MOST and f"costs more than twice drop-tail: `{scheme}`" not in document
    ]


def print_table(costs: Mapping[str, Costs]) -> None:
    """Prints one line per scheme: µs per packet and times drop-tail, for each case."""
    print(f"{'scheme':10}" + "".join(f"{case + ' µs':>10}{'÷ droptail':>12}" for case in costs))
    rows = {case: ratios(of_case) for case, of_case in costs.items()}
    for scheme in next(iter(costs.values())):
        cells = "".join(
            f"{statistics.median(of_case[scheme]):>10.3f}{rows[case][scheme]:>12.2f}"
            for case, of_case in costs.items()
        )
        print(f"{scheme:10}{cells}")


if __name__ == "__main__":
    sys.exit(main())
