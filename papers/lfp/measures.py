"""What LFP measures: the columns of Table 1, and latency by size of flow."""

from dataclasses import dataclass

import numpy as np
from mousehole.engine_types import QueueCounters
from mousehole.pool import RunResult
from numpy.typing import NDArray

from papers.common import drop_share

Floats = NDArray[np.float64]

TAU = 10
"""Packets of a short flow (section 2)."""
MSS = 1460
RATE_MBPS = 2.0
TIMEOUT_S = 5.0
"""A flow stays in the edge's table for so long after its last packet."""
SIZES = ((1, 1), (2, 2), (3, 4), (5, 7), (8, 10), (11, 15), (16, 30), (31, 100), (101, 10**9))
"""Classes of size, packets."""


@dataclass(frozen=True)
class Measured:
    """One run. Sizes are packets of data; a flow has dropped packets if it sent some again."""

    utilisation: float
    throughput: float
    goodput: float
    overhead: float
    dropped: float
    hit: float
    connections: float
    flows: float
    short_mean_s: float
    short_std_s: float
    short_hit: float
    long_hit: float
    short_flows: float
    short_bytes: float
    latency_s: Floats
    """Mean latency of each class of SIZES."""
    elephants: dict[int, float]
    """Share of long flows of at least so many packets, for some sizes."""
    quantile: float
    """Mean over time of the packets that make an elephant; NaN without LFP."""


def measure(result: RunResult) -> Measured:
    """Measures a run. Latency is from the client's SYN to the last byte; packets are the bottleneck's."""
    transfers, queue = result.transfers(), result.queues()[0]
    latency, sizes = transfers["end_s"] - transfers["start_s"], transfers["bytes"].astype(np.float64)
    packets = np.ceil(sizes / MSS)
    short, again = packets <= TAU, transfers["retransmits"] > 0
    goodput, throughput = _rates(result, queue)
    window_s = float(queue["window_s"])
    return Measured(
        utilisation=100 * goodput / RATE_MBPS,
        throughput=throughput,
        goodput=goodput,
        overhead=100 * (throughput - goodput) / throughput,
        dropped=drop_share(queue["colours"]),
        hit=float(again.mean()),
        connections=float(np.nansum(latency)) / window_s,
        flows=(float(np.nansum(latency)) + TIMEOUT_S * latency.size) / window_s,
        short_mean_s=float(np.nanmean(latency[short])),
        short_std_s=float(np.nanstd(latency[short])),
        short_hit=float(again[short].mean()),
        long_hit=float(again[~short].mean()),
        short_flows=float(short.mean()),
        short_bytes=float(sizes[short].sum() / sizes.sum()),
        latency_s=np.array([_mean(latency[(packets >= low) & (packets <= high)]) for low, high in SIZES]),
        elephants={size: float((packets[~short] >= size).mean()) for size in (17, 30, 123)},
        quantile=_quantile(result),
    )  # fmt: skip


def _mean(latency: Floats) -> float:
    return float(np.nanmean(latency)) if np.isfinite(latency).any() else float("nan")


def _rates(result: RunResult, queue: QueueCounters) -> tuple[float, float]:
    """Mb/s of HTTP data delivered, and of TCP's packets with their headers sent through the bottleneck."""
    return (
        float(result.summary()["goodput_bps"]) / 1e6,
        float(queue["sent_bytes"]) * 8 / float(queue["window_s"]) / 1e6,
    )


def _quantile(result: RunResult) -> float:
    series, summary = result.series(), result.summary()
    at, values = np.asarray(series["time_s"], np.float64), np.asarray(series["value"], np.float64)
    begin, end = float(summary["window_begin_s"]), float(summary["window_end_s"])
    if not values.size:
        return float("nan")
    spans = np.diff(np.clip(np.append(at, end), begin, end))
    return float((values * spans).sum() / spans.sum())
