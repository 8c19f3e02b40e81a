"""Numbers as text, and how often a word was given."""

from collections import Counter
from collections.abc import Iterable

from mousehole.statistics import Estimate

from papers.judge import Word

SCALES = {"%": 100.0, "ms": 1000.0}
"""Measured shares and seconds times this are in the unit shown; other units are those measured."""


def quantity(value: float, unit: str, digits: int) -> str:
    """Returns a number with a true minus sign and its unit; a dash where there is none."""
    if value != value:
        return "–"
    text = f"{value * SCALES.get(unit, 1.0):,.{digits}f}".replace("-", "−")
    return f"{text} {unit}".rstrip()


def published_text(ends: tuple[float, float] | None, unit: str, digits: int) -> str:
    """Returns a published number or range; nothing where none was published."""
    if ends is None:
        return ""
    low, high = ends
    if low == high:
        return quantity(low, unit, digits)
    bare = quantity(low, unit, digits).removesuffix(unit).rstrip()
    return f"{bare} to {quantity(high, unit, digits)}"


def estimate_text(value: Estimate, unit: str, digits: int) -> str:
    """Returns `29 % (21…36)`, without brackets where there is no interval or no spread."""
    mean = quantity(value.mean, unit, digits)
    if not value.has_interval or value.low == value.high:
        return mean
    low, high = (quantity(end, unit, digits).removesuffix(unit).rstrip() for end in (value.low, value.high))
    return f"{mean} ({low}…{high})"


def tally(words: Iterable[Word | None]) -> str:
    """Returns `agrees 5, differs 1`, in the order of `Word` from best to worst."""
    count = Counter(words)
    known = [f"{word} {count[word]}" for word in reversed(Word) if count[word]]
    return ", ".join(known + ([f"no word {count[None]}"] if count[None] else []))
