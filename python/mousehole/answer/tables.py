"""Computes the rows of a comparison's tables, with intervals over replications."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Protocol, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from mousehole import quantities
from mousehole.base import CDF_TIMES_S, CURVE_EDGES_BYTES
from mousehole.runs import (
    CENSORED_SHARE,
    BucketRow,
    CdfRow,
    Cell,
    ColourRow,
    CurveRow,
    EvidenceRow,
    GroupRow,
    LoadRow,
    Results,
    RunFacts,
    SchemeRow,
    overlaid,
)
from mousehole.statistics import Design, Estimate, log_ratio, positive_interval, share_interval

R = TypeVar("R")

COLOUR_COUNTS = ("arrived", "early", "forced", "policed", "marked", "sent")


class Rows(Protocol[R]):
    """Computes the rows of one cell, or for None those of all cells."""

    def __call__(self, results: Results, cell: Cell | None = None) -> list[R]:
        """Returns the rows."""


def per_cell(make: Callable[[Results, Cell], list[R]]) -> Rows[R]:
    """Lets a function that computes the rows of one cell also take None, which means all cells.

    The rows of a cell are computed once and kept in `Results.kept`; tables, plots and documents share them.
    """

    @wraps(make)
    def rows(results: Results, cell: Cell | None = None) -> list[R]:
        if cell is None:
            return [row for each in results.plan.cells for row in rows(results, each)]
        key = (make.__qualname__, cell)
        if key not in results.kept:
            results.kept[key] = cast("list[object]", make(results, cell))
        return cast("list[R]", results.kept[key])

    return rows


@per_cell
def bucket_rows(results: Results, cell: Cell) -> list[BucketRow]:
    """Returns one row per scheme and bucket."""
    return [
        _bucket_row(results, cell, scheme, place)
        for scheme in results.plan.schemes
        for place in range(len(results.plan.buckets))
    ]


@per_cell
def scheme_rows(results: Results, cell: Cell) -> list[SchemeRow]:
    """Returns one row per scheme."""
    return [_scheme_row(results, cell, scheme) for scheme in results.plan.schemes]


@per_cell
def colour_rows(results: Results, cell: Cell) -> list[ColourRow]:
    """Returns one row per scheme and colour: packets at the bottleneck, summed over replications."""
    return [
        row
        for scheme in results.plan.schemes
        for row in _colour_rows(cell, scheme, results.runs(cell, scheme))
    ]


@per_cell
def curve_rows(results: Results, cell: Cell) -> list[CurveRow]:
    """Returns one row per scheme and size bin that has transfers: the mean response time."""
    return [
        row
        for scheme in results.plan.schemes
        for row in _curve_rows(cell, scheme, results.runs(cell, scheme), results.design(cell))
    ]


@per_cell
def cdf_rows(results: Results, cell: Cell) -> list[CdfRow]:
    """Returns the distribution of the response time of short transfers: one row per scheme and time."""
    return [
        CdfRow(cell.buffer, cell.load, scheme, float(time), estimate)
        for scheme in results.plan.schemes
        for time, estimate in _cdf(results.runs(cell, scheme), results.design(cell))
    ]


@per_cell
def group_rows(results: Results, cell: Cell) -> list[GroupRow]:
    """Returns one row per scheme and figure of an application, what its users feel first before the rest."""
    return [
        _group_row(results, cell, scheme, *key)
        for scheme in results.plan.schemes
        for key in _group_keys(results, cell)
    ]


def load_row(results: Results, cell: Cell) -> LoadRow:
    """Returns how the load of a cell came about; means over the replications of the baseline."""
    runs = results.runs(cell, results.plan.baseline)
    loads, windows = [run.load for run in runs], [run.window_load for run in runs]
    achieved = _known(load["achieved"] for load in loads)
    return LoadRow(
        load_native=loads[0]["native"],
        load_copies=float(np.mean([load["copies"] for load in loads])),
        load_dilation=float(np.mean([load["dilation"] for load in loads])),
        load_achieved=float(np.mean(achieved)) if achieved else None,
        load_window=float(np.mean(windows)),
        load_window_deviation=float(np.std(windows, ddof=1)) if len(windows) > 1 else None,
        replay=loads[0]["replay"],
    )


def evidence_row(results: Results, cell: Cell) -> EvidenceRow | None:
    """Returns what of a capture stands behind the verdicts of a cell, None for a model."""
    if results.capture is None:
        return None
    loads = [run.load for run in results.runs(cell, results.plan.baseline)]
    short, long = (results.capture.counted[role] for role in ("short", "long"))
    return EvidenceRow(
        short.transfers,
        short.clients,
        long.transfers,
        long.clients,
        copies_least=min(load["copies"] for load in loads),
        copies_most=max(load["copies"] for load in loads),
        laps=float(np.mean([results.laps(load) for load in loads])),
        is_resampled=not results.capture.is_fitted
        and overlaid(results.plan.scenario(cell, results.plan.baseline)["traffic"]),
        is_fitted=results.capture.is_fitted,
        capture_share=results.capture_share(cell),
        capture_freedom=results.capture.freedom,
    )


def _group_keys(results: Results, cell: Cell) -> list[tuple[str, str]]:
    runs = [run for scheme in results.plan.schemes for run in results.runs(cell, scheme)]
    return quantities.figures_in_order((key for run in runs for key in run.groups), runs[0].kinds)


def _kind_of(results: Results, cell: Cell, group: str) -> str | None:
    return results.runs(cell, results.plan.baseline)[0].kinds.get(group)


def _group_row(results: Results, cell: Cell, scheme: str, group: str, what: str) -> GroupRow:
    own, base = (results.group_values(cell, name, (group, what)) for name in (scheme, results.plan.baseline))
    design, is_baseline = results.design(cell), scheme == results.plan.baseline
    value, change = (
        quantities.interval(quantities.find("application", what), own, design),
        log_ratio(own, base, design).as_change(),
    )
    kind = _kind_of(results, cell, group)
    is_primary = quantities.is_primary(kind, what)
    return GroupRow(cell.buffer, cell.load, scheme, is_baseline, group, kind, what, is_primary, value, change)


def _bucket_row(results: Results, cell: Cell, scheme: str, place: int) -> BucketRow:
    runs, reference = results.runs(cell, scheme), results.runs(cell, results.plan.baseline)
    count = sum(int(run.count[place]) for run in runs)
    censored = sum(int(run.censored[place]) for run in runs)
    known = quantities.about("bucket")
    values = {one.name: [float(run.statistics[one.name][place]) for run in runs] for one in known}
    of_reference = [run.statistics["response_mean_s"][place] for run in reference]
    is_primary = results.plan.buckets[place].role == "short"
    design = results.design(cell)
    judged = results.primary_design(cell, results.plan.baseline) if is_primary else design
    change = log_ratio(values["response_mean_s"], of_reference, judged).as_change()
    return BucketRow(
        cell.buffer, cell.load, scheme,
        is_baseline=scheme == results.plan.baseline,
        bucket=results.plan.buckets[place],
        count=count,
        censored=censored,
        censored_share=censored / count if count else 0.0,
        is_bound=count > 0 and censored / count > CENSORED_SHARE,
        estimates={
            one.name: quantities.interval(
                one, complete(values[one.name]) if one.is_percentile else values[one.name], design
            )
            for one in known
        },
        response_mean_change=change,
    )  # fmt: skip


def complete(values: ArrayLike) -> ArrayLike:
    """Returns the values of a percentile, none of them unless every replication has enough transfers."""
    return values if np.all(np.isfinite(values)) else []


def _scheme_row(results: Results, cell: Cell, scheme: str) -> SchemeRow:
    design = results.design(cell)
    estimates = {
        one.name: quantities.interval(one, results.scheme_values(cell, scheme, one.name), design)
        for one in quantities.about("scheme")
    }
    return SchemeRow(cell.buffer, cell.load, scheme, scheme == results.plan.baseline, estimates)


def _colour_rows(cell: Cell, scheme: str, runs: list[RunFacts]) -> list[ColourRow]:
    rows = []
    for colour in runs[0].colours:
        counts = {name: sum(run.colours[colour][name] for run in runs) for name in COLOUR_COUNTS}
        arrived = counts["arrived"]
        lost = sum(run.colours[colour]["dropped"] for run in runs)
        losses, marks = (lost / arrived, counts["marked"] / arrived) if arrived else (None, None)
        rows.append(ColourRow(cell.buffer, cell.load, scheme, colour, counts, losses, marks))
    return rows


def _curve_rows(cell: Cell, scheme: str, runs: list[RunFacts], design: Design) -> list[CurveRow]:
    rows = []
    for place in range(len(CURVE_EDGES_BYTES) - 1):
        count = sum(int(run.curve_count[place]) for run in runs)
        if count:
            low, high = (float(edge) for edge in CURVE_EDGES_BYTES[place : place + 2])
            estimate = positive_interval([run.curve_mean_s[place] for run in runs], design)
            rows.append(CurveRow(cell.buffer, cell.load, scheme, low, high, count, estimate))
    return rows


def _cdf(runs: list[RunFacts], design: Design) -> list[tuple[float, Estimate]]:
    stacked = np.array([run.cdf for run in runs])
    return [(time, share_interval(stacked[:, place], design)) for place, time in enumerate(CDF_TIMES_S)]


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
