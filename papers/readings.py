"""Compares readings of a paper: the word of each claim under each, and scores on held-out cells.

A cell is one judgement of a claim. A hash of their names divides the cells into two halves. The
reading that does best on one half is scored on the other, so that its score is not inflated by the
choice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from math import log, sqrt

from papers.definition import Reading
from papers.evaluate import Check, Judged
from papers.judge import GOOD, Word, find_worst
from papers.parts import Table, count_agreeing, format_word

HALVES = ("A", "B")


@dataclass(frozen=True)
class Read:
    """A paper's judged claims under one reading."""

    reading: Reading
    claims: Sequence[Judged]

    def checks(self, half: str) -> list[Check]:
        """Returns the judgements of a half that rest on evidence and have a word."""
        return [
            check
            for one in self.claims
            if one.claim.basis == "evidence" and one.claim.grid
            for check in one.checks
            if check.judgement.word not in (None, Word.NOT_RUN)
            and choose_half(one.claim.name, check.label) == half
        ]


@dataclass(frozen=True)
class Score:
    """The outcome of a reading on some cells."""

    agree: int
    differ: int
    cells: int
    log_errors: Sequence[float]
    """ln(ours / published), of the cells with a published number."""

    @property
    def value(self) -> float:
        """Returns the share of cells that agree less the share that differs; 0 without cells."""
        return (self.agree - self.differ) / self.cells if self.cells else 0.0

    @property
    def text(self) -> str:
        """Returns the score and the counts that it is made of, as text."""
        open_ = self.cells - self.agree - self.differ
        return f"{self.value:+.2f} ({self.agree} agree, {open_} open, {self.differ} differ)".replace("-", "−")

    @property
    def error_text(self) -> str:
        """Returns the root mean square of the log-ratios to published numbers, as a factor in text.

        A dash if there are none.
        """
        if not self.log_errors:
            return "–"
        mean_square = sum(one**2 for one in self.log_errors) / len(self.log_errors)
        return f"×÷ {2.718281828459045 ** sqrt(mean_square):.2f} ({len(self.log_errors)})"


def choose_half(claim: str, label: str) -> str:
    """Returns the half that a cell belongs to, by the SHA-256 of its claim's name and its label."""
    return HALVES[sha256(f"{claim}\0{label}".encode()).digest()[0] % 2]


def score_checks(checks: Sequence[Check]) -> Score:
    """Returns the counts of judgements that agree and differ, and the log-ratios to published numbers.

    The logarithm is natural. The published number is the geometric mean of its ends; numbers that are not
    positive have no log-ratio.
    """
    words = [check.judgement.word for check in checks]
    errors = []
    for check in checks:
        ours = check.judgement.ours.mean
        if check.published is not None and ours > 0 and min(check.published) > 0:
            errors.append(log(ours / sqrt(check.published[0] * check.published[1])))
    agree, differ = sum(word in GOOD for word in words), words.count(Word.DIFFERS)
    return Score(agree, differ, len(words), errors)


def tabulate_words(reads: Sequence[Read]) -> Table:
    """Returns a table of the verdict on each claim under each reading, and of the cells that agree.

    All readings have judged the same claims; lost ones and those without runs have no row.
    """
    rows = [
        [claims[0].claim.name, *(_format_outcome(one) for one in claims)]
        for claims in zip(*(one.claims for one in reads), strict=True)
        if claims[0].claim.kind != "lost" and claims[0].claim.grid
    ]
    names = [one.reading.name for one in reads]
    says = "; ".join(f"{one.reading.name}: {one.reading.says}" for one in reads)
    return Table("readings", "Claims by reading", ["claim", *names], rows, 1 + len(names), says)


def tabulate_scores(reads: Sequence[Read]) -> Table:
    """Returns a table of each reading's score on both halves.

    Its note has the held-out score of each half's choice.
    """
    found = {one.reading.name: {half: score_checks(one.checks(half)) for half in HALVES} for one in reads}
    rows = [
        [name, *(of_half.text for of_half in halves.values()),
         _pool(halves).error_text]
        for name, halves in found.items()
    ]  # fmt: skip
    columns = ["reading", *(f"half {half}" for half in HALVES), "published numbers, rms"]
    return Table(
        "scores", "Score by reading", columns, rows, len(columns), " ".join(_describe_choices(found))
    )


def _describe_choices(found: Mapping[str, Mapping[str, Score]]) -> list[str]:
    """Returns sentences on the reading that each half chooses and its score on the other half.

    Of equal scores the first reading is chosen.
    """
    texts = []
    for own, other in (HALVES, HALVES[::-1]):
        best = max(found, key=lambda name: found[name][own].value)
        texts.append(f"Chosen on half {own}: {best}, held out on half {other}: {found[best][other].text}.")
    return [
        "A score is the share of cells that agree less that of those that differ; a hash draws the halves.",
        *texts,
    ]


def _pool(halves: Mapping[str, Score]) -> Score:
    """Returns the score of a reading on both halves together."""
    every = list(halves.values())
    errors = list(chain.from_iterable(one.log_errors for one in every))
    return Score(
        sum(one.agree for one in every), sum(one.differ for one in every),
        sum(one.cells for one in every), errors,
    )  # fmt: skip


def _format_outcome(judged: Judged) -> str:
    """Returns the verdict on a claim, and for several cells the number that agrees, as text."""
    words = [check.judgement.word for check in judged.checks]
    text = format_word(find_worst(words))
    if len(words) < 2:
        return text
    return f"{text}, {count_agreeing(words)} agree"
