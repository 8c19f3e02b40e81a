"""How the permitted error of 5 % is divided: over several schemes, and over several looks at growing data."""

from math import ceil, expm1, log1p, log2

LEVEL = 0.95
"""Confidence level of every interval, or of all intervals of a family together."""
FIRST_LOOK = 10
"""Number of replications up to which a comparison is the first look; each further look doubles it."""


def simultaneous_error(error: float, comparisons: int) -> float:
    """Returns the error that each of `comparisons` intervals may have so that all hold but for `error`.

    Source: Z. Šidák, "Rectangular confidence regions for the means of multivariate normal distributions",
    Journal of the American Statistical Association 62 (1967): 1 − (1 − error)^(1/m). For normal means it
    holds however they depend on each other, as they do here through their common reference.
    """
    return -expm1(log1p(-error) / max(comparisons, 1))


def look_of(replications: int, first: int = FIRST_LOOK) -> int:
    """Returns the number of the look, from 0, at so many replications: up to 10, up to 20, up to 40, …

    `first` is the number up to which it is the first look.
    """
    return max(ceil(log2(max(replications, 1) / first)), 0)


def replications_of_look(look: int, first: int = FIRST_LOOK) -> int:
    """Returns the number of replications with which a look is taken."""
    return first << look


def look_error(replications: int, error: float = 1 - LEVEL, first: int = FIRST_LOOK) -> float:
    """Returns the share of `error` that the look at so many replications may spend: a half, a quarter, …

    The shares add up to `error`, so by the union bound intervals at all looks hold together, whatever made
    the user go on or stop, and without a last look.

    Sources: K. K. G. Lan & D. L. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70
    (1983), which spends a given error over looks; S. R. Howard, A. Ramdas, J. McAuliffe & J. Sekhon,
    "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49 (2021), section
    3.1, which divides it over looks of doubling size.
    """
    return float(error / 2 ** (look_of(replications, first) + 1))
