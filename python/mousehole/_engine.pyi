"""The engine's functions. They raise `mousehole.errors.MouseholeError` for a fault in the input."""

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
    TraceColumns,
    TrafficSummary,
    TransferColumns,
    TransferKeys,
)

BUILD: str
COMPARE_SCHEMA: str
MOST_SEED: int
BASELINE: str
BUFFER: str
LINE_BUFFER: str
SHORT_BYTES: int
LONG_BYTES: int
REPLICATIONS: int
SOURCES: str
"""The git revision the engine was built from, or "unknown"."""
__version__: str
DROP_REASONS: tuple[Counter, ...]
"""The reasons for drops. Each is a counter of a colour in `RunResult.queues`; `dropped` is their sum."""

class Cancel:
    """A switch that stops runs from another thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Stops every run that was given this switch, within a fraction of a second."""

class Traffic:
    """Connections in memory, as read, or a model."""

    def summary(self, rate: str | None = None) -> TrafficSummary:
        """Returns what was understood; `native_load` is the load on a link of `rate`."""

    def sources(self) -> list[InputEntry]:
        """Returns name and SHA-256 of each input file."""

    def distinct(self, low: int, high: int | None = None) -> int:
        """Returns how many transfers have more than `low` and at most `high` bytes."""

    def sizes_bytes(self) -> Floats:
        """Returns the bytes of each connection but flows of datagrams."""

    def played(self, short_bytes: int) -> Literal["recorded", "fitted", "ready-made"]:
        """Returns what a comparison plays of a capture: itself, a model of it, or ready-made traffic."""

    def capture(
        self, short_bytes: int, long_bytes: int, pipe_bytes: float, is_fitted: bool
    ) -> dict[str, Any]:
        """Returns what stands behind a verdict on the traffic: a dictionary for `runs.Capture`."""

    def check_resamples(self, scenarios: list[Scenario], load: float, native_load: float) -> int:
        """Refuses a load that some replication's resample cannot meet; returns how many were set up."""

    def set_up(self, scenario: Scenario) -> None:
        """Plays no more than a moment, which refuses what cannot be played as asked."""

    def frame(self) -> ConnectionColumns:
        """Returns one row per connection."""

class RunResult:
    """The records of one run. Every method copies them out of the engine."""

    def transfers(self) -> TransferColumns: ...
    def flows(self) -> FlowColumns: ...
    def datagrams(self) -> DatagramColumns: ...
    def queues(self) -> list[QueueCounters]:
        """Returns the queues: the bottleneck first, then the link in the other direction."""

    def series(self) -> SeriesColumns: ...
    def reduce(self, buckets: Sequence[Bucket], table: Sequence[Quantity]) -> dict[str, Any]:
        """Returns `runs.RunFacts` of the run; raises `RuntimeError` if packets were lost or invented."""

    def summary(self) -> RunSummary: ...
    def trace(self) -> TraceColumns | None:
        """Returns the packet trace, None unless the scenario asks for one."""

def read_traffic(
    paths: list[str],
    payload: str = "down",
    strict: bool = False,
    seed: int = 1,
    parquet: dict[int, tuple[str, Callable[[], bytes]]] | None = None,
    classes: list[str] = ...,
    most_rows: int | None = None,
    most_bytes: int | None = None,
    log_format: str = "",
) -> Traffic: ...
def loaded_mix(mix: Sequence[MixEntry], load: float) -> list[MixEntry] | None:
    """Returns a mix in which users' web pages have this load; None where it has none."""

def traffic_account(
    summary: TrafficSummary,
) -> tuple[str, list[tuple[str, str]], list[tuple[Literal["skipped", "faulty", "note"], str]]]:
    """Returns what was understood: a line, names with values, and sentences with their kinds."""

def describe_sharing(summary: TrafficSummary) -> str:
    """Returns how many clients are taken for several users, as the end of a sentence."""

def fitted_label(transfers: int, label: str) -> str:
    """Returns the name of a model that is fitted to a capture with so many transfers."""

READY_MADE: str
"""The place whose users stand in for a capture that is too small for a model."""

def ready_made_labels(label: str, short: int, short_bytes: int) -> tuple[str, str]:
    """Returns the name of ready-made traffic, and why it stands in the place of a capture."""

def chosen_warmup(given: str, duration: str, needed_s: float | None) -> str:
    """Returns the warm-up that is chosen where so many seconds are needed."""

def needed_warmup_s(
    sizes_bytes: Floats, rate_bps: float, own_load: float | None, load: float | None
) -> float | None:
    """Returns the time after which a link is near its steady state, None if it has none."""

def check_format(path: str, text: str) -> None:
    """Raises `MouseholeError` for a fault in the description of a format of logs."""

def log_formats() -> list[tuple[str, str, str, str]]:
    """Returns the formats of logs that files describe: name, title, what a row is, why files are refused."""

def bytes_read() -> int: ...
def is_traffic_column(name: str) -> bool: ...
def table_columns(names: list[str], payload: str) -> list[tuple[str, int, int]]:
    """Returns which columns of a table hold what: meaning, place, nanoseconds in the unit of times."""

def model_traffic(
    name: str, params: Mapping[str, JsonValue] | None = None, payload: str | None = None
) -> Traffic: ...
def connections_traffic(connections: Sequence[Mapping[str, object]]) -> Traffic: ...
def combine(parts: list[tuple[int, Traffic]]) -> Traffic: ...
def run(scenario: Mapping[str, object], traffic: Traffic | None, cancel: Cancel) -> RunResult: ...
def validate(scenario: Mapping[str, object]) -> Scenario: ...
def tcp_parameters(scenario: Mapping[str, object]) -> dict[str, JsonValue]: ...
def default_scenario() -> Scenario: ...
def default_schemes(down_bps: int, up_bps: int) -> tuple[str, ...]: ...
def json_text(document: Mapping[str, object]) -> str:
    """Returns a document as `--json` writes it.

    Estimates and numpy's numbers may stand in it. NaN and infinity become null, a surrogate that stands alone
    U+FFFD. Raises `OverflowError` for a whole number beyond 64 bits, `TypeError` for what JSON has not.
    """

def page_document(options: str, traffic: Traffic | None = None) -> str:
    """Makes the comparison that a page in a browser asks for by options in JSON; returns its document."""

def manifest(first: Mapping[str, object], given: Mapping[str, object]) -> Any:
    """Returns the manifest of a comparison, but for its primary endpoint, which only the runs tell.

    `first` is the baseline's scenario in the first cell. `given` has the plan as documents have it,
    that scenario filled in and without directories, the inputs, and the mean rates of varying directions.
    """

def scheme_parameters(scheme: str) -> dict[str, str]: ...
def models() -> dict[str, str]: ...
def places() -> dict[str, list[dict[str, Any]]]:
    """Returns the tables `apps` and `places`, a row per application and place."""

def place_entries(users: int, shares: Sequence[tuple[str, float]]) -> list[dict[str, Any]]: ...
def place_label(place: str | None, users: int) -> str: ...
def schemes() -> list[SchemeEntry]: ...
def parts() -> list[PartEntry]: ...
def formats() -> list[FormatEntry]: ...
def load_policy(path: str) -> str: ...
def try_policies(
    headers: Sequence[str], scenarios: Sequence[Mapping[str, object]]
) -> tuple[str, str] | None: ...
def scheme_policies(scheme: str) -> list[OwnPolicy]: ...

NO_LINK: str
"""Why nothing is installed where `find_link` finds none, as a clause."""

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
        """Whether the shaper's rate is this direction's alone, so that a scheme's own does not replace it."""
    def install(self, scheme: str) -> tuple[list[InstallPlan], str | None]:
        """Returns what installs a scheme, first in this direction; or nothing, and why as a clause."""
    def list_lines(self, scheme: str) -> tuple[str, list[str]] | None:
        """Returns place and lines of what installs a scheme, those of each direction; None for none."""

def find_link(
    scenario: Mapping[str, object], buffer: str, is_up: bool, means: Mapping[str, int]
) -> Link | None: ...
def scheme_remarks(scheme: str) -> list[str]: ...
def scenario_to_toml(scenario: Mapping[str, object]) -> str: ...
def scenario_from_toml(text: str, path: str) -> Scenario: ...
def parse_rate(field: str, text: str) -> int: ...
def shaped_rate(field: str, text: str, rate_bps: int, varies: bool) -> int:
    """Returns the bit/s of a shaper, a share or a rate, on a line of a rate, the mean if it varies."""

def parse_duration(field: str, text: str) -> float: ...
def parse_size(field: str, text: str) -> int: ...
def policy_template(kind: str, name: str) -> str:
    """Returns the header of a policy; `kind` is `marker`, `dropper` or `queue`."""

def policy_check(target: str, records: int, kernel: bool, seed: int) -> PolicyReport:
    """Checks a header, or a policy known by its name."""

def policy_headers_folder() -> str:
    """Returns the folder for a compiler's -I; writes the shipped headers there if they are missing."""

def value_error(field: str, value: object, allowed: str, fault: str | None = None) -> MouseholeError: ...
def missing_error(field: str, allowed: str) -> MouseholeError: ...
def conflict_error(field: str, value: object, other: str, allowed: str) -> MouseholeError: ...
def unknown_error(field: str, noun: str, name: str, known: list[str]) -> MouseholeError: ...

class LinkMonitor:
    """Watches a run on real packets while it lasts, and ends it (Linux only, as what follows)."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Ends the run; its records are returned."""

    def take_statuses(self) -> list[LinkStatus]:
        """Returns the states of the run since the last call, one for each second."""

    def holders(self) -> tuple[int, int] | None:
        """Returns the processes that hold the namespaces of client and server, once they exist."""

def link_check(scenario: Mapping[str, object], settings: LinkSettings) -> None:
    """Checks a scenario and the commands that are to run through its links."""

def link_run(
    scenario: Mapping[str, object], settings: LinkSettings, monitor: LinkMonitor
) -> tuple[RunResult, LinkAccount]:
    """Runs commands through the links of a scenario; returns its records and how the run went."""

def link_rate(field: str, text: str) -> int:
    """Bits per second of a direction of a link: a rate, or the file of a rate trace, which has a mean."""

def load_rate(rate: str, layer: str) -> int:
    """Bits per second that full packets leave to IP on a link of this rate with this link layer."""

def is_rate_trace(text: str) -> bool:
    """Returns whether a direction of a link is given as the file of a rate trace."""

FIRST_LOOK: int
"""Number of replications up to which a comparison is the first look; each further look doubles it."""
LEAST_REPLICATIONS: int
"""Smallest number of replications that gives an interval."""
LEVEL: float
"""Confidence level of every interval, or of all intervals of a family together."""
TIME_CONSTANTS: float
"""After so many relaxation times the mean workload is within 6 % of its steady state."""

class Design:
    """What an interval must allow for beside the spread between replications."""

    def __new__(
        cls,
        comparisons: float = 1.0,
        is_sequential: bool = False,
        first_look: int = 10,
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
    """An estimate from `count` replications with its interval; undefined values are NaN."""

    __match_args__ = ("mean", "low", "high", "count")
    def __new__(cls, mean: float, low: float, high: float, count: int) -> Estimate: ...
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

    def __new__(
        cls, q: float, freedom: int, p_value: float, i_squared: float, deviation: float
    ) -> Heterogeneity: ...
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

MARGIN: float
"""What is shown to lie within ± this share of the reference is equal, even if its sign is certain."""
NOT_JUDGED: str
"""Begins the verdict of what is undecided because the capture has too few transfers."""
"""Above this share of unfinished transfers, a mean is only a lower bound."""
LEAST_TRANSFERS: int
"""With fewer distinct transfers of a class in the capture, there is no verdict on this class."""
LEAST_FITTED: int
"""The same where a model fitted to the capture is played; with fewer short transfers, none is fitted."""
MOST_USERS: int
"""The most users of a place."""
MOST_LINES: int
"""The answer for one cell has at most so many lines."""
TO_CLIENTS: str
TO_PROVIDER: str
"""What stands before the lines of each direction where a scheme is at both."""
AT_THE_LINE: str
"""Which rate the commands have where the scheme is on the line itself, and why."""
NO_VETO: str
"""Takes the default margins away."""
DEFAULT_VETOES: list[str]
"""The margins that hold if none is given: choices, not measurements."""
TRAFFIC_CLASSES: list[str]
"""The classes of traffic in the order of the answer: transfers by size, pages, kinds of applications."""

class Source:
    """A quantity and whose it is: of a class of transfers, a scheme, an application or a kind of them."""

    def __new__(
        cls,
        quantity: Quantity,
        role: str | None = None,
        kind: str | None = None,
        group: str | None = None,
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
    """The outcome for one endpoint, with a text such as `better by 32 % (95 % interval 28–36 %)`."""

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

def judge(
    ratio: Estimate,
    design: Design | None = None,
    unit: Literal["replication", "round", "day"] = ...,
    faster: tuple[int, int] | None = None,
) -> Verdict: ...
def describe(ratio: Estimate, quantity: Quantity, unit: str) -> Verdict:
    """Describes how an exploratory endpoint changed, and whether for the better."""

def endpoints(
    table: list[Quantity], short_bytes: int, long_bytes: int, has_pages: bool
) -> list[Endpoint]: ...

class Margin:
    """How much worse a figure of a class of traffic may become against the reference."""

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

def harm_margins(table: list[Quantity], given: list[str]) -> list[Margin]: ...
def harm_reference(schemes: list[tuple[str, str]], baseline: str, given: str | None) -> str: ...
def read_margin(table: list[Quantity], text: str) -> Margin: ...
def find_figure(table: list[Quantity], field: str, text: str) -> tuple[str, str]:
    """Returns class and name of the figure of a text such as `calls p95`, a part of its name being enough."""

def find_class(text: str) -> str | None:
    """Returns the class with which a figure's text begins, such as `video calls`."""

def read_change(text: str) -> tuple[str, str, float, str] | None: ...
def in_own_unit(
    field: str, text: str, name: str, quantity: Quantity, number: float, unit: str
) -> tuple[float, bool]:
    """Returns a number as a share of a quantity, or in its own unit; and whether it is the former."""

def difference_scale(unit: str) -> tuple[float, str]:
    """Returns how differences of a unit are written: the factor, and the unit's name."""

TableRows = Literal["bucket", "scheme", "colour", "curve", "cdf", "group", "size", "overview"]

class ComparedCell:
    """One cell of a comparison, with the facts of its runs by scheme and replication."""

    def __new__(
        cls,
        plan: Mapping[str, object],
        capture: Mapping[str, object] | None,
        table: list[Quantity],
        runs: Sequence[Sequence[Any]],
    ) -> ComparedCell: ...
    def rows(self, table: TableRows) -> list[dict[str, Any]]:
        """Returns the rows of a table as dictionaries."""
    def load(self) -> dict[str, Any]:
        """Returns how the load came about; means over the replications of the baseline."""
    def evidence(self) -> dict[str, Any] | None:
        """Returns what of a capture stands behind the verdicts, None for a model."""
    def overview_references(self) -> list[str]:
        """Returns the baseline, and drop-tail, RED and FQ-CoDel if they are compared."""
    def size_reference(self) -> str:
        """Returns the reference of the change by size: FQ-CoDel if it is compared, else the baseline."""
    def transient_share(self, scheme: str) -> float:
        """Returns the share of the windows that belongs to the transient, 0 if its removal changes little."""
    def notes(self, around: Mapping[str, object]) -> list[str]: ...
    def document(self, around: Mapping[str, object]) -> dict[str, Any]:
        """Returns the cell as the JSON document has it."""
    def runs(self) -> list[dict[str, Any]]:
        """Returns the runs of the cell as the JSON document has them."""
    def findings(self) -> list[dict[str, Any]]: ...
    def vetoes(self) -> list[dict[str, Any]]: ...
    def advise(self, around: Mapping[str, object]) -> dict[str, Any]: ...
    def stand_in(self, label: str, instead_of: str | None) -> str | None:
        """Says what is played in the place of a capture that is too small to be played as it is."""
    def nothing_compared(self) -> str | None:
        """Returns why no scheme could be recommended however long it ran; None if one could."""
    def present(self) -> list[str]:
        """Returns the classes of traffic of which some run has a figure."""
    @property
    def primary(self) -> Endpoint: ...
    def describe_primary(self) -> str:
        """Returns whose primary endpoint it is: `transfers ≤ 15 kB`, or `calls (one-way delay, p95)`."""
    def primary_design(self, reference: str) -> Design: ...
    def design(self) -> Design: ...
    def family_design(self, columns: list[Floats], reference: int) -> Design: ...
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

UNLOADED: float
"""Below this load, schemes differ little or not at all."""

def average_over_kinds(run: object, figures: Sequence[tuple[str, str]]) -> list[float]:
    """Returns the mean of each figure (kind, name) over a run's applications of the kind; NaN without any."""

def make_change(ratio: Estimate, own: Floats, other: Floats) -> tuple[float, float, float, bool]:
    """Returns mean, low, high of the change of a log-ratio, and whether they are an interval.

    Without one, the ends are those of single replications.
    """

MOST_PERCENT: int
"""A larger change is printed as `>+999`: its digits would say nothing."""

def time_text(seconds: float | None, bound: bool = False) -> str:
    """Returns a time as text: `84 ms`, `1.27 s`, `≥ 1.27 s` for a lower bound, `–` for None and NaN."""

def span_text(seconds: float) -> str:
    """Returns a long time as text: `42 s`, `3.5 min (210 s)`, `8 h (28,800 s)`, `2.3 days (198,720 s)`."""

def counted(number: int, noun: str) -> str:
    """Returns `1 client`, `2 clients`: the number with the noun, which takes an s in the plural."""

def share_text(share: float | None) -> str:
    """Returns a share as text: `0.42 %`, `< 0.001 %` for less than half of that, `–` for None and NaN."""

def rate_text(bps: float | None) -> str:
    """Returns a rate as text: `3.2 Mb/s`, `–` for None and NaN."""

def unit_text(unit: str, number: float | None, is_bound: bool = False) -> str:
    """Returns a number of a quantity's unit as text, with `≥` for a lower bound; `–` for None and NaN."""

def percent(share: float) -> str:
    """Returns a share in percent with two or three digits, a true minus sign, and no sign for percent."""

def signed(share: float) -> str:
    """Returns a share in percent with its sign, plus as well as minus, and no sign for percent."""

def capped(share: float) -> str:
    """Returns a share as `signed` does, `>+999` for more than that."""

def change_text(mean: float, low: float, high: float) -> str:
    """Returns a change with its ends, `−32 % (−36…−28)`; without ends that are not finite, `–` for NaN."""

def t_interval(values: ArrayLike, design: Design | None = None) -> Estimate: ...
def difference(scheme: ArrayLike, reference: ArrayLike, design: Design | None = None) -> Estimate: ...
def log_ratio(scheme: ArrayLike, reference: ArrayLike, design: Design | None = None) -> Estimate: ...
def ratio_of_means(scheme: ArrayLike, reference: ArrayLike, design: Design | None = None) -> Estimate: ...
def paired_logs(scheme: ArrayLike, reference: ArrayLike) -> Floats: ...
def smaller_in(scheme: ArrayLike, reference: ArrayLike) -> tuple[int, int]: ...
def effective_comparisons(columns: Iterable[ArrayLike]) -> float: ...
def positive_interval(values: ArrayLike, design: Design | None = None) -> Estimate: ...
def share_interval(values: ArrayLike, design: Design | None = None) -> Estimate: ...
def replications_for(estimate: Estimate, wanted: float, design: Design | None = None) -> int | None: ...
def heterogeneity(effects: ArrayLike, errors: ArrayLike) -> Heterogeneity | None: ...
def capture_share(material: float) -> float:
    """Returns the share of the variance between resampled replications that is between captures."""

def capture_freedom(sizes_bytes: ArrayLike, pipe_bytes: float) -> float: ...
def effective_number(weights: ArrayLike) -> float: ...
def jain_index(rates: ArrayLike) -> float: ...
def relaxation_s(sizes_bytes: ArrayLike, rate_bps: float, load: float) -> float: ...
def mser(batch_means: ArrayLike) -> int: ...
def simultaneous_error(error: float, comparisons: float) -> float:
    """Returns the error that each of `comparisons` intervals may have so that all hold but for `error`."""

def find_look(replications: int, first: int = ...) -> int: ...
def replications_of_look(look: int, first: int = ...) -> int: ...
def look_error(replications: int, error: float = ..., first: int = ...) -> float: ...
def holm(p_values: ArrayLike) -> list[float]: ...
def p_beyond(values: ArrayLike, end: float, is_above: bool) -> float: ...
def find_p_value(distance: float, error: float, freedom: float) -> float:
    """Returns the two-sided p-value of a mean so far from what is tested; without an error, 0 or 1."""

def binomial_interval(count: int, of: int) -> tuple[float, float]:
    """Returns the 95 % interval of a share that `count` of `of` trials had, by Clopper and Pearson."""

class Quantity:
    """A quantity of the table in `answer/src/quantities.rs`: what is measured, in words and units."""

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
    """Transfers of more than `low_bytes` and at most `high_bytes` of payload (None: no upper limit).

    The buckets of role `size` divide all transfers; there is one summary bucket each for `short`, `long` and
    `all`.
    """

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

def quantities() -> list[Quantity]:
    """Returns the table of quantities in the order of columns and documents."""

def buckets(short_bytes: int, long_bytes: int) -> list[Bucket]:
    """Returns the buckets in the order of the tables: by size, then short, long and all."""

def size_text(size_bytes: float) -> str:
    """Returns a size in bytes as text: `15 kB` for 15000, `1 MB` for 1000000."""

def curve_edges_bytes() -> Floats: ...
def cdf_times_s() -> Floats: ...
def reduce_records(
    records: Mapping[str, Any], buckets: Sequence[Bucket], table: Sequence[Quantity]
) -> dict[str, Any]:
    """Reduces records that were made by hand, in the form of `answer/src/reduction/records.rs`."""

def outcome_profiles() -> list[dict[str, Any]]:
    """Returns the profiles of the Quality of Outcome.

    Each has `name`, `kind`, `delays` (percentile, seconds up to which it is perfect and from which on it
    is of no use) and `losses` (the same as shares).
    """

def shares_of_same(own: TransferKeys, other: TransferKeys) -> tuple[float, float] | None:
    """Returns the shares of the same transfers that were slower and faster; None if they are not the same."""
