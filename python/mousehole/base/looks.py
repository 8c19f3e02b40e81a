"""What all figures share, on paper and on pages: the look of a scheme, the ticks of a scale of ratios."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10

from mousehole import _engine
from mousehole.base._options import scheme_name

COUNT = 8
"""Number of colours, of markers and of lines."""
STYLED = ("droptail", "red", "sfd", "cake", "fq-codel", "s-sfd", "ct-cake", "rio-ps")
"""The schemes that have one colour each; those after them in the catalogue share the colours, in order."""
SHARES = (0, -0.5, 1, -0.75, 3, 0.5, -0.3, -0.9, 9, 0.2, -0.2, 0.1, -0.1, 0.05, -0.05)
"""Ticks of a scale of ratios, in order of preference; those too close to earlier ones are left out."""


@dataclass(frozen=True)
class Place:
    """The look of a scheme as places in lists of `COUNT` colours, and of as many markers and lines."""

    colour: int
    line: int
    """Place of the marker and of the line."""


def place(scheme: str, schemes: Sequence[str]) -> Place:
    """Returns the look of a scheme, whatever it is compared with.

    The name gives the colour; the marker and line tell apart names of one colour, and the schemes among
    `schemes` that differ in parameters only.
    """
    name = scheme_name(scheme)
    number = _number_of(name)
    variants = [other for other in schemes if scheme_name(other) == name]
    turn = 5 * (number // COUNT + variants.index(scheme))
    return Place(number % COUNT, (number + turn) % COUNT)


def ratio_ticks(low: float, high: float) -> list[float]:
    """Returns the ticks of a scale that shows log2 of a ratio from `low` to `high`."""
    kept: list[float] = []
    for share in SHARES:
        tick = log2(1 + share)
        if low <= tick <= high and all(abs(tick - other) >= 0.14 * (high - low) for other in kept):
            kept.append(tick)
    return kept


def log_ticks(low: float, high: float) -> list[float]:
    """Returns round numbers from `low` to `high`, both positive, for a logarithmic scale."""
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    span = log10(high / low)
    steps = (1, 1.5, 2, 3, 5, 7) if span < 1 else (1, 2, 5) if span < 3 else (1,)
    ticks = (float(f"{step}e{decade}") for decade in decades for step in steps)
    return [tick for tick in ticks if low <= tick <= high]


def _number_of(name: str) -> int:
    """Returns the place of a scheme in the order of looks: those often compared first, then all others."""
    if name in STYLED:
        return STYLED.index(name)
    others = [entry["name"] for entry in _engine.schemes() if entry["name"] not in STYLED]
    if name in others:
        return len(STYLED) + others.index(name)
    return len(STYLED) + len(others) + zlib.crc32(name.encode()) % COUNT  # a combination, or the user's own
