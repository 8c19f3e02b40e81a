"""2LPS's quantities: gains over processor sharing, as simulated and by the model of two levels."""

from papers import two_levels
from papers.runs import Measured

MEAN_KB, RATE_KB_S, LOAD, BEST_KB = 60.0, 1250.0, 0.8, 180.0
LAWS = {
    "heavy": two_levels.pareto(MEAN_KB, 2.0),
    "less": two_levels.pareto(MEAN_KB, 3.0),
    "exponential": two_levels.exponential(MEAN_KB),
}


def gain(run: Measured, sharing: Measured) -> float:
    """Returns the relative reduction of the mean response time against processor sharing."""
    return 1 - float(run["all_s"]) / float(sharing["all_s"])


def share_of_predicted(two: Measured, sharing: Measured) -> float:
    """Returns the ratio of the gain of two levels to the model's."""
    return gain(two, sharing) / two_levels.gain(LAWS["heavy"], LOAD, BEST_KB)


def gain_difference(two: Measured, sharing: Measured, less_two: Measured, less_sharing: Measured) -> float:
    """Returns the gain with heavy sizes less that with sizes of less variance, as a difference of shares."""
    return gain(two, sharing) - gain(less_two, less_sharing)


def model_s(_run: Measured, sizes: str, threshold: str) -> float:
    """Returns the mean response time by the model, s.

    `sizes` is a key of `LAWS`, `threshold` a size in kB as text.
    """
    return two_levels.two_levels(LAWS[sizes], LOAD, float(threshold.removesuffix("kB"))) / RATE_KB_S
