"""Every scheme in one table, next to drop-tail, RED and FQ-CoDel, and its change by transfer size."""

from dataclasses import dataclass
from math import inf, isfinite, nan

import numpy as np

from mousehole.answer._install import Link, installation, link_of_cell
from mousehole.answer._ways import busier_way
from mousehole.answer.findings import BETTER, NO_BENEFIT, NOT_JUDGED, UNDECIDED, WORSE
from mousehole.answer.tables import per_cell
from mousehole.base import Summary, scheme_name
from mousehole.engine_types import Floats
from mousehole.runs import Cell, Change, Finding, OverviewRow, Plan, Results, SizeRow, is_ideal
from mousehole.statistics import Design, Estimate, log_ratio

REFERENCES = ("droptail", "red", "fq-codel")
"""Schemes with which every other one is compared, with default or other parameters, if they are present."""
NOT_IN_LINUX, INSTALLABLE, IDEALS = "not in Linux", "installable", "ideals"
"""Who can use schemes: only those who add to Linux, anybody today, or nobody."""
MANY_SCHEMES = 8
"""With more schemes than this, the report is one table, and sentences are printed only on request."""


def references(plan: Plan) -> tuple[str, ...]:
    """Returns the baseline and those of `REFERENCES` that are compared, in the order of the schemes."""
    firsts = [_first(plan, name) for name in REFERENCES]
    return tuple(scheme for scheme in plan.schemes if scheme == plan.baseline or scheme in firsts)


def heat_reference(plan: Plan) -> str:
    """Returns the reference of the change by size: FQ-CoDel if it is among the schemes, else the baseline."""
    return _first(plan, "fq-codel") or plan.baseline


def overview_rows(results: Results, cell: Cell) -> list[OverviewRow]:
    """Returns one row per scheme: short transfers against every reference, long ones against the baseline."""

    plan, way = results.plan, busier_way(results, cell)
    return [
        OverviewRow(
            cell.buffer, cell.load, scheme,
            short_response_mean_s=_short_mean(results, cell, scheme),
            against={
                reference: _change(results, cell, scheme, reference, "short")
                for reference in references(plan)
                if reference != scheme
            },
            long=None if scheme == plan.baseline else _change(results, cell, scheme, plan.baseline, "long"),
            queue_delay_p95_s=_mean(results.scheme_values(cell, scheme, f"{way}queue_delay_p95_s")),
            reordered_share=_mean(results.scheme_values(cell, scheme, "reordered_share")),
        )
        for scheme in plan.schemes
    ]  # fmt: skip


def _mean(values: Floats) -> float:
    """Returns the mean over the replications that have such transfers, as changes and verdicts do."""
    known = values[np.isfinite(values)]
    return float(np.mean(known)) if known.size else nan


@per_cell
def by_size_rows(results: Results, cell: Cell) -> list[SizeRow]:
    """Returns one row per scheme and size bucket: the change of the mean response time against FQ-CoDel."""
    plan = results.plan
    reference = heat_reference(plan)
    sizes = [place for place, bucket in enumerate(plan.buckets) if bucket.role == "size"]
    return [
        SizeRow(
            cell.buffer, cell.load, scheme,
            reference=reference,
            bucket=plan.buckets[place].name,
            count=sum(int(run.count[place]) for run in results.runs(cell, scheme)),
            response_mean_change=_of_places(results, cell, scheme, reference, place, results.design(cell)),
        )
        for scheme in plan.schemes
        for place in sizes
    ]  # fmt: skip


@dataclass(frozen=True)
class GridTime:
    """The mean response time of a class of transfers under one scheme with one buffer."""

    scheme: str
    buffer: str
    mean_s: float
    change: Change | None
    """Against the baseline with the first buffer; None of that itself."""


def grid_times(results: Results, role: Summary, load: float | None) -> list[GridTime]:
    """Returns the times of all schemes with all buffers at a load, scheme by scheme.

    All changes are against one cell, the baseline with the buffer that was named first, so that buffers can
    be compared with each other.
    """
    plan = results.plan
    cells = [cell for cell in plan.cells if cell.load == load]
    place = [bucket.role for bucket in plan.buckets].index(role)

    def times(cell: Cell, scheme: str) -> list[float]:
        return [float(run.statistics["response_mean_s"][place]) for run in results.runs(cell, scheme)]

    base = f"{plan.baseline} {cells[0].buffer}"
    family = {
        f"{scheme} {cell.buffer}": np.array(times(cell, scheme)) for scheme in plan.schemes for cell in cells
    }

    def change(cell: Cell, scheme: str) -> Change | None:
        own, first = times(cell, scheme), times(cells[0], plan.baseline)
        if (cell, scheme) == (cells[0], plan.baseline):
            return None
        # The cells are of one family: all are read against the same one.
        ratio = log_ratio(own, first, results.design(cell, family if role == "short" else None, base))
        return _as_change(ratio, [log_ratio([a], [b]).mean for a, b in zip(own, first, strict=True)])

    return [
        GridTime(scheme, cell.buffer, _mean(np.array(times(cell, scheme))), change(cell, scheme))
        for scheme in plan.schemes
        for cell in cells
    ]


def best_times(times: list[GridTime]) -> list[GridTime]:
    """Returns the smallest time of a scheme that is no ideal, with every buffer that it has the same with.

    Empty if there were no such transfers.
    """
    known = [one for one in times if isfinite(one.mean_s) and not is_ideal(one.scheme)]
    if not known:
        return []
    best = min(known, key=lambda one: one.mean_s)
    return [one for one in known if (one.scheme, one.mean_s) == (best.scheme, best.mean_s)]


def by_group(results: Results, cell: Cell) -> dict[str, list[str]]:
    """Returns the schemes in groups by who can use them; the best for short transfers of each group first."""
    link = link_of_cell(results, cell)
    means = {scheme: _short_mean(results, cell, scheme) for scheme in results.plan.schemes}
    groups: dict[str, list[str]] = {name: [] for name in (NOT_IN_LINUX, INSTALLABLE, IDEALS)}
    for scheme in sorted(means, key=lambda scheme: means[scheme] if isfinite(means[scheme]) else inf):
        groups[_group_of(scheme, link)].append(scheme)
    return {name: schemes for name, schemes in groups.items() if schemes}


def _group_of(scheme: str, link: Link | None) -> str:
    """Returns who can use a scheme; a named one that needs `mousehole-live` is not in Linux."""
    if is_ideal(scheme):
        return IDEALS
    way = None if link is None else installation(scheme, link)
    if way is None:
        return NOT_IN_LINUX
    is_ours = any(line.startswith("mousehole-live") for line in way.lines)
    return NOT_IN_LINUX if is_ours and "|" not in scheme else INSTALLABLE


def verdict_groups(findings: list[Finding]) -> list[tuple[str, list[str]]]:
    """Returns the schemes by their verdict on short transfers, best verdict first, without empty groups.

    Those that are not judged, as the capture has too few transfers, have the reason as their verdict.
    """
    by_words: dict[str, list[str]] = {word: [] for word in (BETTER, NO_BENEFIT, WORSE, UNDECIDED)}
    for finding in findings:
        if not finding.exploratory:
            is_judged = not finding.verdict.startswith(NOT_JUDGED)
            words = finding.outcome if is_judged else finding.verdict
            by_words.setdefault(words, []).append(finding.scheme)
    return [(words, schemes) for words, schemes in by_words.items() if schemes]


def _short_mean(results: Results, cell: Cell, scheme: str) -> float:
    return _mean(results.bucket_values(cell, scheme, "short", "response_mean_s"))


def _first(plan: Plan, name: str) -> str | None:
    return next((scheme for scheme in plan.schemes if scheme_name(scheme) == name), None)


def _change(results: Results, cell: Cell, scheme: str, reference: str, role: Summary) -> Change:
    place = [bucket.role for bucket in results.plan.buckets].index(role)
    design = results.primary_design(cell, reference) if role == "short" else results.design(cell)
    return _of_places(results, cell, scheme, reference, place, design)


def _of_places(
    results: Results, cell: Cell, scheme: str, reference: str, place: int, design: Design
) -> Change:
    own, other = (
        [run.statistics["response_mean_s"][place] for run in results.runs(cell, name)]
        for name in (scheme, reference)
    )
    ratio = log_ratio(own, other, design)
    return _as_change(ratio, [log_ratio([a], [b]).mean for a, b in zip(own, other, strict=True)])


def _as_change(ratio: Estimate, single: list[float]) -> Change:
    if ratio.has_interval:
        change = ratio.as_change()
        return Change(change.mean, change.low, change.high, True)
    known = [value for value in single if isfinite(value)]
    least, greatest = (min(known), max(known)) if known else (float("nan"), float("nan"))
    ends = Estimate(ratio.mean, least, greatest, ratio.count).as_change()
    return Change(ends.mean, ends.low, ends.high, False)
