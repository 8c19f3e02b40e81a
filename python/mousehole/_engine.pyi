"""The engine's functions. They raise `mousehole.errors.MouseholeError` for a fault in the input."""

from collections.abc import Callable, Mapping, Sequence

from mousehole.base import MouseholeError
from mousehole.engine_types import (
    ConnectionColumns,
    Counter,
    DatagramColumns,
    FlowColumns,
    FormatEntry,
    InputEntry,
    JsonValue,
    LinkAccount,
    LinkSettings,
    LinkStatus,
    OwnPolicy,
    PartEntry,
    PolicyReport,
    QueueCounters,
    RunSummary,
    Scenario,
    SchemeEntry,
    SeriesColumns,
    TraceColumns,
    TrafficSummary,
    TransferColumns,
)

BUILD: str
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

    def distinct(self, low: int, high: int | None = None) -> tuple[int, int]:
        """Returns how many transfers have more than `low` and at most `high` bytes, and their clients."""

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
    def summary(self) -> RunSummary: ...
    def trace(self) -> TraceColumns | None:
        """Returns the packet trace, None unless the scenario asks for one."""

def read_traffic(
    paths: list[str],
    direction: str = "down",
    strict: bool = False,
    seed: int = 1,
    parquet: dict[int, tuple[str, Callable[[], bytes]]] | None = None,
) -> Traffic: ...
def bytes_read() -> int: ...
def is_traffic_column(name: str) -> bool: ...
def table_columns(names: list[str], direction: str) -> list[tuple[str, int, int]]:
    """Returns which columns of a table hold what: meaning, place, nanoseconds in the unit of times."""

def model_traffic(name: str, params: Mapping[str, JsonValue] | None = None) -> Traffic: ...
def connections_traffic(connections: Sequence[Mapping[str, object]]) -> Traffic: ...
def combine(parts: list[tuple[int, Traffic, bool]]) -> Traffic: ...
def run(scenario: Mapping[str, object], traffic: Traffic | None, cancel: Cancel) -> RunResult: ...
def validate(scenario: Mapping[str, object]) -> Scenario: ...
def tcp_parameters(scenario: Mapping[str, object]) -> dict[str, JsonValue]: ...
def scheme_parameters(scheme: str) -> dict[str, str]: ...
def models() -> dict[str, str]: ...
def schemes() -> list[SchemeEntry]: ...
def parts() -> list[PartEntry]: ...
def formats() -> list[FormatEntry]: ...
def load_policy(path: str) -> str: ...
def try_policies(
    headers: Sequence[str], scenarios: Sequence[Mapping[str, object]]
) -> tuple[str, str] | None: ...
def scheme_policies(scheme: str) -> list[OwnPolicy]: ...
def scheme_remarks(scheme: str) -> list[str]: ...
def scenario_to_toml(scenario: Mapping[str, object]) -> str: ...
def scenario_from_toml(text: str, path: str) -> Scenario: ...
def parse_rate(field: str, text: str) -> int: ...
def parse_duration(field: str, text: str) -> float: ...
def parse_size(field: str, text: str) -> int: ...
def parse_buffer(field: str, text: str, rate: str, rtt: str) -> tuple[int | None, int | None]:
    """Returns the packets and the bytes of a buffer: one of both, by its unit."""

def policy_template(kind: str, name: str) -> str:
    """Returns the header of a policy; `kind` is `marker` or `dropper`."""

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

    def told(self) -> list[LinkStatus]:
        """Returns what was told since the last call, once for each second."""

    def holders(self) -> tuple[int, int] | None:
        """Returns the processes that hold the namespaces of client and server, once they exist."""

def link_check(scenario: Mapping[str, object], settings: LinkSettings) -> None:
    """Checks a scenario and the commands that are to run through its links."""

def link_run(
    scenario: Mapping[str, object], settings: LinkSettings, monitor: LinkMonitor
) -> tuple[RunResult, LinkAccount]:
    """Runs commands through the links of a scenario; returns its records and how the run went."""

def rate_trace_mean(field: str, path: str) -> int:
    """Returns the mean rate of a rate trace in bits per second."""
