"""From one number per replication to a word about a claim; the words are `Word` and no others.

A word rests on the paired 95 % interval over replications, never on a mean alone. With fewer replications
than an interval needs there is no word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, isfinite, nan

import numpy as np
from mousehole.statistics import Estimate, t_interval
from numpy.typing import ArrayLike
from scipy import stats


class Word(StrEnum):
    """What our runs say about a claim, from worst to best."""

    DIFFERS = "differs"
    NOT_RUN = "not run"
    NOT_TOLD_APART = "not told apart"
    COMPATIBLE = "compatible"
    LOST = "lost"
    AGREES = "agrees"
    EQUIVALENT = "equivalent"


MEANING = {
    Word.AGREES: "the whole interval lies where the paper says, its tolerance included",
    Word.COMPATIBLE: "the interval is too wide to tell",
    Word.DIFFERS: "the whole interval lies elsewhere",
    Word.NOT_TOLD_APART: "the interval of the difference holds zero",
    Word.EQUIVALENT: "the whole interval lies within the margin that does not matter",
    Word.LOST: "what would be compared stands in a figure or a trace that is lost",
    Word.NOT_RUN: "nothing was run, or too little for an interval",
}


@dataclass(frozen=True)
class Judgement:
    """A word with the interval that it rests on; no word if there were too few replications."""

    word: Word | None
    ours: Estimate
    p_value: float = nan
    """Of a definite word, the chance of data as clear as ours if the word were wrong; NaN for the others."""


def judge_band(values: ArrayLike, least: float, most: float, unclear: Word, inside: Word) -> Judgement:
    """Judges whether the expectation of the values lies between `least` and `most`.

    `unclear` is the word for an interval that reaches over an end of the band, `inside` for one within it.
    The p-value is that of the two one-sided t tests against the ends of the band, doubled, as the interval
    has two sides.
    """
    ours = t_interval(values)
    if not ours.has_interval:
        return Judgement(None, ours)
    if ours.low >= least and ours.high <= most:
        return Judgement(inside, ours, max(_beyond(values, least, +1), _beyond(values, most, -1)))
    if ours.high < least:
        return Judgement(Word.DIFFERS, ours, _beyond(values, least, -1))
    if ours.low > most:
        return Judgement(Word.DIFFERS, ours, _beyond(values, most, +1))
    return Judgement(unclear, ours)


def judge_exact(value: float, least: float, most: float) -> Judgement:
    """Judges a number without chance; it needs no replications."""
    word = Word.AGREES if least <= value <= most else Word.DIFFERS
    return Judgement(word, Estimate(value, value, value, 1))


def judge_order(steps: Sequence[ArrayLike]) -> list[Judgement]:
    """Judges each step from one place of an order to the next, which should be above zero."""
    return [judge_band(values, 0.0, inf, Word.NOT_TOLD_APART, Word.AGREES) for values in steps]


def worst(words: Sequence[Word | None]) -> Word | None:
    """Returns the word for several parts of one claim: the worst; none if a part has none."""
    if not words or None in words:
        return None
    rank = list(Word)
    return min((word for word in words if word is not None), key=rank.index)


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns the p-values adjusted by Holm's step-down procedure; NaN stays NaN and does not count.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979).
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if isfinite(p))
    adjusted, so_far = [nan] * len(p_values), 0.0
    for rank, (p, place) in enumerate(order):
        so_far = max(so_far, min(1.0, p * (len(order) - rank)))
        adjusted[place] = so_far
    return adjusted


def _beyond(values: ArrayLike, end: float, side: int) -> float:
    """Returns the doubled one-sided p-value of the mean lying on a side of `end`; 0 for an infinite end."""
    if not isfinite(end):
        return 0.0
    finite = np.asarray(values, np.float64).ravel()
    finite = finite[np.isfinite(finite)]
    error = float(np.std(finite, ddof=1)) / finite.size**0.5
    distance = side * (float(np.mean(finite)) - end)
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return min(1.0, 2 * float(stats.t.sf(distance / error, finite.size - 1)))
