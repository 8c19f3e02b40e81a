"""Parses lists and numbers from the command line or from Python."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

from mousehole import _engine
from mousehole.base._errors import field_error


@dataclass(frozen=True)
class Unit:
    """The unit of numbers without a unit: its suffix, and the text on allowed values."""

    suffix: str
    words: str


BITS = Unit("bit", "a number of bits per second, or a text with a unit such as 10mbit")
SECONDS = Unit("s", "a number of seconds, or a text with a unit such as 80ms")
BYTES = Unit("B", "a number of bytes, or a text with a unit such as 15kB")
BUFFER = Unit("B", "a number of bytes, or a text such as 50p, 64kB, 200ms or 1bdp")

UNITS: dict[str, Unit] = {
    **dict.fromkeys(("rate", "down", "up", "client_rate", "shape", "up_shape"), BITS),
    **dict.fromkeys(
        (
            "rtt",
            "delay",
            "client_delay",
            "warmup",
            "duration",
            "initial_rto",
            "min_rto",
            "tick",
            "delayed_ack",
            "server_think",
        ),
        SECONDS,
    ),
    **dict.fromkeys(("buffer", "up_buffer", "modem_buffer", "up_modem_buffer"), BUFFER),
    "burst": BYTES,
}
"""The units of a scenario's quantities, by the names of their fields; traffic has fields of its own."""


def scheme_name(scheme: str) -> str:
    """Returns the name of a scheme or part without its parameters and rate: `sfd` of `sfd(th=15kB)@90%`."""
    return without_rate(scheme).partition("(")[0].strip()


def without_rate(scheme: str) -> str:
    """Returns a scheme without the rate of its shaper: `cake` of `cake@90%`."""
    return scheme.partition("@")[0].strip()


def find_shaper_rate(scheme: str) -> str | None:
    """Returns the rate of the shaper that a scheme has itself, `90%` of `cake@90%`; None without one."""
    return scheme.partition("@")[2].strip() or None


def with_unit(field: str, given: Any, unit: Unit) -> str:
    """Returns a quantity as text with its unit; a text is returned as it is.

    A number is in bits per second, seconds or bytes, as `unit` says. Raises `MouseholeError` for anything but
    a text, a finite number, or for seconds a timedelta.
    """
    if isinstance(given, str):
        return given
    number = given.total_seconds() if isinstance(given, timedelta) and unit is SECONDS else given
    import numpy as np  # here, since the command line does without

    if isinstance(number, bool | np.bool_) or not isinstance(number, Real) or not _is_finite(number):
        raise field_error(field, number if isinstance(number, Real) else str(number), unit.words)
    return f"{np.format_float_positional(float(number), trim='-')}{unit.suffix}"


def _is_finite(number: Real) -> bool:
    """Returns whether a number is finite as a float; a whole number may be too large for one."""
    try:
        return isfinite(number)
    except OverflowError:
        return False


def with_units(scenario: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Returns a copy of a scenario, or of a section of it, with texts in place of numbers with a unit.

    Section `traffic` stays as it is. Raises `MouseholeError` as `with_unit` does; `place` is the prefix of a
    field's path in it.
    """
    return {name: _add_units(f"{place}{name}", name, value) for name, value in scenario.items()}


def _add_units(path: str, name: str, value: Any) -> Any:
    """Returns a value of a scenario; plain numbers get the unit of their field, in lists and tables too.

    Traffic is left as it is.
    """
    if path == "traffic":
        return value
    if isinstance(value, Mapping):
        return with_units(value, f"{path}.")
    if isinstance(value, list | tuple):
        return [_add_units(f"{path}[{number}]", "", item) for number, item in enumerate(value)]
    return value if value is None or name not in UNITS else with_unit(path, value, UNITS[name])


def split_list(text: str) -> list[str]:
    """Returns the items of a text, split at commas outside parentheses: `"red,sfd(th=15kB,k=4)"` gives two.

    Spaces around an item are removed; an empty text gives one empty item.
    """
    items, depth, item = [], 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            items.append(item)
            item = ""
        else:
            item += character
    return [part.strip() for part in [*items, item]]


def parse_texts(field: str, given: str | Iterable[str]) -> tuple[str, ...]:
    """Returns the items of a comma-separated text, split as by `split_list`, or of a sequence.

    Raises `MouseholeError`, with `field` as its field, for anything else, for no item, for an empty one and
    for one that is given twice.
    """
    items = (
        split_list(given)
        if isinstance(given, str)
        else [str(item).strip() for item in _iterate(field, given)]
    )
    if not items or not all(items):
        shown = given if isinstance(given, str) else ",".join(items)
        raise field_error(field, shown, "a comma-separated list without empty items")
    for position, item in enumerate(items):
        if item in items[:position]:
            raise field_error(field, item, "in the list once", "is given twice")
    return tuple(items)


def _iterate(field: str, given: object) -> Iterable[object]:
    """Returns what is given if it can be a list of texts; raises `MouseholeError` for anything else."""
    if not isinstance(given, Iterable) or isinstance(given, Mapping | bytes | bytearray):
        raise field_error(field, str(given), "a text, or a list of texts")
    return given


def require_texts(field: str, given: object) -> list[str]:
    """Returns the texts of a text or of a list of texts, which are not split.

    Raises `MouseholeError` for anything else.
    """
    items = [given] if isinstance(given, str) else list(_iterate(field, given))
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) < len(items):
        raise field_error(field, str(given), "a text, or a list of texts")
    return texts


def require_path(field: str, given: object, what: str = "a file") -> Path:
    """Returns the path that is given as a text or as a path; raises `MouseholeError` for anything else."""
    name = given.__fspath__() if isinstance(given, os.PathLike) else given
    if not isinstance(name, str):
        raise field_error(field, str(given), f"the name of {what}, as a text or a Path")
    return Path(name)


def require_mapping(field: str, given: object) -> Mapping[str, object]:
    """Returns what is given if it is a dictionary with texts as keys; raises `MouseholeError` else."""
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise field_error(field, str(given), "a dictionary of values by name")
    return given


def require_switch(field: str, given: object) -> bool:
    """Returns what is given if it is True or False; raises `MouseholeError` else."""
    import numpy as np  # here, since the command line does without

    if not isinstance(given, bool | np.bool_):
        raise field_error(field, str(given), "True or False")
    return bool(given)


def parse_loads(field: str, given: str | float | Sequence[float] | None) -> tuple[float | None, ...]:
    """Returns the loads of a grid, given as a number, a comma-separated text or a sequence.

    None stands for the native load of the traffic. Raises `MouseholeError` for other values, and for a load
    that is given twice.
    """
    if given is None:
        return (None,)
    if isinstance(given, str):
        items: Sequence[str | float] = parse_texts(field, given)
    else:
        items = list(given) if isinstance(given, Iterable) else [given]
    loads = tuple(_parse_load(field, item) for item in items)
    if not loads or len(set(loads)) < len(loads):
        raise field_error(field, ",".join(map(str, items)), "one or more loads, every one once")
    return loads


def _parse_load(field: str, item: str | float) -> float:
    """Returns a load as a number; raises `MouseholeError` outside 0 < load ≤ 2."""
    allowed = "a number above 0 and at most 2 (wire bytes over capacity), such as 0.9"
    try:
        value = float(item)
    except (TypeError, ValueError, OverflowError):
        raise field_error(field, item, allowed) from None
    if not 0 < value <= 2:
        raise field_error(field, item, allowed)
    return value


MOST_PACKETS, MOST_BYTES = 1e9, 1 << 40
"""The largest buffers."""


def check_buffer(field: str, text: str) -> str:
    """Returns the buffer as it was given; raises `MouseholeError` for one that is too large.

    The engine refuses whatever else is wrong with it.
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]+)", text.strip())
    if found is None or found[2].lower() == "bdp":
        return text
    if found[2].lower() == "p":
        if float(found[1]) > MOST_PACKETS:
            raise field_error(field, text, f"from 1p to {MOST_PACKETS:.0f}p", "is too large")
        return text
    try:
        scale = _engine.parse_size(field, f"1{found[2]}")
    except ValueError:
        return text
    if float(found[1]) * scale > MOST_BYTES:
        raise field_error(field, text, "from 1500B to 1024GiB", "is too large")
    return text


def require_at_least(field: str, value: int, lowest: int) -> int:
    """Returns `value`; raises `MouseholeError` unless it is a whole number of at least `lowest`.

    So it does for one of more than `MOST_DIGITS` digits, which is no seed.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
        raise field_error(field, value, f"a whole number of at least {lowest}")
    if field not in MOST and value >= 10**MOST_DIGITS:
        raise field_error(field, value, f"a whole number of at most {MOST_DIGITS} digits")
    return value


MOST_DIGITS = 18
"""Digits of the largest whole number that may be typed."""
MOST = {"seed": _engine.MOST_SEED}
"""The largest number where it has more digits."""
WHOLE = {
    "overhead": "a whole number of bytes from 0 to 65535, without a unit",
    "seed": f"a whole number from 0 to {_engine.MOST_SEED}",
}
"""What is allowed in the fields whose range is known."""


def parse_whole(field: str, text: str | None, lowest: int | None = None) -> int | None:
    """Returns the whole number that was typed, None for None.

    Raises `MouseholeError` for anything else, for a number below `lowest`, and for one that is too large: of
    more than `MOST_DIGITS` digits, or above the field's entry in `MOST`.
    """
    if text is None:
        return None
    allowed = "a whole number" if lowest is None else f"a whole number of at least {lowest}"
    digits = re.fullmatch(r"[+-]?([0-9]+)", text.strip())
    largest = MOST.get(field, 10**MOST_DIGITS - 1)
    if digits is None or len(digits[1]) > len(str(largest)) or int(digits[1]) > largest:
        most = f" and of at most {MOST_DIGITS} digits" if digits else ""
        raise field_error(field, text, WHOLE.get(field, f"{allowed}{most}"))
    return int(text) if lowest is None else require_at_least(field, int(text), lowest)


def parse_parameters(field: str, given: Sequence[str]) -> dict[str, object]:
    """Returns the parameters of `NAME=VALUE` texts by name, in the order given.

    A value is a number, `true`, `false` or a list as JSON has it; any other is a text. Raises
    `MouseholeError` for a text of another form and for a name that is given twice.
    """
    found: dict[str, object] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not name or not equals or not value:
            raise field_error(field, text, "NAME=VALUE, such as sessions=100")
        if name in found:
            raise field_error(field, name, "given once", "is given twice")
        found[name] = _parse_plain_value(value)
    return found


def _parse_plain_value(text: str) -> object:
    """Returns the number, boolean or list that the text is in JSON; the text itself if it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float | list) else text
