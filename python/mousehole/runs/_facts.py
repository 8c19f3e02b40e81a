"""The numbers of one run, to which the engine reduces its records, so that records need not be kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mousehole import _engine, quantities
from mousehole._engine import RunResult
from mousehole.base import Bucket
from mousehole.engine_types import Floats, LoadSummary


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
    statistics: dict[str, Floats]
    """Quantities of buckets by name; NaN where there are too few transfers."""
    curve_count: NDArray[np.int64]
    """Transfers per bin of the curve."""
    curve_mean_s: Floats
    """Mean response time per bin of the curve."""
    cdf: Floats
    """Share of short transfers that responded within each of `CDF_TIMES_S`."""
    scheme: dict[str, float]
    """Quantities of schemes by name."""
    colours: dict[str, dict[str, int]]
    """Packets of the loaded link by colour; `dropped` is the sum over all reasons."""
    load: LoadSummary
    groups: dict[tuple[str, str], float]
    """Figures by application: (group, name of the quantity) → value."""
    simulated_s: float
    window_load: float
    """Wire bytes of the transfers that began in the window, over what the link carries in that time."""
    short_by_time: Floats
    """Mean response time of short transfers by the part of the window they began in; NaN without any."""
    short_times: ShortTimes | None = None
    """Kept until the replication has been run under every scheme; see `with_shares`."""
    shares: dict[str, Shares] = field(default_factory=dict)
    """How the same short transfers fared, by the reference; empty where the traffic reacts to the network."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Kinds of the groups that have one: those of `quantities.KINDS`."""


def reduce_run(result: RunResult, buckets: tuple[Bucket, ...]) -> RunFacts:
    """Returns the facts of one run; other threads run meanwhile.

    Raises `RuntimeError` if packets were lost or invented, which is a fault of the engine.
    """
    if not result.summary()["conservation_ok"]:
        raise RuntimeError(
            "the engine lost or invented packets (a conservation law failed); please report this"
        )
    found = result.reduce(buckets, quantities.table())
    return RunFacts(**found["numbers"], short_times=ShortTimes(*found["short_times"]))


def with_shares(runs: Mapping[str, RunFacts], references: Iterable[str]) -> dict[str, RunFacts]:
    """Returns the facts of a replication by scheme, with shares against `references` instead of times.

    The arguments stay as they are.
    """
    times = {scheme: run.short_times for scheme, run in runs.items()}
    return {
        scheme: replace(
            run,
            short_times=None,
            shares={
                reference: shares
                for reference in references
                if reference != scheme and (shares := _compute_shares(times[scheme], times[reference]))
            },
        )
        for scheme, run in runs.items()
    }


def _compute_shares(own: ShortTimes | None, other: ShortTimes | None) -> Shares | None:
    """Returns the shares over the transfers that both runs measured, None unless these are nearly all.

    It is None too if either run has no times.
    """
    if own is None or other is None:
        return None
    found = _engine.shares_of_same((own.key, own.response_s), (other.key, other.response_s))
    return None if found is None else Shares(*found)
