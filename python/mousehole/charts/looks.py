"""Colours and symbols of series in every chart, and round numbers for axes."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10

from mousehole import _engine
from mousehole.base import scheme_name

COUNT = 8
"""Number of colours, of markers and of lines."""
STYLED = ("droptail", "red", "sfd", "cake", "fq-codel", "s-sfd", "ct-cake", "rio-ps")
"""The schemes that have one colour each; those after them in the catalogue follow in the same order."""
SHARES = (0, -0.5, 1, -0.75, 3, 0.5, -0.3, -0.9, 9, 0.2, -0.2, 0.1, -0.1, 0.05, -0.05)
"""Ticks of a scale of ratios, in order of preference; those too close to earlier ones are left out."""


@dataclass(frozen=True)
class Place:
    """The look of a scheme as places in lists of `COUNT` colours, and of as many markers and lines."""

    colour: int
    line: int
    """Place of the marker and of the line."""


def assign_looks(schemes: Sequence[str]) -> list[Place]:
    """Returns the looks of the schemes of one picture.

    Up to `COUNT` schemes have one colour, marker and line each. A scheme has the colour of its name where
    that is free, else the first that is; those of `STYLED` choose first. Of more schemes, the next `COUNT`
    have the colours once more, with other markers and lines.
    """
    wanted = [_rank(scheme_name(scheme)) for scheme in schemes]
    is_late = [own >= COUNT or own in wanted[:number] for number, own in enumerate(wanted)]
    order = sorted(range(len(schemes)), key=lambda number: (is_late[number], number))
    chosen: dict[int, Place] = {}
    for count, number in enumerate(order):
        turn, is_first = divmod(count, COUNT)
        if not is_first:
            free = list(range(COUNT))
        colour = wanted[number] % COUNT if wanted[number] % COUNT in free else free[0]
        free.remove(colour)
        chosen[number] = Place(colour, (colour + 5 * turn) % COUNT)
    return [chosen[number] for number in range(len(schemes))]


def ratio_ticks(low: float, high: float) -> list[float]:
    """Returns the ticks of a scale of log2 of a ratio from `low` to `high`, in order of preference."""
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


def steps() -> Iterator[float]:
    """Yields round steps between ticks of a linear scale, smallest first.

    They are 1, 2 and 5 times the powers of ten from 1e-12 to 1e15.
    """
    return (step * 10.0**decade for decade in range(-12, 16) for step in (1, 2, 5))


def _rank(name: str) -> int:
    """Returns the rank of a scheme in the choice of looks, from 0.

    Those of `STYLED` come first, then the catalogue's others. A name outside the catalogue has one of `COUNT`
    ranks after these, by its CRC-32.
    """
    if name in STYLED:
        return STYLED.index(name)
    others = [entry["name"] for entry in _engine.schemes() if entry["name"] not in STYLED]
    if name in others:
        return len(STYLED) + others.index(name)
    return len(STYLED) + len(others) + zlib.crc32(name.encode()) % COUNT  # a combination, or the user's own
