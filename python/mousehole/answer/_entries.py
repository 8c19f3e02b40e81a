"""The parts of the JSON document of a comparison that are no rows of tables.

`make docs` writes the JSON Schema from these types and from the rows of `runs._results`: names, types and
the text below each field.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, TypedDict

from mousehole.engine_types import LinkAccount, LoadSummary, Scenario
from mousehole.runs import Manifest

Outcome = Literal["recommended", "nothing better", "not shown", "vetoed", "no verdict"]
"""How the answer for a cell came out."""


class CompareDocument(TypedDict):
    """What `mousehole compare` has found."""

    schema: Literal["mousehole.compare/3"]
    manifest: Manifest
    traffic: Mapping[str, object]
    """What was understood of the traffic, as in mousehole.inspect/1; empty if a scenario generates all."""
    cells: list["CellEntry"]
    notes: list[str]
    label: str
    """Name of the traffic, for titles."""
    plan: "PlanEntry"
    capture: "CaptureEntry | None"
    """The capture that is replayed; null if a model draws any traffic."""
    runs: list["RunEntry"]
    """The facts of every run, from which everything else follows."""
    link: NotRequired[list["LinkRunEntry"]]
    """Of `mousehole link` only: every run on real packets, in order."""


class CellEntry(TypedDict):
    """One point of the grid of --buffer and --load."""

    buffer: str
    """As given."""
    load: float | None
    """As given; null means the load that the traffic has by itself."""
    warmup_s: float
    """Time before the measured window."""
    warmup_needed_s: float | None
    """Time until the link is near its steady state, as far as sizes and load tell; null if not known."""
    evidence: Mapping[str, object] | None
    """What of a capture stands behind the verdicts; null if a model draws traffic."""
    schemes: list[Mapping[str, object]]
    findings: list[Mapping[str, object]]
    notes: list[str]
    advice: "AdviceEntry"


class SchemeEntry(TypedDict):
    """One scheme in one cell."""

    scheme: str
    short_response_mean_per_replication_s: list[float | None]
    long_response_mean_per_replication_s: list[float | None]
    buckets: list[Mapping[str, object]]
    by_size: list[Mapping[str, object]]
    colours: list[Mapping[str, object]]
    curve: list[Mapping[str, object]]
    groups: list[Mapping[str, object]]


class InstallationEntry(TypedDict):
    """How a scheme is installed."""

    place: str
    """Linux, or a router with WRED."""
    lines: list[str]
    """Commands or settings; DEV stands for the device."""


VetoEntry = TypedDict(
    "VetoEntry",
    {
        "scheme": str,
        "class": Annotated[str, "The class of traffic that pays, such as calls."],
        "quantity": Annotated[str, "What of it, such as delay_p95_s."],
        "margin": Annotated[float, "The harm allowed."],
        "is_relative": Annotated[
            bool,
            "Whether margin and change are shares of the reference's figure, or differences in its own unit.",
        ],
        "change": Annotated[float | None, "Against the reference."],
        "low": Annotated[float | None, "Lower end of its 95 % interval; null without one."],
        "high": Annotated[float | None, "Upper end of its 95 % interval."],
        "binds": Annotated[
            bool, "Whether the harm is shown, so that the scheme is not recommended; else the class may pay."
        ],
    },
)
"""A class of traffic that pays, or may, under a scheme."""


class AdviceEntry(TypedDict):
    """The answer for a cell."""

    outcome: Outcome
    """nothing better: no scheme beats the baseline; not shown: some may, the runs do not tell; vetoed: those
    that do make a class of traffic pay more than its margin."""
    scheme: str | None
    """The scheme recommended, one that can be installed if any of the better ones can."""
    is_best: bool
    """Whether the intervals show that no other scheme that can be installed, and that no veto rules out, is
    faster by more than 5 %."""
    peers: list[str]
    """Schemes that can be installed and are not shown to be slower for short transfers than the scheme
    recommended, the fastest first."""
    ahead: list[str]
    """Schemes that serve short transfers better still, but that nothing installs."""
    reference: str
    """The scheme that harm is measured against."""
    vetoes: list[VetoEntry]
    """Who pays, or may, under the schemes that are better than the baseline, and under the one recommended;
    without intervals, under all."""
    installation: InstallationEntry | None
    lines: list[str]
    """The answer as `mousehole compare` prints it."""


class WarmupEntry(TypedDict):
    """What the warm-up is chosen from."""

    rate_bps: float
    own_load: float | None
    is_chosen: bool
    """Whether the warm-up follows from sizes and load."""
    needed_s: list[float | None]
    """The warm-up that each load needs, null where there is no steady state."""


class PlanEntry(TypedDict):
    """What was run."""

    buffers: list[str]
    """Buffers of the grid."""
    loads: list[float | None]
    """Loads of the grid; null is the load that the traffic has by itself."""
    schemes: list[str]
    """Schemes in their order, the baseline first."""
    baseline: str
    replications: int
    short_bytes: int
    long_bytes: int
    first_replication: int
    """The number under which the first replication draws."""
    in_rounds: bool
    """Whether replications are rounds of real programs, as `mousehole link` plays them."""
    is_sequential: bool
    """Whether intervals hold at every look, if replications are doubled for each."""
    vetoes: list[str]
    """Margins of harm as the user gave them."""
    reference: str | None
    """The scheme that harm is measured against, if one was given."""
    instead_of: str | None
    """The capture that was given, and why ready-made traffic stands in its place; null if none does."""
    scenario: Scenario
    """The scenario that all runs share as it was given, without directories."""
    warmup: WarmupEntry | None
    """Null if the sizes of transfers are not known beforehand."""


class CaptureEntry(TypedDict):
    """The capture that is replayed."""

    period_s: float
    """Length of the capture, after which it repeats."""
    counted: Mapping[str, Mapping[str, int]]
    """Distinct transfers and clients of the classes short, long and all."""
    freedom: float | None
    """Degrees of freedom for the variance between captures; null for infinitely many."""
    large: int
    """Connections with more bytes than the bandwidth-delay product."""
    pipe_bytes: float
    """The bandwidth-delay product, 0 if the bottleneck has no rate of its own."""
    is_fitted: bool
    """Whether each replication plays a model fitted to a resample of the capture."""


class FigureEntry(TypedDict):
    """A figure of an application in one run."""

    group: str
    what: str
    """Name of the quantity."""
    value: float | None


class RunEntry(TypedDict):
    """One run."""

    buffer: str
    load: float | None
    scheme: str
    replication: int
    count: list[int]
    """Transfers of each size bucket, in the order of buckets."""
    censored: list[int]
    """Those of them that were unfinished."""
    statistics: Mapping[str, list[float | None]]
    """By quantity of buckets: its value in each bucket, null where there are too few transfers."""
    scheme_statistics: Mapping[str, float | None]
    """By quantity of schemes: its value."""
    curve_count: list[int]
    """Transfers of each bin of the curve, five per decade from 100 bytes on."""
    curve_mean_s: list[float | None]
    """Their mean response time."""
    cdf: list[float | None]
    """Share of the short transfers that responded within each time, a hundred per decade."""
    short_by_time: list[float | None]
    """Mean response time of short transfers by the part of the window that they began in."""
    colours: list[Mapping[str, str | int]]
    """Packets at the bottleneck by colour: arrived, dropped by reason, marked, sent."""
    offered: LoadSummary
    """How the load came about."""
    groups: list[FigureEntry]
    """Figures of applications."""
    kinds: Mapping[str, str]
    """Kinds of the groups that have one."""
    shares: Mapping[str, Mapping[str, float]]
    """By reference: shares of the same short transfers that were slower and faster."""
    simulated_s: float
    window_load: float | None
    """Wire bytes of the transfers that began in the window, over what the link carries."""


class LinkRunEntry(TypedDict):
    """One run on real packets."""

    scheme: str
    buffer: str
    round: int
    is_valid: bool
    """Whether its figures can be relied on."""
    counts: bool
    """Whether the figures have it in them."""
    congestion: str | None
    """Congestion control of programs that chose none, by the kernel's name; null if unknown."""
    account: LinkAccount
    """How the run went; docs/json.md explains the fields."""
