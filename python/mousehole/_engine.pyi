# Written by `make docs` from python/src (tools/engine_stub.py).
"""The engine's functions. They raise `mousehole.MouseholeError` for a fault in the input."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from mousehole.base import MouseholeError
from mousehole.engine_types import (
    ConnectionColumns,
    Counter,
    DatagramColumns,
    Floats,
    FlowColumns,
    FormatEntry,
    InputEntry,
    InstallPlan,
    JsonValue,
    LinkAccount,
    LinkSettings,
    LinkStatus,
    MixEntry,
    OwnPolicy,
    PartEntry,
    PolicyReport,
    QueueCounters,
    Role,
    RunSummary,
    Scenario,
    SchemeEntry,
    SeriesColumns,
    TableRows,
    TraceColumns,
    TrafficSummary,
    TransferColumns,
    UInts64,
)

__version__: str
BUILD: str
SOURCES: str
DROP_REASONS: tuple[Counter, ...]
COMPARE_SCHEMA: str
BASELINE: str
BUFFER: str
LINE_BUFFER: str
MOST_SEED: int
REPLICATIONS: int
UNLOADED: float
MARGIN: float
NOT_JUDGED: str
LEAST_TRANSFERS: int
LEAST_FITTED: int
NO_VETO: str
MOST_LINES: int
TO_CLIENTS: str
TO_PROVIDER: str
AT_THE_LINE: str
DEFAULT_VETOES: list[str]
TRAFFIC_CLASSES: list[str]
MOST_USERS: int
NO_LINK: str
SHORT_BYTES: int
LONG_BYTES: int
LEVEL: float
FIRST_LOOK: int
LEAST_REPLICATIONS: int
TIME_CONSTANTS: float
READY_MADE: str

def run(scenario: Mapping[str, object], traffic: Traffic | None, cancel: Cancel) -> RunResult:
    """Runs a scenario and returns its records; other Python threads go on meanwhile."""

def validate(scenario: Mapping[str, object]) -> Scenario:
    """Returns the scenario with every parameter filled in."""

def tcp_parameters(scenario: Mapping[str, object]) -> dict[str, JsonValue]:
    """Returns every TCP parameter in force in a scenario; where senders have shares, by profile."""

def default_schemes(down_bps: int, up_bps: int) -> tuple[str, ...]:
    """Returns the schemes that are compared if none is named, on a line of these rates in bit/s."""

def refuse_duplicates(schemes: Sequence[str], meanings: Sequence[str]) -> None:
    """Raises `MouseholeError` if two schemes mean the same; `meanings` are their texts with every
    parameter filled in.
    """

def default_scenario() -> Scenario:
    """Returns the scenario that options change where the user has none."""

def manifest(first: Mapping[str, object], given: Mapping[str, object]) -> Any:
    """Returns the manifest of a comparison, but for its primary endpoint; `first` is the baseline's
    scenario in the first cell, and `given` what only those know who read the files.
    """

def scenario_to_toml(scenario: Mapping[str, object]) -> str:
    """Returns a scenario as TOML."""

def scenario_from_toml(text: str, path: str) -> Scenario:
    """Returns the scenario of a TOML text; `path` names the file in messages."""

class Cancel:
    """A switch by which another thread stops runs."""
    def __new__(cls) -> Cancel: ...
    def cancel(self) -> None:
        """Stops every run that was given this switch."""

def judge(
    ratio: Estimate,
    design: Design | None = None,
    unit: Literal["replication", "round", "day"] | None = None,
    faster: tuple[int, int] | None = None,
) -> Verdict:
    """Judges the primary endpoint by the interval of its log-ratio to the reference; smaller is
    better.

    `design` is that of the interval, which is over `unit`; `faster` says in how many of how many
    of them the scheme was.
    """

def describe(ratio: Estimate, quantity: Quantity, unit: str) -> Verdict:
    """Describes how an exploratory endpoint changed."""

def endpoints(
    table: Sequence[Quantity], short_bytes: int, long_bytes: int, has_pages: bool
) -> list[Endpoint]:
    """Returns the endpoints of transfers and pages."""

def harm_margins(table: Sequence[Quantity], given: Sequence[str]) -> list[Margin]:
    """Returns the margins that hold; those given are about `--veto`."""

def read_margin(table: Sequence[Quantity], text: str) -> Margin:
    """Reads one margin."""

def find_figure(table: Sequence[Quantity], field: str, text: str) -> tuple[str, str]:
    """Returns class and name of the figure of a text, about `field`."""

def find_class(text: str) -> str | None:
    """Returns the class with whose name a text begins."""

def read_change(text: str) -> tuple[str, str, float, str] | None:
    """Splits a change into what changes, sign, number and unit; None for what is no change."""

def in_own_unit(
    field: str, text: str, name: str, quantity: Quantity, number: float, unit: str
) -> tuple[float, bool]:
    """Returns a number as a share of a quantity that users call `name`, or in its own unit; and
    whether it is the former.
    """

def difference_scale(unit: str) -> tuple[float, str]:
    """Returns how differences of a unit are written: the factor, and the unit's name."""

def harm_reference(schemes: Sequence[tuple[str, str]], baseline: str, given: str | None) -> str:
    """Returns the scheme that harm is measured against, of schemes given by text and name."""

def average_over_kinds(run: object, figures: Sequence[tuple[str, str]]) -> list[float]:
    """Returns the means of figures of a run: of each, over the applications of a kind that have it;
    NaN without any.
    """

def make_change(ratio: Estimate, own: Floats, other: Floats) -> tuple[float, float, float, bool]:
    """Returns the change of a log-ratio of two columns; without an interval its ends are those of
    single replications.
    """

class Source:
    """A quantity and whose it is: that of a class of transfers, a scheme, a group of an application
    or a kind of them.
    """
    def __new__(
        cls, quantity: Quantity, role: str | None = None, kind: str | None = None, group: str | None = None
    ) -> Source: ...
    @property
    def quantity(self) -> Quantity:
        """What is measured."""
    @property
    def role(self) -> Literal["short", "long", "all"]:
        """The class of the transfers that it is about."""
    @property
    def kind(self) -> Literal["calls", "games", "video_calls", "streams", "logins"] | None:
        """The kind of applications, if it is of one."""
    @property
    def group(self) -> str | None:
        """The application's group, if it is of one."""
    @property
    def is_of_transfers(self) -> bool:
        """Whether it is about transfers; pages and kinds of applications are none."""

class Endpoint:
    """A quantity in which schemes are compared."""
    @property
    def name(self) -> str: ...
    @property
    def words(self) -> str:
        """What is compared, in words."""
    @property
    def exploratory(self) -> bool:
        """False for the one primary endpoint."""
    @property
    def source(self) -> Source:
        """Where its values come from."""

class Verdict:
    """The outcome for one endpoint, with a text."""
    def __new__(cls, outcome: str, text: str, seeds_needed: int | None = None) -> Verdict: ...
    @property
    def outcome(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def seeds_needed(self) -> int | None:
        """About how many replications would decide an undecided comparison."""
    def with_bounds(self, scheme_bound: bool, reference_bound: bool, why: str) -> Verdict:
        """Withdraws the verdict for the reason `why` if a mean that it relies on is only a lower bound.

        Where the truth can only be further from no change, the verdict stands, with `at least`.
        """

class Margin:
    """How much worse a figure of a class of traffic may become."""
    @property
    def whose(self) -> str:
        """The class, one of `TRAFFIC_CLASSES`."""
    @property
    def name(self) -> str:
        """What users write behind the class, such as `delay p95`."""
    @property
    def quantity(self) -> Quantity: ...
    @property
    def most(self) -> float:
        """The harm allowed, above 0: a share of the reference's figure, or in the figure's own unit."""
    @property
    def is_relative(self) -> bool: ...
    @property
    def text(self) -> str:
        """The margin as a change, such as `+10 ms`."""

class ComparedCell:
    """One cell of a comparison, with the facts of its runs by scheme and replication."""
    def __new__(
        cls,
        plan: Mapping[str, object],
        capture: Mapping[str, object] | None,
        table: Sequence[Quantity],
        runs: Sequence[Sequence[Any]],
    ) -> ComparedCell: ...
    def findings(self) -> list[dict[str, Any]]:
        """Returns the findings as dictionaries."""
    def vetoes(self) -> list[dict[str, Any]]:
        """Returns who pays, or may, as dictionaries."""
    def rows(self, table: TableRows) -> list[dict[str, Any]]:
        """Returns the rows of a table as dictionaries."""
    def load(self) -> dict[str, Any]:
        """Returns how the load came about, as a dictionary."""
    def evidence(self) -> dict[str, Any] | None:
        """Returns what of a capture stands behind the verdicts, as a dictionary; None for a model."""
    def overview_references(self) -> list[str]:
        """Returns the baseline, and drop-tail, RED and FQ-CoDel if they are compared."""
    def size_reference(self) -> str:
        """Returns the reference of the change by size: FQ-CoDel if it is compared, else the baseline."""
    def transient_share(self, scheme: str) -> float:
        """Returns the share of the windows that belongs to the transient, 0 if its removal changes
        little.
        """
    def notes(self, around: Mapping[str, object]) -> list[str]:
        """Returns the remarks on the cell."""
    def document(self, around: Mapping[str, object]) -> dict[str, Any]:
        """Returns the cell as the JSON document has it."""
    def runs(self) -> list[dict[str, Any]]:
        """Returns the runs of the cell as the JSON document has them."""
    def advise(self, around: Mapping[str, object]) -> dict[str, Any]:
        """Returns the answer as a dictionary; `around` is what stands around the cell."""
    def report(
        self, duration: str
    ) -> dict[Literal["overview", "verdicts", "applications", "tables"], list[dict[str, Any]]]:
        """Returns the parts of the cell's report as data; `duration` is the length of a replication, as
        it was given.
        """
    def stand_in(self, label: str, instead_of: str | None) -> str | None:
        """Says what is played in the place of a capture that is too small to be played as it is."""
    def nothing_compared(self) -> str | None:
        """Returns why no scheme could be recommended however long it ran; None if one could."""
    def present(self) -> list[str]:
        """Returns the names of the classes of traffic of which some run has a figure."""
    @property
    def primary(self) -> Endpoint: ...
    def describe_primary(self) -> str:
        """Returns whose primary endpoint it is: `transfers ≤ 15 kB`, or `calls (one-way delay, p95)`."""
    def primary_design(self, reference: str) -> Design: ...
    def design(self) -> Design: ...
    def family_design(self, columns: Sequence[Floats], reference: int) -> Design:
        """Returns the design of intervals that hold together, of columns against one of them."""
    def values(self, source: Source, scheme: str) -> Floats: ...
    @property
    def capture_share(self) -> float: ...
    def is_bound(self, scheme: str, role: str) -> bool:
        """Returns whether so many transfers of a class are unfinished that means are lower bounds."""
    def floor_text(self, role: str) -> str:
        """Returns how many distinct transfers of a size the capture has, and how many a verdict needs."""
    def few_replications_text(self, length: str) -> str:
        """Returns why there is no interval: too few replications, each of `length` if it is given."""
    def coverage_note(self) -> str:
        """Returns the sentence that says what the intervals cover."""
    def exploratory_note(self) -> str:
        """Returns which endpoint is the primary one, and which intervals hold together."""

def places() -> dict[str, list[dict[str, Any]]]:
    """Returns the tables of applications and of places."""

def place_entries(users: int, shares: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Returns the entries of a mix of so many users, by shares of applications that are in the table."""

def place_label(place: str | None, users: int) -> str:
    """Returns the name of a place's traffic for titles."""

def schemes() -> list[SchemeEntry]:
    """Returns every named scheme: name, summary, source, detail, stages and params."""

def parts() -> list[PartEntry]:
    """Returns every part that schemes may be made of: as `schemes` does, with its role, the order in
    which packets leave it, what installs it, and of a user's own policy its header and that
    header's SHA-256.
    """

def scheme_policies(scheme: str) -> list[OwnPolicy]:
    """Returns the user's own policies in a scheme: name, header and SHA-256 of the header."""

def scheme_remarks(scheme: str) -> list[str]:
    """Returns a sentence for each part of a scheme that has no effect in its position."""

def models() -> dict[str, str]:
    """Names of the traffic models, each with one line about it."""

def scheme_parameters(scheme: str) -> dict[str, str]:
    """Returns every parameter of a scheme with its value as text."""

def parse_rate(field: str, text: str) -> int:
    """Bits per second of a rate such as `10mbit`."""

def link_rate(field: str, text: str) -> int:
    """Bits per second of a direction of a link, given as a rate or as the file of a rate trace, which
    has a mean.
    """

def load_rate(rate: str, layer: str) -> int:
    """Returns the bit/s that full packets leave to IP on a link of a rate with a link layer."""

def shaped_rate(field: str, text: str, rate_bps: int, varies: bool) -> int:
    """Returns the bit/s of a shaper, given as a share or a rate, on a line of a rate, the mean if the
    line varies.
    """

def is_rate_trace(text: str) -> bool:
    """Returns whether a direction of a link is given as the file of a rate trace."""

def parse_duration(field: str, text: str) -> float:
    """Returns the seconds of a time such as `80ms`."""

def parse_size(field: str, text: str) -> int:
    """Returns the bytes of a size such as `15kB`."""

def formats() -> list[FormatEntry]:
    """Returns what the reader of traffic understands, by heading: name, what it is recognised by, how
    it is read.
    """

def value_error(field: str, value: object, allowed: str, fault: str | None = None) -> MouseholeError:
    """Returns the error of a field whose value is not allowed; `allowed` completes "it must be …",
    and `fault` "the value …" if it can be more specific than "is not allowed".
    """

def missing_error(field: str, allowed: str) -> MouseholeError:
    """Returns the error of a needed field that is absent; `allowed` completes "give …"."""

def conflict_error(field: str, value: object, other: str, allowed: str) -> MouseholeError:
    """Returns the error of a value that cannot be combined with something else; `allowed` says how to
    resolve it.
    """

def unknown_error(field: str, noun: str, name: str, known: Sequence[str]) -> MouseholeError:
    """Returns the error of a name that no `noun` has."""

def find_link(
    scenario: Mapping[str, object], buffer: str, is_up: bool, means: Mapping[str, int]
) -> Link | None:
    """Returns the link of a scenario that is filled in, but for its traffic; None if it has no
    constant rate.
    """

class Link:
    """One direction of a bottleneck, as the commands that install a scheme there need it."""
    def __new__(
        cls,
        rate_bps: int,
        buffer_packets: int,
        overhead: int = 0,
        is_upload: bool = False,
        other: Link | None = None,
        layer: str | None = None,
        burst: int | None = None,
    ) -> Link: ...
    @property
    def rate_bps(self) -> int:
        """Rate at which the scheme sends: the link's, or the shaper's before a modem."""
    @property
    def buffer_packets(self) -> int:
        """Its buffer in full packets."""
    @property
    def is_upload(self) -> bool:
        """Whether the data go from client to server."""
    @property
    def other(self) -> Link | None:
        """The other direction, if the scheme is there too."""
    @property
    def line_bps(self) -> int | None:
        """Rate of the modem's line behind, of one that varies its mean; None without a modem."""
    @property
    def varies(self) -> bool:
        """Whether the rate of that line varies."""
    @property
    def has_own_shape(self) -> bool:
        """Whether the shaper's rate is this direction's alone, so that a scheme's own does not replace
        it.
        """
    def install(self, scheme: str) -> tuple[list[InstallPlan], str | None]:
        """Returns what installs a scheme in each direction in which something does, or why nothing does."""
    def list_lines(self, scheme: str) -> tuple[str, list[str]] | None:
        """Returns place and lines of what installs a scheme, None if nothing does."""

def json_text(document: Mapping[str, object]) -> str:
    """Returns a document as `--json` writes it. Estimates and numpy's numbers may stand in it; NaN
    and infinity become null, and surrogates that stand alone U+FFFD, since JSON has neither.
    """

def page_document(options: str, traffic: Traffic | None = None) -> str:
    """Makes the comparison that a page in a browser asks for by `options` in JSON, of the traffic
    that was read if they name files; returns its document. By it tests hold what the page puts
    around cells and runs against what the command does.
    """

def link_check(scenario: Mapping[str, object], settings: LinkSettings) -> None:
    """Checks a scenario and the commands that are to run through its links."""

def link_run(
    scenario: Mapping[str, object], settings: LinkSettings, monitor: LinkMonitor
) -> tuple[RunResult, LinkAccount]:
    """Runs commands through the links of a scenario; other Python threads go on meanwhile. Returns
    the records, as a simulation has them, and how the run went.
    """

class LinkMonitor:
    """Watches a run on real packets while it lasts, and ends it."""
    def __new__(cls) -> LinkMonitor: ...
    def cancel(self) -> None:
        """Ends the run; its records are returned."""
    def take_statuses(self) -> list[LinkStatus]:
        """Returns the states of the run since the last call, one for each second."""
    def holders(self) -> tuple[int, int] | None:
        """Returns the processes that hold the namespaces, the client's and the server's, once they exist."""

def load_policy(path: str) -> str:
    """Compiles and loads a user's policy header; returns the policy's name. Ctrl-C ends it at once."""

def try_policies(headers: Sequence[str], scenarios: Sequence[Mapping[str, object]]) -> tuple[str, str] | None:
    """Tries own policies in a process that was started for it and may be lost: loads the headers and
    plays random records to their policies, with the defaults or, after a moment of each scenario,
    with the parameters asked there. Calls have less time than elsewhere. Returns the header at
    fault and its fault, None if nothing is found. What else is wrong with a scenario is left to
    others.
    """

def policy_template(kind: str, name: str) -> str:
    """Returns the header of a policy; `kind` is `marker`, `dropper` or `queue`."""

def policy_check(target: str, records: int, kernel: bool, seed: int) -> PolicyReport:
    """Checks a header, or a policy known by its name. Ctrl-C ends it at once."""

def policy_headers_folder() -> str:
    """Returns the folder for a compiler's -I."""

def quantities() -> list[Quantity]:
    """Returns the table of quantities."""

def buckets(short_bytes: int, long_bytes: int) -> list[Bucket]:
    """Returns the size buckets in the order of the tables."""

def size_text(size_bytes: float) -> str:
    """Returns a size in bytes as text: `15 kB` for 15000, `1 MB` for 1000000."""

def curve_edges_bytes() -> Floats:
    """Returns the edges of the curve's bins, in bytes."""

def cdf_times_s() -> Floats:
    """Returns the times at which the distribution is sampled, in seconds."""

class Quantity:
    """One quantity of the table."""
    def __new__(cls, fields: Mapping[str, Any]) -> Quantity: ...
    def fields(self) -> dict[str, Any]:
        """Returns the quantity as a dictionary, from which it can be made again."""
    def changed(self, **changes: Any) -> Quantity:
        """Returns a quantity that differs in these fields."""
    @property
    def name(self) -> str:
        """Its name with the unit, which is that of its column."""
    @property
    def ends(self) -> tuple[str, str]:
        """The names of the columns with the ends of its interval."""
    @property
    def subject(self) -> Literal["bucket", "scheme", "application", "count", "comparison", "run"]:
        """What it describes."""
    @property
    def unit(self) -> str:
        """What it is measured in, such as `seconds` or `share`."""
    @property
    def short(self) -> str:
        """Its heading, such as `p95`."""
    @property
    def long(self) -> str:
        """Its name in a sentence, such as `95th percentile of the response time`."""
    def describe(self, transfers: str) -> str:
        """Returns its words in a sentence about some transfers, such as `transfers > 150 kB`."""
    @property
    def axis(self) -> str:
        """The title of its axis, such as `response time, p95`."""
    @property
    def better(self) -> Literal["less", "more", "neither"]:
        """Which way is better."""
    @property
    def less_is_better(self) -> bool: ...
    @property
    def least(self) -> int:
        """Number of values from which on it is given."""
    @property
    def is_percentile(self) -> bool:
        """Whether it is a percentile, which a comparison gives only if every replication has it."""
    @property
    def percent(self) -> float | None:
        """Which percentile it is; None for anything else."""
    @property
    def is_share(self) -> bool:
        """Whether it cannot leave 0 to 1."""
    @property
    def role(self) -> Literal["short", "long", "all"] | None:
        """The class of transfers that it is about by itself; None for those of buckets and links."""
    @property
    def measure(self) -> str | None:
        """How `tune` calls it, behind the class of transfers if it is of a bucket."""
    @property
    def tables(self) -> list[str]:
        """The tables in which it is a column: `bucket`, `short`, `long`, `link`, `application`."""
    @property
    def primary_of(self) -> list[str]:
        """The kinds of applications whose users feel it first: those of `quantities.KINDS`."""

class Bucket:
    """A size bucket: transfers of more than `low_bytes` and at most `high_bytes`."""
    def __new__(cls, name: str, low_bytes: int, high_bytes: int | None, role: Role) -> Bucket: ...
    @property
    def name(self) -> str: ...
    @property
    def low_bytes(self) -> int: ...
    @property
    def high_bytes(self) -> int | None: ...
    @property
    def role(self) -> Role: ...
    def holds(self, size_bytes: int) -> bool:
        """Returns whether a transfer of this size belongs to the bucket."""

def reduce_records(
    records: Mapping[str, Any], buckets: Sequence[Bucket], table: Sequence[Quantity]
) -> dict[str, Any]:
    """Reduces records that were made by hand, as tests do."""

def outcome_profiles() -> list[tuple[str, str, str]]:
    """Returns the profiles of Quality of Outcome that have a name: the name, the kind of application,
    the needs.
    """

def shares_of_same(own: tuple[UInts64, Floats], other: tuple[UInts64, Floats]) -> tuple[float, float] | None:
    """Returns the shares of the same transfers that were slower and faster; None if they are not the
    same.
    """

class RunResult:
    """The records of one run."""
    def reduce(self, buckets: Sequence[Bucket], table: Sequence[Quantity]) -> dict[str, Any]:
        """Returns the facts of the run; other Python threads go on meanwhile."""
    def transfers(self) -> TransferColumns:
        """Returns one row per measured transfer; times that did not happen are NaN."""
    def flows(self) -> FlowColumns:
        """Returns one row per long-lived flow: what it delivered within the measured window."""
    def datagrams(self) -> DatagramColumns:
        """Returns one row per datagram flow, about the packets sent within the measured window."""
    def queues(self) -> list[QueueCounters]:
        """Returns the counters of every queue within the measured window, the bottleneck first."""
    def series(self) -> SeriesColumns:
        """Returns the adaptive values of markers and queues, one row per change, then the samples of
        links and senders.
        """
    def summary(self) -> RunSummary:
        """Returns load, goodput, and how much was simulated."""
    def trace(self) -> TraceColumns | None:
        """Returns the packet events of the data path, None unless the scenario asks for a trace."""

def t_interval(values: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns mean and Student-t interval of one number per replication; those not finite are left
    out.
    """

def difference(scheme: ArrayLike, reference: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns the mean of scheme − reference with its Student-t interval, paired by replication."""

def log_ratio(scheme: ArrayLike, reference: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns the logarithm of the ratio of scheme to reference, paired by replication, with its
    interval.

    The ratio is the geometric mean of the replications' ratios. A value below 0 means that the
    scheme has the smaller values. Replications in which either number is not finite are left out.
    Where a number is zero, it is `ratio_of_means`.
    """

def ratio_of_means(scheme: ArrayLike, reference: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns ln(mean of scheme ÷ mean of reference) with its jackknife interval, paired by
    replication.

    Replications in which either number is not finite are left out. The result is NaN if a mean is
    not positive, and has no interval if it would not be positive without one of the replications.
    """

def paired_logs(scheme: ArrayLike, reference: ArrayLike) -> Floats:
    """Returns the logarithm of each replication's ratio, NaN where there is none, infinite for a
    zero.
    """

def smaller_in(scheme: ArrayLike, reference: ArrayLike) -> tuple[int, int]:
    """Returns in how many replications the scheme has the smaller number, and in how many both have
    one.
    """

def effective_comparisons(columns: Iterable[ArrayLike]) -> float:
    """Returns the number of independent comparisons that would need the same width as these columns.

    A column has a number per replication. It is `Design.comparisons` for intervals that hold
    together.
    """

def positive_interval(values: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns the mean of numbers that cannot be negative, with an interval that does not reach below
    zero.

    It is that of `ratio_of_means` to 1, taken on the logarithm as changes are. If a number is zero
    it is the t interval, cut at zero.
    """

def share_interval(values: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns the mean of shares with the part of its t interval that lies between 0 and 1."""

def replications_for(estimate: Estimate, wanted: float, design: Design | None = None) -> int | None:
    """Returns the number of replications of the first later look that gives the half width `wanted`.

    It assumes that further replications have the same spread. Returns None if it would be more
    than 1000, or if no number is enough because the capture itself is too short.
    """

def heterogeneity(effects: ArrayLike, errors: ArrayLike) -> Heterogeneity | None:
    """Returns how much `effects` with these standard errors differ; None for fewer than two with an
    error.
    """

def capture_share(material: float) -> float:
    """Returns the share of the variance between resampled replications that is between captures."""

def capture_freedom(sizes_bytes: ArrayLike, pipe_bytes: float) -> float:
    """Returns the degrees of freedom that a capture leaves for the variance between captures.

    `pipe_bytes` is the bandwidth-delay product, beyond which a transfer fills the link by itself.
    """

def effective_number(weights: ArrayLike) -> float:
    """Returns the number of equal weights that have the same relative variance of their sum."""

def jain_index(rates: ArrayLike) -> float:
    """Returns Jain's fairness index, NaN without rates."""

def relaxation_s(sizes_bytes: ArrayLike, rate_bps: float, load: float) -> float:
    """Returns the time scale on which a link that starts empty approaches its steady state; load < 1."""

def mser(batch_means: ArrayLike) -> int:
    """Returns how many of the first batches belong to the transient.

    Give it at least ten batches. A result in the second half means that no steady state was
    reached.
    """

def simultaneous_error(error: float, comparisons: float) -> float:
    """Returns the error that each of `comparisons` intervals may have so that all hold but for
    `error`.
    """

def find_look(replications: int, first: int = ...) -> int:
    """Returns the number of the look, from 0, at so many replications: up to `first`, up to twice
    that, …
    """

def replications_of_look(look: int, first: int = ...) -> int:
    """Returns the number of replications with which a look is taken."""

def look_error(replications: int, error: float = ..., first: int = ...) -> float:
    """Returns the share of `error` that the look at so many replications may spend: a half, a
    quarter, …
    """

def holm(p_values: ArrayLike) -> list[float]:
    """Returns the p-values adjusted by Holm's procedure; NaN stays NaN and does not count."""

def p_beyond(values: ArrayLike, end: float, is_above: bool) -> float:
    """Returns the doubled one-sided p-value of the mean lying above `end`, or below; 0 if it is
    infinite.
    """

def find_p_value(distance: float, error: float, freedom: float) -> float:
    """Returns the two-sided p-value of a mean so far from what is tested; without an error, 0 or 1."""

def binomial_interval(count: int, of: int) -> tuple[float, float]:
    """Returns the 95 % interval of a share that `count` of `of` trials had, by Clopper and Pearson."""

class Design:
    """What an interval must allow for beside the spread between replications."""
    def __new__(
        cls,
        comparisons: float = 1.0,
        is_sequential: bool = False,
        first_look: int = ...,
        capture_share: float = 0.0,
        capture_freedom: float = ...,
    ) -> Design: ...
    @property
    def comparisons(self) -> float:
        """Number of independent intervals that must hold together."""
    @property
    def is_sequential(self) -> bool:
        """Whether the user may look, add replications and look again."""
    @property
    def first_look(self) -> int:
        """Number of replications up to which it is the first look; each further look doubles it."""
    @property
    def capture_share(self) -> float:
        """Share of the variance between replications that more of the same capture do not reduce."""
    @property
    def capture_freedom(self) -> float:
        """Degrees of freedom that the capture leaves for the variance between captures."""
    def error(self, count: int) -> float:
        """Returns the error that one interval from `count` replications may have."""
    def half_width(self, deviation: float, count: int) -> float:
        """Returns half the width of the interval of a mean over `count` replications of this deviation."""
    def limits(self, estimate: Estimate, error: float) -> Estimate:
        """Returns the interval between the one-sided limits, each of which may err by `error`."""
    def standard_error(self, estimate: Estimate) -> float:
        """Returns the standard error from which the interval of an estimate was made; NaN without one."""
    def freedom(self, count: int) -> float:
        """Returns the degrees of freedom of the variance of a mean over `count` replications."""

class Estimate:
    """An estimate with its interval; undefined values are NaN."""
    def __new__(cls, mean: float, low: float, high: float, count: int) -> Estimate: ...
    __match_args__ = ("mean", "low", "high", "count")
    @property
    def mean(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def count(self) -> int: ...
    @property
    def has_interval(self) -> bool:
        """Whether there were enough replications for an interval."""
    @property
    def half_width(self) -> float:
        """Half the width of the interval; NaN if there is none."""
    def as_change(self) -> Estimate:
        """Returns the relative change that a log-ratio stands for; -0.3 means 30 % less."""
    def as_dict(self) -> dict[str, Any]:
        """Returns the numbers by name."""
    def negated(self) -> Estimate:
        """Returns the estimate of the negated quantity."""
    def within(self, least: float, most: float) -> Estimate:
        """Returns the estimate with the ends of its interval moved into the range of possible values."""

class Heterogeneity:
    """How much effects differ beyond their own errors."""
    @property
    def q(self) -> float:
        """Cochran's Q: the sum of squared differences from the common effect, each over its variance."""
    @property
    def freedom(self) -> int:
        """Degrees of freedom of Q: the number of effects less one."""
    @property
    def p_value(self) -> float:
        """How often Q would be as large if all effects were the same."""
    @property
    def i_squared(self) -> float:
        """Share of the variance of the effects that their own errors do not explain, from 0 to 1."""
    @property
    def deviation(self) -> float:
        """Standard deviation of the true effects, on the scale of the effects."""
    def __new__(
        cls, q: float, freedom: int, p_value: float, i_squared: float, deviation: float
    ) -> Heterogeneity: ...

def time_text(seconds: float | None, bound: bool = False) -> str:
    """Returns a time as text: `84 ms`, `1.27 s`, `≥ 1.27 s` for a lower bound, `–` for None and NaN."""

def span_text(seconds: float) -> str:
    """Returns a long time as text: `42 s`, `3.5 min (210 s)`, `8 h (28,800 s)`, `2.3 days (198,720
    s)`.
    """

def counted(number: int, noun: str) -> str:
    """Returns `1 client`, `2 clients`: the number with the noun, which takes an s in the plural."""

def share_text(share: float | None) -> str:
    """Returns a share as text: `0.42 %`, `< 0.001 %` for less than half of that, `–` for None and
    NaN.
    """

def rate_text(bps: float | None) -> str:
    """Returns a rate as text: `3.2 Mb/s`, `–` for None and NaN."""

def unit_text(unit: str, number: float | None, is_bound: bool = False) -> str:
    """Returns a number of a quantity's unit as text, with `≥` for a lower bound; `–` for None and
    NaN.
    """

def percent(share: float) -> str:
    """Returns a share in percent with two or three digits, a true minus sign, and no sign for
    percent.
    """

def signed(share: float) -> str:
    """Returns a share in percent with its sign, plus as well as minus, and no sign for percent."""

def whole_percent(share: float) -> str:
    """Returns a share in whole percent with its sign, `+12`, `−3` or `0`, and no sign for percent."""

def capped(share: float) -> str:
    """Returns a share as `signed` does, `>+999` for more than that."""

def change_text(mean: float, low: float, high: float) -> str:
    """Returns a change with its ends, `−32 % (−36…−28)`; without ends that are not finite, `–` for
    NaN.
    """

def read_traffic(
    paths: Sequence[str],
    payload: str = "down",
    strict: bool = False,
    seed: int = 1,
    parquet: dict[int, tuple[str, Callable[[], bytes]]] | None = None,
    classes: Sequence[str] = ...,
    most_rows: int | None = None,
    most_bytes: int | None = None,
    log_format: str = "",
) -> Traffic:
    """Reads traffic files, recognised by content; `classes` are corrections of the classes of flows,
    and `parquet` has SHA-256 and a function for the next bytes of CSV of those that are Parquet,
    by their place. `most_rows` and `most_bytes` are those of `ReadOptions`.
    """

def check_format(path: str, text: str) -> None:
    """Checks the description of a format of logs; `path` is that of its file, for messages."""

def log_formats() -> list[tuple[str, str, str, str]]:
    """Returns the formats of logs that files describe: name, title, what a row is, and the reason if
    files are refused.
    """

def is_traffic_column(name: str) -> bool:
    """Returns whether a column of this name is read from tables."""

def bytes_read() -> int:
    """Returns how many bytes this process has read from files of traffic so far."""

def table_columns(names: Sequence[str], payload: str) -> list[tuple[str, int, int]]:
    """Returns which columns of a table hold what, by their names: meaning, place, and nanoseconds in
    the unit of times.
    """

def model_traffic(
    name: str, params: Mapping[str, JsonValue] | None = None, payload: str | None = None
) -> Traffic:
    """Returns a named model; `params` is a dictionary of the parameters that differ from its
    defaults, `payload` which way its payload goes.
    """

def combine(parts: Sequence[tuple[int, Traffic]]) -> Traffic:
    """Combines traffics into one. Each part has the number of its source."""

def connections_traffic(connections: Sequence[Mapping[str, object]]) -> Traffic:
    """Returns the traffic of a list of dictionaries in the form of a scenario's
    `traffic.connections`.
    """

def loaded_mix(mix: Sequence[MixEntry], load: float) -> list[MixEntry] | None:
    """Returns a mix in which users' web pages have this load; None where it has none."""

def traffic_account(
    summary: TrafficSummary,
) -> tuple[str, list[tuple[str, str]], list[tuple[Literal["skipped", "faulty", "note"], str]]]:
    """Returns what was understood of traffic, from its summary: a line, names with values, and
    sentences with their kinds.
    """

def describe_sharing(summary: TrafficSummary) -> str:
    """Returns how many clients are taken for several users, as the end of a sentence."""

def fitted_label(transfers: int, label: str) -> str:
    """Returns the name of a model that is fitted to a capture with so many transfers."""

def ready_made_labels(label: str, short: int, short_bytes: int) -> tuple[str, str]:
    """Returns the name of ready-made traffic, and why it stands in the place of a capture with so
    many short transfers.
    """

def chosen_warmup(given: str, duration: str, needed_s: float | None) -> str:
    """Returns the warm-up that is chosen where so many seconds are needed."""

def needed_warmup_s(
    sizes_bytes: Floats, rate_bps: float, own_load: float | None, load: float | None
) -> float | None:
    """Returns the time after which a link is near its steady state, None if it has none."""

class Traffic:
    """Connections in memory, as read or as a model."""
    def summary(self, rate: str | None = None) -> TrafficSummary:
        """Returns what was understood of files, or of a sample of a model; `native_load` is the load on
        `rate`.
        """
    def sources(self) -> list[InputEntry]:
        """Returns name and SHA-256 of each input file."""
    def distinct(self, low: int, high: int | None = None) -> int:
        """Returns how many transfers have more than `low` and at most `high` bytes."""
    def sizes_bytes(self) -> Floats:
        """Returns the bytes of each connection but flows of datagrams."""
    def played(self, short_bytes: int) -> Literal["recorded", "fitted", "ready-made"]:
        """Returns what a comparison plays of a capture: `recorded`, `fitted` or `ready-made`."""
    def capture(
        self, short_bytes: int, long_bytes: int, pipe_bytes: float, is_fitted: bool
    ) -> dict[str, Any]:
        """Returns what stands behind a verdict on the traffic, as a dictionary."""
    def check_resamples(self, scenarios: list[Scenario], load: float, native_load: float) -> int:
        """Refuses a load that the resample of some replication cannot meet; `scenarios` are those of the
        replications. Returns how many were set up for that.
        """
    def set_up(self, scenario: Scenario) -> None:
        """Plays no more than a moment, which refuses what cannot be played as asked."""
    def frame(self) -> ConnectionColumns:
        """Returns one row per connection."""
