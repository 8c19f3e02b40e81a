"""SFD's quantities: the numbers of its claims, tables and figures, computed from measurements."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from mousehole.base import MouseholeError
from numpy.typing import NDArray

from papers.definition import NotAvailableError
from papers.runs import Measured
from papers.sfd.pages import Pages, read_pages

Floats = NDArray[np.float64]

SIZES = np.arange(15)
"""Places of the sizes of short flows, 1 to 15 packets, in what is measured by size."""
MEAN_KB, SHAPE = 12.0, 1.2
"""Object sizes: Pareto II (Table 2)."""
OBJECTS = 3.0
"""Mean number of objects per page, exponential and rounded up."""
PAGES = 4000
"""Synthetic pages that the change of the page latency is computed for."""
CONTENTS = {
    "Text": [(29, 29, 1), (7, 13, 3)],
    "Map": [(5, 5, 1), (1, 3, 3), (67, 67, 1)],
    "Graphics": [(7, 7, 1), (1, 3, 9), (9, 12, 4)],
    "Frames": [(1, 2, 4), (7, 7, 1), (83, 83, 1), (1, 3, 14), (5, 19, 7)],
    "Java": [(8, 8, 1), (1, 2, 7), (4, 11, 3), (1, 3, 14), (4, 18, 11)],
}
"""Table 5: least and greatest size in KB, and number, of the objects of each kind of page."""
LOGS = {
    "NASA, 1995": "httplogs/nasa_19950801_dev_first8h.tsv.gz",
    "M57, 2009": "flowlogs/zeek_m57-short_http.log.gz",
    "2025": "pages/crux_ar_2025_objects_DEV.csv.gz",
}
"""Real pages that stand beside those of Table 5, seen from the folder of real traces (MOUSEHOLE_DATA)."""


def short_share(th_kb: float) -> float:
    """Returns the share of objects of at most `th_kb` KB, by the formula of Pareto II."""
    scale = MEAN_KB * (SHAPE - 1)
    return float(1 - (1 + th_kb / scale) ** -SHAPE)


def short_bytes(th_kb: float, cap_kb: float) -> float:
    """Returns the share of bytes in objects of at most `th_kb` among those of at most `cap_kb`."""
    return _mass_below(th_kb) / _mass_below(cap_kb)


def _mass_below(kb: float) -> float:
    """Returns the integral of x f(x) from 0 to `kb` of Pareto II, by parts, in KB."""
    scale = MEAN_KB * (SHAPE - 1)
    tail = float((1 + kb / scale) ** -SHAPE)
    return scale / (SHAPE - 1) * (1 - float((1 + kb / scale) ** (1 - SHAPE))) - kb * tail


def mean_reduction(run: Measured, baseline: Measured) -> float:
    """Returns the reduction of mean latency as a share, averaged over the sizes of short flows (Table 4)."""
    return float(np.nanmean(_reductions(run, baseline)))


def most_reduction(run: Measured, baseline: Measured) -> float:
    """Returns the greatest reduction of mean latency over the sizes of short flows, as a share."""
    return float(np.nanmax(_reductions(run, baseline)))


def least_reduction(run: Measured, baseline: Measured) -> float:
    """Returns the least reduction of mean latency over the sizes of short flows, as a share."""
    return float(np.nanmin(_reductions(run, baseline)))


def std_ratio(run: Measured, baseline: Measured) -> float:
    """Returns the ratio of the standard deviation of latency to the baseline's, over the short sizes.

    Means are taken over the sizes before the ratio.
    """
    return float(np.nanmean(run["std_s"][SIZES]) / np.nanmean(baseline["std_s"][SIZES]))


def share_of_bound(run: Measured, baseline: Measured, bound: Measured) -> float:
    """Returns a scheme's reduction as a share of the bound's reduction (section 4.2)."""
    return mean_reduction(run, baseline) / mean_reduction(bound, baseline)


def short_change(run: Measured, other: Measured) -> float:
    """Returns the change of the mean latency against another scheme, averaged over the short sizes."""
    return float(np.nanmean(run["mean_s"][SIZES] / other["mean_s"][SIZES]) - 1)


def reduction_lost(run: Measured, other: Measured, baseline: Measured) -> float:
    """Returns another scheme's reduction of short flows' mean latency less this one's."""
    return mean_reduction(other, baseline) - mean_reduction(run, baseline)


def short_speedup(run: Measured, baseline: Measured) -> float:
    """Returns the factor by which short flows are faster, with equal weight for each size."""
    return float(np.nanmean(baseline["mean_s"][SIZES]) / np.nanmean(run["mean_s"][SIZES]))


def latency_s(run: Measured, packets: int, within: float = 0.15) -> float:
    """Returns the mean latency, s, of objects whose size is within a share `within` of `packets`.

    Sizes are weighted by their number of objects; NaN if there are none.
    """
    sizes, count = run["packets"], run["count"]
    near = (np.abs(sizes - packets) <= max(0.5, within * packets)) & (count > 0)
    return float(np.sum(run["mean_s"][near] * count[near]) / np.sum(count[near]))


def latency_ratio(run: Measured, baseline: Measured, packets: int, within: float = 0.15) -> float:
    """Returns the ratio of the mean latency of objects near a size to the baseline's."""
    return latency_s(run, packets, within) / latency_s(baseline, packets, within)


def penalty_removed(run: Measured, baseline: Measured, scheme: Measured, packets: int) -> float:
    """Returns the share of the penalty of long objects under `scheme` that `run` removes.

    The penalty is that against the baseline; sizes within 40 % of `packets` count.
    """
    plain, now, before = (latency_s(one, packets, 0.4) for one in (baseline, run, scheme))
    return (before - now) / (before - plain)


def crossover_kb(run: Measured, baseline: Measured) -> float:
    """Returns the size, KB, from which on the scheme's mean latency exceeds the baseline's.

    The running sum of log-ratios over the sizes, from the greatest down, is at its maximum there: so a single
    size that crosses by chance does not count. Sizes up to 2000 KB count. Raises `ValueError` if no size has
    both means.
    """
    ratio = np.log(run["mean_s"] / baseline["mean_s"])
    known = np.isfinite(ratio) & (run["packets"] <= 2000)
    sums = np.cumsum(ratio[known][::-1])[::-1]
    return float(run["packets"][known][int(np.argmax(sums))])


def rtt_correlation(run: Measured, baseline: Measured) -> float:
    """Returns the correlation of round-trip time and reduction of short flows' latency (section 4.6)."""
    reduction = 1 - run["by_rtt_s"] / baseline["by_rtt_s"]
    known = np.isfinite(reduction)
    return float(np.corrcoef(run["rtt_s"][known], reduction[known])[0, 1])


def parallel_s(run: Measured, page: str) -> float:
    """Returns the time, s, of a page whose objects come in parallel: its greatest object's (section 4.4)."""
    return latency_s(run, max(high for _, high, _ in CONTENTS[page]))


def sequential_s(run: Measured, page: str) -> float:
    """Returns the time, s, of a page whose objects come one after another.

    Sizes are spread evenly in their ranges.
    """
    return float(sum(_interpolate_latency(run, _sizes_kb(page))))


def page_objects(page: str) -> float:
    """Returns the number of objects of a page; of a log, the median over its pages (Table 5).

    Raises `NotAvailableError` if the log is not on this machine.
    """
    return _median_page(page, np.ones_like)


def page_short_objects(page: str, th_kb: float) -> float:
    """Returns the number of objects of at most `th_kb` KB in a page; of a log, the median.

    Raises `NotAvailableError` if the log is not on this machine.
    """
    return _median_page(page, lambda kb: (kb <= th_kb).astype(float))


def page_kb(page: str) -> float:
    """Returns the size of a page with all its objects, KB; of a log, the median.

    Raises `NotAvailableError` if the log is not on this machine.
    """
    return _median_page(page, lambda kb: kb)


def page_largest_kb(page: str) -> float:
    """Returns the size of a page's largest object, KB; of a log, the median.

    Raises `NotAvailableError` if the log is not on this machine.
    """
    if page in CONTENTS:
        return float(_sizes_kb(page).max())
    found = _pages_of_log(LOGS[page])
    largest = np.zeros(found.number)
    np.maximum.at(largest, found.page, found.bytes / 1000)
    return float(np.median(largest))


def page_share(
    run: Measured, baseline: Measured, least: float, sequential: bool = False, log: str = ""
) -> float:
    """Returns the share of pages whose time is reduced by at least the share `least`.

    Objects come in parallel unless `sequential`. Without `log` the pages are drawn from Table 2's model.
    Otherwise it is the path of a log relative to the folder of real traces (MOUSEHOLE_DATA); raises
    `NotAvailableError` if it is not on this machine.
    """
    return float(np.mean(_page_reductions(run, baseline, sequential, log) >= least))


def page_median(run: Measured, baseline: Measured, sequential: bool = False, log: str = "") -> float:
    """Returns the median reduction of the pages' times; arguments and errors are those of `page_share`."""
    return float(np.median(_page_reductions(run, baseline, sequential, log)))


def page_quantiles(run: Measured, baseline: Measured, sequential: bool = False, log: str = "") -> Floats:
    """Returns the reductions of the pages' times, at a hundred quantiles (Figure 9).

    Arguments and errors are those of `page_share`.
    """
    found: Floats = np.quantile(_page_reductions(run, baseline, sequential, log), np.arange(100) / 100)
    return found


def short_mean_by_size(run: Measured) -> Floats:
    """Returns the mean latency, s, of each size of short flows."""
    return run["mean_s"][SIZES]


def short_std_by_size(run: Measured) -> Floats:
    """Returns the standard deviation of the latency, s, of each size of short flows."""
    return run["std_s"][SIZES]


def mean_up_to_1mb(run: Measured) -> Floats:
    """Returns the mean latency, s, by size up to 1 MB; NaN for sizes with fewer than five objects."""
    return np.where(run["count"] >= 5, run["mean_s"], np.nan)[run["packets"] <= 1000]


def std_up_to_1mb(run: Measured) -> Floats:
    """Returns the standard deviation, s, by size up to 1 MB; NaN for sizes with fewer than five objects."""
    return np.where(run["count"] >= 5, run["std_s"], np.nan)[run["packets"] <= 1000]


def _sizes_kb(page: str) -> Floats:
    """Returns the sizes, KB, of the objects of a page of Table 5, spread evenly over their ranges."""
    return np.concatenate([np.linspace(low, high, number) for low, high, number in CONTENTS[page]])


def _median_page(page: str, weight: Callable[[Floats], Floats]) -> float:
    """Returns the sum of weights of a page's objects; of a log, the median of its pages' sums.

    `weight` maps sizes in KB to weights. Raises `KeyError` for an unknown page, `NotAvailableError` if the
    log is not on this machine.
    """
    if page in CONTENTS:
        return float(weight(_sizes_kb(page)).sum())
    found = _pages_of_log(LOGS[page])
    return float(np.median(np.bincount(found.page, weight(found.bytes / 1000))))


def _reductions(run: Measured, baseline: Measured) -> Floats:
    """Returns the reduction of mean latency at each size of short flows, as a share of the baseline's."""
    reductions: Floats = 1 - run["mean_s"][SIZES] / baseline["mean_s"][SIZES]
    return reductions


def _interpolate_latency(run: Measured, packets: Floats) -> Floats:
    """Returns the mean latency at these sizes, interpolated over the logarithm of the measured ones.

    Beyond the measured sizes it is that of the nearest one.
    """
    known = run["count"] > 0
    found: Floats = np.interp(np.log(packets), np.log(run["packets"][known]), run["mean_s"][known])
    return found


def _page_reductions(run: Measured, baseline: Measured, sequential: bool, log: str) -> Floats:
    """Returns the reduction of each page's time; the pages are the same for all runs.

    A page takes as long as its slowest object, or with `sequential` as all together. Raises as `page_share`
    does.
    """
    packets, page = _synthetic_pages() if not log else _logged_pages(log)
    times = []
    for one in (run, baseline):
        seconds = _interpolate_latency(one, np.maximum(packets, 1.0))
        total = np.zeros(int(page.max()) + 1)
        if sequential:
            np.add.at(total, page, seconds)
        else:
            np.maximum.at(total, page, seconds)
        times.append(total)
    found: Floats = 1 - times[0] / times[1]
    return found


@cache
def _synthetic_pages() -> tuple[Floats, NDArray[np.int64]]:
    """Returns objects in packets and the number of the page of each, drawn from Table 2's model.

    The seed is fixed; they are drawn once per process.
    """
    rng = np.random.default_rng(2001)
    number = np.ceil(rng.exponential(OBJECTS, PAGES)).astype(int)
    scale = MEAN_KB * (SHAPE - 1)
    packets = np.ceil(scale * (rng.random(number.sum()) ** (-1 / SHAPE) - 1))
    return np.minimum(packets, 20_000.0), np.repeat(np.arange(PAGES), number)


@cache
def _logged_pages(log: str) -> tuple[Floats, NDArray[np.int64]]:
    """Returns the objects of a log in packets of 1000 B, and the number of the page of each.

    Raises as `_pages_of_log` does.
    """
    found = _pages_of_log(log)
    return np.minimum(np.ceil(found.bytes / 1000), 20_000.0), found.page


def _pages_of_log(log: str) -> Pages:
    """Returns the pages of a real trace, or of the user's own log if its path is absolute.

    Raises `NotAvailableError` for a trace that is not on this machine, `MouseholeError` for a user's log
    that cannot be read.
    """
    try:
        return read_pages(Path(os.environ.get("MOUSEHOLE_DATA", "../shared/data")) / log)
    except NotAvailableError as error:
        if Path(log).is_absolute():
            raise MouseholeError(str(error)) from None
        raise NotAvailableError(f"{error}; MOUSEHOLE_DATA names the folder of real traces") from None
