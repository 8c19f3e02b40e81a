"""The facts of all runs put together: one row per bucket and per scheme, with intervals over replications."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from math import isfinite, nan
from typing import Any, Protocol

import numpy as np

from mousehole.manifest import CENSORED_SHARE
from mousehole.plan import Cell, Plan, Task
from mousehole.pool import Facts
from mousehole.reduction import BUCKET_STATISTICS, SCHEME_STATISTICS, Floats, RunFacts
from mousehole.sizes import CDF_TIMES_S, CURVE_EDGES_BYTES
from mousehole.statistics import Estimate, log_ratio, t_interval

Row = dict[str, Any]

COLOUR_COUNTS = ("arrived", "early", "forced", "policed", "marked", "sent")
LOAD_FACTS = ("native", "copies", "dilation", "achieved")


@dataclass(frozen=True)
class Results:
    """All facts of a comparison, addressed by cell and scheme."""

    plan: Plan
    facts: Facts
    kept: dict[tuple[str, Cell], list[Row]] = field(default_factory=dict, compare=False, repr=False)
    """Rows that were made once, by the function that makes them and the cell."""

    def runs(self, cell: Cell, scheme: str) -> list[RunFacts]:
        """The replications of a scheme in a cell, in order."""
        place = self.plan.cells.index(cell), self.plan.schemes.index(scheme)
        return [self.facts[Task(*place, replication)] for replication in range(self.plan.replications)]

    def bucket_values(self, cell: Cell, scheme: str, role: str, statistic: str) -> Floats:
        """A bucket statistic per replication; `role` is short, long or all."""
        place = [bucket.role for bucket in self.plan.buckets].index(role)
        return np.array([run.statistics[statistic][place] for run in self.runs(cell, scheme)])

    def scheme_values(self, cell: Cell, scheme: str, statistic: str) -> Floats:
        """A scheme statistic per replication."""
        return np.array([run.scheme[statistic] for run in self.runs(cell, scheme)])

    def censored_share(self, cell: Cell, scheme: str, role: str) -> float:
        """Share of unfinished transfers in a bucket, over all replications."""
        place = [bucket.role for bucket in self.plan.buckets].index(role)
        runs = self.runs(cell, scheme)
        total = sum(int(run.count[place]) for run in runs)
        return sum(int(run.censored[place]) for run in runs) / total if total else 0.0

    def has_bounds(self, cell: Cell, scheme: str) -> bool:
        """Whether any bucket of a scheme has so many unfinished transfers that its mean is only a bound."""
        runs = self.runs(cell, scheme)
        count, censored = (sum(getattr(run, name) for run in runs) for name in ("count", "censored"))
        return bool(np.any(censored > CENSORED_SHARE * count))


class Rows(Protocol):
    """Gives the rows of one cell, or for None of all cells."""

    def __call__(self, results: Results, cell: Cell | None = None) -> list[Row]:
        """The rows."""


def per_cell(make: Callable[[Results, Cell], list[Row]]) -> Rows:
    """Makes a function of one cell's rows into one that keeps them, and that gives all cells' rows for None.

    Nobody changes rows: table, plots and documents share them.
    """

    @wraps(make)
    def rows(results: Results, cell: Cell | None = None) -> list[Row]:
        if cell is None:
            return [row for each in results.plan.cells for row in rows(results, each)]
        key = (make.__qualname__, cell)
        if key not in results.kept:
            results.kept[key] = make(results, cell)
        return results.kept[key]

    return rows


@per_cell
def bucket_rows(results: Results, cell: Cell) -> list[Row]:
    """One row per scheme and bucket."""
    return [
        {**_place(cell, scheme), **_bucket_row(results, cell, scheme, place)}
        for scheme in results.plan.schemes
        for place in range(len(results.plan.buckets))
    ]


@per_cell
def scheme_rows(results: Results, cell: Cell) -> list[Row]:
    """One row per cell and scheme."""
    return [{**_place(cell, scheme), **_scheme_row(results, cell, scheme)} for scheme in results.plan.schemes]


@per_cell
def colour_rows(results: Results, cell: Cell) -> list[Row]:
    """One row per scheme and colour: packets at the loaded link, summed over replications."""
    return [
        {**_place(cell, scheme), **row}
        for scheme in results.plan.schemes
        for row in _colour_rows(results.runs(cell, scheme))
    ]


@per_cell
def curve_rows(results: Results, cell: Cell) -> list[Row]:
    """Mean response time against size: one row per scheme and size bin that holds transfers."""
    return [
        {**_place(cell, scheme), **row}
        for scheme in results.plan.schemes
        for row in _curve_rows(results.runs(cell, scheme))
    ]


@per_cell
def cdf_rows(results: Results, cell: Cell) -> list[Row]:
    """Share of short transfers that responded within each time, with its interval over replications."""
    return [
        {**_place(cell, scheme), "response_s": float(time), **estimate_fields("share", estimate)}
        for scheme in results.plan.schemes
        for time, estimate in _cdf(results.runs(cell, scheme))
    ]


@per_cell
def group_rows(results: Results, cell: Cell) -> list[Row]:
    """One row per scheme and figure of an application: its mean and its change against the baseline."""
    return [
        {**_place(cell, scheme), **_group_row(results, cell, scheme, *key)}
        for scheme in results.plan.schemes
        for key in _group_keys(results, cell)
    ]


def _group_keys(results: Results, cell: Cell) -> list[tuple[str, str]]:
    runs = [run for scheme in results.plan.schemes for run in results.runs(cell, scheme)]
    return list(dict.fromkeys(key for run in runs for key in run.groups))


def _group_row(results: Results, cell: Cell, scheme: str, group: str, what: str) -> Row:
    own, base = (
        [run.groups.get((group, what), nan) for run in results.runs(cell, name)]
        for name in (scheme, results.plan.baseline)
    )
    row: Row = {"is_baseline": scheme == results.plan.baseline, "group": group, "what": what}
    row |= estimate_fields("value", t_interval(own))
    return row | estimate_fields("change", log_ratio(own, base).as_change())


def load_row(results: Results, cell: Cell) -> Row:
    """How the load came about: of the first replication of the baseline, and the achieved load over all."""
    runs = results.runs(cell, results.plan.baseline)
    achieved = _known(run.load["achieved"] for run in runs)
    row = {f"load_{name}": runs[0].load[name] for name in LOAD_FACTS}
    return {**row, "load_achieved": float(np.mean(achieved)) if achieved else None}


def estimate_fields(name: str, estimate: Estimate) -> Row:
    """For `response_mean_s` also `response_mean_low_s` and `response_mean_high_s`; None where undefined."""
    stem, unit = _split_unit(name)
    values = {
        f"{stem}{unit}": estimate.mean,
        f"{stem}_low{unit}": estimate.low,
        f"{stem}_high{unit}": estimate.high,
    }
    return {key: value if isfinite(value) else None for key, value in values.items()}


def _split_unit(name: str) -> tuple[str, str]:
    for unit in ("_s", "_bps", "_packets"):
        if name.endswith(unit):
            return name.removesuffix(unit), unit
    return name, ""


def _place(cell: Cell, scheme: str) -> Row:
    return {"buffer": cell.buffer, "load": cell.load, "scheme": scheme}


def _bucket_row(results: Results, cell: Cell, scheme: str, place: int) -> Row:
    runs, bucket = results.runs(cell, scheme), results.plan.buckets[place]
    reference = results.runs(cell, results.plan.baseline)
    count = sum(int(run.count[place]) for run in runs)
    censored = sum(int(run.censored[place]) for run in runs)
    row: Row = {
        "is_baseline": scheme == results.plan.baseline,
        "bucket": bucket.name, "role": bucket.role,
        "low_bytes": bucket.low_bytes, "high_bytes": bucket.high_bytes,
        "count": count, "censored": censored,
        "censored_share": censored / count if count else 0.0,
        "is_bound": count > 0 and censored / count > CENSORED_SHARE,
    }  # fmt: skip
    for name in BUCKET_STATISTICS:
        values = np.array([run.statistics[name][place] for run in runs])
        row |= estimate_fields(name, _strict_interval(values) if "_p" in name else t_interval(values))
    mean = "response_mean_s"
    ratio = log_ratio(
        [run.statistics[mean][place] for run in runs], [run.statistics[mean][place] for run in reference]
    )
    return row | estimate_fields("response_mean_change", ratio.as_change())


def _strict_interval(values: Floats) -> Estimate:
    """Percentiles need every replication to have transfers enough."""
    return t_interval(values if np.all(np.isfinite(values)) else [])


def _scheme_row(results: Results, cell: Cell, scheme: str) -> Row:
    row: Row = {"is_baseline": scheme == results.plan.baseline}
    for name in SCHEME_STATISTICS:
        row |= estimate_fields(name, t_interval(results.scheme_values(cell, scheme, name)))
    return row


def _colour_rows(runs: list[RunFacts]) -> list[Row]:
    rows = []
    for colour in runs[0].colours:
        counts = {name: sum(run.colours[colour][name] for run in runs) for name in COLOUR_COUNTS}
        arrived = counts["arrived"]
        lost = sum(run.colours[colour]["dropped"] for run in runs)
        shares = {"loss_share": lost / arrived, "mark_share": counts["marked"] / arrived} if arrived else {}
        rows.append({"colour": colour, **counts, "loss_share": None, "mark_share": None, **shares})
    return rows


def _curve_rows(runs: list[RunFacts]) -> list[Row]:
    rows = []
    for place in range(len(CURVE_EDGES_BYTES) - 1):
        count = sum(int(run.curve_count[place]) for run in runs)
        if count:
            low, high = (float(edge) for edge in CURVE_EDGES_BYTES[place : place + 2])
            estimate = t_interval([run.curve_mean_s[place] for run in runs])
            rows.append(
                {
                    "low_bytes": low,
                    "high_bytes": high,
                    "count": count,
                    **estimate_fields("response_mean_s", estimate),
                }
            )
    return rows


def _cdf(runs: list[RunFacts]) -> list[tuple[float, Estimate]]:
    stacked = np.array([run.cdf for run in runs])
    return [(time, t_interval(stacked[:, place])) for place, time in enumerate(CDF_TIMES_S)]


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
