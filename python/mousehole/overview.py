"""Every scheme in one table, beside drop-tail, RED and FQ-CoDel, and its change by transfer size."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from mousehole.findings import BETTER, NO_BENEFIT, UNDECIDED, WORSE, Finding
from mousehole.plan import Cell, Plan
from mousehole.statistics import Estimate, log_ratio
from mousehole.tables import Results, per_cell

Row = dict[str, Any]

REFERENCES = ("droptail", "red", "fq-codel")
"""What every scheme is set beside, where it is among the schemes: by default settings or others."""
MANY_SCHEMES = 8
"""With more schemes than this the report is one table, and sentences only on request."""


@dataclass(frozen=True)
class Change:
    """A relative change over replications: its mean, and its 95 % interval, or else its range."""

    mean: float
    low: float
    high: float
    is_interval: bool
    """False: `low` and `high` are the least and the greatest replication, too few for an interval."""

    def fields(self, name: str) -> Row:
        """`name`, `name_low`, `name_high` and `name_is_interval`, with None for what is undefined."""
        values = {name: self.mean, f"{name}_low": self.low, f"{name}_high": self.high}
        known: Row = {key: value if isfinite(value) else None for key, value in values.items()}
        return {**known, f"{name}_is_interval": self.is_interval}


def references(plan: Plan) -> tuple[str, ...]:
    """The baseline and whichever of `REFERENCES` are compared, in the order of the schemes."""
    firsts = [_first(plan, name) for name in REFERENCES]
    return tuple(scheme for scheme in plan.schemes if scheme == plan.baseline or scheme in firsts)


def heat_reference(plan: Plan) -> str:
    """What the change by size is taken against: FQ-CoDel where it is compared, else the baseline."""
    return _first(plan, "fq-codel") or plan.baseline


def overview_rows(results: Results, cell: Cell) -> list[Row]:
    """One row per scheme: short transfers against every reference, what long ones pay, the link."""
    plan = results.plan
    return [
        {
            "scheme": scheme,
            "short_response_mean_s": float(
                np.mean(results.bucket_values(cell, scheme, "short", "response_mean_s"))
            ),
            "against": {
                reference: _change(results, cell, scheme, reference, "short")
                for reference in references(plan)
                if reference != scheme
            },
            "long": None
            if scheme == plan.baseline
            else _change(results, cell, scheme, plan.baseline, "long"),
            "queue_delay_p95_s": float(np.mean(results.scheme_values(cell, scheme, "queue_delay_p95_s"))),
            "reordered_share": float(np.mean(results.scheme_values(cell, scheme, "reordered_share"))),
        }
        for scheme in plan.schemes
    ]


@per_cell
def by_size_rows(results: Results, cell: Cell) -> list[Row]:
    """One row per scheme and size bucket: the change of the mean response time against FQ-CoDel."""
    plan = results.plan
    reference = heat_reference(plan)
    sizes = [place for place, bucket in enumerate(plan.buckets) if bucket.role == "size"]
    return [
        {
            "buffer": cell.buffer,
            "load": cell.load,
            "scheme": scheme,
            "reference": reference,
            "bucket": plan.buckets[place].name,
            "count": sum(int(run.count[place]) for run in results.runs(cell, scheme)),
            **_of_places(results, cell, scheme, reference, place).fields("response_mean_change"),
        }
        for scheme in plan.schemes
        for place in sizes
    ]


def verdict_groups(findings: list[Finding]) -> list[tuple[str, list[str]]]:
    """The schemes by their verdict on short transfers, best verdict first; empty groups are left out."""
    primary = [finding for finding in findings if not finding.exploratory]
    groups = [
        (outcome, [finding.scheme for finding in primary if finding.outcome == outcome])
        for outcome in (BETTER, NO_BENEFIT, WORSE, UNDECIDED)
    ]
    return [(outcome, schemes) for outcome, schemes in groups if schemes]


def _first(plan: Plan, name: str) -> str | None:
    return next((scheme for scheme in plan.schemes if scheme.split("(")[0] == name), None)


def _change(results: Results, cell: Cell, scheme: str, reference: str, role: str) -> Change:
    place = [bucket.role for bucket in results.plan.buckets].index(role)
    return _of_places(results, cell, scheme, reference, place)


def _of_places(results: Results, cell: Cell, scheme: str, reference: str, place: int) -> Change:
    own, other = (
        [run.statistics["response_mean_s"][place] for run in results.runs(cell, name)]
        for name in (scheme, reference)
    )
    ratio = log_ratio(own, other)
    return _as_change(ratio, [log_ratio([a], [b]).mean for a, b in zip(own, other, strict=True)])


def _as_change(ratio: Estimate, single: list[float]) -> Change:
    if ratio.has_interval:
        change = ratio.as_change()
        return Change(change.mean, change.low, change.high, True)
    known = [value for value in single if isfinite(value)]
    least, greatest = (min(known), max(known)) if known else (float("nan"), float("nan"))
    ends = Estimate(ratio.mean, least, greatest, ratio.count).as_change()
    return Change(ends.mean, ends.low, ends.high, False)
