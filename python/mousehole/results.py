"""What a comparison found, as data: the facts of its runs, and the rows of its tables.

This module imports none of the modules that compute, print or draw results (`tables`, `findings`, `report`,
`plots`, `heatmap`, `jsonout`); they all import this one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import NotRequired, TypedDict

import numpy as np

from mousehole.engine_types import Floats, JsonValue, Scenario, TrafficSummary
from mousehole.plan import Cell, Plan, Task
from mousehole.reduction import BucketStatistic, RunFacts, SchemeStatistic
from mousehole.sizes import Bucket, Summary
from mousehole.statistics import Estimate

CENSORED_SHARE = 0.01
"""Above this share of unfinished transfers, a mean is only a lower bound."""

Value = str | int | float | bool | None
Record = dict[str, Value]
"""One row as plain values by column name, for frames and JSON."""
Facts = dict[Task, RunFacts]
"""The facts of every run."""


class InputEntry(TypedDict):
    """An input by name, without directories, and SHA-256 of its content."""

    name: str
    sha256: str


class SchemeParameters(TypedDict):
    """A scheme with the value of each of its parameters."""

    scheme: str
    parameters: dict[str, str]
    policies: NotRequired[dict[str, str]]


class Manifest(TypedDict):
    """Everything that determines the results; docs/json.md explains the fields."""

    mousehole_version: str
    git_revision: str
    inputs: list[InputEntry]
    seed: int
    replications: int
    buffers: list[str]
    loads: list[float | None]
    baseline: str
    schemes: list[SchemeParameters]
    scenario: Scenario
    tcp: dict[str, JsonValue]
    statistics: dict[str, str | int | float]


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
    kept: dict[tuple[str, Cell], list[object]] = field(default_factory=dict, compare=False, repr=False)
    """Rows that have been computed already, by the function that computes them and the cell."""

    def runs(self, cell: Cell, scheme: str) -> list[RunFacts]:
        """Returns the replications of a scheme in a cell, in order."""
        place = self.plan.cells.index(cell), self.plan.schemes.index(scheme)
        return [self.facts[Task(*place, replication)] for replication in range(self.plan.replications)]

    def bucket_values(self, cell: Cell, scheme: str, role: Summary, statistic: BucketStatistic) -> Floats:
        """Returns a statistic of a summary bucket, one value per replication."""
        place = self._place_of(role)
        return np.array([run.statistics[statistic][place] for run in self.runs(cell, scheme)])

    def scheme_values(self, cell: Cell, scheme: str, statistic: SchemeStatistic) -> Floats:
        """Returns a statistic of a scheme, one value per replication."""
        return np.array([run.scheme[statistic] for run in self.runs(cell, scheme)])

    def censored_share(self, cell: Cell, scheme: str, role: Summary) -> float:
        """Returns the share of unfinished transfers in a summary bucket, over all replications."""
        place = self._place_of(role)
        runs = self.runs(cell, scheme)
        total = sum(int(run.count[place]) for run in runs)
        return sum(int(run.censored[place]) for run in runs) / total if total else 0.0

    def has_bounds(self, cell: Cell, scheme: str) -> bool:
        """Returns whether so many transfers of some bucket are unfinished that its mean is only a bound."""
        runs = self.runs(cell, scheme)
        count, censored = (sum(getattr(run, name) for run in runs) for name in ("count", "censored"))
        return bool(np.any(censored > CENSORED_SHARE * count))

    def _place_of(self, role: Summary) -> int:
        return [bucket.role for bucket in self.plan.buckets].index(role)


@dataclass(frozen=True)
class Change:
    """A relative change over replications: its mean with a 95 % interval, or with the range of values."""

    mean: float
    low: float
    high: float
    is_interval: bool
    """False if there are too few replications: then `low` and `high` are the smallest and largest one."""


_Column = Value | Estimate | Change | Bucket | Mapping[str, Estimate | int]


@dataclass(frozen=True)
class Row:
    """The cell and scheme that a row of a table is about."""

    buffer: str
    load: float | None
    scheme: str


@dataclass(frozen=True)
class BucketRow(Row):
    """One scheme and size bucket; `is_bound` says that its means are only lower bounds."""

    is_baseline: bool
    bucket: Bucket
    count: int
    censored: int
    censored_share: float
    is_bound: bool
    estimates: dict[BucketStatistic, Estimate]
    response_mean_change: Estimate
    """Change of the mean response time against the baseline."""


@dataclass(frozen=True)
class SchemeRow(Row):
    """One scheme at the bottleneck."""

    is_baseline: bool
    estimates: dict[SchemeStatistic, Estimate]


@dataclass(frozen=True)
class ColourRow(Row):
    """Packets of one colour at the bottleneck, summed over replications; shares are None if none arrived."""

    colour: str
    counts: dict[str, int]
    loss_share: float | None
    mark_share: float | None


@dataclass(frozen=True)
class CurveRow(Row):
    """One bin of the response time curve."""

    low_bytes: float
    high_bytes: float
    count: int
    response_mean_s: Estimate


@dataclass(frozen=True)
class CdfRow(Row):
    """Share of the short transfers that responded within `response_s`."""

    response_s: float
    share: Estimate


@dataclass(frozen=True)
class GroupRow(Row):
    """One figure of an application (`what`, of `groups.FIGURES`), and its change against the baseline."""

    is_baseline: bool
    group: str
    what: str
    value: Estimate
    change: Estimate


@dataclass(frozen=True)
class SizeRow(Row):
    """Change of the mean response time of one size bucket against `reference`."""

    reference: str
    bucket: str
    count: int
    response_mean_change: Change


@dataclass(frozen=True)
class OverviewRow(Row):
    """One scheme against every reference."""

    short_response_mean_s: float
    against: dict[str, Change]
    """Change of the mean response time of short transfers, by reference."""
    long: Change | None
    """Change of the mean response time of long transfers against the baseline; None for the baseline."""
    queue_delay_p95_s: float
    reordered_share: float


@dataclass(frozen=True)
class LoadRow:
    """How the load of a cell came about; see `engine_types.LoadSummary`."""

    load_native: float | None
    load_copies: float | None
    load_dilation: float | None
    load_achieved: float | None
    replay: str | None
    """How files are replayed, `open` or `closed`; None without files."""


@dataclass(frozen=True)
class Finding(Row):
    """One scheme against one reference on one endpoint, in one cell of the grid."""

    reference: str
    endpoint: str
    exploratory: bool
    outcome: str
    change: float | None
    change_low: float | None
    change_high: float | None
    replications: int
    seeds_needed: int | None
    verdict: str
    """The outcome in words, such as `better by 32 % (95 % interval 28–36 %)`."""
    sentence: str
    """The verdict with the names of the two schemes and of the endpoint."""

    def as_row(self) -> Record:
        """Returns the finding as plain values by column name."""
        return as_record(self)


def as_record(row: Row | LoadRow) -> Record:
    """Returns a row as plain values by column name: an estimate becomes three columns, NaN becomes None."""
    columns: Record = {}
    for item in fields(row):
        columns |= _columns(item.name, getattr(row, item.name))
    return columns


def finite(value: float) -> float | None:
    """Returns the value, None for NaN and infinity."""
    return value if isfinite(value) else None


def _columns(name: str, value: _Column) -> Record:
    if isinstance(value, Estimate):
        stem, unit = _split_unit(name)
        names = (name, f"{stem}_low{unit}", f"{stem}_high{unit}")
        return dict(zip(names, map(finite, (value.mean, value.low, value.high)), strict=True))
    if isinstance(value, Change):
        names = (name, f"{name}_low", f"{name}_high")
        ends = dict(zip(names, map(finite, (value.mean, value.low, value.high)), strict=True))
        return {**ends, f"{name}_is_interval": value.is_interval}
    if isinstance(value, Bucket):
        edges: Record = {"low_bytes": value.low_bytes, "high_bytes": value.high_bytes}
        return {"bucket": value.name, "role": value.role, **edges}
    if isinstance(value, Mapping):
        return {key: cell for each, item in value.items() for key, cell in _columns(each, item).items()}
    return {name: value}


def _split_unit(name: str) -> tuple[str, str]:
    """Splits `response_mean_s` into `response_mean` and `_s`."""
    for unit in ("_s", "_bps", "_packets"):
        if name.endswith(unit):
            return name.removesuffix(unit), unit
    return name, ""
