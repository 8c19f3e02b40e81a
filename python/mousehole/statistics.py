"""Intervals over replications: the replication is the unit, so each gives one number per scheme."""

from dataclasses import dataclass
from functools import cache
from math import expm1, isfinite, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

LEVEL = 0.95
"""Coverage of every interval."""
LEAST_REPLICATIONS = 5
"""Fewer replications give no interval."""


@dataclass(frozen=True)
class Estimate:
    """A mean over `count` replications with its Student-t interval; NaN where there is none."""

    mean: float
    low: float
    high: float
    count: int

    @property
    def has_interval(self) -> bool:
        """Whether there were replications enough for an interval."""
        return isfinite(self.low) and isfinite(self.high)

    @property
    def half_width(self) -> float:
        """Half the interval's width; NaN without one."""
        return (self.high - self.low) / 2

    def as_change(self) -> "Estimate":
        """For a log-ratio: the relative change it stands for, -0.3 being 30 % less."""
        return Estimate(
            _ratio_less_one(self.mean), _ratio_less_one(self.low), _ratio_less_one(self.high), self.count
        )

    def negated(self) -> "Estimate":
        """The estimate of minus the quantity."""
        return Estimate(-self.mean, -self.high, -self.low, self.count)


def t_interval(values: ArrayLike, level: float = LEVEL) -> Estimate:
    """Mean and Student-t interval of one number per replication; those without a number are left out."""
    finite = _finite(values)
    if finite.size == 0:
        return Estimate(nan, nan, nan, 0)
    mean = float(np.mean(finite))
    if finite.size < LEAST_REPLICATIONS:
        return Estimate(mean, nan, nan, int(finite.size))
    half = half_width(float(np.std(finite, ddof=1)), int(finite.size), level)
    return Estimate(mean, mean - half, mean + half, int(finite.size))


def log_ratio(scheme: ArrayLike, reference: ArrayLike, level: float = LEVEL) -> Estimate:
    """Interval of ln(scheme / reference), paired by replication; below 0 the scheme has the smaller one."""
    above, below = np.asarray(scheme, float), np.asarray(reference, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((above > 0) & (below > 0), np.log(above) - np.log(below), nan)
    return t_interval(ratio, level)


def half_width(deviation: float, count: int, level: float = LEVEL) -> float:
    """t(count - 1) · deviation / √count, `deviation` being the sample standard deviation."""
    return _student(level, count - 1) * deviation / sqrt(count)


def replications_for(estimate: Estimate, wanted: float, most: int = 1000) -> int | None:
    """Least number of replications that give the half width `wanted`, if spread stays; None above `most`."""
    factor = half_width(1.0, estimate.count)
    deviation = estimate.half_width / factor
    for count in range(max(estimate.count + 1, LEAST_REPLICATIONS), most + 1):
        if half_width(deviation, count) <= wanted:
            return count
    return None


def jain_index(rates: ArrayLike) -> float:
    """Jain's fairness index (Σx)² / (n·Σx²) (Jain, Chiu & Hawe, DEC-TR-301, 1984); NaN without rates."""
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
