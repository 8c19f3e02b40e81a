# Written by `make docs` (tools/engine_structs.py).
"""Dictionaries that the engine takes and returns; `engine_types` has all types."""

from __future__ import annotations

from typing import NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
"""A value of a JSON document."""
Bools = NDArray[np.bool_]
UInts16 = NDArray[np.uint16]
UInts32 = NDArray[np.uint32]
UInts64 = NDArray[np.uint64]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class InputEntry(TypedDict):
    """An input by name, without directories, and SHA-256 of its content."""

    name: str
    """Its name."""
    sha256: str
    """In hexadecimal digits."""


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
    statistics: dict[str, JsonValue]
    """How intervals are made, and what is judged."""


class MixEntry(TypedDict, total=False):
    """One source of a mix: a model, or files."""

    name: str
    """Its name in records; the model's name, or the first file's, if absent."""
    model: str
    """Name of a traffic model."""
    files: list[str]
    """Traffic files instead of a model."""
    payload: str
    """Which way its payload goes: `down` (server to client), `up` or, of a model that can, `both`."""
    params: dict[str, JsonValue]
    """Parameters of the model that differ from its defaults."""
    load: float
    """Wire bytes over capacity, of files and of models that arrive at a rate."""
    count: int
    """Number of users, for models that have users."""


class TopologySection(TypedDict, total=False):
    """Links and hosts that replace the dumbbell: a kind with its parameters, or written out."""

    kind: str
    """`two-tier`, `y` or `tree`; without it links and hosts are written out."""
    params: dict[str, JsonValue]
    """Parameters of the kind that differ from its defaults."""
    clients: list[str]
    """Nodes whose hosts receive the measured data; client n of the traffic is number n modulo their
    count.
    """
    servers: list[str]
    """Nodes whose hosts send it."""
    paired: bool
    """Client n communicates with server n, even if the traffic names another."""
    bottleneck: str
    """Link to whose rate `load` and `1bdp` refer, as from-to; the slowest one with the scheme if
    absent.
    """
    rate: str
    """Rate of the bottleneck; replaces that of its link."""
    buffer: str
    """Buffer of the bottleneck; replaces that of its link."""
    up: str
    """Rate of the link back."""
    up_buffer: str
    """Buffer of the link back."""
    rtt: str
    """Round-trip time of connections that do not specify one and whose path is shorter; also the unit
    `bdp`.
    """
    remark: bool
    """Every marker on a path sets colours; otherwise those of the first marker stay."""
    all_queues: bool
    """Report the queues of all links, not only of those with the scheme."""
    links: list[dict[str, JsonValue]]
    """The links."""
    hosts: list[dict[str, JsonValue]]
    """Hosts with a link each, many at a time."""


class WriteSpec(TypedDict, total=False):
    """One write of a connection."""

    idle_s: float
    """Pause after the previous write, in seconds."""
    bytes: int
    """Payload bytes."""


class DatagramsSpec(TypedDict, total=False):
    """The sums of a flow of datagrams."""

    packets: int
    """Packets in the direction of the data."""
    bytes: int
    """Their IP lengths together."""
    reverse_packets: int
    """Packets in the other direction."""
    reverse_bytes: int
    """Their IP lengths together."""


ConnectionSpec = TypedDict(
    "ConnectionSpec",
    {
        "start_s": float,
        "client": int,
        "server": int,
        "rtt_s": float,
        "duration_s": float,
        "class": str,
        "flow_class": str,
        "payload": str,
        "writes": list[WriteSpec],
        "datagrams": DatagramsSpec,
    },
    total=False,
)
"""One connection written out."""


class LinkSection(TypedDict, total=False):
    """The bottleneck link: a rate for both directions, or one for each."""

    rate: str
    """Rate of both directions."""
    down: str
    """Rate from servers to clients, or the file of a rate that changes over time."""
    up: str
    """The same from clients to servers; as `down` if absent, of a file the mean."""
    rtt: str
    """Round-trip time without queueing, for connections that do not specify one."""
    ignore_trace_rtt: bool
    """Use `rtt` for every connection."""
    delay: str
    """One-way propagation delay of the bottleneck itself; part of the round-trip time."""
    buffer: str
    """Buffer: packets (50p), bytes (64kB) or bandwidth-delay products (1bdp)."""
    up_buffer: str
    """Buffer of the link from clients to servers; if absent as `buffer` where `up` is given, else
    1000 packets.
    """
    overhead: int
    """Link bytes on the wire per packet, beyond the IP length."""
    layer: str
    """Name of the link layer, instead of `overhead`."""
    burst: str
    """Depth of the token bucket that the link then is, as of Linux's tbf; without it the link is a
    transmitter. With a shaper, the depth of the shaper's.
    """
    shape: str
    """Rate at which the scheme's queue sends into a modem's FIFO, where the line begins: a share of
    the line's rate (90%) or a rate. Without it the scheme's queue is on the line itself. The
    scheme `droptail` is the modem's FIFO alone.
    """
    up_shape: str
    """The same from clients to servers; as `shape` if absent."""
    modem_buffer: str
    """Buffer of the modem's FIFO; as `buffer` if absent."""
    up_modem_buffer: str
    """The same from clients to servers; as `modem_buffer`, or without it as that direction's buffer,
    if absent.
    """
    shape_layer: str
    """The link layer whose bytes the shaper counts, or `none`; that of the line if absent."""


class TrafficSection(TypedDict, total=False):
    """The traffic: at most one of files, model and connections; bulk flows and a mix in addition or
    alone.
    """

    files: list[str]
    """Traffic files."""
    payload: str
    """Which way the payload of files, model and bulk flows goes: `down` (server to client), `up` or,
    of a model that can, `both`.
    """
    classes: list[str]
    """The user's corrections of the classes of the files' flows, such as `port 5060=call`."""
    format: str
    """The format of the files, as a file of formats describes it; empty to recognise it by content."""
    load: float
    """Wire bytes over capacity of the link that the payload crosses; above 0, at most 2."""
    resample: bool
    """Files that are overlaid to meet a load are resampled in each replication."""
    fitted: bool
    """A model fitted to the files outside the mix takes their place; it is drawn afresh in each
    replication.
    """
    replay: str
    """How files are replayed: `open` or `closed`; closed if absent and the files tell when
    connections ended.
    """
    server_think: str
    """Time from a request to its answer at servers of which the traffic says nothing; the TCP
    profile's if absent.
    """
    nqb: bool
    """Packets of calls, games and video calls carry the code point of flows that build no queue (NQB,
    RFC 9956).
    """
    qoo: list[str]
    """Profiles of Quality of Outcome for classes of datagram flows, in place of those of their kinds,
    such as `games=p99 40ms..150ms, loss 0.1%..2%`.
    """
    model: str
    """Name of a traffic model."""
    params: dict[str, JsonValue]
    """Parameters of the model that differ from its defaults."""
    connections: list[ConnectionSpec]
    """Connections written out; played once at their start times."""
    bulk: dict[str, JsonValue]
    """Long-lived bulk flows, in addition to the other traffic."""
    mix: list[MixEntry]
    """Several models, in addition to the other traffic or alone."""
    gaming: dict[str, JsonValue]
    """Senders that misbehave to gain an advantage."""


class Scenario(TypedDict, total=False):
    """One run: one scheme, one replication."""

    schema: str
    """`SCHEMA`."""
    seed: int
    """Base seed of all random numbers."""
    replication: int
    """Number of the replication; each has different draws under the seed."""
    warmup: str
    """Time before the measured window."""
    duration: str
    """Length of the measured window."""
    max_windows: int
    """Number of windows after which unfinished transfers are censored."""
    scheme: str
    """Scheme at the bottleneck."""
    at: str
    """Where the scheme is: at the `down` link, the `up` link or `both`; another link is drop-tail.
    See `Scenario::ends`.
    """
    link: LinkSection
    """The bottleneck."""
    access: dict[str, JsonValue]
    """Access links; without it hosts reach the bottleneck at any rate."""
    topology: TopologySection
    """Links and hosts that replace the dumbbell."""
    host_stage: dict[str, JsonValue]
    """A queue for each user at the sending host."""
    tcp: dict[str, JsonValue]
    """TCP."""
    traffic: TrafficSection
    """Traffic."""
    server: dict[str, JsonValue]
    """The servers' CPUs; without it a server answers at once."""
    faults: list[dict[str, JsonValue]]
    """Losses on purpose."""
    trace: bool
    """Record a packet trace."""
    series: str
    """Interval at which links and senders are sampled."""
    slow_path: bool
    """Use the slow path of every queue; the result is the same (for tests)."""


class CaptureCounts(TypedDict):
    """Counts of a capture's contents, before a direction is chosen."""

    bytes: int
    """Bytes of all packets on the wire."""
    used_bytes: int
    """Bytes on the wire of the packets that went into connections."""
    tcp_connections: int
    """TCP connections, with and without payload."""
    tcp_packets: int
    """Their packets."""
    tcp_bytes: int
    """Their payload in both directions, repetitions counted once."""
    quic_flows: int
    """Flows of QUIC."""
    quic_packets: int
    """Their packets."""
    quic_bytes: int
    """Their payload in both directions."""
    datagram_flows: int
    """Flows of datagrams: all but TCP and QUIC."""
    datagram_packets: int
    """Their packets."""
    datagram_bytes: int
    """Their IP lengths in both directions."""


class TrafficSource(TypedDict):
    """One input file."""

    name: str
    """The file's name without its folders."""
    sha256: str
    """SHA-256 of the file's bytes as stored (before decompression), in hexadecimal."""
    kind: str
    """Recognised format of the content, such as `pcap` or `zeek-conn`."""
    rows: int
    """Rows of data: lines of a log, packets of a capture."""
    used: int
    """Rows that went into connections."""
    faults: int
    """Rows that could not be understood."""
    first_fault: str | None
    """The first of them, as `file:line: what`."""
    capture: CaptureCounts | None
    """Packets and bytes, if the file is a capture."""


class SkippedRows(TypedDict):
    """Rows left out for one reason."""

    reason: str
    """Why, as a phrase."""
    connections: int
    """Whole connections among them, if the file shows them."""
    rows: int
    """How many rows (packets of a capture)."""
    bytes: int
    """Bytes: for a log the payload in the chosen direction, if the row has it; for a capture all
    bytes on the wire.
    """


class FaultyRows(TypedDict):
    """Rows that could not be understood."""

    count: int
    """How many."""
    first: str | None
    """The first one, as `file:line: what`."""


class TrafficNote(TypedDict):
    """A remark on the input that a reader of results should know."""

    kind: str
    """Kind of the remark."""
    file: str | None
    """The file it is about, without its folders; `None` when it is about several."""
    text: str
    """The whole remark as a phrase, with the file's name."""
    count: int | None
    """Number of rows (packets of a capture) or connections that it is about, if it is known."""
    bytes: int | None
    """Their bytes: of payload, or on the wire if the remark is about packets."""
    row: int | None
    """The row (packet of a capture) at which it was found, from 1."""


FlowClassCount = TypedDict("FlowClassCount", {"class": str, "flows": int, "bytes": int, "share": float})
"""Flows of one class."""


class TrafficSummary(TypedDict):
    """The account of a traffic; every field is plain data with its unit in its name."""

    share: float
    """Share of the clients, or of the connections, that are here; below 1 where memory does not hold
    all rows.
    """
    connections: int
    """Connections; flows of datagrams are counted in `Kinds`."""
    transfers: int
    """Writes of all connections."""
    clients: int
    """Client hosts."""
    servers: int
    """Server hosts."""
    span_s: float
    """From the first start to the last known activity."""
    period_s: float
    """Span plus the mean gap between starts: the period of a replay."""
    payload_bytes: int
    """Payload of all writes."""
    wire_bytes: int
    """Payload and headers in the data direction."""
    size_bytes: dict[str, int]
    """Sizes of writes."""
    size_max_bytes: int
    """Largest write."""
    size_mean_bytes: float
    """Mean size of a write."""
    short_share_count: float
    """Share of writes of at most 15 kB."""
    short_share_bytes: float
    """Share of payload in writes of at most 15 kB."""
    rtt_known: int
    """Connections whose round-trip time is known."""
    ends_known: int
    """Connections whose end is known."""
    waiting: int
    """Connections that waited for another of their client; the others begin sessions. See
    `super::waiting`.
    """
    shared_addresses: int
    """Clients that are addresses of several users, whose connections do not wait."""
    rtt_s: dict[str, float] | None
    """Round-trip times of those whose round-trip time is known."""
    server_think_known: int
    """Connections whose server's think time is known."""
    server_think_s: dict[str, float] | None
    """Think times of their servers."""
    rate_bps: int | None
    """The rate that `native_load` refers to."""
    native_load: float | None
    """Wire bits over period times rate, when a rate was given."""
    kinds: dict[str, int]
    """Connections and payload by transport."""
    classes: dict[str, int]
    """Connections and payload by kind of application, without datagrams."""
    flow_classes: list[FlowClassCount]
    """Recorded flows by class of behaviour, without classes that have none."""
    skipped: list[SkippedRows]
    """Rows left out, by reason."""
    faults: FaultyRows
    """Rows not understood."""
    sources: list[TrafficSource]
    """The input files."""
    notes: list[TrafficNote]
    """Remarks on the files and on choices made while reading."""


class FormatEntry(TypedDict):
    """Something that can be read, or is left out by name."""

    group: str
    """The heading it stands under."""
    name: str
    """Its name."""
    key: str
    """Its recognition mark: a number, a port, or first bytes."""
    reading: str
    """The way in which it is read, or the name under which it is left out."""


class LoadSummary(TypedDict):
    """How the load of a run came about."""

    target: float | None
    """Load that was asked for."""
    native: float | None
    """Load of the traffic itself."""
    copies: int
    """Copies of it that were laid over each other."""
    dilation: float
    """Factor by which its time was stretched."""
    achieved: float | None
    """Load that was offered."""
    session_rate_per_s: float | None
    """Sessions per second that a model begins."""
    replay: str | None
    """How files are replayed."""


class PolicyKernelFigures(TypedDict):
    """Numbers of the comparison with the kernel."""

    records: int
    """Records played."""
    differences: int
    """Outcomes that differ, and cases of 256 records after which the states differ."""
    ns_per_record: float
    """Mean time of a record in the kernel, with two look-ups in maps."""
    instructions: int
    """Instructions of the program."""
    verified_instructions: int | None
    """Instructions that the verifier looked at; absent before kernel 5.16."""
    outcomes: list[tuple[str, int]]
    """How often `packet` came to each outcome."""


class PolicySensitivityFigures(TypedDict):
    """Numbers of the sensitivity check."""

    changes: int
    """Changes that must be noticed."""
    noticed: int
    """How many of them were."""
    unread: int
    """Changes of fields that are not read."""
    records: int
    """Records until the last one was noticed."""
    hardest: str
    """The change that took the most records."""


class PolicyCheckEntry(TypedDict):
    """One of the checks of a policy."""

    name: str
    """`description`, `rules`, `random records`, `kernel` or `sensitivity`."""
    verdict: str
    """How it ended."""
    sentences: list[str]
    """What was found, or what was done, in sentences. A compiler's or the kernel's messages follow on
    lines of their own.
    """
    kernel: NotRequired[PolicyKernelFigures]
    """Numbers of the kernel check."""
    sensitivity: NotRequired[PolicySensitivityFigures]
    """Numbers of the sensitivity check."""


class PolicyReport(TypedDict):
    """All checks of a policy."""

    policy: str
    """Its name, as in schemes; the file's name where the header cannot be loaded."""
    sha256: NotRequired[str]
    """SHA-256 of a user's header."""
    checks: list[PolicyCheckEntry]
    """In the order in which they were made. Later ones are missing where an earlier one failed."""


class LinkSettings(TypedDict):
    """The settings of a run in the form that Python passes."""

    command: list[str]
    server: list[str] | None
    mtu: int
    duration_s: float | None
    names: list[str]
    user_namespace: bool
    pcapng: str | None


class WredEntry(TypedDict):
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
    """One run on real packets."""

    scheme: str
    buffer: str
    round: int
    is_valid: bool
    """Whether its figures can be relied on."""
    counts: bool
    """Whether the figures have it in them."""
    congestion: str | None
    """Congestion control of programs that chose none, by the kernel's name; None if unknown."""
    account: LinkAccount
    """How the run went, as in mousehole.run/2."""


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

    `end_s` is NaN for an unfinished transfer. `page` is the number of its page (0: none), which
    has `page_transfers` transfers in all.
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

    `link` is empty for samples of senders, `colour` None for values of all packets, and `flow` the
    key of a long-lived flow or None.
    """

    link: list[str]
    name: list[str]
    colour: list[str | None]
    flow: list[int | None]
    time_s: Floats
    value: Floats


class TraceColumns(TypedDict):
    """One row per packet event of the data path."""

    time_s: Floats
    event: list[str]
    flow: UInts32
    seq: Ints
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
