"""What LFP measures of a run: load, drops and latency at the bottleneck, and the labels of packets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from mousehole.base import MouseholeError
from mousehole.engine_types import ColourCounters
from mousehole.runs import RunResult
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TAU = 10
"""Packets of a short flow (section 2)."""
MSS = 1460
RATE_BPS = 2e6
TIMEOUT_S = 5.0
"""A flow stays in the edge's table for so long after its last packet."""
LATENCY_FROM = np.array([1, 2, 3, 5, 8, 11, 16, 31, 61, 101, 301])
"""Flows are averaged by size: packets of data of the smallest in each class."""
SIZES = np.unique(np.round(np.geomspace(1, 3000, 60)))
"""Sizes in packets at which the distribution of flows is taken."""
POSITIONS: Floats = np.append(np.arange(1.0, 31.0), np.unique(np.round(np.geomspace(31, 500, 15))))
"""Packets of a flow are counted by position: the first one of each class."""
SYN_ACK_BYTES = 40


def measure(result: RunResult) -> Mapping[str, Any]:
    """Measures a run.

    Rates are in Mb/s, times in seconds, sizes in packets of `MSS` bytes; a class without flows has NaN.

    Latency lasts from the client's SYN to the last byte received. Drops are those of packets on the way
    from server to client. Throughput is what reaches the bottleneck, headers and repeated packets included.
    """
    transfers, queue = result.transfers(), result.queues()[0]
    latency, data = transfers["end_s"] - transfers["start_s"], transfers["bytes"].astype(np.float64)
    packets = np.ceil(data / MSS)
    sent, dropped = packets + transfers["retransmits"], transfers["dropped"].astype(np.float64)
    short, window_s = packets <= TAU, float(queue["window_s"])
    colours = queue["colours"]
    arrived_bytes = sum(colour["arrived_bytes"] for colour in colours)
    throughput, goodput = arrived_bytes * 8 / window_s, float(result.summary()["goodput_bps"])
    quantile = elephant_packets(result)
    place = np.digitize(packets, LATENCY_FROM) - 1
    of_size = [latency[(place == one) & np.isfinite(latency)] for one in range(LATENCY_FROM.size)]
    return {
        "utilisation": goodput / RATE_BPS,
        "throughput": throughput / 1e6,
        "goodput": goodput / 1e6,
        "overhead": (throughput - goodput) / throughput,
        "passed_overhead": 1 - goodput / (float(queue["sent_bytes"]) * 8 / window_s),
        "dropped": sum(one["dropped"] for one in colours) / sum(one["arrived"] for one in colours),
        "hit": (dropped > 0).mean(),
        "connections": np.nansum(latency) / window_s,
        "flows": (np.nansum(latency) + TIMEOUT_S * latency.size) / window_s,
        "short_mean_s": np.nanmean(latency[short]),
        "short_std_s": np.nanstd(latency[short]),
        "short_dropped": dropped[short].sum() / sent[short].sum(),
        "long_dropped": dropped[~short].sum() / sent[~short].sum(),
        "short_flows": short.mean(),
        "short_bytes": data[short].sum() / data.sum(),
        "from_packets": LATENCY_FROM.astype(np.float64),
        "latency_s": [values.mean() if values.size else np.nan for values in of_size],
        "count": [float(values.size) for values in of_size],
        "size": SIZES,
        "flows_up_to": [(packets <= size).mean() for size in SIZES],
        "bytes_up_to": [data[packets <= size].sum() / data.sum() for size in SIZES],
        "quantile": quantile,
        "elephants": elephant_share(colours) if np.isfinite(quantile) else np.nan,
    }


def elephant_share(colours: list[ColourCounters]) -> float:
    """Returns the share of packets, SYN-ACKs and acknowledgements included, that are red.

    It is 0 if nothing arrived.
    """
    arrived = {colour["name"]: colour["arrived"] for colour in colours}
    return arrived.get("red", 0) / max(1, sum(arrived.values()))


def elephant_packets(result: RunResult) -> float:
    """Returns the mean over time of the packets that make an elephant; NaN without LFP.

    Only the measured window counts. It takes all adaptive values of the series.
    """
    series, summary = result.series(), result.summary()
    at, values = np.asarray(series["time_s"], np.float64), np.asarray(series["value"], np.float64)
    begin, end = float(summary["window_begin_s"]), float(summary["window_end_s"])
    if not values.size:
        return float("nan")
    spans = np.diff(np.clip(np.append(at, end), begin, end))
    return float((values * spans).sum() / spans.sum())


def measure_labels(result: RunResult) -> Mapping[str, Any]:
    """Measures which share of packets has each label by position in its flow; needs the packet trace.

    Raises `MouseholeError` without it. A position without packets has NaN.

    A flow's first packet is its SYN-ACK. Green packets are labelled P_S up to tau and promoted beyond.
    """
    trace = result.trace()
    if trace is None:
        raise MouseholeError(
            "labels are measured from a packet trace, and the scenario has none: set trace = true"
        )
    reached = np.asarray(trace["event"]) == "enqueue"
    flow, size = trace["flow"][reached], trace["bytes"][reached]
    colour = np.asarray(trace["colour"])[reached]
    order = np.argsort(flow, kind="stable")  # the packets of a slot in order of time
    position = positions(flow[order], size[order] == SYN_ACK_BYTES)
    colour = colour[order]
    place = np.digitize(position, POSITIONS) - 1

    def share(label: NDArray[np.bool_]) -> list[float]:
        return [
            float(label[place == one].mean()) if (place == one).any() else np.nan
            for one in range(POSITIONS.size)
        ]

    green, first = colour == "green", position <= TAU
    return {
        "position": POSITIONS,
        "packets": [float((place == one).sum()) for one in range(POSITIONS.size)],
        "short": share(green & first),
        "promoted": share(green & ~first),
        "normal": share(colour == "yellow"),
        "elephant": share(colour == "red"),
        "first_green": green[first].mean(),
    }


def positions(slot: NDArray[np.uint32], opens: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Returns each packet's position in its flow, from 1, given packets by slot and then by time.

    A slot may hold several flows in turn; `opens` marks their SYN-ACKs, of which repeated ones open nothing.
    """
    index = np.arange(slot.size)
    new_slot = np.append(True, slot[1:] != slot[:-1])
    begins = new_slot | (opens & ~np.append(False, opens[:-1]))
    return index - np.maximum.accumulate(np.where(begins, index, 0)) + 1
