"""RIO-PS's quantities: numbers that its claims, tables and figures speak of, from what was measured."""

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
    """Returns the model's seconds for a transfer."""
    return float(tcp_model.latency_s(p, packets, reading=reading))


def model_growth(packets: float, begin: float, end: float) -> float:
    """Returns how many times longer a transfer takes at loss `end` than at loss `begin`, by the model."""
    return model_at(packets, end) / model_at(packets, begin)


def model_s(_run: Measured, packets: str, p: str, reading: tcp_model.Reading) -> float:
    """Returns the model's seconds for the size and loss of a cell."""
    return model_at(float(packets), float(p), reading)


def over_model(
    run: Measured,
    packets: str,
    p: str,
    reading: tcp_model.Reading = "consistent",
    path: dict[str, Any] | None = None,
    measured_wait: bool = False,
) -> float:
    """Returns the simulated mean time over the model's.

    `path` holds what differs in the model's path. With `measured_wait`, its timeouts last as long as the
    simulated ones.
    """
    loss, changed = float(p), replace(tcp_model.FIGURE_2, **(path or {}))
    if measured_wait:
        modelled = float(tcp_model.backoff_factor(loss)) * changed.rto_s
        changed = replace(changed, rto_s=changed.rto_s * float(run["wait_s"]) / modelled)
    return float(run["mean_s"] / tcp_model.latency_s(loss, float(packets), changed, reading))


# --- Figure 3, Table I -------------------------------------------------------------------------------------


def peak_share(run: Measured) -> float:
    """Returns the highest share of the link that short flows have at one time of the mean period."""
    return float(share_by_phase(run, "short_share").max())


def over_fair(run: Measured) -> float:
    """Returns what the short flows are sent over what would be theirs if each flow got the same."""
    both = _both(run)
    short, long = run["short_share"][both], run["long_share"][both]
    flows, others = run["short_active"][both], run["long_active"][both]
    return float(short.sum() / np.sum((short + long) * flows / (flows + others)))


def _both(run: Measured) -> NDArray[np.bool_]:
    both: NDArray[np.bool_] = (run["short_active"] > 0) & (run["long_active"] > 0)
    return both


def share_by_phase(run: Measured, name: str) -> Floats:
    """Returns a class's share of the link by the time since the short files' last start, over all periods."""
    values, each = run[name], round(PERIOD_S / WINDOW_S)
    means: Floats = values[: values.size // each * each].reshape(-1, each).mean(axis=0)
    return means


def share_quantiles(run: Measured, name: str) -> Floats:
    """Returns the percentiles of a class's share over the windows of half a second."""
    return np.quantile(run[name], np.linspace(0, 1, 101))


# --- Experiments 1 and 2 --------------------------------------------------------------------------


def reduction(run: Measured, baseline: Measured, low: float, high: float) -> float:
    """Returns how far the mean response time is below the baseline's for sizes from `low` packets on and
    below `high`, each octave with the same weight.
    """
    octaves = (run["packets"] >= low) & (2 * run["packets"] <= high)
    return float(np.nanmean(1 - run["response_s"][octaves] / baseline["response_s"][octaves]))


def more_reduction(
    run: Measured, baseline: Measured, other: Measured, other_baseline: Measured, low: float, high: float
) -> float:
    """Returns by how much the first reduction is greater than that of the other two."""
    return reduction(run, baseline, low, high) - reduction(other, other_baseline, low, high)


def goodput(run: Measured) -> float:
    """Returns the packets delivered in as many seconds as Table IV has."""
    return float(run["goodput"]) * DURATION_S


def class_ratio(run: Measured) -> float:
    """Returns the rate of marks and drops of Short packets over that of Long ones."""
    return float(run["short_signals"] / run["long_signals"])
