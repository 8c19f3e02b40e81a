"""Which of many things stand for all of them."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def choose_evenly(items: Sequence[T], most: int) -> list[T]:
    """Returns at most `most` items in their order, evenly spaced from the first to the last.

    All are returned if there are no more. `most` is at least 2.
    """
    if len(items) <= most:
        return list(items)
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]
