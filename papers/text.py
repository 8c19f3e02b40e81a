"""Formats numbers and counts of words as text."""

from collections import Counter
from collections.abc import Iterable

from mousehole.statistics import Estimate

from papers.judge import Word

SCALES = {"%": 100.0, "ms": 1000.0}
"""Measured shares and seconds times this are in the unit shown; other units are those measured."""


def format_quantity(value: float, unit: str, digits: int) -> str:
    """Returns a number with a true minus sign and its unit; a dash for NaN.

    `value` is in the unit measured, which `SCALES` turns into `unit`; `digits` are those after the point.
    """
    if value != value:
        return "–"
    text = f"{value * SCALES.get(unit, 1.0):,.{digits}f}".replace("-", "−")
    return f"{text} {unit}".rstrip()


def format_published(ends: tuple[float, float] | None, unit: str, digits: int) -> str:
    """Returns a published number or range as text; empty for None."""
    if ends is None:
        return ""
    low, high = ends
    if low == high:
        return format_quantity(low, unit, digits)
    bare = format_quantity(low, unit, digits).removesuffix(unit).rstrip()
    return f"{bare} to {format_quantity(high, unit, digits)}"


def format_estimate(value: Estimate, unit: str, digits: int) -> str:
    """Returns an estimate as text such as `29 % (21…36)`.

    It has no brackets without an interval or a spread.
    """
    mean = format_quantity(value.mean, unit, digits)
    if not value.has_interval or value.low == value.high:
        return mean
    low, high = (
        format_quantity(end, unit, digits).removesuffix(unit).rstrip() for end in (value.low, value.high)
    )
    return f"{mean} ({low}…{high})"


def count_words(words: Iterable[Word | None]) -> str:
    """Returns the counts of verdicts as text such as `agrees 5, differs 1`, from best to worst."""
    count = Counter(words)
    known = [f"{word} {count[word]}" for word in reversed(Word) if count[word]]
    return ", ".join(known + ([f"no word {count[None]}"] if count[None] else []))
