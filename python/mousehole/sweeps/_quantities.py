"""Values of settings as numbers: `10mbit` as bits per second, `50p` as packets, and ranges of them."""

import re
from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any

import numpy as np

from mousehole import _engine
from mousehole.base import MouseholeError, field_error, rate_text, size_text, time_text

Value = str | int | float | bool | list[str]
"""A value of a setting as it is written in TOML."""

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([A-Za-z%]*)\s*")
_PARSERS: dict[str, Callable[[str, str], float]] = {
    "bps": _engine.parse_rate, "s": _engine.parse_duration, "bytes": _engine.parse_size,
}  # fmt: skip
"""Quantities whose units the engine knows, by the ends of their columns' names."""
_SUFFIXES = {"p": "packets", "bdp": "bdp", "%": "percent"}
_TEXTS = {"packets": "p", "bdp": "bdp", "percent": " %"}
DIGITS = 4
"""Digits of a value inside a range."""


def parse_numbers(values: Sequence[Value]) -> tuple[str, list[float]] | None:
    """Returns the unit of all values, and each as a number of it; the unit of plain numbers is empty.

    Returns None if a value is no number or if units differ.
    """
    found = [_parse_number(value) for value in values]
    known = [item for item in found if item is not None]
    if len(known) < len(found) or len({unit for unit, _ in known}) != 1:
        return None
    return known[0][0], [number for _, number in known]


def name_column(setting: str, unit: str) -> str:
    """Returns the name of the column with a setting as numbers of a unit, which may be empty."""
    return f"{setting}_{unit}" if unit else setting


def read_unit(column: str | None, setting: str) -> str:
    """Returns the unit in the name of a column, which `name_column` made; empty for None."""
    return "" if column is None else column.removeprefix(setting).removeprefix("_")


def interpolate(field: str, low: Value, high: Value, share: float, is_log: bool) -> Value:
    """Returns the value at `share`, 0 to 1, of the way from `low` to `high`, with their unit.

    With `is_log` the way is along logarithms. Whole numbers and packets stay whole; others are rounded to
    `DIGITS` digits. Raises `MouseholeError` for ends that are not in rising order, not above 0 if `is_log`,
    or of different units.
    """
    ends = [_split_end(field, value) for value in (low, high)]
    (least, unit, is_whole), (most, other, also_whole) = ends
    if unit != other:
        raise field_error(field, f"{low} to {high}", "from one number to another with the same unit")
    if not least < most or (is_log and least <= 0):
        above = " above 0" if is_log else ""
        raise field_error(field, f"{low} to {high}", f"from a smaller number{above} to a larger one")
    number = exp(log(least) + share * (log(most) - log(least))) if is_log else least + share * (most - least)
    if unit == "p" or (is_whole and also_whole and not unit):
        number = float(min(max(round(number), least), most))
        return f"{number:.0f}{unit}" if unit else int(number)
    rounded = min(max(float(f"{number:.{DIGITS}g}"), least), most)
    return f"{rounded:g}{unit}" if isinstance(low, str) else rounded


def format_number(number: float, unit: str) -> str:
    """Returns a number in a unit of `parse_numbers` as text for people; an empty unit adds nothing.

    Sizes, times and rates change their unit with their size.
    """
    if unit == "bps":
        return rate_text(number)
    if unit == "s":
        return time_text(number)
    if unit == "bytes":
        return size_text(number)
    return f"{number:.3g}{_TEXTS.get(unit, '')}"


def write_value(value: Value) -> str:
    """Returns a value as text: `true`, `0.5`, the items of a list with commas."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else str(value)


def average_changes(changes: Any) -> float:
    """Returns the geometric mean of the ratios of changes, as a change.

    `changes` has at least one, none below −1.
    """
    return float(np.expm1(np.mean(np.log1p(changes))))


def _split_end(field: str, value: Value) -> tuple[float, str, bool]:
    """Returns number and unit of an end of a range, and whether it is a whole number.

    Raises `MouseholeError` for anything else.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), "", isinstance(value, int)
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise field_error(field, str(value), "a number, or a text such as 10mbit")
    return float(match[1]), match[2], False


def _parse_number(value: Any) -> tuple[str, float] | None:
    """Returns unit and number of a value such as `20p`; None for a boolean and for any other text.

    The unit of a plain number is empty.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return "", float(value)
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    if match[2] in _SUFFIXES:
        return _SUFFIXES[match[2]], float(match[1])
    for unit, parse in _PARSERS.items():
        try:
            return unit, float(parse("value", value))
        except MouseholeError:
            continue
    return None
