"""RIO-PS's quantities: the numbers of its claims, tables and figures, computed from measurements."""

from dataclasses import replace
from typing import Any

import numpy as np
from mousehole import tcp_model
from numpy.typing import NDArray

from papers.rio_ps.measures import PERIOD_S, WINDOW_S
from papers.runs import Measured

Floats = NDArray[np.float64]

DURATION_S = 2000.0
"""Table IV counts the packets of so many seconds."""


# --- Figure 2: the analytic model -----------------------------------------------------------------


def model_at(packets: float, p: float, reading: tcp_model.Reading = "paper") -> float:
    """Returns the time of a transfer by the TCP model, s, at a loss probability `p`."""
    return float(tcp_model.latency_s(p, packets, reading=reading))


def model_growth(packets: float, begin: float, end: float) -> float:
    """Returns the ratio of a transfer's time at loss `end` to that at loss `begin`, by the model."""
    return model_at(packets, end) / model_at(packets, begin)


def model_s(_run: Measured, packets: str, p: str, reading: tcp_model.Reading) -> float:
    """Returns the model's time, s, for the size and the loss of a cell."""
    return model_at(float(packets), float(p), reading)


def over_model(
    run: Measured,
    packets: str,
    p: str,
    reading: tcp_model.Reading = "consistent",
    path: dict[str, Any] | None = None,
    measured_wait: bool = False,
) -> float:
    """Returns the ratio of the simulated mean time to the model's.

    `path` replaces parameters of the model's path. With `measured_wait`, for which the run needs a trace, its
    timeouts last as long as the simulated ones.
    """
    loss, changed = float(p), replace(tcp_model.FIGURE_2, **(path or {}))
    if measured_wait:
        modelled = float(tcp_model.backoff_factor(loss)) * changed.rto_s
        changed = replace(changed, rto_s=changed.rto_s * float(run["wait_s"]) / modelled)
    return float(run["mean_s"] / tcp_model.latency_s(loss, float(packets), changed, reading))


# --- Figure 3, Table I -------------------------------------------------------------------------------------


def peak_share(run: Measured) -> float:
    """Returns the maximum over the mean period of the short flows' share of the link."""
    return float(share_by_phase(run, "short_share").max())


def over_fair(run: Measured) -> float:
    """Returns the ratio of the short flows' rate to their fair share, with equal rates for all flows.

    Only windows with flows of both classes count; NaN if there are none.
    """
    both = _both(run)
    short, long = run["short_share"][both], run["long_share"][both]
    flows, others = run["short_active"][both], run["long_active"][both]
    return float(short.sum() / np.sum((short + long) * flows / (flows + others)))


def _both(run: Measured) -> NDArray[np.bool_]:
    """Returns a mask of the windows in which flows of both classes are active."""
    both: NDArray[np.bool_] = (run["short_active"] > 0) & (run["long_active"] > 0)
    return both


def share_by_phase(run: Measured, name: str) -> Floats:
    """Returns a class's share of the link by the time since the short files' last start.

    It is averaged over periods, with one value for each window of a period; a last period that is cut short
    is left out.
    """
    values, each = run[name], round(PERIOD_S / WINDOW_S)
    means: Floats = values[: values.size // each * each].reshape(-1, each).mean(axis=0)
    return means


def share_quantiles(run: Measured, name: str) -> Floats:
    """Returns the percentiles, from 0 to 100, of a class's share over the windows of half a second."""
    return np.quantile(run[name], np.linspace(0, 1, 101))


# --- Experiments 1 and 2 --------------------------------------------------------------------------


def reduction(run: Measured, baseline: Measured, low: float, high: float) -> float:
    """Returns the relative reduction of the mean response time against the baseline, averaged over octaves.

    The octaves lie between sizes of `low` and `high` packets; those without a time in either run are left
    out.
    """
    octaves = (run["packets"] >= low) & (2 * run["packets"] <= high)
    return float(np.nanmean(1 - run["response_s"][octaves] / baseline["response_s"][octaves]))


def more_reduction(
    run: Measured, baseline: Measured, other: Measured, other_baseline: Measured, low: float, high: float
) -> float:
    """Returns the first pair's reduction less the other pair's, as `reduction` has them."""
    return reduction(run, baseline, low, high) - reduction(other, other_baseline, low, high)


def goodput(run: Measured) -> float:
    """Returns the packets delivered in the time that Table IV covers."""
    return float(run["goodput"]) * DURATION_S


def class_ratio(run: Measured) -> float:
    """Returns the ratio of the signal rate (marks and drops) of Short packets to that of Long ones.

    It is infinite or NaN without signals for Long packets.
    """
    return float(run["short_signals"] / run["long_signals"])
