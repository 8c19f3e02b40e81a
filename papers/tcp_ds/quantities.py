"""Noureddine & Tobagi's quantities: the numbers of claims and figures, computed from measurements."""

import numpy as np
from numpy.typing import NDArray

from papers.runs import Measured
from papers.tcp_ds.measures import LEVELS, TAIL_S

Floats = NDArray[np.float64]


def mean_s(run: Measured, what: str) -> float:
    """Returns the mean of times that are stored as quantiles, s; longer ones than `TAIL_S` count as that."""
    return float(np.mean(np.minimum(run[what], TAIL_S)))


def mean_change(run: Measured, baseline: Measured, what: str) -> float:
    """Returns the relative change of `mean_s` against the baseline."""
    return mean_s(run, what) / mean_s(baseline, what) - 1


def at_level(run: Measured, what: str, level: float) -> float:
    """Returns a quantile: the lowest stored one at or above this level.

    Raises `IndexError` above the last one stored.
    """
    return float(run[what][np.searchsorted(LEVELS, level - 1e-9)])


def level_change(run: Measured, baseline: Measured, what: str, level: float) -> float:
    """Returns the relative change of a quantile; times longer than `TAIL_S` count as that."""
    ours, theirs = (min(at_level(one, what, level), TAIL_S) for one in (run, baseline))
    return ours / theirs - 1


def slower(run: Measured) -> float:
    """Returns the mean page time by HTTP/1.0 less that by HTTP/1.1, s."""
    return mean_s(run, "page_10_s") - mean_s(run, "page_11_s")


def more_variable(run: Measured) -> float:
    """Returns the interquartile range of page times by HTTP/1.0 less that by HTTP/1.1, s."""
    return _spread_s(run["page_10_s"]) - _spread_s(run["page_11_s"])


def rtt_matters_less(run: Measured, slow: Measured, fast: Measured) -> float:
    """Returns the distance between page times of two link speeds less that between two round-trip times.

    Distances are Kolmogorov's, the largest between the shares done by a time: of the whole runs `slow` and
    `fast`, and of the shortest and the longest round-trip time in `run`. Times at which a share is not known
    do not count.
    """
    speeds = np.nanmax(np.abs(_done(slow) - _done(fast)))
    rtts = np.nanmax(np.abs(run["done_10"][0] - run["done_10"][-1]))
    return float(speeds - rtts)


def scaled_share(run: Measured, baseline: Measured, what: str, factor: float) -> float:
    """Returns a share less `factor` times the baseline's; negative if it is smaller by that factor."""
    return float(run[what] - factor * baseline[what])


def known_s(run: Measured, what: str) -> Floats:
    """Returns quantiles of times, s, for a figure; those from `TAIL_S` on are NaN, as unknown."""
    return np.where(run[what] < TAIL_S, run[what], np.nan)


def _done(run: Measured) -> Floats:
    """Returns the share of pages done at each time, the mean over the round-trip times."""
    return np.asarray(np.nanmean(run["done_10"], axis=0))


def _spread_s(times: Floats) -> float:
    """Returns the interquartile range of times, s, from their quantiles; longer ones count as `TAIL_S`."""
    low, high = (min(float(times[np.searchsorted(LEVELS, level)]), TAIL_S) for level in (0.25, 0.75))
    return high - low
