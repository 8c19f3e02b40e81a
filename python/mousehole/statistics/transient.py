"""When a simulation that starts empty has reached its steady state."""

import numpy as np
from numpy.typing import ArrayLike

from mousehole.statistics.intervals import finite_values

TIME_CONSTANTS = 2.0
"""After so many relaxation times the mean workload is within 6 % of its steady state."""


def relaxation_s(sizes_bytes: ArrayLike, rate_bps: float, load: float) -> float:
    """Returns the time scale on which a link that starts empty approaches its steady state; load < 1.

    Work arrives as transfers of these sizes. The workload is approximated by Brownian motion of drift
    −(1 − load) and variance load · E[S²] / E[S], with S the transmission time of a transfer, which is
    reflected at zero; its time scale is variance / drift².

    Source: J. Abate & W. Whitt, "Transient behavior of regulated Brownian motion, I: starting at the origin",
    Advances in Applied Probability 19 (1987).
    """
    seconds = 8 * finite_values(sizes_bytes) / rate_bps
    return load * float(np.mean(seconds**2) / np.mean(seconds)) / (1 - load) ** 2


def mser(batch_means: ArrayLike) -> int:
    """Returns how many of the first batches belong to the transient by MSER: those whose removal makes the
    standard error of the mean of the rest smallest.

    Give it at least ten batches. A result in the second half means that no steady state was reached.

    Source: K. P. White, M. J. Cobb & S. C. Spratt, "A comparison of five steady-state truncation heuristics
    for simulation", Proceedings of the Winter Simulation Conference 2000; over replications as in K. Hoad, S.
    Robinson & R. Davies, "Automating warm-up length estimation", Journal of the Operational Research Society
    61 (2010).
    """
    values = finite_values(batch_means)
    most = values.size - 5  # six are always left: the spread of few is small by chance
    if most <= 0:
        return 0
    errors = [float(np.var(values[first:])) / (values.size - first) for first in range(most)]
    return int(np.argmin(errors))
