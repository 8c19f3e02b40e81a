"""Computes mean response times in the M/G/1 queue of two levels, each with processor sharing.

Jobs are sizes drawn from a mixture of exponentials, of which Pareto II is one; the server does one
unit of size in one unit of time. The derivation is ours, after Kleinrock's of multilevel sharing
and the integral equation of sharing with batch arrivals (`papers/tlps/README.md`).
"""

from dataclasses import dataclass
from math import gamma

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Mixture:
    """A hyperexponential distribution of sizes: the share and the mean of each exponential."""

    shares: Floats
    means: Floats

    @property
    def mean(self) -> float:
        """Returns the mean size, in the unit of `means`."""
        return float(self.shares @ self.means)


def pareto(mean: float, shape: float, phases: int = 100) -> Mixture:
    """Returns Pareto II sizes as a mixture: exponentials whose rate has a gamma law, by Gauss-Laguerre.

    It is exact to rounding for an integer `shape` from 2 on.
    """
    nodes, weights = np.polynomial.laguerre.laggauss(phases)
    return Mixture(weights * nodes ** (shape - 1) / gamma(shape), mean * (shape - 1) / nodes)


def exponential(mean: float) -> Mixture:
    """Returns exponential sizes of this mean as a mixture of one, in the mean's unit."""
    return Mixture(np.ones(1), np.array([mean]))


def shared(sizes: Mixture, load: float) -> float:
    """Returns the mean response time if all jobs share the server; `load` is below 1."""
    return sizes.mean / (1 - load)


def two_levels(sizes: Mixture, load: float, threshold: float) -> float:
    """Returns the mean response time if jobs that were served less than `threshold` go first.

    `load` is below 1; sizes and times have the same unit.
    """
    shares, means = sizes.shares, sizes.means
    left = shares * np.exp(-threshold / means)
    above, arrivals = left.sum(), load / sizes.mean
    first = ((shares - left) * means).sum()
    square = (2 * means * ((shares - left) * means - left * threshold)).sum()
    free = 1 - arrivals * first
    work = arrivals * square / (2 * free)
    rate = arrivals * above / free
    beside = 2 * rate * (work + threshold)
    phases, joint = left / above, 1 / (1 / means[:, None] + 1 / means[None, :])
    matrix = np.diag(1 - rate * (joint @ phases)) - rate * joint * phases
    beyond = float(phases @ np.linalg.solve(matrix, beside * (joint @ phases) + means))
    return float(first + above * (work + beyond)) / float(free)


def gain(sizes: Mixture, load: float, threshold: float) -> float:
    """Returns the relative reduction of the mean response time by two levels against processor sharing.

    Arguments are those of `two_levels`.
    """
    return 1 - two_levels(sizes, load, threshold) / shared(sizes, load)
