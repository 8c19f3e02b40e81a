"""Which direction of the link a cell is about: the data's, or the other if that is the busier one."""

from mousehole.runs import Cell, Results
from mousehole.scenario import bottleneck

DATA, WAY_BACK = WAYS = ("", "uplink_")
"""What the quantities of the queue that the data cross begin with, and those of the other direction's."""


def used_by_direction(results: Results, cell: Cell) -> dict[str, float]:
    """Returns the greatest share of each direction that a run under the baseline used: `down` and `up`."""
    runs = results.runs(cell, results.plan.baseline)
    names = directions(results)
    found = {
        name: max(run.scheme[f"{way}utilisation"] for run in runs)
        for name, way in zip(names, WAYS, strict=True)
    }
    return {way: found[way] for way in ("down", "up")}


def busier_way(results: Results, cell: Cell) -> str:
    """Returns `WAY_BACK` if the baseline used the direction of the data less than the other, else `DATA`."""
    used = used_by_direction(results, cell)
    data, back = directions(results)
    return WAY_BACK if used[back] > used[data] else DATA


def directions(results: Results) -> tuple[str, str]:
    """Returns the direction of the data and the other one."""
    return ("up", "down") if bottleneck.is_up(results.plan.base) else ("down", "up")
