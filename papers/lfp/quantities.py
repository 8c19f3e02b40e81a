"""LFP's quantities: the numbers of its claims, tables and figures, computed from measurements."""

from pathlib import Path

import numpy as np

from papers.definition import Json, read_toml
from papers.runs import Measured

ROUNDING = 0.0005
"""Half a unit of the last digit of Table 1's throughput and goodput, Mb/s."""
CAPACITY_MBPS = 2.0


def average_latency(run: Measured, least: int, most: int) -> float:
    """Returns the mean latency, s, of flows of `least` to `most` packets; each class weighs by its flows.

    NaN if there are none. A measured class must begin with `least` and another one end with `most`.
    """
    first = run["from_packets"]
    wanted = (first >= least) & (first <= most) & (run["count"] > 0)
    return float(np.sum(run["latency_s"][wanted] * run["count"][wanted]) / np.sum(run["count"][wanted]))


def excess_of_worst(run: Measured, one: Measured, other: Measured, least: int, most: int) -> float:
    """Returns a run's mean latency less the greater of two others', s, for flows of these sizes."""
    rest = max(average_latency(one, least, most), average_latency(other, least, most))
    return average_latency(run, least, most) - rest


def utilisation_error() -> float:
    """Returns the greatest |U - goodput / capacity| in Table 1 as published; reads published.toml."""
    return float(max(abs(row["utilisation"] - row["goodput"] / CAPACITY_MBPS) for row in published_rows()))


def overhead_error() -> float:
    """Returns the greatest distance of Table 1's overheads from the range that its rounded rates allow.

    Reads published.toml.
    """

    def outside(row: Json) -> float:
        """Returns the distance of a row's overhead from its range; 0 inside."""
        sent, useful = row["throughput"], row["goodput"]
        most = (sent - useful + 2 * ROUNDING) / (sent + ROUNDING)
        least = (sent - useful - 2 * ROUNDING) / (sent - ROUNDING)
        return float(max(0.0, row["overhead"] - most, least - row["overhead"]))

    return max(outside(row) for row in published_rows())


def published_rows() -> list[Json]:
    """Returns the rows of Table 1 as published, from published.toml."""
    table = read_toml(Path(__file__).parent / "published.toml")["table_1"]
    return [row for level in table.values() for row in level.values() if isinstance(row, dict)]
