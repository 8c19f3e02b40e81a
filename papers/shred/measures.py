"""What SHRED measures: objects and pages done within a second, goodput and fairness of FTP flows, drops."""

from dataclasses import dataclass

import numpy as np
from mousehole.pool import RunResult
from mousehole.statistics import Estimate, jain_index
from numpy.typing import NDArray

from papers.common import drop_share, paired

Floats = NDArray[np.float64]

SECOND = 1.0
"""Section 5.1: beyond it a user's flow of thought is disturbed."""
WIRE = 1040 / 1000
"""The paper's goodput reaches 10.0 of 10 Mb/s, so it counts headers."""


@dataclass(frozen=True)
class Measured:
    """One run."""

    objects_in_time: float
    """Share of objects whose transmission took at most a second."""
    pages_in_time: float
    """Share of pages all of whose objects had come within a second."""
    active: float
    """Objects under way, on average."""
    drops: float
    """Share of arrivals that the bottleneck dropped."""
    goodput_mbps: float
    """Of all FTP flows together, with headers."""
    jain: float


def measure(result: RunResult) -> Measured:
    """Times begin with the first packet sent and end with the last acknowledgement, as sources see them."""
    transfers = result.transfers()
    seconds = transfers["end_s"] - transfers["start_s"] + transfers["rtt_s"] / 2
    rates = np.asarray(result.flows()["goodput_bps"], np.float64)
    summary = result.summary()
    length_s = float(summary["window_end_s"] - summary["window_begin_s"])
    return Measured(
        objects_in_time=_in_time(seconds),
        pages_in_time=_in_time(_of_pages(seconds, transfers["page"])),
        active=float(np.nansum(seconds)) / length_s,
        drops=drop_share(result.queues()[0]["colours"]),
        goodput_mbps=float(rates.sum()) * WIRE / 1e6,
        jain=jain_index(rates),
    )


def _in_time(seconds: Floats) -> float:
    return float(np.mean(seconds <= SECOND)) if seconds.size else np.nan


def _of_pages(seconds: Floats, page: NDArray[np.uint64]) -> Floats:
    """Returns the longest of each page, NaN if one did not end."""
    if not seconds.size:
        return seconds
    order = np.argsort(page, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(page[order]) != 0])
    return np.asarray(np.maximum.reduceat(seconds[order], starts), np.float64)


def benefit(scheme: list[Measured], baseline: list[Measured], of_pages: bool) -> Estimate:
    """Returns the share in time over the baseline's, less 1; paired by replication."""
    return paired(scheme, baseline, lambda one, other: share(one, of_pages) / share(other, of_pages) - 1)


def share(one: Measured, of_pages: bool) -> float:
    """Returns the share that is complete in time, of pages or of objects."""
    return one.pages_in_time if of_pages else one.objects_in_time
