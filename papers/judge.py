"""Judges claims: turns one number per replication into a word, one of `Word`.

A word rests on the paired 95 % interval over replications, never on a mean alone. With fewer
replications than an interval needs there is no word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, nan

from mousehole.statistics import PLAIN, Design, Estimate, p_beyond, t_interval
from numpy.typing import ArrayLike


class Word(StrEnum):
    """The outcomes of a claim under our runs, from worst to best."""

    DIFFERS = "differs"
    NOT_RUN = "not run"
    UNDECIDED = "undecided"
    COMPATIBLE = "compatible"
    LOST = "lost"
    AGREES = "agrees"
    EQUIVALENT = "equivalent"


GOOD = (Word.AGREES, Word.EQUIVALENT)
"""The words of a claim that comes out."""
MEANING = {
    Word.AGREES: "the whole interval lies where the paper says, its tolerance included",
    Word.COMPATIBLE: "the interval is too wide to tell",
    Word.DIFFERS: "the whole interval lies elsewhere",
    Word.UNDECIDED: "the interval of the difference holds zero",
    Word.EQUIVALENT: "the whole interval lies within the margin that does not matter",
    Word.LOST: "what would be compared stands in a figure or a trace that is lost",
    Word.NOT_RUN: "nothing was run, or too little for an interval",
}


@dataclass(frozen=True)
class Judgement:
    """A verdict with the interval that it rests on; `word` is None if there were too few replications."""

    word: Word | None
    ours: Estimate
    p_value: float = nan
    """Of a definite word, the chance of data as clear as ours if the word were wrong; NaN for the others."""


def judge_band(
    values: ArrayLike, least: float, most: float, unclear: Word, inside: Word, design: Design = PLAIN
) -> Judgement:
    """Judges whether the expectation of the values, one per replication, lies between `least` and `most`.

    `unclear` is the word for an interval that crosses an end of the band, `inside` for one within it. With
    too few values for an interval the word is None. The p-value is that of the two one-sided t tests against
    the ends of the band, doubled, as the interval has two sides; for a sequential `design`, whose interval
    holds at several looks, it is NaN.
    """
    ours = t_interval(values, design)
    if not ours.has_interval:
        return Judgement(None, ours)
    if ours.low >= least and ours.high <= most:
        word, p_value = inside, max(p_beyond(values, least, True), p_beyond(values, most, False))
    elif ours.high < least:
        word, p_value = Word.DIFFERS, p_beyond(values, least, False)
    elif ours.low > most:
        word, p_value = Word.DIFFERS, p_beyond(values, most, True)
    else:
        word, p_value = unclear, nan
    return Judgement(word, ours, nan if design.is_sequential else p_value)


def judge_exact(value: float, least: float, most: float) -> Judgement:
    """Judges a number that involves no chance; it needs no replications, and the band includes its ends."""
    word = Word.AGREES if least <= value <= most else Word.DIFFERS
    return Judgement(word, Estimate(value, value, value, 1))


def judge_order(steps: Sequence[ArrayLike], design: Design = PLAIN) -> list[Judgement]:
    """Judges each difference between two neighbours in an order, which should be positive.

    `steps` has the replications of each difference. A step without an interval has no verdict.
    """
    return [judge_band(values, 0.0, inf, Word.UNDECIDED, Word.AGREES, design) for values in steps]


def find_worst(words: Sequence[Word | None]) -> Word | None:
    """Returns the worst of several verdicts, in the order of `Word`.

    None if there is none or one of them is None.
    """
    if not words or None in words:
        return None
    rank = list(Word)
    return min((word for word in words if word is not None), key=rank.index)
