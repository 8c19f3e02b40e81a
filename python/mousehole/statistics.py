"""Confidence intervals over replications: each replication gives one number per scheme."""

from dataclasses import dataclass
from functools import cache
from math import expm1, isfinite, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

LEVEL = 0.95
"""Confidence level of every interval."""
LEAST_REPLICATIONS = 5
"""Smallest number of replications that gives an interval."""


@dataclass(frozen=True)
class Estimate:
    """A mean over `count` replications with its Student-t interval; undefined values are NaN."""

    mean: float
    low: float
    high: float
    count: int

    @property
    def has_interval(self) -> bool:
        """Whether there were enough replications for an interval."""
        return isfinite(self.low) and isfinite(self.high)

    @property
    def half_width(self) -> float:
        """Half the width of the interval; NaN if there is none."""
        return (self.high - self.low) / 2

    def as_change(self) -> "Estimate":
        """Returns the relative change that a log-ratio stands for; -0.3 means 30 % less."""
        return Estimate(
            _ratio_less_one(self.mean), _ratio_less_one(self.low), _ratio_less_one(self.high), self.count
        )

    def negated(self) -> "Estimate":
        """Returns the estimate of the negated quantity."""
        return Estimate(-self.mean, -self.high, -self.low, self.count)


def t_interval(values: ArrayLike, level: float = LEVEL) -> Estimate:
    """Returns mean and Student-t interval of one number per replication; those not finite are left out."""
    finite = _finite(values)
    if finite.size == 0:
        return Estimate(nan, nan, nan, 0)
    mean = float(np.mean(finite))
    if finite.size < LEAST_REPLICATIONS:
        return Estimate(mean, nan, nan, int(finite.size))
    half = half_width(float(np.std(finite, ddof=1)), int(finite.size), level)
    return Estimate(mean, mean - half, mean + half, int(finite.size))


def log_ratio(scheme: ArrayLike, reference: ArrayLike, level: float = LEVEL) -> Estimate:
    """Returns the interval of ln(scheme / reference), paired by replication.

    A value below 0 means that the scheme has the smaller number. Numbers of 0 or less are left out.
    """
    above, below = np.asarray(scheme, float), np.asarray(reference, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((above > 0) & (below > 0), np.log(above) - np.log(below), nan)
    return t_interval(ratio, level)


def half_width(deviation: float, count: int, level: float = LEVEL) -> float:
    """Returns t(count - 1) · deviation / √count; `deviation` is the sample standard deviation."""
    return _student(level, count - 1) * deviation / sqrt(count)


def replications_for(estimate: Estimate, wanted: float, most: int = 1000) -> int | None:
    """Returns the smallest number of replications that gives the half width `wanted`, None above `most`.

    It assumes that further replications have the same spread.
    """
    factor = half_width(1.0, estimate.count)
    deviation = estimate.half_width / factor
    for count in range(max(estimate.count + 1, LEAST_REPLICATIONS), most + 1):
        if half_width(deviation, count) <= wanted:
            return count
    return None


def jain_index(rates: ArrayLike) -> float:
    """Returns Jain's fairness index (Σx)² / (n·Σx²), NaN without rates.

    Source: Jain, Chiu & Hawe, DEC-TR-301, 1984.
    """
    x = _finite(rates)
    squares = float(np.sum(x * x))
    return float(np.sum(x)) ** 2 / (x.size * squares) if squares > 0 else nan


def _ratio_less_one(log: float) -> float:
    return expm1(log) if isfinite(log) else nan


@cache
def _student(level: float, freedom: int) -> float:
    return float(special.stdtrit(freedom, (1 + level) / 2))


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[np.isfinite(array)]
