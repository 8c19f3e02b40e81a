"""What RIO-PS measures of a run: transfers under random loss, two classes on a link, web traffic."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from mousehole.base import MouseholeError
from mousehole.engine_types import TraceColumns, TransferColumns
from mousehole.runs import RunResult
from numpy.typing import NDArray

from papers.counters import arrived_share

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PACKET_BYTES = 500
LONG_FROM = 100
"""Segments beyond this are sent by long flows only (section II.C: 100 packets and 10,000)."""
EDGES = 4 * 2.0 ** np.arange(17)
"""Response times are averaged between these sizes, in packets."""
TRANSFERS = {1: 4000, 10: 2500, 15: 2500, 100: 600, 1000: 100, 100_000: 3}
"""Transfers of one run of Figure 2 by size: more where fewer packets make them vary more."""
TRACED_TRANSFERS = 15
SILENCE = 1.5
"""Round-trip times without a packet that mean a timeout."""
WINDOW_S = 0.5
"""Section II.C measures shares of the link in such windows."""
PERIOD_S = 10.0
"""Time from one short file of a source to the next in section II.C."""
FIRST_PACKETS = 10
"""Packets of a flow that Figure 8 counts as its first."""
AVERAGED_S = 20.0
"""Figure 8's rates are averages over the last 20 seconds."""
EDGE = "n0-n3"
"""The link at which data towards clients is classified."""
QUANTILES = (np.arange(100) + 0.5) / 100


# --- Figure 2 -------------------------------------------------------------------------------------


def with_transfers(scenario: Mapping[str, Any], cell: Mapping[str, str]) -> Mapping[str, Any]:
    """Returns the scenario with independent transfers of the cell's size, spread over its window.

    The scenario stays as it is; its duration is in seconds, as text. With a trace there are
    `TRACED_TRANSFERS`.
    """
    packets, window_s = int(cell["packets"]), float(scenario["duration"].removesuffix("s"))
    count = TRACED_TRANSFERS if scenario.get("trace") else TRANSFERS[packets]
    writes = [{"bytes": packets * PACKET_BYTES}]
    connections = [
        {"start_s": number * window_s / count, "client": number, "writes": writes} for number in range(count)
    ]
    return {**scenario, "traffic": {"connections": connections}}


def transfer_times(result: RunResult) -> Mapping[str, Any]:
    """Measures until the last acknowledgement is back, half a round trip after the last packet arrived.

    Raises `MouseholeError` if a transfer did not end, and if a packet was dropped at the buffer. Times are
    in seconds; `cov` is the standard deviation over the mean.
    """
    transfers = result.transfers()
    seconds = transfers["end_s"] - transfers["first_data_s"] + transfers["rtt_s"] / 2
    if np.isnan(seconds).any():
        raise MouseholeError("paper rio-ps: a transfer did not end within the run; raise max_windows")
    if any(colour["early"] + colour["forced"] for queue in result.queues() for colour in queue["colours"]):
        raise MouseholeError("paper rio-ps: the link's buffer overflowed, which this experiment excludes")
    mean_s = float(np.mean(seconds))
    wait_s = mean_wait_s(result.trace(), SILENCE * float(transfers["rtt_s"].max()))
    return {"mean_s": mean_s, "cov": float(np.std(seconds)) / mean_s, "wait_s": wait_s}


def mean_wait_s(trace: TraceColumns | None, silence_s: float) -> float:
    """Returns the mean gap between a connection's sends that is too long for anything but a timeout.

    `silence_s` is the longest other gap, in seconds. Waits for the first packet do not count. NaN without
    a trace or such a gap.
    """
    if trace is None:
        return np.nan
    sends = np.flatnonzero(np.array(trace["event"]) == "send")
    order = sends[np.lexsort((trace["time_s"][sends], trace["flow"][sends]))]
    gaps = np.diff(trace["time_s"][order])
    same_connection = (np.diff(trace["flow"][order]) == 0) & (trace["seq"][order][1:] > 0)
    waits = gaps[same_connection & (gaps > silence_s)]
    return _mean(waits)


# --- Figure 3, Table I ----------------------------------------------------------------------------


def two_classes(result: RunResult) -> Mapping[str, Any]:
    """Measures section II.C: packets delivered, none counted twice, and each class's share of the link.

    Needs the packet trace; raises `MouseholeError` without it. Shares have one value for each `WINDOW_S`.
    """
    trace, transfers, down = result.trace(), result.transfers(), result.queues()[0]
    if trace is None:
        raise MouseholeError("paper rio-ps: this measure needs trace = true")
    short, long = delivered(trace)
    edges = np.arange(0.0, down["window_s"] + WINDOW_S / 2, WINDOW_S)
    counts = [np.histogram(times, edges)[0].astype(float) for times in (short.time_s, long.time_s)]
    full = down["capacity_bps"] * WINDOW_S / (8 * PACKET_BYTES)
    active = [_active(transfers, edges[:-1] + WINDOW_S / 2, is_long) for is_long in (False, True)]
    return {
        "short": short.packets,
        "long": long.packets,
        "all": short.packets + long.packets,
        "time_s": edges[:-1],
        "phase_s": np.arange(0.0, PERIOD_S, WINDOW_S),
        "short_share": counts[0] / full,
        "long_share": counts[1] / full,
        "short_active": active[0],
        "long_active": active[1],
    }


class Delivered:
    """The packets of a class that reached their clients: when, and how many different ones."""

    def __init__(self, time_s: Floats, packets: int) -> None:
        self.time_s, self.packets = time_s, packets


def delivered(trace: TraceColumns) -> tuple[Delivered, Delivered]:
    """Returns what of the short and of the long flows arrived.

    A flow is long if it sent segment `LONG_FROM` or a later one. Raises `ValueError` for a trace without
    data.
    """
    event, flow = np.array(trace["event"]), trace["flow"].astype(np.int64)
    data = np.flatnonzero((event == "send") | (event == "receive"))
    data = data[np.argsort(flow[data], kind="stable")]
    event, flow, seq, time_s = event[data], flow[data], trace["seq"][data], trace["time_s"][data]
    connection = _connections(event, flow, seq)
    most = np.zeros(int(connection.max()) + 1, np.int64)
    np.maximum.at(most, connection, seq)
    arrived = event == "receive"
    is_long = most[connection[arrived]] >= LONG_FROM
    name = connection[arrived] * (1 << 24) + seq[arrived]
    short, long = (
        Delivered(time_s[arrived][of], int(np.unique(name[of]).size)) for of in (~is_long, is_long)
    )
    return short, long


def _connections(event: NDArray[np.str_], flow: Ints, seq: Ints) -> Ints:
    """Numbers the connections of a trace sorted by slot. With an initial window of one, segment 0 is sent
    again only before any other, so a slot that sends it later has been taken over."""
    new = np.zeros(flow.size, bool)
    highest, last_slot = -1, -1
    for position in np.flatnonzero(event == "send"):
        slot, number = int(flow[position]), int(seq[position])
        if slot != last_slot or (number == 0 and highest > 0):
            new[position], last_slot, highest = True, slot, -1
        highest = max(highest, number)
    return np.cumsum(new)


def _active(transfers: TransferColumns, times_s: Floats, is_long: bool) -> Floats:
    """Returns how many transfers of a class are under way at each time."""
    of = (transfers["bytes"] > LONG_FROM * PACKET_BYTES) == is_long
    start, end = np.sort(transfers["start_s"][of]), np.sort(transfers["end_s"][of])  # NaN comes last
    return (np.searchsorted(start, times_s) - np.searchsorted(end, times_s)).astype(np.float64)


# --- Figures 7 and 9 to 11, Table IV --------------------------------------------------------------


def experiment(result: RunResult) -> Mapping[str, Any]:
    """Measures web traffic by size, the bottlenecks, and the foreground flows if there are any.

    Rates are in packets per second, sizes in packets of `PACKET_BYTES`; NaN where nothing ended.
    """
    transfers, source = result.transfers(), np.array(result.transfers()["source"])
    response_s = transfers["end_s"] - transfers["start_s"]
    web = ~np.isin(source, ("short", "long", "reverse"))
    size = np.digitize(np.ceil(transfers["bytes"] / PACKET_BYTES), EDGES) - 1
    of_size = [response_s[web & (size == one)] for one in range(EDGES.size - 1)]
    measured = {
        "packets": EDGES[:-1],
        "response_s": [_mean(values) for values in of_size],
        "unfinished": float(np.isnan(response_s[web]).mean()),
        "goodput": result.summary()["goodput_bps"] / (8 * PACKET_BYTES),
        **_bottlenecks(result),
    }
    for name in ("short", "long"):
        if (source == name).any():
            of = source == name
            measured |= _foreground(name, transfers["start_s"][of], response_s[of])
    return measured


def _bottlenecks(result: RunResult) -> Mapping[str, Any]:
    """Returns congestion signals by colour, queue and threshold; of two bottlenecks, signals of both."""
    queues = [queue for queue in result.queues() if queue["name"].startswith("n3-")]
    colours = [colour for queue in queues for colour in queue["colours"]]
    return {
        "utilisation": max(queue["utilisation"] for queue in queues),
        "marked": arrived_share(colours, "marked"),
        "dropped": arrived_share(colours, "dropped"),
        "signals": arrived_share(colours, "marked", "dropped"),
        "short_signals": arrived_share(
            [one for one in colours if one["name"] == "green"], "marked", "dropped"
        ),
        "long_signals": arrived_share(
            [one for one in colours if one["name"] == "yellow"], "marked", "dropped"
        ),
        "queue_packets": queues[0]["mean_queue_packets"],
        "threshold": _threshold(result),
    }


def _foreground(name: str, start_s: Floats, response_s: Floats) -> Mapping[str, Any]:
    """Returns times and fairness of foreground flows; those started together are one batch.

    A new batch begins after 5 s without a start. `start_s` is not empty.

    A batch of which a flow did not end has neither.
    """
    order = np.argsort(start_s)
    start_s, response_s = start_s[order], response_s[order]
    batch = np.cumsum(np.diff(start_s, prepend=start_s[0]) > 5.0)
    batches = [response_s[batch == one] for one in range(int(batch[-1]) + 1)]
    return {
        f"{name}_start_s": [float(start_s[batch == one].min() - start_s[0]) for one in range(len(batches))],
        f"{name}_batch_s": [float(one.mean()) for one in batches],
        f"{name}_fairness": [fairness(one) for one in batches],
        f"{name}_mean_s": _mean(response_s),
        f"{name}_mean_fairness": _mean(np.array([fairness(one) for one in batches])),
        f"{name}_times_s": np.nanquantile(response_s, QUANTILES),
        f"{name}_outliers": float((response_s > 3.0).mean()),
    }


def fairness(seconds: Floats) -> float:
    """Returns the fairness index of response times, (Σ T)² ÷ (n Σ T²); NaN if one did not end."""
    return float(seconds.sum() ** 2 / (seconds.size * np.sum(seconds**2)))


def _threshold(result: RunResult) -> float:
    """Returns the mean of RIO-PS's threshold for data towards clients, packets; NaN under other schemes."""
    series = result.series()
    of_data = (np.array(series["name"]) == "threshold_packets") & (np.array(series["link"]) == EDGE)
    return _mean(np.asarray(series["value"])[of_data])


# --- Figure 8 -------------------------------------------------------------------------------------


def traced(result: RunResult) -> Mapping[str, Any]:
    """Measures the bottleneck second by second: its queue, and the share of packets marked or dropped.

    Raises `MouseholeError` without a packet trace.
    """
    trace, down, summary = result.trace(), result.queues()[0], result.summary()
    if trace is None:
        raise MouseholeError("paper rio-ps: this measure needs trace = true")
    event, time_s = np.array(trace["event"]), trace["time_s"]
    seconds = np.arange(summary["window_begin_s"], summary["window_end_s"], 1.0)
    first = trace["seq"] < FIRST_PACKETS
    stays = (event == "enqueue") & (np.append(event[1:], "") != "drop")  # a drop follows its arrival
    return {
        "time_s": seconds - seconds[0],
        "queue_packets": queue_at(time_s[stays], 8 * PACKET_BYTES / down["capacity_bps"], seconds),
        "signals": _rate(event, time_s, seconds, np.ones(first.size, bool)),
        "first_signals": _rate(event, time_s, seconds, first),
        "later_signals": _rate(event, time_s, seconds, ~first),
    }


def queue_at(entered_s: Floats, service_s: float, times_s: Floats) -> Floats:
    """Returns how many packets wait or are being sent at these times, in a FIFO of equal packets.

    `entered_s` is in rising order, times are in seconds.
    """
    number = np.arange(entered_s.size)
    left_s = service_s * (number + 1) + np.maximum.accumulate(entered_s - service_s * number)
    waiting = np.searchsorted(entered_s, times_s) - np.searchsorted(left_s, times_s)
    return waiting.astype(np.float64)


def _rate(event: NDArray[np.str_], time_s: Floats, seconds: Floats, of: NDArray[np.bool_]) -> Floats:
    """Returns signals over arrivals of the last `AVERAGED_S` before each second.

    It is 0 if nothing arrived.
    """

    def counted(*names: str) -> Floats:
        times = np.sort(time_s[of & np.isin(event, names)])
        upto = np.searchsorted(times, seconds) - np.searchsorted(times, seconds - AVERAGED_S)
        return upto.astype(np.float64)

    return counted("mark", "drop") / np.maximum(counted("enqueue"), 1.0)


def _mean(values: Floats) -> float:
    """Returns the mean of the values that are not NaN; NaN if there are none."""
    ended = values[~np.isnan(values)]
    return float(ended.mean()) if ended.size else np.nan
