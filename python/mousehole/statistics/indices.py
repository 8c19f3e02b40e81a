"""Single figures of a list of numbers."""

import numpy as np
from numpy.typing import ArrayLike

from mousehole.statistics.intervals import finite_values


def jain_index(rates: ArrayLike) -> float:
    """Returns Jain's fairness index (Σx)² / (n·Σx²), NaN without rates.

    Source: Jain, Chiu & Hawe, DEC-TR-301, 1984.
    """
    x = finite_values(rates)
    squares = float(np.sum(x * x))
    return float(np.sum(x)) ** 2 / (x.size * squares) if squares > 0 else float("nan")
