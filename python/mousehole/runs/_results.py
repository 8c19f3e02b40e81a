"""What a comparison found, as data: the facts of its runs, and the rows of its tables.

This module imports none of the modules that compute, print or draw results (`tables`, `findings`, `report`,
`plots`, `heatmap`, `jsonout`); they all import this one.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isfinite, nan
from typing import NotRequired, TypedDict, cast

import numpy as np

from mousehole import _engine, quantities
from mousehole._engine import ComparedCell, Source
from mousehole.base import Bucket, Summary
from mousehole.engine_types import Floats, InputEntry, JsonValue, Scenario, TrafficSummary
from mousehole.quantities import Measure
from mousehole.runs._evidence import Capture
from mousehole.runs._facts import RunFacts
from mousehole.runs._plan import Cell, Plan, Task, overlaid
from mousehole.statistics import Design, Estimate

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


class SchemeParameters(TypedDict):
    """A scheme with the value of each of its parameters."""

    scheme: str
    """As given."""
    parameters: dict[str, str]
    """By their names, those that it leaves out with their defaults."""
    policies: NotRequired[dict[str, str]]
    """SHA-256 of the header of each of the user's own policies in the scheme, by name."""


class Manifest(TypedDict):
    """Everything that determines the results; no times, hosts, jobs or directories."""

    mean_rates: NotRequired[dict[str, int]]
    """The mean in bit/s of each direction whose rate varies, `down` or `up`."""
    mousehole_version: str
    """Version of the program."""
    git_revision: str
    """The git revision that it was built from."""
    inputs: list[InputEntry]
    """Files of the traffic and of the link."""
    seed: int
    """Seed of all draws."""
    replications: int
    """Runs of each scheme in each cell."""
    buffers: list[str]
    """Buffers of the grid."""
    loads: list[float | None]
    """Loads of the grid; None is the load that the traffic has by itself."""
    baseline: str
    """The scheme that the others are compared with."""
    schemes: list[SchemeParameters]
    """Schemes in their order, the baseline first."""
    scenario: Scenario
    """The baseline's scenario in the first cell, replication 0, with every parameter filled in."""
    tcp: dict[str, JsonValue]
    """Every TCP parameter in force; sizes in bytes or segments, times in ns by their names."""
    statistics: dict[str, str | int | float]
    """How intervals are made, and what is judged."""


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
        """Returns the plan of a cell and the facts of its runs as the engine has them.

        All that is said of the cell follows from it.
        """
        if ("compared", cell) not in self.kept:
            runs = [self.runs(cell, scheme) for scheme in self.plan.schemes]
            found = ComparedCell(self._plan_entry(cell), self._capture_entry(), quantities.table(), runs)
            self.kept["compared", cell] = [found]
        return cast("ComparedCell", self.kept["compared", cell][0])

    def _plan_entry(self, cell: Cell) -> dict[str, object]:
        plan = self.plan
        return {
            **{name: getattr(plan, name) for name in _OF_PLAN},
            "buffer": cell.buffer,
            "load": cell.load,
            "schemes": list(plan.schemes),
            "window_s": _engine.parse_duration("duration", plan.base["duration"]),
            "is_overlaid": overlaid(plan.scenario(cell, plan.baseline)["traffic"]),
        }

    def _capture_entry(self) -> dict[str, object] | None:
        if self.capture is None:
            return None
        entry = asdict(self.capture)
        return {**entry.pop("counted"), **entry}

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "kept": {}}

    def design(self, cell: Cell, family: Mapping[str, Floats] | None = None, reference: str = "") -> Design:
        """Returns what an interval in a cell must allow for.

        `family` has one value per replication for every scheme. The intervals of the schemes' ratios to the
        `reference` then hold together, and at every look if the plan has several.
        """
        if family is None:
            return self.compared(cell).design()
        return self.compared(cell).family_design(list(family.values()), list(family).index(reference))

    def primary_design(self, cell: Cell, reference: str) -> Design:
        """Returns the design of the primary endpoint, of all schemes together."""
        return self.compared(cell).primary_design(reference)

    def primary(self, cell: Cell) -> Measure:
        """Returns the primary endpoint: the mean of short transfers, or without any what calls feel first.

        So it is, too, for a capture with too few short transfers for a verdict. Without calls it is that of
        games, and so on in the order of `quantities.KINDS`.
        """
        source = self.compared(cell).primary.source
        return Measure(source.quantity, None if source.kind else "short", source.kind)

    def primary_values(self, cell: Cell, scheme: str) -> Floats:
        """Returns the primary endpoint, one value per replication."""
        return self.values(cell, scheme, self.compared(cell).primary.source)

    def values(self, cell: Cell, scheme: str, source: Source) -> Floats:
        """Returns a quantity, one value per replication, NaN where it is missing.

        A percentile of a bucket has no values unless all replications have it.
        """
        return self.compared(cell).values(source, scheme)

    def runs(self, cell: Cell, scheme: str) -> list[RunFacts]:
        """Returns the replications of a scheme in a cell, in order."""
        place = self.plan.cells.index(cell), self.plan.schemes.index(scheme)
        return [self.facts[Task(*place, replication)] for replication in range(self.plan.replications)]

    def bucket_values(self, cell: Cell, scheme: str, role: Summary, statistic: str) -> Floats:
        """Returns a statistic of a summary bucket, one value per replication."""
        place = self._find_place(role)
        return np.array([run.statistics[statistic][place] for run in self.runs(cell, scheme)])

    def _find_place(self, role: Summary) -> int:
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
    """One scheme and size bucket."""

    is_baseline: bool
    """Whether the scheme is the baseline."""
    bucket: Bucket
    count: int
    """Transfers, over all replications."""
    censored: int
    """Of these, unfinished when the run ended; their age counts as their time."""
    censored_share: float
    """Their share."""
    is_bound: bool
    """More than 1 % are unfinished, so that means are lower bounds."""
    estimates: dict[str, Estimate]
    response_mean_change: Estimate
    """Change of the mean response time against the baseline, by log-ratios paired by replication; −0.3 is
    30 % less."""


@dataclass(frozen=True)
class SchemeRow(Row):
    """One scheme at the bottleneck."""

    is_baseline: bool
    """Whether it is the baseline."""
    estimates: dict[str, Estimate]


@dataclass(frozen=True)
class ColourRow(Row):
    """Packets of one colour at the bottleneck, summed over replications; shares are None if none arrived."""

    colour: str
    """The colour."""
    counts: dict[str, int]
    loss_share: float | None
    """Share of the arriving packets that were dropped."""
    mark_share: float | None
    """Share of them that were marked."""


@dataclass(frozen=True)
class CurveRow(Row):
    """One bin of the response time curve, of which there are five per decade of size."""

    low_bytes: float
    """Lower edge of the bin."""
    high_bytes: float
    """Upper edge."""
    count: int
    """Transfers, over all replications."""
    response_mean_s: Estimate
    """Mean response time in this bin (mean over replications)."""


@dataclass(frozen=True)
class CdfRow(Row):
    """Share of the short transfers that responded within `response_s`."""

    response_s: float
    share: Estimate


@dataclass(frozen=True)
class GroupRow(Row):
    """One figure of an application (`what`, a quantity's name), and its change against the baseline."""

    is_baseline: bool
    """Whether the scheme is the baseline."""
    group: str
    """A source of a mix, pages, misbehaving or honest senders."""
    kind: str | None
    """The kind of the application; None for others."""
    what: str
    """Name of the quantity."""
    is_primary: bool
    """Users of this kind of application feel it first."""
    value: Estimate
    """Mean over replications, in the unit of the quantity."""
    change: Estimate
    """Relative change against the baseline."""


@dataclass(frozen=True)
class SizeRow(Row):
    """Change of the mean response time of one size bucket against `reference`."""

    reference: str
    """FQ-CoDel if it is among the schemes, else the baseline."""
    bucket: str
    """Name of the size range."""
    count: int
    """Transfers, over all replications."""
    response_mean_change: Change
    """Relative change of the mean response time against the reference (mean over replications)."""


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
    """Load that the traffic's files, or the first trace of a mix, have by themselves."""
    load_copies: float | None
    """Copies of them that were laid over each other."""
    load_dilation: float | None
    """Factor by which their time was stretched."""
    load_achieved: float | None
    """Load that was offered by all data in the direction of the bottleneck."""
    load_window: float | None
    """Load that the transfers of a measured window offer; mean over replications."""
    load_window_deviation: float | None
    """Its standard deviation over replications."""
    replay: str | None
    """How files are replayed, `open` or `closed`; None without files."""


@dataclass(frozen=True)
class EvidenceRow:
    """What of a capture stands behind the verdicts of a cell; see `evidence.Capture`."""

    short_transfers: int
    """Distinct short transfers in the capture."""
    short_clients: int
    """Clients that they belong to."""
    long_transfers: int
    """Distinct long transfers in the capture."""
    long_clients: int
    """Clients that they belong to."""
    copies_least: int
    """Least number of copies in a replication."""
    copies_most: int
    """Largest number of copies in a replication."""
    laps: float
    """How often one copy of the capture is played within a measured window."""
    is_resampled: bool
    """Whether each replication draws the capture's clients anew."""
    is_fitted: bool
    """Whether a model fitted to the capture is played in its place."""
    capture_share: float
    """Share of the variance between replications that is between captures."""
    capture_freedom: float | None
    """Degrees of freedom for the variance between captures; None for infinitely many."""


@dataclass(frozen=True)
class Finding(Row):
    """One scheme against one reference on one endpoint, in one cell of the grid."""

    reference: str
    """The scheme that it is compared with."""
    endpoint: str
    """Name of the figure that is compared, such as short_response_mean_s."""
    endpoint_words: str
    """The endpoint in words, such as `mean response time of transfers ≤ 15 kB`."""
    exploratory: bool
    """False for the one primary endpoint."""
    outcome: str
    """Better, worse, equal within 5 % or undecided; for an exploratory endpoint also no clear change."""
    change: Estimate
    """Geometric mean of the replications' ratios, less one: −0.3 is 30 % less."""
    difference_s: Estimate
    """The mean less that of the reference; NaN for an endpoint that is no time."""
    slower_share: float | None
    """Share of the same short transfers that took longer than under the reference; None if unknown."""
    faster_share: float | None
    """Share of them that took less time; None if unknown."""
    replications: int
    """Replications in which both schemes have the endpoint."""
    error: float
    """The error permitted to this one interval; 0.05 unless it must hold together with others."""
    seeds_needed: int | None
    """About how many replications would decide an undecided comparison; None for the others."""
    verdict: str
    """The outcome in words, such as `better by 32 % (95 % interval 28–36 %)`."""
    sentence: str
    """The verdict with the names of the two schemes and of the endpoint."""

    def as_row(self) -> Record:
        """Returns the finding as plain values by column name."""
        return as_record(self)

    def __repr__(self) -> str:
        return f"<Finding: {self.sentence} ({Cell(self.buffer, self.load).title})>"


def as_record(row: Row | LoadRow | EvidenceRow) -> Record:
    """Returns a row as plain values by column name: an estimate becomes three columns, NaN becomes None."""
    columns: Record = {}
    for item in fields(row):
        columns |= _columns(item.name, getattr(row, item.name))
    return columns


def finite(value: float) -> float | None:
    """Returns the value, None for NaN and infinity."""
    return value if isfinite(value) else None


def or_nan(value: float | None) -> float:
    """Returns the value, NaN for None: what `finite` has made None."""
    return nan if value is None else float(value)


def _columns(name: str, value: _Column) -> Record:
    if isinstance(value, Estimate):
        names = (name, *quantities.ends(name))
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
