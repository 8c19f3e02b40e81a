# Written by `make docs` (tools/engine_structs.py).
"""The rows of a comparison's tables, as frozen data."""

from dataclasses import dataclass

from mousehole.base import Bucket
from mousehole.runs._row import Change, Row
from mousehole.statistics import Estimate


@dataclass(frozen=True)
class BucketRow(Row):
    """One scheme and size bucket."""

    is_baseline: bool
    """Whether the scheme is the baseline."""
    bucket: Bucket
    """The bucket."""
    count: int
    """Transfers, over all replications."""
    censored: int
    """Of these, unfinished when the run ended; their age counts as their time."""
    censored_share: float
    """Their share."""
    is_bound: bool
    """More than 1 % are unfinished, so that means are lower bounds."""
    estimates: dict[str, Estimate]
    """The quantities of buckets."""
    response_mean_change: Estimate
    """How the mean response time changes."""


@dataclass(frozen=True)
class SchemeRow(Row):
    """One scheme at the bottleneck."""

    is_baseline: bool
    """Whether it is the baseline."""
    estimates: dict[str, Estimate]
    """The quantities of schemes."""


@dataclass(frozen=True)
class ColourRow(Row):
    """Packets of one colour at the bottleneck, summed over replications; shares are None if none
    arrived.
    """

    colour: str
    """The colour."""
    counts: dict[str, int]
    """What was counted."""
    loss_share: float | None
    """Share of the arriving packets that were dropped."""
    mark_share: float | None
    """Share of them that were marked."""


@dataclass(frozen=True)
class CurveRow(Row):
    """One bin of the response time curve, of which there are five per decade of size; bins without
    transfers are left out.
    """

    low_bytes: float
    """Lower edge of the bin."""
    high_bytes: float
    """Upper edge."""
    count: int
    """Transfers, over all replications."""
    response_mean_s: Estimate
    """The mean response time."""


@dataclass(frozen=True)
class CdfRow(Row):
    """Share of the short transfers that responded within `response_s`."""

    response_s: float
    """The time."""
    share: Estimate
    """The share."""


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
    """The figure."""
    change: Estimate
    """How it changes."""


@dataclass(frozen=True)
class LoadRow:
    """How the load of a cell came about; means over the replications of the baseline."""

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
    """What of a capture stands behind the verdicts of a cell."""

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
class SizeRow(Row):
    """Change of the mean response time of one size bucket against `reference`."""

    reference: str
    """FQ-CoDel if it is among the schemes, else the baseline."""
    bucket: str
    """Name of the size range."""
    count: int
    """Transfers, over all replications."""
    response_mean_change: Change
    """How the mean response time changes."""


@dataclass(frozen=True)
class FindingRow(Row):
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
    """How the endpoint changes."""
    difference_s: Estimate
    """How far apart the two means are."""
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


@dataclass(frozen=True)
class WredProfile:
    """What a router's WRED needs to know of one DSCP, in the words of no vendor."""

    dscp: int
    """The DSCP."""
    min_packets: int
    """Average queue from which on packets are dropped by chance."""
    max_packets: int
    """Average queue from which on every packet is dropped."""
    probability: str
    """Probability of a drop just below the upper threshold."""
    weight_exponent: int
    """The newest queue length has the weight 2 to the power of minus this in the average."""
