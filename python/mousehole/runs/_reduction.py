"""Reduces the records of one run to the numbers that a comparison needs, so that records need not be kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import nan
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mousehole._engine import RunResult
from mousehole.base import CDF_TIMES_S, CURVE_EDGES_BYTES, Bucket
from mousehole.engine_types import (
    Bools,
    Counter,
    Floats,
    LoadSummary,
    QueueCounters,
    RunSummary,
    TransferColumns,
)
from mousehole.runs._groups import Figures, figures
from mousehole.statistics import jain_index

BucketStatistic = Literal[
    "response_mean_s", "response_p50_s", "response_p95_s", "response_p99_s", "slowdown_mean",
    "transfer_mean_s",
]  # fmt: skip
"""A statistic of one size bucket."""
SchemeStatistic = Literal[
    "utilisation", "goodput_bps", "loss_share", "mark_share", "queue_delay_mean_s", "queue_delay_p50_s",
    "queue_delay_p95_s", "queue_delay_p99_s", "queue_mean_packets", "uplink_utilisation", "uplink_loss_share",
    "jain_long", "long_goodput_bps", "retransmits_per_transfer", "timeouts_per_transfer", "reordered_share",
]  # fmt: skip
"""A statistic of one scheme."""
BUCKET_STATISTICS: tuple[BucketStatistic, ...] = get_args(BucketStatistic)
SCHEME_STATISTICS: tuple[SchemeStatistic, ...] = get_args(SchemeStatistic)


HEADER_BYTES, SEGMENT_BYTES = 40, 1460
"""Bytes of headers per segment, and payload of a full one, for the load of a window."""
WINDOW_PARTS = 40
"""Equal parts of the window in which the search for a transient takes means."""
NOTICED = 0.01
"""A transfer whose time differs by no more than 1 % is neither slower nor faster."""
SAME_TRANSFERS = 0.95
"""Two runs have the same transfers if at least this share of them was measured in both."""


@dataclass(frozen=True)
class Percentile:
    """A percentile, and the number of transfers in a bucket from which on it is given."""

    percent: int
    least: int


PERCENTILES: dict[BucketStatistic, Percentile] = {
    "response_p50_s": Percentile(50, 1),
    "response_p95_s": Percentile(95, 20),
    "response_p99_s": Percentile(99, 100),
}
"""The statistics that are percentiles of the response time."""


@dataclass(frozen=True)
class ShortTimes:
    """The response times of a run's short transfers, by their keys in rising order."""

    key: NDArray[np.uint64]
    response_s: Floats


@dataclass(frozen=True)
class Shares:
    """Shares of the transfers that took longer, and less long, than under a reference."""

    slower: float
    faster: float


@dataclass(frozen=True)
class RunFacts:
    """The numbers of one run; arrays have one value per bucket unless their comment says otherwise."""

    count: NDArray[np.int64]
    censored: NDArray[np.int64]
    statistics: dict[BucketStatistic, Floats]
    curve_count: NDArray[np.int64]
    """Transfers per bin of the curve."""
    curve_mean_s: Floats
    """Mean response time per bin of the curve."""
    cdf: Floats
    """Share of short transfers that responded within each of `CDF_TIMES_S`."""
    scheme: dict[SchemeStatistic, float]
    colours: dict[str, dict[str, int]]
    """Packets of the loaded link by colour; `dropped` is the sum over all reasons."""
    load: LoadSummary
    groups: Figures
    """Figures by application."""
    simulated_s: float
    window_load: float
    """Wire bytes of the transfers that began in the window, over what the link carries in that time."""
    short_by_time: Floats
    """Mean response time of short transfers by the part of the window they began in; NaN without any."""
    short_times: ShortTimes | None = None
    """Kept until the replication has been run under every scheme; see `with_shares`."""
    shares: dict[str, Shares] = field(default_factory=dict)
    """How the same short transfers fared, by the reference; empty where the traffic reacts to the network."""


@dataclass(frozen=True)
class _Times:
    """Columns of all measured transfers; the time of an unfinished one is its age, which is a lower bound."""

    size: Floats
    unfinished: Bools
    response_s: Floats
    transfer_s: Floats
    slowdown: Floats


def reduce_run(result: RunResult, buckets: tuple[Bucket, ...]) -> RunFacts:
    """Returns the facts of one run.

    Raises `RuntimeError` if packets were lost or invented, which is a fault of the engine.
    """
    transfers, summary = result.transfers(), result.summary()
    if not summary["conservation_ok"]:
        raise RuntimeError(
            "the engine lost or invented packets (a conservation law failed); please report this"
        )
    queues, end_s = result.queues(), float(summary["end_s"])
    times = _times(transfers, end_s)
    masks = [bucket.mask(times.size) for bucket in buckets]
    roles = {bucket.role: mask for bucket, mask in zip(buckets, masks, strict=True)}
    count, mean = _curve(times)
    return RunFacts(
        count=np.array([mask.sum() for mask in masks], dtype=np.int64),
        censored=np.array([(mask & times.unfinished).sum() for mask in masks], dtype=np.int64),
        statistics=_bucket_statistics(times, masks),
        curve_count=count,
        curve_mean_s=mean,
        cdf=_cdf(times, roles["short"]),
        scheme=_scheme_statistics(times, roles["long"], transfers, queues, summary),
        colours=_colours(queues[0]),
        load=summary["load"],
        groups=figures(transfers, result.datagrams(), result.flows(), end_s),
        simulated_s=float(summary["simulated_s"]),
        window_load=_window_load(transfers, queues[0]),
        short_by_time=_short_by_time(transfers, times, roles["short"], summary),
        short_times=_short_times(transfers, times, roles["short"]),
    )


def with_shares(runs: Mapping[str, RunFacts], references: Iterable[str]) -> dict[str, RunFacts]:
    """Returns one replication's facts by scheme, with the shares against `references` in place of times."""
    times = {scheme: run.short_times for scheme, run in runs.items()}
    return {
        scheme: replace(
            run,
            short_times=None,
            shares={
                reference: shares
                for reference in references
                if reference != scheme and (shares := _shares(times[scheme], times[reference]))
            },
        )
        for scheme, run in runs.items()
    }


def _short_times(transfers: TransferColumns, times: _Times, short: Bools) -> ShortTimes:
    # Writes of one connection share its key.
    key = (transfers["key"] * np.uint64(0x9E3779B97F4A7C15)) ^ transfers["write"].astype(np.uint64)
    order = np.argsort(key[short], kind="stable")
    return ShortTimes(key[short][order], times.response_s[short][order])


def _shares(own: ShortTimes | None, other: ShortTimes | None) -> Shares | None:
    """Returns the shares over the transfers that both runs measured, None unless these are nearly all."""
    if own is None or other is None or own.key.size == 0:
        return None
    common, here, there = np.intersect1d(own.key, other.key, return_indices=True)
    if common.size < SAME_TRANSFERS * max(own.key.size, other.key.size):
        return None
    ratio = own.response_s[here] / other.response_s[there]
    return Shares(float(np.mean(ratio > 1 + NOTICED)), float(np.mean(ratio < 1 - NOTICED)))


def _times(transfers: TransferColumns, end_s: float) -> _Times:
    end = transfers["end_s"].astype(np.float64)
    unfinished = np.isnan(end)
    end = np.where(unfinished, end_s, end)
    first = transfers["first_data_s"].astype(np.float64)
    response = end - transfers["start_s"]
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown = response / transfers["alone_s"]
    begun = np.where(np.isnan(first), end, first)
    return _Times(transfers["bytes"].astype(np.float64), unfinished, response, end - begun, slowdown)


def _bucket_statistics(times: _Times, masks: list[Bools]) -> dict[BucketStatistic, Floats]:
    columns: dict[BucketStatistic, list[float]] = {name: [] for name in BUCKET_STATISTICS}
    for mask in masks:
        response = np.sort(times.response_s[mask])
        columns["response_mean_s"].append(_mean(response))
        for name, wanted in PERCENTILES.items():
            enough = response.size >= wanted.least
            columns[name].append(float(np.percentile(response, wanted.percent)) if enough else nan)
        columns["slowdown_mean"].append(_mean(times.slowdown[mask]))
        columns["transfer_mean_s"].append(_mean(times.transfer_s[mask]))
    return {name: np.array(values) for name, values in columns.items()}


def _window_load(transfers: TransferColumns, link: QueueCounters) -> float:
    """Returns the load that the measured transfers offer: payload, headers and SYN-ACK, without repeats."""
    size = transfers["bytes"][~transfers["upload"]].astype(np.float64)
    wire = float(np.sum(size + HEADER_BYTES * (np.ceil(size / SEGMENT_BYTES) + 1)))
    return 8 * wire / (link["capacity_bps"] * link["window_s"])


def _short_by_time(transfers: TransferColumns, times: _Times, short: Bools, summary: RunSummary) -> Floats:
    begin, end = summary["window_begin_s"], summary["window_end_s"]
    place = (transfers["start_s"][short] - begin) * (WINDOW_PARTS / (end - begin))
    place = np.clip(place.astype(np.int64), 0, WINDOW_PARTS - 1)
    total = np.bincount(place, weights=times.response_s[short], minlength=WINDOW_PARTS)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / np.bincount(place, minlength=WINDOW_PARTS)


def _curve(times: _Times) -> tuple[NDArray[np.int64], Floats]:
    bins = len(CURVE_EDGES_BYTES) - 1
    place = np.clip(np.searchsorted(CURVE_EDGES_BYTES, times.size, side="left") - 1, 0, bins - 1)
    count = np.bincount(place, minlength=bins)
    total = np.bincount(place, weights=times.response_s, minlength=bins)
    with np.errstate(invalid="ignore", divide="ignore"):
        return count.astype(np.int64), total / count


def _cdf(times: _Times, short: Bools) -> Floats:
    finished = np.sort(times.response_s[short & ~times.unfinished])
    total = int(short.sum())
    if total == 0:
        return np.full(len(CDF_TIMES_S), nan)
    return np.searchsorted(finished, CDF_TIMES_S, side="right") / total


def _scheme_statistics(
    times: _Times,
    long: Bools,
    transfers: TransferColumns,
    queues: list[QueueCounters],
    summary: RunSummary,
) -> dict[SchemeStatistic, float]:
    down, up = queues[:2]  # the bottleneck, then its way back, whatever their names
    done = long & ~times.unfinished
    rates_bps = 8 * times.size[done] / times.response_s[done]
    return {
        "utilisation": down["utilisation"],
        "goodput_bps": summary["goodput_bps"],
        "loss_share": _share(down, "dropped"),
        "mark_share": _share(down, "marked"),
        "queue_delay_mean_s": down["delay_mean_s"],
        "queue_delay_p50_s": down["delay_p50_s"],
        "queue_delay_p95_s": down["delay_p95_s"],
        "queue_delay_p99_s": down["delay_p99_s"],
        "queue_mean_packets": down["mean_queue_packets"],
        "uplink_utilisation": up["utilisation"],
        "uplink_loss_share": _share(up, "dropped"),
        "jain_long": jain_index(rates_bps),
        "long_goodput_bps": _mean(rates_bps),
        "retransmits_per_transfer": _mean(transfers["retransmits"]),
        "timeouts_per_transfer": _mean(transfers["timeouts"]),
        "reordered_share": summary["reordered"] / max(summary["packets"], 1),
    }


def _colours(queue: QueueCounters) -> dict[str, dict[str, int]]:
    names: tuple[Counter, ...] = ("arrived", "early", "forced", "policed", "dropped", "marked", "sent")
    return {colour["name"]: {name: int(colour[name]) for name in names} for colour in queue["colours"]}


def _share(queue: QueueCounters, *names: Counter) -> float:
    arrived = sum(colour["arrived"] for colour in queue["colours"])
    happened = sum(colour[name] for colour in queue["colours"] for name in names)
    return happened / arrived if arrived else 0.0


def _mean(values: NDArray[np.number]) -> float:
    return float(np.mean(values)) if values.size else nan
