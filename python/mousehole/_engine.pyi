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
KIND_TEXTS: list[str]
TRAFFIC_CLASSES: list[str]
MOST_USERS: int
NO_LINK: str
SHORT_BYTES: int
LONG_BYTES: int
LEVEL: float
LEAST_REPLICATIONS: int
READY_MADE: str

def run(scenario: Mapping[str, object], traffic: Traffic | None, cancel: Cancel) -> RunResult:
    """Runs a scenario and returns its records; other Python threads run meanwhile. `traffic` is the
    traffic to replay, if any. Raises `MouseholeError` for a faulty scenario, and after `cancel`
    was switched.
    """

def validate(scenario: Mapping[str, object]) -> Scenario:
    """Returns the scenario with every parameter filled in; raises `MouseholeError` for a faulty one."""

def tcp_parameters(scenario: Mapping[str, object]) -> dict[str, JsonValue]:
    """Returns every TCP parameter in force in a scenario; by profile where several profiles share the
    senders.
    """

def default_schemes(down_bps: int, up_bps: int) -> tuple[str, ...]:
    """Returns the schemes that are compared by default on a line of these rates in bit/s."""

def refuse_duplicates(schemes: Sequence[str], meanings: Sequence[str]) -> None:
    """Raises `MouseholeError` if two schemes mean the same; `meanings` are their texts with every
    parameter filled in.
    """

def default_scenario() -> Scenario:
    """Returns the scenario that options change if the user gives none."""

def manifest(first: Mapping[str, object], given: Mapping[str, object]) -> Any:
    """Returns the manifest of a comparison without its primary endpoint. `first` is the baseline's
    scenario in the first cell; `given` has the plan, the scenario without directories, and name
    and digest of each input file.
    """

def scenario_to_toml(scenario: Mapping[str, object]) -> str:
    """Returns a scenario as TOML."""

def scenario_from_toml(text: str, path: str) -> Scenario:
    """Returns the scenario of a TOML text; raises `MouseholeError`, whose message names the file as
    `path`.
    """

class Cancel:
    """A switch with which another thread stops runs."""
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

    `design` is that of the interval, and `unit` (replications by default) is what it is taken
    over. `faster` is the number of units in which the scheme was faster, and the number of units.
    """

def describe(ratio: Estimate, quantity: Quantity, unit: str) -> Verdict:
    """Describes how an exploratory endpoint changed."""

def endpoints(
    table: Sequence[Quantity], short_bytes: int, long_bytes: int, has_pages: bool
) -> list[Endpoint]:
    """Returns the endpoints of transfers, and with `has_pages` of pages; the primary one is first."""

def harm_margins(table: Sequence[Quantity], given: Sequence[str]) -> list[Margin]:
    """Returns the margins in force: the default ones, replaced and extended by those in `given`.
    Raises `MouseholeError` about the field `veto` for a text that is not a margin.
    """

def read_margin(table: Sequence[Quantity], text: str) -> Margin:
    """Reads one margin, such as `calls p95 +10ms`; raises `MouseholeError` for any other text."""

def find_figure(table: Sequence[Quantity], field: str, text: str) -> tuple[str, str]:
    """Returns class and name of the figure that a text such as `calls p95` names. Raises
    `MouseholeError` about `field` for an unknown class or figure.
    """

def find_class(text: str) -> str | None:
    """Returns the class of traffic with whose name a text begins; None if it begins with none."""

def read_change(text: str) -> tuple[str, str, float, str] | None:
    """Splits a change into what changes, sign, number and unit; None for what is no change."""

def in_own_unit(
    field: str, text: str, name: str, quantity: Quantity, number: float, unit: str
) -> tuple[float, bool]:
    """Returns a number as a share of a quantity that users call `name`, or in the quantity's unit;
    and whether it is a share. Raises `MouseholeError` about `field` for a unit that the quantity
    does not have.
    """

def is_felt_first(table: Sequence[Quantity], kind: str, what: Quantity, known: Sequence[str]) -> bool:
    """Returns whether users of a kind of application feel `what` first, or it stands in for that
    where the very first is not among the names `known`.
    """

def difference_scale(unit: str) -> tuple[float, str]:
    """Returns the factor by which differences of a quantity's unit are multiplied in texts, and the
    name of the unit there.
    """

def harm_reference(schemes: Sequence[tuple[str, str]], baseline: str, given: str | None) -> str:
    """Returns the text of the scheme that harm is measured against: `given`, else CAKE, FQ-CoDel or
    the baseline. `schemes` are pairs of text and name.
    """

def average_over_kinds(run: object, figures: Sequence[tuple[str, str]]) -> list[float]:
    """Returns the mean of each figure of a run, given as kind and name, over the applications of the
    kind that have it; NaN if none has.
    """

def make_change(ratio: Estimate, own: Floats, other: Floats) -> tuple[float, float, float, bool]:
    """Returns the change that a log-ratio of two columns stands for: mean, low, high and whether the
    ends are those of an interval. Without an interval they are the extremes of single
    replications.
    """

class Source:
    """A quantity and its subject: a class of transfers, a scheme, a group of an application, or a
    kind of applications.
    """
    def __new__(
        cls, quantity: Quantity, role: str | None = None, kind: str | None = None, group: str | None = None
    ) -> Source:
        """`kind` takes precedence over `group`. Without either, the subject is the bucket `role` for a
        quantity of buckets, else the scheme; `role` is then the class that the quantity is about, or
        all transfers.
        """
    @property
    def quantity(self) -> Quantity:
        """What is measured."""
    @property
    def role(self) -> Literal["short", "long", "all"]:
        """The class of transfers that it is about."""
    @property
    def kind(
        self,
    ) -> Literal["calls", "games", "video_calls", "streams", "logins", "vpn", "responsiveness"] | None:
        """The kind of applications; None if the subject is not a kind."""
    @property
    def group(self) -> str | None:
        """The group of the application; None if the subject is not a group."""
    @property
    def is_of_transfers(self) -> bool:
        """Whether it is about transfers; pages and kinds of applications are not."""

class Endpoint:
    """A quantity in which schemes are compared."""
    @property
    def name(self) -> str:
        """Its name in data, such as `short_response_mean_s`."""
    @property
    def words(self) -> str:
        """What is compared, as sentences name it."""
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
    def outcome(self) -> str:
        """How the comparison came out, such as `better` or `undecided`."""
    @property
    def text(self) -> str:
        """The outcome with its numbers, as a clause of a sentence."""
    @property
    def seeds_needed(self) -> int | None:
        """About how many replications would decide an undecided comparison; None if it is decided or the
        number is unknown.
        """
    def with_bounds(self, scheme_bound: bool, reference_bound: bool, why: str) -> Verdict:
        """Returns the verdict, or `undecided (why)` if a mean that it relies on is only a lower bound.

        `scheme_bound` and `reference_bound` say whose mean is one. Where the true change can only be
        larger, the outcome remains, with `at least`; an undecided verdict stays as it is.
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
    def quantity(self) -> Quantity:
        """The quantity that the margin limits."""
    @property
    def most(self) -> float:
        """The harm allowed, above 0: a share of the reference's figure, or in the figure's own unit."""
    @property
    def is_relative(self) -> bool: ...
    @property
    def text(self) -> str:
        """The margin as a change, such as `+10 ms`."""

class ComparedCell:
    """One cell of a comparison, with the facts of its runs by scheme and replication. Methods that
    take a scheme raise `KeyError` for one that the plan does not have.
    """
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
        """Returns the vetoes as dictionaries: the classes of traffic that pay, or may pay, under a
        scheme.
        """
    def rows(self, table: TableRows) -> list[dict[str, Any]]:
        """Returns the rows of a table as dictionaries; raises `KeyError` for a table that does not exist."""
    def load(self) -> dict[str, Any]:
        """Returns how the load of the cell came about, as a dictionary: the traffic's load by itself,
        copies, dilation and the load achieved, over the replications of the baseline.
        """
    def evidence(self) -> dict[str, Any] | None:
        """Returns how much of a capture the verdicts rest on, as a dictionary; None for a model."""
    def overview_references(self) -> list[str]:
        """Returns the baseline, and drop-tail, RED and FQ-CoDel if they are compared."""
    def size_reference(self) -> str:
        """Returns the reference of the change by size: FQ-CoDel if it is compared, else the baseline."""
    def transient_share(self, scheme: str) -> float:
        """Returns the share of the windows that belongs to the transient, 0 if its removal changes
        little.
        """
    def notes(self, around: Mapping[str, object]) -> list[str]:
        """Returns the remarks on the cell, one or two sentences each; `around` is the cell's context."""
    def document(self, around: Mapping[str, object]) -> dict[str, Any]:
        """Returns the entry of the cell in the JSON document; `around` is the cell's context."""
    def runs(self) -> list[dict[str, Any]]:
        """Returns the entries of the runs in the JSON document, by replication, then by scheme."""
    def advise(self, around: Mapping[str, object]) -> dict[str, Any]:
        """Returns the answer as a dictionary; `around` is the cell's context."""
    def report(
        self, duration: str
    ) -> dict[Literal["overview", "verdicts", "applications", "tables"], list[dict[str, Any]]]:
        """Returns the parts of the cell's report as data; `duration` is the length of a replication as
        the user gave it.
        """
    def stand_in(self, label: str, instead_of: str | None) -> str | None:
        """Returns the sentence on the fitted model or ready-made traffic that is played instead of a
        capture; None if neither is. `label` is the name of the traffic; `instead_of` names the capture
        that ready-made traffic replaces.
        """
    def nothing_compared(self) -> str | None:
        """Returns why no scheme could be recommended however long it ran; None if one could."""
    def present(self) -> list[str]:
        """Returns the names of the classes of traffic that some run has a figure of."""
    @property
    def primary(self) -> Endpoint:
        """The primary endpoint: the mean of short transfers, or without enough of them the first figure
        of calls or of another kind.
        """
    def primary_design(self, reference: str) -> Design:
        """Returns the design of the primary endpoint's intervals against a reference, which hold for all
        schemes together.
        """
    def design(self) -> Design:
        """Returns the design of a single interval in this cell."""
    def family_design(self, columns: Sequence[Floats], reference: int) -> Design:
        """Returns the design under which the intervals of all columns against the column `reference` hold
        together. A column has one value per replication. Raises `KeyError` for a reference beyond the
        columns.
        """
    def values(self, source: Source, scheme: str) -> Floats:
        """Returns one value of a quantity per replication, NaN where it is missing; an empty array for a
        percentile of a bucket that some replication lacks.
        """
    @property
    def capture_share(self) -> float:
        """The share of the variance between replications that more of them do not reduce."""
    def is_bound(self, scheme: str, role: str) -> bool:
        """Returns whether so many transfers of a class are unfinished that their mean is only a lower
        bound.
        """
    def floor_text(self, role: str) -> str:
        """Returns the text with the number of distinct transfers of a class in the capture, and the
        number that a verdict needs.
        """
    def coverage_note(self) -> str:
        """Returns the sentence that says what the intervals cover."""
    def exploratory_note(self) -> str:
        """Returns which endpoint is the primary one, and which intervals hold together."""

def places() -> dict[str, list[dict[str, Any]]]:
    """Returns the tables of applications (`apps`) and of ready-made places (`places`)."""

def place_entries(users: int, shares: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Returns the entries of a mix for a number of users, given the share of users who run each
    application. Raises `KeyError` for an application that is not in the table.
    """

def place_label(place: str | None, users: int) -> str:
    """Returns the name of the traffic of a place, or of users without a place, for titles: `home, 4
    users`.
    """

def schemes() -> list[SchemeEntry]:
    """Returns every named scheme: name, summary, source, detail, stages and params."""

def parts() -> list[PartEntry]:
    """Returns every part that schemes may be made of: the fields of `schemes` except `stages`, and
    its role, the order in which packets leave it, and what installs it. `header` and `sha256` are
    the path and the digest of the header of a user's own policy; None for other parts.
    """

def scheme_policies(scheme: str) -> list[OwnPolicy]:
    """Returns the user's own policies in a scheme: name, header and SHA-256 of the header."""

def scheme_remarks(scheme: str) -> list[str]:
    """Returns a sentence for each part of a scheme that has no effect in its position."""

def models() -> dict[str, str]:
    """Returns the names of the traffic models, each with its summary of one line."""

def scheme_parameters(scheme: str) -> dict[str, str]:
    """Returns every parameter of a scheme with its value as text."""

def parse_rate(field: str, text: str) -> int:
    """Returns the bits per second of a rate such as `10mbit`; raises `MouseholeError` about `field`
    for any other text.
    """

def link_rate(field: str, text: str) -> int:
    """Returns the bits per second of a direction of a link, given as a rate or as the file of a rate
    trace, whose mean counts.
    """

def load_rate(rate: str, layer: str) -> int:
    """Returns the bits per second left for IP on a link of this rate and link layer if all packets
    are full.
    """

def shaped_rate(field: str, text: str, rate_bps: int, varies: bool) -> int:
    """Returns the bits per second of a shaper that is given as a share or a rate. `rate_bps` is the
    rate of the line, or its mean if the line varies. Raises `MouseholeError` about `field` for any
    other text, and for a shaper without effect or of next to no rate.
    """

def is_rate_trace(text: str) -> bool:
    """Returns whether a direction of a link is given as the file of a rate trace."""

def parse_duration(field: str, text: str) -> float:
    """Returns the seconds of a time such as `80ms`; raises `MouseholeError` about `field` for any
    other text.
    """

def parse_size(field: str, text: str) -> int:
    """Returns the bytes of a size such as `15kB`; raises `MouseholeError` about `field` for any other
    text.
    """

def formats() -> list[FormatEntry]:
    """Returns the input formats under their headings: name, what a file is recognised by, and how it
    is read.
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
    """Returns the bottleneck of a scenario that is filled in except for its traffic; None if it has
    no constant rate, or a buffer in bandwidth-delay products of an unknown round-trip time.
    `buffer` is that of the cell; `means` has the mean, in bit/s, of each direction (`down`, `up`)
    whose rate varies.
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
    ) -> Link:
        """`overhead` and `layer` say how many bytes a packet has on the wire; `burst` is the depth of a
        token bucket in bytes.
        """
    @property
    def rate_bps(self) -> int:
        """Rate at which the scheme sends: the link's, or the shaper's before a modem."""
    @property
    def buffer_packets(self) -> int:
        """Size of the buffer in full packets."""
    @property
    def is_upload(self) -> bool:
        """Whether data go from client to server."""
    @property
    def other(self) -> Link | None:
        """The other direction if the scheme is at both; else None."""
    @property
    def line_bps(self) -> int | None:
        """Rate of the modem's line, in bits per second, or its mean if it varies; None without a modem."""
    @property
    def varies(self) -> bool:
        """Whether the rate of the modem's line varies; false without a modem."""
    @property
    def has_own_shape(self) -> bool:
        """Whether the shaper's rate was given for this direction alone, so that a rate in the scheme does
        not replace it.
        """
    def install(self, scheme: str) -> tuple[list[InstallPlan], str | None]:
        """Returns the install plan of each direction in which something installs the scheme, and None; or
        no plan, and the reason.
        """
    def list_lines(self, scheme: str) -> tuple[str, list[str]] | None:
        """Returns where a scheme is installed, and the lines to type there; None if nothing installs it."""

def json_text(document: Mapping[str, object]) -> str:
    """Returns a document as `--json` writes it. It may hold `Estimate` objects and numpy's numbers.
    NaN and infinity become null, and lone surrogates become U+FFFD, since JSON has neither.
    """

def page_document(options: str, traffic: Traffic | None = None) -> str:
    """Runs the comparison that the page in a browser asks for with `options` in JSON, and returns its
    document. `traffic` is the traffic that was read if the options name files. Tests compare the
    document with that of `mousehole compare`.
    """

def link_check(scenario: Mapping[str, object], settings: LinkSettings) -> None:
    """Raises `MouseholeError` for a scenario, or for commands, that cannot be run through the
    scenario's links.
    """

def link_run(
    scenario: Mapping[str, object], settings: LinkSettings, monitor: LinkMonitor
) -> tuple[RunResult, LinkAccount]:
    """Runs commands through the links of a scenario; other Python threads run meanwhile. Returns the
    records in the form of a simulation, and the account of the run: exit statuses, lateness and
    packets. Raises `MouseholeError` if it fails.
    """

class LinkMonitor:
    """Reports on a run on real packets from another thread, and ends it."""
    def __new__(cls) -> LinkMonitor: ...
    def cancel(self) -> None:
        """Ends the run, which then returns its records so far."""
    def take_statuses(self) -> list[LinkStatus]:
        """Returns the status of each second of the run since the last call, and forgets them."""
    def holders(self) -> tuple[int, int] | None:
        """Returns the identifiers of the processes that hold the client's and the server's namespace;
        None before they exist.
        """

def load_policy(path: str) -> str:
    """Compiles and loads a user's policy header, and returns the policy's name. Ctrl-C ends the wait
    at once. Raises `MouseholeError` for a header that cannot be compiled or used.
    """

def try_policies(headers: Sequence[str], scenarios: Sequence[Mapping[str, object]]) -> tuple[str, str] | None:
    """Loads the headers of own policies and plays random records to their policies, with default
    parameters if there are no scenarios, else with those that a run of each scenario sets up. The
    caller is a process that was started for this and may crash; a call of a policy may take
    `TRIAL_CALL`. Returns the header at fault and its fault, or None. Any other fault of a scenario
    is ignored.
    """

def policy_template(kind: str, name: str) -> str:
    """Returns the text of a header for a new policy; `kind` is `marker`, `dropper` or `queue`. Raises
    `MouseholeError` for another kind, and for a name that is not allowed.
    """

def policy_check(target: str, records: int, kernel: bool, seed: int) -> PolicyReport:
    """Checks a policy, given as the path of a header or by its name; with `kernel` also in the
    kernel, where this many records are played. Ctrl-C ends the wait at once. Raises
    `MouseholeError` for a name that is unknown.
    """

def policy_headers_folder() -> str:
    """Returns the folder of the policies' headers, for a compiler's -I; raises `MouseholeError` if it
    cannot be written.
    """

def quantities() -> list[Quantity]:
    """Returns the table of quantities, without those that Python has added."""

def buckets(short_bytes: int, long_bytes: int) -> list[Bucket]:
    """Returns the size buckets in the order of the tables; the limits are those of short and long
    transfers.
    """

def size_text(size_bytes: float) -> str:
    """Returns a size in bytes as text: `15 kB` for 15000, `1 MB` for 1000000."""

def curve_edges_bytes() -> Floats:
    """Returns the edges of the size bins of the response time curve, in bytes."""

def cdf_times_s() -> Floats:
    """Returns the times at which the distribution of response times is sampled, in seconds."""

class Quantity:
    """One quantity of the table."""
    def __new__(cls, fields: Mapping[str, Any]) -> Quantity:
        """The fields are those that `Quantity::fields` returns."""
    def fields(self) -> dict[str, Any]:
        """Returns the fields as a dictionary, of which the constructor makes an equal quantity."""
    def changed(self, **changes: Any) -> Quantity:
        """Returns a copy of the quantity in which these fields are changed."""
    @property
    def name(self) -> str:
        """Its name with the unit, which is the name of its column."""
    @property
    def ends(self) -> tuple[str, str]:
        """The names of the columns with the lower and the upper end of its interval."""
    @property
    def subject(self) -> Literal["bucket", "scheme", "application", "count", "comparison", "run"]:
        """What kind of thing it describes."""
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
        """Returns its name in a sentence about the named transfers, such as `transfers > 150 kB`."""
    @property
    def axis(self) -> str:
        """The title of its axis, such as `response time, p95`."""
    @property
    def better(self) -> Literal["less", "more", "neither"]:
        """Which way is better."""
    @property
    def less_is_better(self) -> bool:
        """Whether less of it is better."""
    @property
    def least(self) -> int:
        """Least number of values for which it is given."""
    @property
    def is_percentile(self) -> bool:
        """Whether it is a percentile, which a comparison gives only if every replication has it."""
    @property
    def percent(self) -> float | None:
        """Which percentile it is; None for anything else."""
    @property
    def role(self) -> Literal["short", "long", "all"] | None:
        """The class of transfers that it is always about; None for quantities of buckets and links."""
    @property
    def measure(self) -> str | None:
        """Its name in `tune`, which follows the class of transfers if it is of a bucket; None if `tune`
        does not have it.
        """
    @property
    def tables(self) -> list[str]:
        """The tables in which it is a column: `bucket`, `short`, `long`, `link`, `application`."""
    @property
    def primary_of(self) -> list[str]:
        """The kinds of applications whose users feel it first: those of `quantities.KINDS`."""
    @property
    def stands_in_for(self) -> list[str]:
        """The kinds of applications whose users feel it first where nothing is known that they feel
        before.
        """

class Bucket:
    """A size bucket: transfers of more than `low_bytes` and at most `high_bytes`."""
    def __new__(cls, name: str, low_bytes: int, high_bytes: int | None, role: Role) -> Bucket: ...
    @property
    def name(self) -> str:
        """Its name, such as `≤ 15 kB`."""
    @property
    def low_bytes(self) -> int:
        """Transfers in the bucket are larger than this."""
    @property
    def high_bytes(self) -> int | None:
        """The largest size in the bucket; None if there is no limit."""
    @property
    def role(self) -> Role:
        """`short`, `long` or `all` for the bucket of a class; `size` for one of the buckets that divide
        all transfers.
        """
    def holds(self, size_bytes: int) -> bool:
        """Returns whether a transfer of this size belongs to the bucket."""

def reduce_records(
    records: Mapping[str, Any], buckets: Sequence[Bucket], table: Sequence[Quantity]
) -> dict[str, Any]:
    """Returns the facts of records that tests make by hand, as `facts_dict` does."""

def outcome_profiles() -> list[tuple[str, str, str]]:
    """Returns the profiles of Quality of Outcome that have a name: the name, the kind of application,
    the needs.
    """

def shares_of_same(own: tuple[UInts64, Floats], other: tuple[UInts64, Floats]) -> tuple[float, float] | None:
    """Returns the shares of transfers that were slower and faster than in another run, over those
    that both runs measured; None unless these are nearly all. A run is given as keys in rising
    order and response times in seconds; raises `ValueError` if their numbers differ.
    """

class RunResult:
    """The records of one run."""
    def reduce(self, buckets: Sequence[Bucket], table: Sequence[Quantity]) -> dict[str, Any]:
        """Returns the facts of the run (`numbers`) and its short transfers (`short_times`); other Python
        threads run meanwhile.
        """
    def transfers(self) -> TransferColumns:
        """Returns one row per measured transfer; times that did not happen are NaN."""
    def flows(self) -> FlowColumns:
        """Returns one row per long-lived flow, with the bytes that it delivered within the measured
        window.
        """
    def datagrams(self) -> DatagramColumns:
        """Returns one row per datagram flow, about the packets sent within the measured window."""
    def queues(self) -> list[QueueCounters]:
        """Returns the counters of every queue within the measured window, the bottleneck first."""
    def series(self) -> SeriesColumns:
        """Returns the adaptive values of markers and queues, one row per change, then the samples of
        links and senders.
        """
    def summary(self) -> RunSummary:
        """Returns load, goodput, and the numbers of transfers, events, packets and connections."""
    def trace(self) -> TraceColumns | None:
        """Returns the packet events of the data path; None unless the scenario asks for a trace."""

def t_interval(values: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns the mean of one number per replication with its Student-t interval; numbers that are
    not finite are left out.
    """

def difference(scheme: ArrayLike, reference: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns the mean of scheme − reference with its Student-t interval, paired by replication."""

def log_ratio(scheme: ArrayLike, reference: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns the logarithm of the ratio of scheme to reference, paired by replication, with its
    interval.

    The ratio is the geometric mean of the replications' ratios. A value below 0 means that the
    scheme has the smaller values. Replications in which either number is not finite are left out.
    If a number is zero, the result is that of `ratio_of_means`.
    """

def ratio_of_means(scheme: ArrayLike, reference: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns ln(mean of scheme ÷ mean of reference) with its jackknife interval, paired by
    replication.

    Replications in which either number is not finite are left out. The result is NaN if a mean is
    not positive, and has no interval if it would not be positive without one of the replications.
    """

def paired_logs(scheme: ArrayLike, reference: ArrayLike) -> Floats:
    """Returns the natural logarithm of each replication's ratio of scheme to reference: NaN where
    either number is not finite or is negative, +∞ where only the reference is zero, −∞ where the
    scheme is.
    """

def smaller_in(scheme: ArrayLike, reference: ArrayLike) -> tuple[int, int]:
    """Returns in how many replications the scheme has the smaller number, and in how many both have
    one.
    """

def effective_comparisons(columns: Iterable[ArrayLike]) -> float:
    """Returns the number of independent comparisons that would need the same width as these columns.

    A column has a number per replication. The result is the `comparisons` of a `Design` whose
    intervals hold together. Raises `ValueError` for columns of different lengths.
    """

def positive_interval(values: ArrayLike, design: Design | None = None) -> Estimate:
    """Returns the mean of numbers that cannot be negative, with an interval that does not reach below
    zero.

    The interval is that of `ratio_of_means` to 1, computed on the logarithm as for changes. If a
    number is zero, it is the t interval, cut at zero.
    """

def replications_for(estimate: Estimate, wanted: float, design: Design | None = None) -> int | None:
    """Returns the number of replications of the first later look that gives the half width `wanted`.

    It assumes that further replications have the same spread. Returns None if it would be more
    than 1000, or if no number is enough because the capture itself is too short.
    """

def heterogeneity(effects: ArrayLike, errors: ArrayLike) -> Heterogeneity | None:
    """Returns how much `effects` with these standard errors differ; None if fewer than two have an
    error.
    """

def capture_share(material: float) -> float:
    """Returns the share of the variance between resampled replications that is between captures."""

def capture_freedom(sizes_bytes: ArrayLike, pipe_bytes: float) -> float:
    """Returns the degrees of freedom that a capture leaves for the variance between captures.

    `pipe_bytes` is the bandwidth-delay product, beyond which a transfer fills the link by itself.
    """

def effective_number(weights: ArrayLike) -> float:
    """Returns the number of equal weights whose sum would have the same relative variance."""

def jain_index(rates: ArrayLike) -> float:
    """Returns Jain's fairness index, NaN without rates."""

def relaxation_s(sizes_bytes: ArrayLike, rate_bps: float, load: float) -> float:
    """Returns the time scale, in seconds, on which a link that starts empty approaches its steady
    state; `load` is below 1.
    """

def mser(batch_means: ArrayLike) -> int:
    """Returns how many of the first batches belong to the transient, by the marginal standard error
    rule (MSER).

    There must be at least ten batches for a useful result. A result in the second half means that
    no steady state was reached.
    """

def simultaneous_error(error: float, comparisons: float) -> float:
    """Returns the error probability of each of `comparisons` intervals so that all hold with
    probability 1 − `error`.
    """

def find_look(replications: int, first: int = ...) -> int:
    """Returns the number of the look, from 0, at this many replications: the first up to `first`, the
    next up to twice that.
    """

def replications_of_look(look: int, first: int = ...) -> int:
    """Returns the number of replications at which look number `look`, from 0, is taken."""

def look_error(replications: int, error: float = ..., first: int = ...) -> float:
    """Returns the part of `error` that the look at this many replications may spend: a half, then a
    quarter, and so on.
    """

def holm(p_values: ArrayLike) -> list[float]:
    """Returns the p-values adjusted by Holm's procedure, in the given order; NaN stays NaN and is not
    counted.
    """

def p_beyond(values: ArrayLike, end: float, is_above: bool) -> float:
    """Returns the doubled one-sided p-value of Student's t test that the mean lies above `end`, or
    else below it; 0 for an infinite `end`.
    """

def find_p_value(distance: float, error: float, freedom: float) -> float:
    """Returns the two-sided p-value of a mean at this distance from the hypothesis, with this
    standard error and these degrees of freedom. Without an error it is 1 for no distance, else 0.
    """

def binomial_interval(count: int, of: int) -> tuple[float, float]:
    """Returns the 95 % interval, by Clopper and Pearson, of a probability when `count` of `of` trials
    succeeded.
    """

class Design:
    """What an interval must allow for in addition to the spread between replications."""
    def __new__(
        cls,
        comparisons: float = 1.0,
        is_sequential: bool = False,
        first_look: int = ...,
        capture_share: float = 0.0,
        capture_freedom: float = ...,
    ) -> Design:
        """Raises `ValueError` for a first look of 0 and for comparisons that are not finite."""
    @property
    def comparisons(self) -> float:
        """Number of independent intervals that must hold together."""
    @property
    def is_sequential(self) -> bool:
        """Whether the user may look, add replications and look again."""
    @property
    def first_look(self) -> int:
        """Largest number of replications of the first look; each further look doubles it."""
    @property
    def capture_share(self) -> float:
        """Share of the variance between replications that more of the same capture do not reduce."""
    @property
    def capture_freedom(self) -> float:
        """Degrees of freedom that the capture leaves for the variance between captures."""
    def error(self, count: int) -> float:
        """Returns the error probability that one interval from `count` replications may have."""
    def half_width(self, deviation: float, count: int) -> float:
        """Returns half the width of the interval of a mean over `count` replications with this standard
        deviation.
        """
    def limits(self, estimate: Estimate, error: float) -> Estimate:
        """Returns the estimate with the interval between its one-sided limits, each with the error
        probability `error`.
        """
    def standard_error(self, estimate: Estimate) -> float:
        """Returns the standard error from which the interval of an estimate was made; NaN without an
        interval.
        """
    def freedom(self, count: int) -> float:
        """Returns the degrees of freedom of the variance of a mean over `count` replications."""

class Estimate:
    """An estimate with its interval; undefined values are NaN."""
    def __new__(cls, mean: float, low: float, high: float, count: int) -> Estimate: ...
    __match_args__ = ("mean", "low", "high", "count")
    @property
    def mean(self) -> float:
        """The mean over replications."""
    @property
    def low(self) -> float:
        """The lower end of the interval; NaN without one."""
    @property
    def high(self) -> float:
        """The upper end of the interval; NaN without one."""
    @property
    def count(self) -> int:
        """Number of replications that the mean is taken over."""
    @property
    def has_interval(self) -> bool:
        """Whether there were enough replications for an interval."""
    @property
    def half_width(self) -> float:
        """Half the width of the interval; NaN if there is none."""
    def as_change(self) -> Estimate:
        """Returns the relative change of a log-ratio, with its interval; -0.3 means 30 % less."""
    def as_dict(self) -> dict[str, Any]:
        """Returns `mean`, `low`, `high` and `count` as a dictionary."""
    def negated(self) -> Estimate:
        """Returns the estimate of the negated quantity, whose lower end is the upper one with the
        opposite sign.
        """
    def within(self, least: float, most: float) -> Estimate:
        """Returns the estimate with the ends of its interval limited to the possible values, `least` to
        `most`.
        """

class Heterogeneity:
    """How much effects differ beyond their standard errors."""
    @property
    def q(self) -> float:
        """Cochran's Q: the sum of squared differences from the common effect, each over its variance."""
    @property
    def freedom(self) -> int:
        """Degrees of freedom of Q: the number of effects less one."""
    @property
    def p_value(self) -> float:
        """Probability of a Q at least as large if all effects were equal."""
    @property
    def i_squared(self) -> float:
        """Share of the variance of the effects that their standard errors do not explain, from 0 to 1."""
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
    """Returns a number with its noun, which takes an s in the plural: `1 client`, `2 clients`."""

def share_text(share: float | None) -> str:
    """Returns a share as text in percent: `0.42 %`, `< 0.001 %` for less than half of that, `–` for
    None and NaN.
    """

def rate_text(bps: float | None) -> str:
    """Returns a rate in bits per second as text: `3.2 Mb/s`, `–` for None and NaN."""

def unit_text(unit: str, number: float | None, is_bound: bool = False) -> str:
    """Returns a number in the unit of a quantity as text, with `≥` for a lower bound; `–` for None
    and NaN.
    """

def percent(share: float) -> str:
    """Returns a share in percent with two or three digits, `−` for minus, and without the percent
    sign.
    """

def signed(share: float) -> str:
    """Returns a share in percent with `+` or `−`, and without the percent sign."""

def whole_percent(share: float) -> str:
    """Returns a share in whole percent with `+` or `−`, and without the percent sign: `+12`, `−3` or
    `0`.
    """

def capped(share: float) -> str:
    """Returns a share as `signed` does, but `>+999` for more than that."""

def change_text(mean: float, low: float, high: float) -> str:
    """Returns a change with its ends, `−32 % (−36…−28)`; without the ends if they are not finite, and
    `–` for NaN.
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
    """Reads traffic files, whose formats are recognised by content. `payload` is the direction of the
    payload, `down` or `up`; `strict` makes a faulty row an error. `classes` are corrections of the
    classes of flows. `parquet` has, by index in `paths`, the SHA-256 of a Parquet file and a
    function that returns its next bytes as CSV. `most_rows` and `most_bytes` are those of
    `ReadOptions`; `log_format` is the text that describes the format of logs, or empty.
    """

def check_format(path: str, text: str) -> None:
    """Raises `MouseholeError` for a faulty description of a format of logs; messages name its file as
    `path`.
    """

def log_formats() -> list[tuple[str, str, str, str]]:
    """Returns the formats of logs that are described by files: name, title, what a row is, and why
    such logs are refused, which is empty if they are read.
    """

def is_traffic_column(name: str) -> bool:
    """Returns whether a column of this name is read from tables."""

def bytes_read() -> int:
    """Returns how many bytes of traffic files this process has read so far."""

def table_columns(names: Sequence[str], payload: str) -> list[tuple[str, int, int]]:
    """Returns the columns of a table that are known by their names: meaning, index, and nanoseconds
    per unit of a time. Raises `MouseholeError` for columns from which no traffic can be made.
    """

def model_traffic(
    name: str, params: Mapping[str, JsonValue] | None = None, payload: str | None = None
) -> Traffic:
    """Returns a named model. `params` are the parameters that differ from its defaults; `payload` is
    the direction of its payload. Raises `MouseholeError` for an unknown model or parameter.
    """

def combine(parts: Sequence[tuple[int, Traffic]]) -> Traffic:
    """Returns one traffic that joins the parts; each part is given with the number of its source."""

def connections_traffic(connections: Sequence[Mapping[str, object]]) -> Traffic:
    """Returns the traffic of a list of dictionaries in the form of a scenario's
    `traffic.connections`; raises `MouseholeError` for a faulty entry.
    """

def loaded_mix(mix: Sequence[MixEntry], load: float) -> list[MixEntry] | None:
    """Returns a copy of the mix in which the entry of web pages has this load; None if it has no such
    entry.
    """

def traffic_account(
    summary: TrafficSummary,
) -> tuple[str, list[tuple[str, str]], list[tuple[Literal["skipped", "faulty", "note"], str]]]:
    """Returns what a summary says of the traffic: a line, names with values, and sentences with their
    kinds.
    """

def describe_sharing(summary: TrafficSummary) -> str:
    """Returns how many clients are taken for several users each, as the end of a sentence; empty if
    none are.
    """

def fitted_label(transfers: int, label: str) -> str:
    """Returns the name of a model that is fitted to a capture with this name and number of transfers."""

def ready_made_labels(label: str, short: int, short_bytes: int) -> tuple[str, str]:
    """Returns the name of ready-made traffic, and why it replaces the capture `label`, which has
    `short` short transfers.
    """

def chosen_warmup(given: str, duration: str, needed_s: float | None) -> str:
    """Returns the warm-up chosen if `needed_s` is needed: no longer than the duration, and at least
    `given`. Raises `MouseholeError` for a time that cannot be read.
    """

def needed_warmup_s(
    sizes_bytes: Floats, rate_bps: float, own_load: float | None, load: float | None
) -> float | None:
    """Returns the time, in seconds, after which a link is near its steady state; None if it has none.
    `own_load` is the load of the traffic by itself, which holds if `load` is None.
    """

class Traffic:
    """Connections in memory, or a model of traffic."""
    def summary(self, rate: str | None = None) -> TrafficSummary:
        """Returns the summary of the traffic, or of a sample of a model; its `native_load` is the load on
        a link of `rate`.
        """
    def sources(self) -> list[InputEntry]:
        """Returns name and SHA-256 of each input file, as they were when the traffic was read."""
    def distinct(self, low: int, high: int | None = None) -> int:
        """Returns how many transfers have more than `low` and at most `high` bytes; without `high` there
        is no upper limit.
        """
    def sizes_bytes(self) -> Floats:
        """Returns the bytes of each connection except flows of datagrams."""
    def played(self, short_bytes: int) -> Literal["recorded", "fitted", "ready-made"]:
        """Returns what a comparison plays of a capture: `recorded`, `fitted` or `ready-made`."""
    def capture(
        self, short_bytes: int, long_bytes: int, pipe_bytes: float, is_fitted: bool
    ) -> dict[str, Any]:
        """Returns how much of a capture a verdict rests on, as a dictionary. `pipe_bytes` is the
        bandwidth-delay product; `is_fitted` says that a model of the capture is played.
        """
    def check_resamples(self, scenarios: list[Scenario], load: float, native_load: float) -> int:
        """Raises `MouseholeError` for a load that the resample of some replication cannot meet.
        `scenarios` are those of the replications, and `native_load` is the load of the capture by
        itself. Returns how many replications were set up for the check.
        """
    def set_up(self, scenario: Scenario) -> None:
        """Plays a moment of the traffic in a scenario; raises `MouseholeError` for a scenario that cannot
        be played.
        """
    def frame(self) -> ConnectionColumns:
        """Returns one row per connection; round-trip times and durations that are unknown are NaN."""
