"""What a comparison found, as data: the facts of its runs, and the rows of its tables.

This module imports none of the modules that compute, print or draw results (`tables`, `findings`, `report`,
`plots`, `heatmap`, `jsonout`); they all import this one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isfinite, nan
from typing import TYPE_CHECKING, cast

import numpy as np

from mousehole import _engine, quantities
from mousehole._engine import ComparedCell, Source
from mousehole.base import Bucket, Summary, make_frame
from mousehole.engine_types import Floats, Manifest, TrafficSummary
from mousehole.quantities import Measure
from mousehole.runs._evidence import Capture
from mousehole.runs._facts import RunFacts
from mousehole.runs._plan import Cell, Plan, Task, is_overlaid
from mousehole.runs._row import Change, Row
from mousehole.runs._rows import EvidenceRow, FindingRow, LoadRow
from mousehole.statistics import Design, Estimate

if TYPE_CHECKING:
    from polars import DataFrame as Frame

_OF_PLAN = (
    "baseline", "references", "replications", "short_bytes", "long_bytes", "in_rounds", "is_sequential",
    "vetoes", "reference",
)  # fmt: skip
"""Fields that the engine takes as they are."""

Value = str | int | float | bool | None
Record = dict[str, Value]
"""One row as plain values by column name, for frames and JSON."""
Facts = dict[Task, RunFacts]
"""The facts of every run."""


@dataclass(frozen=True)
class Results:
    """All facts of a comparison, addressed by cell and scheme."""

    plan: Plan
    facts: Facts
    label: str
    """Name of the traffic, for titles."""
    manifest: Manifest
    traffic: TrafficSummary | None
    """What was understood of the traffic; None if the scenario generates all of it."""
    capture: Capture | None = None
    """The capture that is replayed; None if a model draws traffic afresh in each replication."""
    kept: dict[tuple[object, Cell], list[object]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Rows that have been computed already, by the function that computes them and the cell."""

    def compared(self, cell: Cell) -> ComparedCell:
        """Returns the engine's object for a cell, made of its plan and the facts of its runs.

        All findings, tables and answers of the cell come from it. It is made at the first call. Raises
        `KeyError` if a run is missing.
        """
        if ("compared", cell) not in self.kept:
            runs = [self.runs(cell, scheme) for scheme in self.plan.schemes]
            found = ComparedCell(self._plan_entry(cell), self._capture_entry(), quantities.table(), runs)
            self.kept["compared", cell] = [found]
        return cast("ComparedCell", self.kept["compared", cell][0])

    def _plan_entry(self, cell: Cell) -> dict[str, object]:
        """Returns the plan of a cell in the form that the engine takes."""
        plan = self.plan
        return {
            **{name: getattr(plan, name) for name in _OF_PLAN},
            "buffer": cell.buffer,
            "load": cell.load,
            "schemes": list(plan.schemes),
            "window_s": _engine.parse_duration("duration", plan.base["duration"]),
            "is_overlaid": is_overlaid(plan.scenario(cell, plan.baseline)["traffic"]),
        }

    def _capture_entry(self) -> dict[str, object] | None:
        """Returns the capture in the form that the engine takes, None for a model."""
        if self.capture is None:
            return None
        entry = asdict(self.capture)
        return {**entry.pop("counted"), **entry}

    def __getstate__(self) -> dict[str, object]:
        """Returns the state for a pickle: all but the values in `kept`, which are computed again."""
        return {**vars(self), "kept": {}}

    def design(self, cell: Cell, family: Mapping[str, Floats] | None = None, reference: str = "") -> Design:
        """Returns the design of an interval in a cell; without `family`, that of a single comparison.

        With `family`, one value per replication for every scheme, the intervals of the schemes' ratios to the
        `reference` hold together, and at every look if the plan has several.
        """
        if family is None:
            return self.compared(cell).design()
        return self.compared(cell).family_design(list(family.values()), list(family).index(reference))

    def primary_design(self, cell: Cell, reference: str) -> Design:
        """Returns the design of the primary endpoint's intervals, which hold for all schemes together."""
        return self.compared(cell).primary_design(reference)

    def primary(self, cell: Cell) -> Measure:
        """Returns the primary endpoint: the mean of short transfers, or else the first figure of calls.

        The second is that of traffic without short transfers, and of a capture with too few of them for a
        verdict. Without calls it is the first figure of games, and so on in the order of `quantities.KINDS`.
        """
        source = self.compared(cell).primary.source
        return Measure(source.quantity, None if source.kind else "short", source.kind)

    def primary_values(self, cell: Cell, scheme: str) -> Floats:
        """Returns the primary endpoint under a scheme, one value per replication, NaN where it is missing.

        The order is that of the replications; times are in seconds.
        """
        return self.values(cell, scheme, self.compared(cell).primary.source)

    def values(self, cell: Cell, scheme: str, source: Source) -> Floats:
        """Returns a quantity, one value per replication in order, NaN where it is missing.

        Values are in the unit of the quantity. A percentile of a bucket has no values unless all replications
        have it.
        """
        return self.compared(cell).values(source, scheme)

    def runs(self, cell: Cell, scheme: str) -> list[RunFacts]:
        """Returns the replications of a scheme in a cell, in order.

        Raises `ValueError` for a cell or scheme that the plan lacks, `KeyError` for a missing run.
        """
        indices = self.plan.cells.index(cell), self.plan.schemes.index(scheme)
        return [self.facts[Task(*indices, replication)] for replication in range(self.plan.replications)]

    def bucket_values(self, cell: Cell, scheme: str, role: Summary, statistic: str) -> Floats:
        """Returns a statistic of a summary bucket, one value per replication in order.

        Times are in seconds. NaN where the replication has too few transfers. Raises `KeyError` for an
        unknown statistic.
        """
        index = self._find_bucket(role)
        return np.array([run.statistics[statistic][index] for run in self.runs(cell, scheme)])

    def _find_bucket(self, role: Summary) -> int:
        """Returns the index of the bucket with this role among the plan's buckets."""
        return [bucket.role for bucket in self.plan.buckets].index(role)


_Column = Value | Estimate | Change | Bucket | Mapping[str, Estimate | int]


@dataclass(frozen=True)
class Finding(FindingRow):
    """One scheme against one reference on one endpoint, in one cell of the grid."""

    def as_row(self) -> Record:
        """Returns the finding as plain values by column name."""
        return to_record(self)

    def __repr__(self) -> str:
        """Returns the finding's sentence with its cell."""
        return f"<Finding: {self.sentence} ({Cell(self.buffer, self.load).title})>"


def to_record(row: Row | LoadRow | EvidenceRow) -> Record:
    """Returns a row as plain values by column name; NaN becomes None.

    An estimate becomes three columns, a change four, a bucket four.
    """
    columns: Record = {}
    for item in fields(row):
        columns |= _to_columns(item.name, getattr(row, item.name))
    return columns


def make_row_frame(rows: Iterable[Row]) -> "Frame":
    """Returns rows as a frame for users; raises `MouseholeError` where polars is not installed."""
    return make_frame([to_record(row) for row in rows])


def nan_to_none(value: float) -> float | None:
    """Returns the value, None for NaN and infinity."""
    return value if isfinite(value) else None


def none_to_nan(value: float | None) -> float:
    """Returns the value, NaN for None."""
    return nan if value is None else float(value)


def _to_columns(name: str, value: _Column) -> Record:
    """Returns a value as columns by name: three of an estimate, four of a change, four of a bucket.

    A mapping gives the columns of all its values, and anything else one column.
    """
    if isinstance(value, Estimate):
        names = (name, *quantities.name_ends(name))
        return dict(zip(names, map(nan_to_none, (value.mean, value.low, value.high)), strict=True))
    if isinstance(value, Change):
        names = (name, f"{name}_low", f"{name}_high")
        ends = dict(zip(names, map(nan_to_none, (value.mean, value.low, value.high)), strict=True))
        return {**ends, f"{name}_is_interval": value.is_interval}
    if isinstance(value, Bucket):
        edges: Record = {"low_bytes": value.low_bytes, "high_bytes": value.high_bytes}
        return {"bucket": value.name, "role": value.role, **edges}
    if isinstance(value, Mapping):
        return {key: cell for each, item in value.items() for key, cell in _to_columns(each, item).items()}
    return {name: value}
