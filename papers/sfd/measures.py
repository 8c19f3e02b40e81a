"""What SFD measures: mean and standard deviation of transmission latency by object size."""

from dataclasses import dataclass

import numpy as np
from mousehole.pool import RunResult
from mousehole.statistics import Estimate, t_interval
from numpy.typing import NDArray

from papers.common import drop_share

Floats = NDArray[np.float64]

SIZES = np.arange(1, 16)
"""Short flows, in packets of 1000 bytes (section 3.1: up to 15)."""
PACKET_BYTES = 1000


@dataclass(frozen=True)
class Measured:
    """One run: latency by size in packets 1…15, and the state of the bottleneck."""

    mean_s: Floats
    std_s: Floats
    utilisation: float
    loss: float
    unfinished: float


def measure(result: RunResult) -> Measured:
    """Measures a run. Transmission latency lasts from first data packet sent to last received (Figure 2)."""
    transfers = result.transfers()
    latency = transfers["end_s"] - transfers["first_data_s"]
    packets = -(-transfers["object_bytes"].astype(np.int64) // PACKET_BYTES)
    of_size = [latency[(packets == size) & ~np.isnan(latency)] for size in SIZES]
    down = result.queues()[0]  # the bottleneck
    return Measured(
        mean_s=np.array([values.mean() if values.size else np.nan for values in of_size]),
        std_s=np.array([values.std() if values.size else np.nan for values in of_size]),
        utilisation=float(down["utilisation"]),
        loss=drop_share(down["colours"]),
        unfinished=float(np.isnan(latency).mean()) if latency.size else 0.0,
    )


@dataclass(frozen=True)
class Reduction:
    """Reduction of mean latency against drop-tail over sizes 1…15: extremes and mean, as in Table 4."""

    most: Estimate
    least: Estimate
    mean: Estimate
    std_ratio: Estimate


def reduction(scheme: list[Measured], baseline: list[Measured]) -> Reduction:
    """Returns the reduction, paired by replication, with its extremes over the sizes."""
    by_size = np.array([1 - one.mean_s / other.mean_s for one, other in zip(scheme, baseline, strict=True)])
    over_sizes = np.nanmean(by_size, axis=0)
    deviations = [
        float(np.nanmean(one.std_s) / np.nanmean(other.std_s))
        for one, other in zip(scheme, baseline, strict=True)
    ]
    return Reduction(
        most=t_interval(by_size[:, int(np.nanargmax(over_sizes))]),
        least=t_interval(by_size[:, int(np.nanargmin(over_sizes))]),
        mean=t_interval(np.nanmean(by_size, axis=1)),
        std_ratio=t_interval(deviations),
    )
