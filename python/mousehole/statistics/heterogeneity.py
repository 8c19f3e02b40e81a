"""Whether several estimates of one effect, such as days, differ by more than their errors."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import special


@dataclass(frozen=True)
class Heterogeneity:
    """How much effects differ beyond their own errors."""

    q: float
    """Cochran's Q: the sum of squared differences from the common effect, each over its variance."""
    freedom: int
    """Degrees of freedom of Q: the number of effects less one."""
    p_value: float
    """How often Q would be as large if all effects were the same."""
    i_squared: float
    """Share of the variance of the effects that their own errors do not explain, from 0 to 1."""
    deviation: float
    """Standard deviation of the true effects, on the scale of the effects."""


def heterogeneity(effects: ArrayLike, errors: ArrayLike) -> Heterogeneity | None:
    """Returns how much `effects` with these standard errors differ; None for fewer than two with an error.

    Effects whose error is not positive and finite are left out. With few effects, and where errors come from
    few replications, Q's distribution is only approximate, and I² is uncertain.

    Sources: W. G. Cochran, "The combination of estimates from different experiments", Biometrics 10 (1954);
    J. P. T. Higgins & S. G. Thompson, "Quantifying heterogeneity in a meta-analysis", Statistics in Medicine
    21 (2002), for I²; R. DerSimonian & N. Laird, "Meta-analysis in clinical trials", Controlled Clinical
    Trials 7 (1986), for the deviation.
    """
    means, deviations = np.asarray(effects, float).ravel(), np.asarray(errors, float).ravel()
    known = np.isfinite(means) & np.isfinite(deviations) & (deviations > 0)
    means, weights = means[known], 1 / deviations[known] ** 2
    if means.size < 2:
        return None
    common = float(np.sum(weights * means) / np.sum(weights))
    q, freedom = float(np.sum(weights * (means - common) ** 2)), int(means.size - 1)
    scale = float(np.sum(weights) - np.sum(weights**2) / np.sum(weights))
    beyond = max(q - freedom, 0.0)
    return Heterogeneity(
        q,
        freedom,
        p_value=float(special.chdtrc(freedom, q)),
        i_squared=beyond / q if q > 0 else 0.0,
        deviation=sqrt(beyond / scale),
    )
