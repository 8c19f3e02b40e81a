"""Types of what the engine takes and returns: scenarios, traffic summaries, counters and records.

`_engine.pyi` uses them, and `python/tests/test_engine_types.py` compares them with what the engine returns.
Units are in the names (`_s`, `_bps`, `_bytes`); docs/json.md and docs/scenario.md explain the fields.
"""

from typing import Literal, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
"""A value of a JSON document."""
Bools = NDArray[np.bool_]
UInts16 = NDArray[np.uint16]
UInts32 = NDArray[np.uint32]
UInts64 = NDArray[np.uint64]
Floats = NDArray[np.float64]
TransferKeys = tuple[UInts64, Floats]
"""Keys of transfers in rising order, and their response times."""
Role = Literal["size", "short", "long", "all"]
"""What a size bucket is for."""


class WriteSpec(TypedDict, total=False):
    """One write of a connection: a pause after the previous write, then payload."""

    idle_s: float
    bytes: int


class DatagramsSpec(TypedDict, total=False):
    """Packets and IP lengths of a flow of datagrams, in the direction of the data and in the other one."""

    packets: int
    bytes: int
    reverse_packets: int
    reverse_bytes: int


class ConnectionSpec(TypedDict, total=False):
    """One connection that is given as data."""

    start_s: float
    client: int
    server: int
    rtt_s: float
    duration_s: float
    flow_class: str
    payload: str
    writes: list[WriteSpec]
    datagrams: DatagramsSpec


ModelParams = dict[str, JsonValue]
"""Parameters of a traffic model, by name."""


class MixEntry(TypedDict, total=False):
    """One source of `traffic.mix`."""

    name: str
    model: str
    files: list[str]
    payload: str
    params: ModelParams
    load: float
    count: int


class TrafficSection(TypedDict, total=False):
    """Section `traffic` of a scenario."""

    files: list[str]
    payload: str
    classes: list[str]
    format: str
    load: float
    resample: bool
    server_think: str
    fitted: bool
    replay: str
    model: str
    params: ModelParams
    connections: list[ConnectionSpec]
    bulk: dict[str, JsonValue]
    mix: list[MixEntry]
    gaming: dict[str, JsonValue]


class LinkSection(TypedDict, total=False):
    """Section `link` of a scenario."""

    rate: str
    down: str
    up: str
    rtt: str
    ignore_trace_rtt: bool
    delay: str
    buffer: str
    up_buffer: str
    overhead: int
    layer: str
    burst: str
    shape: str
    up_shape: str
    modem_buffer: str
    up_modem_buffer: str
    shape_layer: str


class TopologySection(TypedDict, total=False):
    """Section `topology` of a scenario; `rate` to `up_buffer` are those of its bottleneck."""

    kind: str
    params: dict[str, JsonValue]
    clients: list[str]
    servers: list[str]
    paired: bool
    bottleneck: str
    rate: str
    rtt: str
    buffer: str
    up: str
    up_buffer: str
    remark: bool
    all_queues: bool
    links: list[dict[str, JsonValue]]
    hosts: list[dict[str, JsonValue]]


class Scenario(TypedDict, total=False):
    """A scenario (docs/scenario.md). The engine fills in every field that has a default."""

    schema: str
    seed: int
    replication: int
    warmup: str
    duration: str
    max_windows: int
    scheme: str
    at: str
    link: LinkSection
    access: dict[str, JsonValue]
    topology: TopologySection
    host_stage: dict[str, JsonValue]
    tcp: dict[str, JsonValue]
    traffic: TrafficSection
    server: dict[str, JsonValue]
    faults: list[dict[str, JsonValue]]
    trace: bool
    series: str | None
    slow_path: bool


class InputEntry(TypedDict):
    """An input by name, without directories, and SHA-256 of its content."""

    name: str
    sha256: str


class TrafficSource(TypedDict):
    """One input file as it was read."""

    name: str
    sha256: str
    kind: str
    rows: int
    used: int
    faults: int
    first_fault: str | None
    capture: "CaptureCounts | None"


class CaptureCounts(TypedDict):
    """What a capture holds: bytes on the wire; connections, packets and payload of both directions.

    `datagram_bytes` are IP lengths.
    """

    bytes: int
    used_bytes: int
    tcp_connections: int
    tcp_packets: int
    tcp_bytes: int
    quic_flows: int
    quic_packets: int
    quic_bytes: int
    datagram_flows: int
    datagram_packets: int
    datagram_bytes: int


class SkippedRows(TypedDict):
    """Rows that were left out for one reason.

    `connections` counts whole connections among them. `bytes` are those of payload in a log, on the wire in a
    capture.
    """

    reason: str
    connections: int
    rows: int
    bytes: int


class TrafficNote(TypedDict):
    """A remark on the input: `text` is the whole, the others are the facts it is made of."""

    kind: str
    file: str | None
    text: str
    count: int | None
    bytes: int | None
    row: int | None


class FormatEntry(TypedDict):
    """Something that the reader of traffic understands: a link type, an encapsulation, a kind of packet."""

    group: str
    name: str
    key: str
    reading: str


class FaultyRows(TypedDict):
    """Rows that could not be understood; `first` is `file:line: problem`."""

    count: int
    first: str | None


FlowClassCount = TypedDict("FlowClassCount", {"class": str, "flows": int, "bytes": int, "share": float})
"""The recorded flows of one class; bytes are those in the direction of the data."""


class TrafficSummary(TypedDict):
    """What was understood of traffic files or of a sample of a model."""

    share: float
    connections: int
    transfers: int
    clients: int
    servers: int
    span_s: float
    period_s: float
    payload_bytes: int
    wire_bytes: int
    size_bytes: dict[str, int]
    size_max_bytes: int
    size_mean_bytes: float
    short_share_count: float
    short_share_bytes: float
    ends_known: int
    waiting: int
    shared_addresses: int
    rtt_known: int
    rtt_s: dict[str, float] | None
    server_think_known: int
    server_think_s: dict[str, float] | None
    rate_bps: int | None
    native_load: float | None
    kinds: dict[str, int]
    classes: dict[str, int]
    flow_classes: list[FlowClassCount]
    skipped: list[SkippedRows]
    faults: FaultyRows
    sources: list[TrafficSource]
    notes: list[TrafficNote]


class ConnectionColumns(TypedDict):
    """The connections of a traffic: one row each; `rtt_s` and `duration_s` are NaN where unknown."""

    start_s: Floats
    client: UInts32
    server: UInts32
    rtt_s: Floats
    duration_s: Floats
    writes: UInts32
    bytes: UInts64
    flow_class: list[str | None]
    is_quic: Bools
    is_datagrams: Bools
    packets: UInts64
    reverse_packets: UInts64
    reverse_bytes: UInts64


class TransferColumns(TypedDict):
    """One row per measured transfer.

    `end_s` is NaN for an unfinished transfer. `page` is the number of its page (0: none), which has
    `page_transfers` transfers in all.
    """

    key: UInts64
    client: UInts32
    write: UInts32
    bytes: UInts64
    object_bytes: UInts64
    object_key: UInts64
    source: list[str]
    upload: Bools
    misbehaves: Bools
    start_s: Floats
    first_data_s: Floats
    first_byte_s: Floats
    end_s: Floats
    rtt_s: Floats
    ideal_s: Floats
    retransmits: UInts32
    timeouts: UInts32
    dropped: UInts32
    is_quic: Bools
    page: UInts64
    page_transfers: UInts16


class FlowColumns(TypedDict):
    """One row per long-lived flow: what it delivered within the measured window."""

    key: UInts64
    client: UInts32
    source: list[str]
    upload: Bools
    misbehaves: Bools
    bytes: UInts64
    goodput_bps: Floats


class DatagramColumns(TypedDict):
    """One row per datagram flow: packets sent within the measured window, and their one-way delays."""

    key: UInts64
    client: UInts32
    source: list[str]
    upload: Bools
    sent: UInts64
    received: UInts64
    lost: UInts64
    bytes: UInts64
    delay_mean_s: Floats
    delay_p50_s: Floats
    delay_p95_s: Floats
    delay_p99_s: Floats
    jitter_s: Floats
    late: UInts64


class SeriesColumns(TypedDict):
    """Values over time: adaptive ones, one row per change, valid from `time_s` on; then samples.

    `link` is empty for samples of senders, `colour` None for values of all packets, and `flow` the key of a
    long-lived flow or None.
    """

    link: list[str]
    name: list[str]
    colour: list[str | None]
    flow: list[int | None]
    time_s: Floats
    value: Floats


class ApplicationColumns(TypedDict):
    """One row per figure of an application; `what` is a quantity's name, `kind` None without a kind."""

    group: list[str]
    kind: list[str | None]
    what: list[str]
    value: list[float | None]
    is_primary: list[bool]


class TraceColumns(TypedDict):
    """One row per packet event of the data path."""

    time_s: Floats
    event: list[str]
    flow: UInts32
    seq: NDArray[np.int64]
    bytes: UInts16
    colour: list[str]
    cwnd: Floats


class ColourCounters(TypedDict):
    """Packets (and, with `_bytes`, bytes) of one colour at one queue within the measured window."""

    name: str
    arrived: int
    arrived_bytes: int
    early: int
    early_bytes: int
    forced: int
    forced_bytes: int
    fault: int
    fault_bytes: int
    policed: int
    policed_bytes: int
    dropped: int
    dropped_bytes: int
    marked: int
    marked_bytes: int
    sent: int
    sent_bytes: int


Counter = Literal["arrived", "early", "forced", "fault", "policed", "dropped", "marked", "sent"]
"""What can be counted of a packet at a queue."""


class QueueCounters(TypedDict):
    """One link and its queue within the measured window."""

    name: str
    capacity_bps: int
    window_s: float
    sent_packets: int
    sent_bytes: int
    utilisation: float
    colours: list[ColourCounters]
    delay_mean_s: float
    delay_p50_s: float
    delay_p95_s: float
    delay_p99_s: float
    mean_queue_packets: float


class LoadSummary(TypedDict):
    """How the traffic was made to meet the load: wire bytes over capacity, and how files were repeated."""

    target: float | None
    native: float | None
    copies: int
    dilation: float
    achieved: float | None
    session_rate_per_s: float | None
    replay: str | None


class RunSummary(TypedDict):
    """Load, goodput, and how much was simulated."""

    load: LoadSummary
    goodput_bps: float
    goodput_up_bps: float
    sources: list[str]
    measured: int
    censored: int
    reordered: int
    window_begin_s: float
    window_end_s: float
    end_s: float
    simulated_s: float
    events: int
    packets: int
    connections: int
    connections_most_live: int
    conservation_ok: bool


class ParameterEntry(TypedDict):
    """One parameter of a scheme."""

    name: str
    default: str
    unit: str
    doc: str
    source: str


class OwnPolicy(TypedDict):
    """A user's own policy in a scheme: its name, its header's path and SHA-256."""

    name: str
    header: str
    sha256: str


class CatalogueEntry(TypedDict):
    """Something that a scheme may name: its texts and its parameters."""

    name: str
    summary: str
    source: str
    detail: str
    params: list[ParameterEntry]


class SchemeEntry(CatalogueEntry):
    """One named scheme; `stages` are its parts, markers first."""

    stages: list[str]


class PartEntry(CatalogueEntry):
    """A marker or queue that schemes are made of; a user's own policy has a header and its SHA-256."""

    role: Literal["marker", "queue"]
    order: Literal["fifo", "several"]
    installed_by: str
    is_policy: bool
    header: str | None
    sha256: str | None


class WredEntry(TypedDict):
    """One profile of a router's WRED."""

    dscp: int
    min_packets: int
    max_packets: int
    probability: str
    weight_exponent: int


class InstallPlan(TypedDict):
    """What installs a scheme in one direction of a link."""

    place: str
    lines: list[str]
    live: str | None
    wred: list[WredEntry]
    needs: list[str]
    direction: str


class PolicyKernelFigures(TypedDict):
    """Numbers of the comparison of a policy with the kernel."""

    records: int
    differences: int
    ns_per_record: float
    instructions: int
    verified_instructions: int | None
    outcomes: list[list[str | int]]


class PolicySensitivityFigures(TypedDict):
    """Numbers of the check that changed parameters are noticed."""

    changes: int
    noticed: int
    unread: int
    records: int
    hardest: str


class PolicyCheckEntry(TypedDict):
    """One of the checks of a policy; `verdict` is `passed`, `warning`, `failed` or `not_run`."""

    name: str
    verdict: str
    sentences: list[str]
    kernel: NotRequired[PolicyKernelFigures]
    sensitivity: NotRequired[PolicySensitivityFigures]


class PolicyReport(TypedDict):
    """All checks of a policy, in the order in which they were made."""

    policy: str
    sha256: NotRequired[str]
    checks: list[PolicyCheckEntry]


class LinkSettings(TypedDict):
    """What runs on both sides of a link; see `link.Programs`."""

    command: list[str]
    server: list[str] | None
    mtu: int
    duration_s: float | None
    names: list[str]
    user_namespace: bool
    pcapng: str | None


class LinkWayStatus(TypedDict):
    """One direction of a link: what left it within a second, and what waits, by colour, best first."""

    rate_bps: float
    waiting: list[int]
    dropped: int
    marked: int


class LinkStatus(TypedDict):
    """Both directions of a link at a moment, and how late packets were in the second before."""

    at_s: float
    down: LinkWayStatus
    up: LinkWayStatus
    late_most_s: float
    late_share: float


class Lateness(TypedDict):
    """How late packets were delivered, beyond the time at which they were due."""

    packets: int
    p50_s: float
    p99_s: float
    p999_s: float
    most_s: float
    beyond_2ms: int


class LinkWay(TypedDict):
    """The packets of one direction: sent = delivered + dropped + under way."""

    sent: int
    delivered: int
    dropped: int
    marked: int
    under_way: int
    delivered_bytes: int


class LinkAccount(TypedDict):
    """How a run on real packets went; `faults` are the reasons why its figures cannot be relied on."""

    seconds: float
    status: int | None
    """Of the command; None if it was ended."""
    left_behind: int
    """Programs that the command left running."""
    server_status: int | None
    """Of the server's command; None while it ran."""
    is_valid: bool
    faults: list[str]
    lateness: Lateness
    cpu_share: float
    cpu_use: float
    is_real_time: bool
    flows: int
    most_flows: int
    not_ip: int
    too_large: int
    write_failed: int
    lost_in_client: int
    lost_in_server: int
    left_out_of_pcapng: int
    down: LinkWay
    up: LinkWay


class LinkRunEntry(TypedDict):
    """One run on real packets, as a comparison's document has it; `answer/src/schema_tests.rs` says more."""

    scheme: str
    buffer: str
    round: int
    is_valid: bool
    counts: bool
    congestion: str | None
    account: LinkAccount
