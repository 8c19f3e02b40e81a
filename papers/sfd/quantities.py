"""SFD's quantities: numbers that its claims, tables and figures speak of, from what was measured."""

import numpy as np
from numpy.typing import NDArray

from papers.runs import Measured

Floats = NDArray[np.float64]

SIZES = np.arange(15)
"""Places of the sizes of short flows, 1 to 15 packets, in what is measured by size."""


def short_mean_s(run: Measured) -> float:
    """Returns the mean latency over the sizes of short flows, each size with the same weight."""
    return float(np.nanmean(run["mean_s"][SIZES]))


def mean_reduction(run: Measured, baseline: Measured) -> float:
    """Returns the reduction of mean latency, averaged over the sizes of short flows (Table 4)."""
    return float(np.nanmean(_reductions(run, baseline)))


def reduction_at(run: Measured, baseline: Measured, packets: int) -> float:
    """Returns the reduction of the mean latency of objects of one short size."""
    return float(_reductions(run, baseline)[packets - 1])


def std_ratio(run: Measured, baseline: Measured) -> float:
    """Returns the standard deviation of latency over the baseline's, both averaged over the short sizes."""
    return float(np.nanmean(run["std_s"][SIZES]) / np.nanmean(baseline["std_s"][SIZES]))


def share_of_bound(run: Measured, baseline: Measured, bound: Measured) -> float:
    """Returns which share of the bound's reduction a scheme's reduction is (section 4.2)."""
    return mean_reduction(run, baseline) / mean_reduction(bound, baseline)


def latency_s(run: Measured, packets: int, within: float = 0.15) -> float:
    """Returns the mean latency of objects near a size: within that share of it, weighted by their number."""
    sizes, count = run["packets"], run["count"]
    near = (np.abs(sizes - packets) <= max(0.5, within * packets)) & (count > 0)
    return float(np.sum(run["mean_s"][near] * count[near]) / np.sum(count[near]))


def latency_ratio(run: Measured, baseline: Measured, packets: int, within: float = 0.15) -> float:
    """Returns the mean latency of objects near a size over the baseline's."""
    return latency_s(run, packets, within) / latency_s(baseline, packets, within)


def _reductions(run: Measured, baseline: Measured) -> Floats:
    reductions: Floats = 1 - run["mean_s"][SIZES] / baseline["mean_s"][SIZES]
    return reductions


def short_mean_by_size(run: Measured) -> Floats:
    """Returns the mean latency of each size of short flows."""
    return run["mean_s"][SIZES]
