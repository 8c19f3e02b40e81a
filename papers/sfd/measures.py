"""What SFD measures of a run: transmission latency by object size, and the state of the bottleneck."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from mousehole.engine_types import ColourCounters
from mousehole.pool import RunResult
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PACKET_BYTES = 1000
SHORT = 15
"""Packets of the longest short flow (section 3.1)."""
EDGES = np.unique(np.concatenate([np.arange(1, 21), np.round(np.geomspace(21, 1250, 32)).astype(np.int64)]))
"""Objects are averaged by size: whole packets up to 20, then steps of 14 %; the first of each, in packets."""


def measure(result: RunResult) -> Mapping[str, Any]:
    """Measures a run.

    Latency lasts from the first packet sent, the SYN where the scenario has one, to the last one received.
    Each entry of `mean_s`, `std_s` and `count` is of the objects of `packets[i]` to `packets[i + 1] - 1`
    packets.
    """
    transfers = result.transfers()
    latency = transfers["end_s"] - transfers["start_s"]
    packets = -(-transfers["object_bytes"].astype(np.int64) // PACKET_BYTES)
    ended = ~np.isnan(latency)
    place = np.digitize(packets, EDGES) - 1
    of_size = [latency[ended & (place == one)] for one in range(EDGES.size - 1)]
    down = result.queues()[0]  # the bottleneck
    return {
        "packets": EDGES[:-1].astype(np.float64),
        "mean_s": [values.mean() if values.size else np.nan for values in of_size],
        "std_s": [values.std() if values.size else np.nan for values in of_size],
        "count": [values.size for values in of_size],
        "utilisation": float(down["utilisation"]),
        "loss": drop_share(down["colours"]),
        "unfinished": float(np.isnan(latency).mean()) if latency.size else 0.0,
    }


def drop_share(colours: list[ColourCounters]) -> float:
    """Returns dropped over arrived, of a link's packets of these colours; NaN where none arrived."""
    arrived = sum(colour["arrived"] for colour in colours)
    dropped = sum(colour["dropped"] for colour in colours)
    return dropped / arrived if arrived else np.nan
