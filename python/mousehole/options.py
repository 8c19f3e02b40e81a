"""Parses lists and numbers from the command line or from Python."""

import re
from collections.abc import Iterable, Sequence

from mousehole.errors import field_error


def split_list(text: str) -> list[str]:
    """Splits a text at commas outside parentheses: `"red,sfd(th=15kB,k=4)"` gives two items."""
    items, depth, item = [], 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            items.append(item)
            item = ""
        else:
            item += character
    return [part.strip() for part in [*items, item]]


def text_list(field: str, given: str | Iterable[str]) -> tuple[str, ...]:
    """Returns the items of a comma-separated text or of a sequence.

    Raises `MouseholeError` for an empty item and for one that is given twice.
    """
    items = split_list(given) if isinstance(given, str) else [str(item).strip() for item in given]
    if not items or not all(items):
        shown = given if isinstance(given, str) else ",".join(items)
        raise field_error(field, shown, "a comma-separated list without empty items")
    for position, item in enumerate(items):
        if item in items[:position]:
            raise field_error(field, item, "in the list once", "is given twice")
    return tuple(items)


def load_list(field: str, given: str | float | Sequence[float] | None) -> tuple[float | None, ...]:
    """Returns the loads of a grid, given as a number, a comma-separated text or a sequence.

    None means the load that the traffic has by itself. Raises `MouseholeError` for other values.
    """
    if given is None:
        return (None,)
    if isinstance(given, int | float):
        return (_load(field, given),)
    items = text_list(field, given) if isinstance(given, str) else list(given)
    loads = tuple(_load(field, item) for item in items)
    if not loads or len(set(loads)) < len(loads):
        raise field_error(field, ",".join(map(str, items)), "one or more loads, every one once")
    return loads


def _load(field: str, item: str | float) -> float:
    allowed = "a number above 0 and at most 2 (wire bytes over capacity), such as 0.9"
    try:
        value = float(item)
    except ValueError:
        raise field_error(field, item, allowed) from None
    if not 0 < value <= 2:
        raise field_error(field, item, allowed)
    return value


def least(field: str, value: int, lowest: int) -> int:
    """Returns `value`; raises `MouseholeError` unless it is a whole number of at least `lowest`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
        raise field_error(field, value, f"a whole number of at least {lowest}")
    return value


def whole(field: str, text: str | None, lowest: int | None = None) -> int | None:
    """Returns the whole number that was typed, None for None.

    Raises `MouseholeError` for anything else, and for a number below `lowest`.
    """
    if text is None:
        return None
    allowed = "a whole number" if lowest is None else f"a whole number of at least {lowest}"
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip()):
        raise field_error(field, text, allowed)
    return int(text) if lowest is None else least(field, int(text), lowest)
