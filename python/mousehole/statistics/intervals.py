"""Confidence intervals over replications: each replication gives one number per scheme."""

from dataclasses import dataclass
from functools import cache
from math import exp, expm1, inf, isfinite, log, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from mousehole.statistics.levels import (
    FIRST_LOOK,
    LEVEL,
    look_error,
    look_of,
    replications_of_look,
    simultaneous_error,
)

LEAST_REPLICATIONS = 5
"""Smallest number of replications that gives an interval."""
MOST_REPLICATIONS = 1000
"""More replications than this are not recommended."""


@dataclass(frozen=True)
class Design:
    """What an interval must allow for beside the spread between replications."""

    comparisons: int = 1
    """Number of schemes whose intervals must hold together."""
    is_sequential: bool = False
    """Whether the user may look, add replications and look again."""
    first_look: int = FIRST_LOOK
    """Number of replications up to which it is the first look; each further look doubles it."""
    capture_share: float = 0.0
    """Share of the variance between replications that more replications of the same capture do not reduce."""
    capture_freedom: float = inf
    """Degrees of freedom that the capture leaves for the variance between captures."""

    def error(self, count: int) -> float:
        """Returns the error that one interval from `count` replications may have."""
        whole = look_error(count, first=self.first_look) if self.is_sequential else 1 - LEVEL
        return simultaneous_error(whole, self.comparisons)

    def half_width(self, deviation: float, count: int) -> float:
        """Returns half the width of the interval of a mean over `count` replications of this deviation.

        The mean varies by deviation² / count between repetitions with the same capture, and by
        `capture_share` · deviation² between captures.
        """
        spread = sqrt(self.capture_share + 1 / count)
        return _student(self.error(count), self.freedom(count)) * deviation * spread

    def standard_error(self, estimate: "Estimate") -> float:
        """Returns the standard error from which the interval of an estimate was made; NaN without one."""
        if not estimate.has_interval:
            return nan
        deviation = estimate.half_width / self.half_width(1.0, estimate.count)
        return deviation * sqrt(self.capture_share + 1 / estimate.count)

    def freedom(self, count: int) -> float:
        """Returns the degrees of freedom of the variance of a mean over `count` replications.

        The variance's relative error is that of the spread over replications, 2 / (count − 1), and for the
        part between captures also 2 / `capture_freedom`.

        Source: F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
        Biometrics Bulletin 2 (1946): the degrees of freedom are two over the relative error.
        """
        weight = self.capture_share / (self.capture_share + 1 / count)
        of_capture = weight**2 / max(self.capture_freedom, 1e-9)
        return max(1 / (1 / (count - 1) + of_capture), 1.0)


PLAIN = Design()
"""A single interval of 95 % over replications that draw afresh."""


@dataclass(frozen=True)
class Estimate:
    """An estimate from `count` replications with its interval; undefined values are NaN."""

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

    def within(self, least: float, most: float) -> "Estimate":
        """Returns the estimate with the ends of its interval moved into the range of possible values."""
        low, high = (min(max(end, least), most) if isfinite(end) else end for end in (self.low, self.high))
        return Estimate(self.mean, low, high, self.count)


def t_interval(values: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns mean and Student-t interval of one number per replication; those not finite are left out."""
    finite = finite_values(values)
    if finite.size == 0:
        return Estimate(nan, nan, nan, 0)
    return _around(float(np.mean(finite)), finite, design)


def difference(scheme: ArrayLike, reference: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns the mean of scheme − reference with its Student-t interval, paired by replication."""
    return t_interval(np.asarray(scheme, float) - np.asarray(reference, float), design)


def log_ratio(scheme: ArrayLike, reference: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns ln(mean of scheme ÷ mean of reference) with its jackknife interval, paired by replication.

    A value below 0 means that the scheme has the smaller mean. Replications in which either number is not
    finite are left out. The result is NaN if a mean is not positive, and has no interval if it would not be
    positive without one of the replications.

    Source: R. G. Miller, "The jackknife: a review", Biometrika 61 (1974): a t interval over the
    pseudo-values n·θ − (n − 1)·θ₋ᵢ, after J. W. Tukey, on a scale on which θ is nearly normal.
    """
    above, below = np.asarray(scheme, float).ravel(), np.asarray(reference, float).ravel()
    known = np.isfinite(above) & np.isfinite(below)
    above, below = above[known], below[known]
    count = above.size
    if count == 0 or above.sum() <= 0 or below.sum() <= 0:
        return Estimate(nan, nan, nan, 0)
    whole = log(above.sum()) - log(below.sum())
    others = above.sum() - above, below.sum() - below
    if count < LEAST_REPLICATIONS or min(map(np.min, others)) <= 0:
        return Estimate(whole, nan, nan, count)
    pseudo_values = count * whole - (count - 1) * (np.log(others[0]) - np.log(others[1]))
    return _around(whole, pseudo_values, design)


def positive_interval(values: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns the mean of numbers that cannot be negative, with an interval that does not reach below zero.

    It is that of `log_ratio` to 1, so that times have the same kind of interval as their changes. If a number
    is zero it is the t interval, cut at zero.
    """
    finite = finite_values(values)
    if finite.size == 0 or np.min(finite) <= 0:
        return t_interval(finite, design).within(0.0, np.inf)
    found = log_ratio(finite, np.ones(finite.size), design)
    low, high = (exp(end) if isfinite(end) else nan for end in (found.low, found.high))
    return Estimate(float(np.mean(finite)), low, high, found.count)


def share_interval(values: ArrayLike, design: Design = PLAIN) -> Estimate:
    """Returns the mean of shares with the part of its t interval that lies between 0 and 1."""
    return t_interval(values, design).within(0.0, 1.0)


def replications_for(estimate: Estimate, wanted: float, design: Design = PLAIN) -> int | None:
    """Returns the number of replications of the first later look that gives the half width `wanted`.

    It assumes that further replications have the same spread. Returns None if it would be more than 1000,
    or if no number is enough because the capture itself is too short.
    """
    deviation = estimate.half_width / design.half_width(1.0, estimate.count)
    look = look_of(estimate.count, design.first_look) + 1
    while (count := replications_of_look(look, design.first_look)) <= MOST_REPLICATIONS:
        if design.half_width(deviation, count) <= wanted:
            return count
        look += 1
    return None


def finite_values(values: ArrayLike) -> NDArray[np.float64]:
    """Returns the finite ones of the values, in one dimension."""
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[np.isfinite(array)]


def _around(centre: float, values: NDArray[np.float64], design: Design) -> Estimate:
    if values.size < LEAST_REPLICATIONS:
        return Estimate(centre, nan, nan, int(values.size))
    half = design.half_width(float(np.std(values, ddof=1)), int(values.size))
    return Estimate(centre, centre - half, centre + half, int(values.size))


def _ratio_less_one(log_of_ratio: float) -> float:
    return expm1(log_of_ratio) if isfinite(log_of_ratio) else nan


@cache
def _student(error: float, freedom: float) -> float:
    return float(special.stdtrit(freedom, 1 - error / 2))
