"""Every interval and p-value of the house; `answer/src/statistics` computes them and names the sources.

The functions here take any list of numbers and hand it on as a column.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mousehole import _engine
from mousehole._engine import FIRST_LOOK
from mousehole._engine import LEAST_REPLICATIONS as LEAST_REPLICATIONS
from mousehole._engine import LEVEL as LEVEL
from mousehole._engine import TIME_CONSTANTS as TIME_CONSTANTS
from mousehole._engine import Design as Design
from mousehole._engine import Estimate as Estimate
from mousehole._engine import Heterogeneity as Heterogeneity
from mousehole._engine import binomial_interval as binomial_interval
from mousehole._engine import capture_share as capture_share
from mousehole._engine import find_p_value as find_p_value
from mousehole._engine import simultaneous_error as simultaneous_error
from mousehole.engine_types import Floats

PLAIN = Design()
"""A single interval of 95 % over replications that draw afresh."""


def t_interval(values: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns mean and Student-t interval of one number per replication; those not finite are left out."""
    return _engine.t_interval(_column(values), design)


def difference(scheme: ArrayLike, reference: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns the mean of scheme − reference with its Student-t interval, paired by replication."""
    return _engine.difference(_column(scheme), _column(reference), design)


def log_ratio(scheme: ArrayLike, reference: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns the logarithm of the ratio of scheme to reference, paired by replication, with its interval.

    The ratio is the geometric mean of the replications' ratios. A value below 0 means that the scheme has the
    smaller values. Replications in which either number is not finite are left out. Where a number is zero,
    it is `ratio_of_means`.
    """
    return _engine.log_ratio(_column(scheme), _column(reference), design)


def ratio_of_means(scheme: ArrayLike, reference: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns ln(mean of scheme ÷ mean of reference) with its jackknife interval, paired by replication.

    Replications in which either number is not finite are left out. The result is NaN if a mean is not
    positive, and has no interval if it would not be positive without one of the replications.
    """
    return _engine.ratio_of_means(_column(scheme), _column(reference), design)


def paired_logs(scheme: ArrayLike, reference: ArrayLike) -> Floats:
    """Returns the logarithm of each replication's ratio, NaN where there is none, infinite for a zero."""
    return _engine.paired_logs(_column(scheme), _column(reference))


def smaller_in(scheme: ArrayLike, reference: ArrayLike) -> tuple[int, int]:
    """Returns in how many replications the scheme has the smaller number, and in how many both have one."""
    return _engine.smaller_in(_column(scheme), _column(reference))


def effective_comparisons(columns: Iterable[ArrayLike]) -> float:
    """Returns the number of independent comparisons that would need the same width as these columns.

    A column has a number per replication. It is `Design.comparisons` for intervals that hold together.
    """
    return _engine.effective_comparisons([_column(one) for one in columns])


def positive_interval(values: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns the mean of numbers that cannot be negative, with an interval that does not reach below zero.

    It is that of `ratio_of_means` to 1, taken on the logarithm as changes are. If a number is zero it is the
    t interval, cut at zero.
    """
    return _engine.positive_interval(_column(values), design)


def share_interval(values: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns the mean of shares with the part of its t interval that lies between 0 and 1."""
    return _engine.share_interval(_column(values), design)


def replications_for(estimate: Estimate, wanted: float, design: Design = PLAIN) -> int | None:
    """Returns the number of replications of the first later look that gives the half width `wanted`.

    It assumes that further replications have the same spread. Returns None if it would be more than 1000,
    or if no number is enough because the capture itself is too short.
    """
    return _engine.replications_for(estimate, wanted, design)


def heterogeneity(effects: ArrayLike, errors: ArrayLike) -> Heterogeneity | None:
    """Returns how much `effects` with these standard errors differ; None for fewer than two with an error."""
    return _engine.heterogeneity(_column(effects), _column(errors))


def capture_freedom(sizes_bytes: ArrayLike, pipe_bytes: float) -> float:
    """Returns the degrees of freedom that a capture leaves for the variance between captures.

    `pipe_bytes` is the bandwidth-delay product, beyond which a transfer fills the link by itself.
    """
    return _engine.capture_freedom(_column(sizes_bytes), pipe_bytes)


def effective_number(weights: ArrayLike) -> float:
    """Returns the number of equal weights that have the same relative variance of their sum."""
    return _engine.effective_number(_column(weights))


def jain_index(rates: ArrayLike) -> float:
    """Returns Jain's fairness index, NaN without rates."""
    return _engine.jain_index(_column(rates))


def relaxation_s(sizes_bytes: ArrayLike, rate_bps: float, load: float) -> float:
    """Returns the time scale on which a link that starts empty approaches its steady state; load < 1."""
    return _engine.relaxation_s(_column(sizes_bytes), rate_bps, load)


def mser(batch_means: ArrayLike) -> int:
    """Returns how many of the first batches belong to the transient.

    Give it at least ten batches. A result in the second half means that no steady state was reached.
    """
    return _engine.mser(_column(batch_means))


def find_look(replications: int, first: int = FIRST_LOOK) -> int:
    """Returns the number of the look, from 0, at so many replications: up to `first`, up to twice that, …"""
    return _engine.find_look(replications, first)


def replications_of_look(look: int, first: int = FIRST_LOOK) -> int:
    """Returns the number of replications with which a look is taken."""
    return _engine.replications_of_look(look, first)


def look_error(replications: int, error: float = 1 - LEVEL, first: int = FIRST_LOOK) -> float:
    """Returns the share of `error` that the look at so many replications may spend: a half, a quarter, …"""
    return _engine.look_error(replications, error, first)


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns the p-values adjusted by Holm's procedure; NaN stays NaN and does not count."""
    return _engine.holm(_column(p_values))


def p_beyond(values: ArrayLike, end: float, is_above: bool) -> float:
    """Returns the doubled one-sided p-value of the mean lying above `end`, or below; 0 if it is infinite."""
    return _engine.p_beyond(_column(values), end, is_above)


def _column(values: ArrayLike) -> Floats:
    return np.ascontiguousarray(values, np.float64).ravel()
