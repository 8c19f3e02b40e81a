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
    2015, chapter 9). `make validation WHAT=coverage` measures what comes of it.
    """
    return min(1.0, material)


def capture_freedom(sizes_bytes: ArrayLike, pipe_bytes: float) -> float:
    """Returns the degrees of freedom that a capture leaves for the variance between captures.

    Captures differ mostly by their large transfers, of which a resample knows only those that the capture
    has. So the variance is as uncertain as one over `effective_number` transfers, and no more certain than
    one over the transfers that are larger than `pipe_bytes`, the bandwidth-delay product: these fill the
    link by themselves, and a capture with none of them does not tell how many there are elsewhere.

    Source: none for the second bound; `make validation WHAT=coverage` is what speaks for it. Without it,
    captures that happen to contain no large transfer had narrow intervals far from the truth.
    """
    sizes = np.asarray(sizes_bytes, float)
    return max(min(effective_number(sizes) - 1, float(np.sum(sizes > pipe_bytes))), 0.0)


def effective_number(weights: ArrayLike) -> float:
    """Returns the number of equal weights that have the same relative variance of their sum: (Σw)² / Σw².

    Of transfers by their bytes it is small where a few large ones carry most of the load.

    Source: L. Kish, "Survey sampling", 1965 (the effective size of a weighted sample).
    """
    found = np.asarray(weights, float)
    squares = float(np.sum(found**2))
    return float(np.sum(found)) ** 2 / squares if squares > 0 else 0.0
