"""Examines why short captures make a scheme look worse: they lack large transfers.

`python -m validation.short_captures` compares SFD with drop-tail on the captures of `make
validation WHAT=coverage`, joined one after another, with and without their large transfers. It also
prints the correlation of the changes in validation/coverage.json with the share of the bytes that
large transfers carry.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import mousehole
import numpy as np
from mousehole.statistics import log_ratio
from scipy import stats

from validation import coverage

SCHEME = "sfd"
PIPE_BYTES = 100_000
"""The bandwidth-delay product: transfers above it are large."""
GAP_S = 0.5
"""Between two captures that follow each other."""

Connections = list[dict[str, object]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints what large transfers carry, and the changes with and without them; returns 0.

    Raises `ValueError` if the record of coverage lacks these captures.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="web:sfd", choices=coverage.MODELS)
    parser.add_argument("--length", type=int, default=coverage.LENGTHS_S[0], help="seconds")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args(arguments)
    wanted = (options.model, "open", 0, options.length, SCHEME)
    (kept,) = (one for one in coverage.read_record(coverage.RECORD) if one.key == wanted)
    captures = [
        coverage.record_capture(options.model, options.length, number) for number in range(kept.captures)
    ]
    large = [sum(size > PIPE_BYTES for size in list_sizes(one)) for one in captures]
    carried = [compute_share_above(one, PIPE_BYTES) for one in captures]
    correlation = stats.spearmanr(carried, kept.changes).statistic
    print(
        f"{kept.captures} captures of {options.length} s from {options.model}: {min(large)} to {max(large)} "
        f"connections above {PIPE_BYTES} bytes, which carry {100 * min(carried):.0f} to "
        f"{100 * max(carried):.0f} % of the bytes; rank correlation of this share with the change under "
        f"{SCHEME}: {correlation:.2f}"
    )
    whole = concatenate(captures, options.length)
    for most in (None, 10 * PIPE_BYTES, PIPE_BYTES):
        shorter = [one for one in whole if most is None or int(str(one["bytes"])) <= most]
        without = "" if most is None else f" without connections above {most} bytes"
        print(
            f"all of them one after another{without}: "
            f"{compute_share_above(shorter, PIPE_BYTES):.0%} of the bytes in "
            f"large connections, change {measure_change(shorter, options.jobs):+.0%}",
            flush=True,
        )
    return 0


def list_sizes(connections: Connections) -> np.ndarray:
    """Returns the sizes of connections, bytes."""
    return np.array([one["bytes"] for one in connections], float)


def compute_share_above(connections: Connections, least: float) -> float:
    """Returns the share of the bytes that connections of more than `least` bytes carry.

    It is NaN without connections.
    """
    found = list_sizes(connections)
    return float(found[found > least].sum() / found.sum())


def concatenate(captures: Sequence[Connections], length_s: float) -> Connections:
    """Returns the connections of all captures, one capture after another with a gap after each."""
    return [
        {**one, "start_s": float(str(one["start_s"])) + (length_s + GAP_S) * number}
        for number, connections in enumerate(captures)
        for one in connections
    ]


def measure_change(connections: Connections, jobs: int | None) -> float:
    """Returns the relative change of the mean response time of short transfers under SFD against drop-tail.

    Runs the comparison.
    """
    found = mousehole.compare(
        connections, rate=coverage.RATE, rtt=coverage.RTT, load=coverage.LOAD, jobs=jobs,
        schemes=[coverage.BASELINE, SCHEME], baseline=coverage.BASELINE, seeds=coverage.REPLICATIONS,
        duration=coverage.WINDOW,
    )  # fmt: skip
    return log_ratio(*coverage.list_means(found.results, SCHEME)).as_change().mean


if __name__ == "__main__":
    sys.exit(main())
