"""Readings beside each other: the word of each claim under each, and a score on cells that chose nothing.

A cell is one judgement of a claim. Cells fall into two halves by a hash of their names. The reading that does
best on one half is judged on the other, so that it is known how much of its agreement was looked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from math import log, sqrt

from papers.definition import Reading
from papers.evaluate import Check, Judged
from papers.judge import GOOD, Word, worst
from papers.parts import Table, cells_text, word_text

HALVES = ("A", "B")


@dataclass(frozen=True)
class Read:
    """A paper under one reading."""

    reading: Reading
    claims: Sequence[Judged]

    def checks(self, half: str) -> list[Check]:
        """Returns the cells of a half that were held against the paper and have a word."""
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
    """How a reading does on some cells."""

    agree: int
    differ: int
    cells: int
    log_errors: Sequence[float]
    """ln(ours / published), of the cells with a published number."""

    @property
    def value(self) -> float:
        """Returns the share of cells that agree less the share that differs."""
        return (self.agree - self.differ) / self.cells if self.cells else 0.0

    @property
    def text(self) -> str:
        """Returns the score with what it is made of."""
        open_ = self.cells - self.agree - self.differ
        return f"{self.value:+.2f} ({self.agree} agree, {open_} open, {self.differ} differ)".replace("-", "−")

    @property
    def error_text(self) -> str:
        """Returns by how much our numbers are off the published ones, as the root of the mean square."""
        if not self.log_errors:
            return "–"
        mean_square = sum(one**2 for one in self.log_errors) / len(self.log_errors)
        return f"×÷ {2.718281828459045 ** sqrt(mean_square):.2f} ({len(self.log_errors)})"


def choose_half(claim: str, label: str) -> str:
    """Returns the half that a cell belongs to."""
    return HALVES[sha256(f"{claim}\0{label}".encode()).digest()[0] % 2]


def score(checks: Sequence[Check]) -> Score:
    """Returns how many cells agree and differ, and how far their numbers are from the published ones."""
    words = [check.judgement.word for check in checks]
    errors = []
    for check in checks:
        ours = check.judgement.ours.mean
        if check.published is not None and ours > 0 and min(check.published) > 0:
            errors.append(log(ours / sqrt(check.published[0] * check.published[1])))
    agree, differ = sum(word in GOOD for word in words), words.count(Word.DIFFERS)
    return Score(agree, differ, len(words), errors)


def matrix(reads: Sequence[Read]) -> Table:
    """Returns the word of each claim under each reading; of several cells also how many agree."""
    rows = [
        [claims[0].claim.name, *(_word(one) for one in claims)]
        for claims in zip(*(one.claims for one in reads), strict=True)
        if claims[0].claim.kind != "lost" and claims[0].claim.grid
    ]
    names = [one.reading.name for one in reads]
    says = "; ".join(f"{one.reading.name}: {one.reading.says}" for one in reads)
    return Table("readings", "Claims by reading", ["claim", *names], rows, 1 + len(names), says)


def scores(reads: Sequence[Read]) -> Table:
    """Returns the score of each reading on both halves, and how what one half chooses does on the other."""
    found = {one.reading.name: {half: score(one.checks(half)) for half in HALVES} for one in reads}
    rows = [
        [name, *(of_half.text for of_half in halves.values()),
         _pooled(halves).error_text]
        for name, halves in found.items()
    ]  # fmt: skip
    columns = ["reading", *(f"half {half}" for half in HALVES), "published numbers, rms"]
    return Table("scores", "Score by reading", columns, rows, len(columns), " ".join(_choices(found)))


def _choices(found: Mapping[str, Mapping[str, Score]]) -> list[str]:
    texts = []
    for own, other in (HALVES, HALVES[::-1]):
        best = max(found, key=lambda name: found[name][own].value)
        texts.append(f"Chosen on half {own}: {best}, held out on half {other}: {found[best][other].text}.")
    return [
        "A score is the share of cells that agree less that of those that differ; a hash draws the halves.",
        *texts,
    ]


def _pooled(halves: Mapping[str, Score]) -> Score:
    every = list(halves.values())
    errors = list(chain.from_iterable(one.log_errors for one in every))
    return Score(
        sum(one.agree for one in every), sum(one.differ for one in every),
        sum(one.cells for one in every), errors,
    )  # fmt: skip


def _word(judged: Judged) -> str:
    words = [check.judgement.word for check in judged.checks]
    text = word_text(worst(words))
    if len(words) < 2:
        return text
    return f"{text}, {cells_text(words)} agree"
