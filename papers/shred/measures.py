"""What SHRED measures: when objects and pages are complete, what is dropped, goodput and fairness of FTP."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from mousehole.base import MouseholeError
from mousehole.runs import RunResult
from mousehole.statistics import jain_index
from numpy.typing import NDArray

from papers.definition import Json

Floats = NDArray[np.float64]

RATE_BPS = 10e6
"""The bottleneck's, to which loads refer in the network with a faster link too."""
PACKET_BYTES, HEADER_BYTES = 1000, 40
MEAN_BYTES, SHAPE, LEAST_BYTES, MOST_BYTES = 10_000, 1.2, 12, 2_000_000
"""Of objects (section 4.1): a Pareto II, clamped."""
GOODPUT_SCALE = (PACKET_BYTES + HEADER_BYTES) / PACKET_BYTES
"""The paper's goodput reaches 10.0 of 10 Mb/s, so it counts headers."""
BODY_S = np.linspace(0, 1, 101)
"""Where the share of complete objects is measured for the bodies of Figures 4 to 6 and 8 to 10."""
TAIL_S = np.linspace(1, 10, 91)
"""The same for their tails."""
ROUNDS = (1, 3, 7)
"""Most packets that fit into one, two and three rounds of slow start from a window of one (section 5.1)."""
WINDOWS = np.arange(1, 256)
"""Windows that a packet can tell of (section 6)."""


def mix(scenario: Json, _cell: Mapping[str, str]) -> Json:
    """Returns the scenario with the Web's load as the model takes it, or without the Web at no load.

    The scenario stays as it is. Raises `KeyError` without a load.

    `traffic.load` is a share of the paper's 10 Mb/s. Two keys are for trials only: `traffic.counted` says
    what the load counts, `wire` bytes or those of `objects` alone; `line` replaces parameters of the scheme.
    """
    made = {name: value for name, value in scenario.items() if name != "line"}
    made["scheme"] = with_parameters(scenario["scheme"], scenario.get("line", {}))
    traffic = dict(scenario["traffic"])
    load, counted = traffic.pop("load"), traffic.pop("counted", "wire")
    if not load:
        return {**made, "traffic": {"bulk": traffic["bulk"]}}
    objects = load / (1 + header_share()) if counted == "wire" else load
    params = {**traffic.get("params", {}), "load_bps": objects * RATE_BPS}
    return {**made, "traffic": {**traffic, "params": params}}


def with_parameters(scheme: str, values: Mapping[str, object]) -> str:
    """Returns the scheme with these values for the parameters that it names; it gets no others.

    A parameter counts once for every part that names it.
    """
    for name, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        scheme = re.sub(rf"\b{name}=[^,)]*", f"{name}={text}", scheme)
    return scheme


def mean_object() -> tuple[float, float]:
    """Returns the mean bytes and packets of an object."""
    scale = MEAN_BYTES * (SHAPE - 1)

    def longer(size: Floats) -> Floats:
        """Returns the share of objects of more than `size` bytes, which is less than `MOST_BYTES`."""
        return np.asarray((1 + size / scale) ** -SHAPE, np.float64)

    def surplus(size: float) -> float:
        """Returns the integral of `longer` from `size` on."""
        return float(MEAN_BYTES * (1 + size / scale) ** (1 - SHAPE))

    size = LEAST_BYTES + surplus(LEAST_BYTES) - surplus(MOST_BYTES)
    packets = 1 + longer(np.arange(PACKET_BYTES, MOST_BYTES, PACKET_BYTES, dtype=np.float64)).sum()
    return float(size), float(packets)


def header_share() -> float:
    """Returns the bytes of headers for each byte of objects."""
    size, packets = mean_object()
    return HEADER_BYTES * packets / size


def measure(result: RunResult) -> Mapping[str, Any]:
    """Measures a run.

    Times are in seconds, rates in Mb/s.

    A transmission begins with the first packet sent and ends with the last acknowledgement received, as its
    source sees it. Shares of objects and pages count those that began within the window; one that is never
    complete is late.
    """
    transfers = result.transfers()
    seconds = transfers["end_s"] - transfers["start_s"] + transfers["rtt_s"] / 2
    seconds = np.where(np.isnan(seconds), np.inf, seconds)
    pages = slowest(seconds, transfers["page"])
    until = float(result.summary()["window_end_s"])
    window_s = until - float(result.summary()["window_begin_s"])
    rates = np.asarray(result.flows()["goodput_bps"], np.float64)
    return {
        "body_s": BODY_S,
        "body": done_by(seconds, BODY_S),
        "tail_s": TAIL_S,
        "late": 1 - done_by(seconds, TAIL_S),
        "within_1s": done_by(seconds, BODY_S)[-1],
        "pages_body": done_by(pages, BODY_S),
        "pages_within_1s": done_by(pages, BODY_S)[-1],
        "active": np.minimum(seconds, until - transfers["start_s"]).sum() / window_s,
        "full_s": result.queues()[0]["delay_p99_s"],
        "typical_s": typical(seconds, transfers["bytes"], transfers["retransmits"]),
        "delivered": rates.sum() * GOODPUT_SCALE / 1e6,
        "jain": jain_index(rates) if rates.size else np.nan,
        **drops(result),
    }


def done_by(seconds: Floats, at: Floats) -> Floats:
    """Returns the share of times that are at most each of `at`; NaN without times."""
    if not seconds.size:
        return np.full(at.size, np.nan)
    return np.searchsorted(np.sort(seconds), at, side="right") / seconds.size


def slowest(seconds: Floats, page: NDArray[np.uint64]) -> Floats:
    """Returns the longest time of each page.

    The order is that of the pages' numbers. `page` has the page of each time.
    """
    if not seconds.size:
        return seconds
    order = np.argsort(page, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(page[order]) != 0])
    return np.asarray(np.maximum.reduceat(seconds[order], starts), np.float64)


def typical(seconds: Floats, size: NDArray[np.uint64], retransmits: NDArray[np.uint32]) -> Floats:
    """Returns the median time of objects of 1, of 2 to 3, and of 4 to 7 packets that lost nothing.

    NaN without any.
    """
    packets = -(-size.astype(np.int64) // PACKET_BYTES)
    place = np.searchsorted(ROUNDS, packets)
    whole = retransmits == 0
    groups = [seconds[whole & (place == one)] for one in range(len(ROUNDS))]
    return np.array([np.median(group) if group.size else np.nan for group in groups])


def drops(result: RunResult) -> Mapping[str, float]:
    """Returns the shares of arrivals at the bottleneck that were dropped, and the Web's share of arrivals.

    Raises `KeyError` under a scheme without these colours, `ZeroDivisionError` if nothing arrived.

    Packets of the Web and of FTP are distinguished by their colours; the marker `application` sets them.
    """
    colours = {colour["name"]: colour for colour in result.queues()[0]["colours"]}
    arrived = sum(colour["arrived"] for colour in colours.values())
    dropped = {name: colour["dropped"] / arrived for name, colour in colours.items()}
    return {
        "drops": sum(dropped.values()),
        "web_drops": dropped["yellow"],
        "ftp_drops": dropped["red"],
        "web_arrivals": colours["yellow"]["arrived"] / arrived,
    }


def measure_windows(result: RunResult) -> Mapping[str, Any]:
    """Measures a run with a trace: the share of dropped packets that told of each window or a smaller one.

    Only drops within the measured window count. Raises `MouseholeError` without a trace.
    """
    trace = result.trace()
    if trace is None:
        raise MouseholeError("paper shred: this measure needs trace = true")
    event, time_s = np.array(trace["event"]), np.asarray(trace["time_s"])
    told = dropped_windows(event, trace["flow"], trace["seq"], np.asarray(trace["cwnd"], np.float64))
    counted = (event == "drop") & (time_s >= float(result.summary()["window_begin_s"]))
    windows = WINDOWS.astype(np.float64)
    return {"window": windows, "dropped": done_by(told[counted], windows)}


def dropped_windows(
    event: NDArray[np.str_], flow: NDArray[np.uint32], seq: NDArray[np.int64], cwnd: Floats
) -> Floats:
    """Returns for each drop the window that its packet told of, its sender's when it was sent; else NaN.

    Windows are whole packets, from 1 to the last of `WINDOWS`. Packets are in order of time.

    The latest packet of a number and a slot is the one that is dropped.
    """
    packet = flow.astype(np.int64) << 32 | seq
    chosen = np.flatnonzero((event == "send") | (event == "drop"))
    chosen = chosen[np.argsort(packet[chosen], kind="stable")]
    sent = np.where(event[chosen] == "send", np.arange(chosen.size), 0)
    latest = chosen[np.maximum.accumulate(sent)]
    told = np.full(event.size, np.nan)
    is_drop = event[chosen] == "drop"
    told[chosen[is_drop]] = np.clip(np.floor(cwnd[latest[is_drop]]), 1, WINDOWS[-1])
    return told
