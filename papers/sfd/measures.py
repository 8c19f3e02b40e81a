"""What SFD measures of a run: transmission latency by object size, and the state of the bottleneck."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from mousehole.runs import RunResult
from numpy.typing import NDArray

from papers.counters import arrived_share

Floats = NDArray[np.float64]

PACKET_BYTES = 1000
SHORT = 15
"""Packets of the longest short flow (section 3.1)."""
EDGES = np.unique(np.concatenate([np.arange(1, 21), np.round(np.geomspace(21, 20_001, 48)).astype(np.int64)]))
"""Objects are averaged by size: whole packets up to 20, then steps of 16 %; the first of each, in packets."""


def measure(result: RunResult) -> Mapping[str, Any]:
    """Measures a run.

    A class of sizes in which nothing ended has NaN.

    Latency lasts from the first packet sent, the SYN where the scenario has one, to the last one received;
    with a server's CPU it includes the wait for it. Each entry of `mean_s`, `std_s` and `count` is of the
    objects of `packets[i]` to `packets[i + 1] - 1` packets. Each entry of `by_rtt_s` is the mean of short
    flows with the round-trip time `rtt_s[i]`.
    """
    transfers = result.transfers()
    latency = transfers["end_s"] - transfers["start_s"]
    packets = -(-transfers["object_bytes"].astype(np.int64) // PACKET_BYTES)
    ended = ~np.isnan(latency)
    place = np.digitize(packets, EDGES) - 1
    of_size = [latency[ended & (place == one)] for one in range(EDGES.size - 1)]
    rtt_s, by_rtt_s = _by_rtt(latency, transfers["rtt_s"], ended & (packets <= SHORT))
    rates = np.asarray(result.flows()["goodput_bps"], np.float64)
    down = result.queues()[0]  # the bottleneck
    return {
        "packets": EDGES[:-1].astype(np.float64),
        "mean_s": [values.mean() if values.size else np.nan for values in of_size],
        "std_s": [values.std() if values.size else np.nan for values in of_size],
        "count": [values.size for values in of_size],
        "rtt_s": rtt_s,
        "by_rtt_s": by_rtt_s,
        "goodput_bps": rates.sum(),
        "utilisation": float(down["utilisation"]),
        "loss": arrived_share(down["colours"], "dropped"),
        "unfinished": float(np.isnan(latency).mean()) if latency.size else 0.0,
    }


def _by_rtt(latency: Floats, rtt_s: Floats, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Returns the round-trip times that occur, to a millisecond, and the mean latency of each.

    It is NaN where none is chosen; times are in seconds.
    """
    classes = np.round(rtt_s, 3)
    known = np.unique(classes)
    means = [latency[chosen & (classes == one)] for one in known]
    return known, np.array([values.mean() if values.size else np.nan for values in means])
