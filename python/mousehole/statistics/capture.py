"""How much of the variance between replications comes from the capture that they all share."""

import numpy as np
from numpy.typing import ArrayLike


def capture_share(material: float) -> float:
    """Returns the share of the variance between resampled replications that is between captures.

    `material` is how often one replication plays the whole capture, all copies together: copies · window /
    length. A replication that resamples the capture varies as captures of its length do, by v / length, if
    it plays all of it (`material` ≥ 1), and by v / (material · length) if it plays a part. So the variance
    between captures is at most min(1, `material`) of the variance between replications.

    Source: the bootstrap's principle, that a resample differs from the capture as the capture differs from
    its source (B. Efron & R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 6), and variances
    of means over independent stretches of time (A. M. Law, "Simulation modeling and analysis", 5th edition,
    2015, chapter 9). `make coverage` measures what comes of it.
    """
    return min(1.0, material)


def effective_number(weights: ArrayLike) -> float:
    """Returns the number of equal weights that have the same relative variance of their sum: (Σw)² / Σw².

    Of transfers by their bytes it is small where a few large ones carry most of the load.

    Source: L. Kish, "Survey sampling", 1965, section 11.7 (the effective size of a weighted sample).
    """
    found = np.asarray(weights, float)
    squares = float(np.sum(found**2))
    return float(np.sum(found)) ** 2 / squares if squares > 0 else 0.0
