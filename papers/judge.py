"""From one number per replication to a word about a claim; the words are `Word` and no others.

A word rests on the paired 95 % interval over replications, never on a mean alone. With fewer replications
than an interval needs there is no word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, nan

from mousehole.statistics import PLAIN, Design, Estimate, p_beyond, t_interval
from numpy.typing import ArrayLike


class Word(StrEnum):
    """What our runs say about a claim, from worst to best."""

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
    """A word with the interval that it rests on; no word if there were too few replications."""

    word: Word | None
    ours: Estimate
    p_value: float = nan
    """Of a definite word, the chance of data as clear as ours if the word were wrong; NaN for the others."""


def judge_band(
    values: ArrayLike, least: float, most: float, unclear: Word, inside: Word, design: Design = PLAIN
) -> Judgement:
    """Judges whether the expectation of the values lies between `least` and `most`.

    `unclear` is the word for an interval that reaches over an end of the band, `inside` for one within it.
    The p-value is that of the two one-sided t tests against the ends of the band, doubled, as the interval
    has two sides; where the interval holds at several looks (`design`), there is none.
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
    """Judges a number without chance; it needs no replications."""
    word = Word.AGREES if least <= value <= most else Word.DIFFERS
    return Judgement(word, Estimate(value, value, value, 1))


def judge_order(steps: Sequence[ArrayLike], design: Design = PLAIN) -> list[Judgement]:
    """Judges each step from one place of an order to the next, which should be above zero."""
    return [judge_band(values, 0.0, inf, Word.UNDECIDED, Word.AGREES, design) for values in steps]


def worst(words: Sequence[Word | None]) -> Word | None:
    """Returns the word for several parts of one claim: the worst; none if a part has none."""
    if not words or None in words:
        return None
    rank = list(Word)
    return min((word for word in words if word is not None), key=rank.index)
