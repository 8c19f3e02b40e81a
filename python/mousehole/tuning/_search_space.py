"""The settings of a scheme that a search may try: which parameters, over which ranges, tied to which others.

The engine's catalogue gives the parameters with their kinds, ranges and defaults. From the kind follows how
a parameter is searched: sizes, times, rates and weights on a logarithmic scale around the default,
thresholds of a queue as shares of the buffer, the lower one of a pair as a part of the upper one.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import floor, inf, isfinite, log2, log10
from typing import Any

import numpy as np

from mousehole import _engine
from mousehole.base import (
    MouseholeError,
    field_error,
    find_shaper_rate,
    scheme_name,
    split_list,
    unknown_error,
    without_rate,
)
from mousehole.engine_types import ParameterEntry

Value = float | str
"""A parameter's value: a number in the unit of its kind, or one of its choices."""
Values = dict[str, Value]

STRUCTURE = frozenset({
    "ack_filter", "auto", "byte", "cap", "colours", "delay", "derandomise", "ecn", "flows", "floor", "guard",
    "h", "highest", "hold_acks", "hosts", "latch", "levels", "limit", "lowest", "mark_ecnth", "mark_gentle",
    "mean", "ns2", "packet", "packets", "period", "police", "promotion", "pushout", "randomised", "restart",
    "selective", "shape", "shared", "small", "syn", "tins", "unit", "unknown", "wait",
})  # fmt: skip
"""Parameters that say what a scheme is, how it counts, what hosts do; searched only if a range names them."""
TWO_COLOURED = frozenset({"ns2-sfd", "p-sfd", "rio-ps", "s-sfd", "sfd"})
"""Markers that give no packet the third colour, so that its thresholds do nothing."""
SHAPER, RATE_OF_SHAPER = "shape", "@"
"""The range of the rate of a shaper before a modem, on a link that has one, and its name among dimensions."""
UPPER_ENDS = {"min": "max", "first": "second", "high": "med"}
"""Endings of parameters by those of the parameters that must be larger."""
FINE = 2
"""Significant digits of a searched value; more would be noise."""
SHARE_STEP = 0.5
"""Step of searched thresholds in percent of the buffer."""
LEAST_SHARE, LEAST_UPPER = 5.0, 2.0
"""Least searched value of an upper threshold: in percent of the buffer, and in packets."""
LEAST_PART, MOST_PART = 0.02, 0.95
"""The parts of an upper threshold that its lower one may be."""
MOST_TIMES = {"size": 256.0, "count": 8.0}
"""By how much the upper one of a pair may exceed the lower one, by kind."""


@dataclass(frozen=True)
class Kind:
    """How values are read, rounded and written, and how far from its default a parameter is searched."""

    name: str
    read: Callable[[str], float]
    write: Callable[[float], str]
    is_log: bool = True
    is_whole: bool = False
    below: float = 8.0
    above: float = 8.0


@dataclass(frozen=True)
class Dimension:
    """One parameter of a scheme that is searched."""

    name: str
    """As the engine's `scheme_parameters` names it: `th`, or `multi-red.green_min` in a combination."""
    kind: Kind | None
    """None for one of several words."""
    low: float
    high: float
    default: Value
    choices: tuple[str, ...] = ()
    part_of: str | None = None
    """The parameter of which it is a part; `low` and `high` are then those of the part."""
    times: str | None = None
    """The parameter of which it is a multiple."""
    gap: float = 0.0
    """By how much it stays below the parameter that it is a part of."""
    least: float = 0.0
    most: float = inf
    """The ends of the user's range, which hold for tied parameters too."""

    def text(self, value: Value) -> str:
        """Returns a value as text in the form that schemes take."""
        return value if isinstance(value, str) else self.kind.write(value) if self.kind else str(value)

    def start(self, defaults: Mapping[str, Value]) -> Any:
        """Returns the default in the form that the search suggests values in, moved into the range.

        Of a tied parameter it is the part or the multiple, for which `defaults` has the other one.
        """
        if self.kind is None:
            return self.default if self.default in self.choices else self.choices[0]
        value = float(self.default)
        other = self.part_of or self.times
        if other is not None:
            value /= float(defaults[other])
        value = min(max(value, self.low), self.high)
        return round(value) if self.kind.is_whole and other is None else value


@dataclass(frozen=True)
class Space:
    """A scheme with the parameters that are searched; those given in its text are not.

    What the engine asks of parameters beyond the ties is not known here; it may refuse a setting.
    """

    template: str
    """The scheme as it was given: the first setting that is tried."""
    dimensions: tuple[Dimension, ...]

    def defaults(self) -> Values:
        """Returns the values of the template."""
        return {dimension.name: dimension.default for dimension in self.dimensions}

    def values(self, found: Mapping[str, Any]) -> Values:
        """Returns the values of the parameters from those that the search chose, rounded.

        Ties are resolved. Raises `KeyError` for a parameter that `found` lacks.
        """
        values: Values = {}
        for dimension in self.dimensions:
            chosen = found[dimension.name]
            other = dimension.part_of or dimension.times
            if dimension.kind is not None and other is not None:
                chosen = min(max(float(chosen) * float(values[other]), dimension.least), dimension.most)
            if dimension.part_of is not None:
                chosen = min(chosen, float(values[dimension.part_of]) - dimension.gap)
            if dimension.kind is not None:
                chosen = _round_value(dimension.kind, float(chosen))
                if other is None:
                    chosen = min(max(chosen, dimension.low), dimension.high)
            values[dimension.name] = chosen
        return values

    def scheme(self, values: Mapping[str, Value]) -> str:
        """Returns the scheme with these values, as the command line takes it, with the rate of a shaper."""
        shaper = f"@{self._texts(values)[RATE_OF_SHAPER]}" if RATE_OF_SHAPER in values else ""
        return f"{self._parts(values)}{shaper}"

    def _texts(self, values: Mapping[str, Value]) -> dict[str, str]:
        """Returns values as texts by the names of their dimensions."""
        return {dimension.name: dimension.text(values[dimension.name]) for dimension in self.dimensions}

    def _parts(self, values: Mapping[str, Value]) -> str:
        """Returns the scheme with these values, without the rate of a shaper."""
        found = self._texts(values)
        texts = {name: found[name] for name in _engine.scheme_parameters(self.template) if name in found}
        parts = []
        for part in _split_parts(self.template):
            prefix = f"{part.name}." if "|" in self.template else ""
            own = {name.removeprefix(prefix): text for name, text in texts.items() if name.startswith(prefix)}
            given = {name: text for name, text in part.given.items() if name not in own}
            inside = ",".join(f"{name}={text}" for name, text in {**given, **own}.items())
            parts.append(f"{part.name}({inside})" if inside else part.name)
        return "|".join(parts)

    def neighbours(self, values: Values) -> list[tuple[Dimension, Value]]:
        """Returns other values of one parameter at a time: half, twice, a quarter less or more, a choice.

        The value itself is left out, and so are values that break the order of tied parameters.
        """
        found = []
        for dimension in self.dimensions:
            for value in _list_neighbours(dimension, values[dimension.name]):
                changed = {**values, dimension.name: value}
                if value != values[dimension.name] and self._is_ordered(changed):
                    found.append((dimension, value))
        return found

    def _is_ordered(self, values: Values) -> bool:
        """Returns whether the values of tied parameters are in order, with the gap between them."""
        for dimension in self.dimensions:
            own = values[dimension.name]
            if (
                dimension.part_of is not None
                and float(own) > float(values[dimension.part_of]) - dimension.gap
            ):
                return False
            if dimension.times is not None and float(own) < float(values[dimension.times]):
                return False
        return True


@dataclass(frozen=True)
class Range:
    """A range that the user gives for a parameter: two ends, or values to choose among."""

    name: str
    words: tuple[str, ...]
    is_choice: bool


@dataclass(frozen=True)
class _Part:
    """A part of a scheme: its name and the parameters that are given."""

    name: str
    given: dict[str, str]


def make_space(
    template: str,
    buffer_packets: int | None,
    ranges: Sequence[Range] = (),
    shaped_percent: float | None = None,
) -> Space:
    """Returns the parameters of a scheme that are searched, on a link with this buffer.

    An unknown buffer (None) counts as 100 packets. On a link before a modem, which is shaped to
    `shaped_percent`, the range `shape` is that of the shaper. Where the scheme has `mode=total`, thresholds
    are whole packets and the weight is a power of two, as routers' WRED has them. Raises `MouseholeError` for
    a scheme that the engine refuses, for one without a parameter to search, and for a range that does not
    fit.
    """
    _engine.scheme_parameters(template)
    buffer = buffer_packets or 100
    given_ranges = {one.name: one for one in ranges}
    shaper = None if shaped_percent is None else given_ranges.pop(SHAPER, None)
    if shaper is not None and find_shaper_rate(template) is not None:
        fault = f"is given in {template}"
        raise field_error("range", SHAPER, "a rate that the scheme leaves open", fault)
    found = [
        dimension
        for part in _split_parts(template)
        for dimension in _list_dimensions(template, part, buffer, given_ranges)
    ]
    if shaper is not None and shaped_percent is not None:
        found.append(_make_shaper_dimension(shaper, shaped_percent))
    if not found:
        given = any(part.given for part in _split_parts(template))
        fault = "leaves no parameter to search" if given else "has no parameter to search"
        raise field_error("scheme", template, "a scheme such as sfd or sfd|multi-red", fault)
    return Space(template, tuple(_order_dimensions(_tie_pairs(found, buffer))))


def read_range(text: str) -> Range:
    """Returns the range of a text such as `th=5kB..200kB` or `mode=coupled,total`.

    Raises `MouseholeError` for any other form.
    """
    form = "NAME=LOW..HIGH or NAME=A,B, such as th=5kB..200kB"
    name, equals, rest = (word.strip() for word in text.partition("="))
    low, dots, high = (word.strip() for word in rest.partition(".."))
    if not name or not equals or not rest or (dots and not (low and high)):
        raise field_error("range", text, form)
    if dots:
        return Range(name, (low, high), is_choice=False)
    words = tuple(word.strip() for word in rest.split(","))
    if len(words) < 2 or not all(words) or len(set(words)) < len(words):
        raise field_error("range", text, form)
    return Range(name, words, is_choice=True)


def _make_shaper_dimension(asked: Range, percent: float) -> Dimension:
    """Returns the dimension of the rate of the shaper before a modem, in percent of the line's rate.

    It starts at `percent`. Raises `MouseholeError` for a range that is not of percentages.
    """
    text = f"{asked.name}={'..'.join(asked.words)}"
    form = "shares of the line's rate, such as shape=50%..100%"
    if not all(word.endswith("%") for word in asked.words):
        raise field_error("range", text, form)
    if asked.is_choice:
        return Dimension(RATE_OF_SHAPER, None, 0, 0, asked.words[0], choices=asked.words)
    low, high = _read_ends(asked, SHAPE)
    return Dimension(RATE_OF_SHAPER, SHAPE, low, high, min(max(percent, low), high))


def check_ranges(ranges: Iterable[Range], templates: Sequence[str], is_shaped: bool = False) -> None:
    """Raises `MouseholeError` for a range of a parameter that no scheme has, and for two of one parameter.

    It also does for a scheme that the engine refuses. With `is_shaped` the range of the shaper is known.
    """
    of_link = [SHAPER] if is_shaped else []
    known = of_link + [name for template in templates for name in _engine.scheme_parameters(template)]
    known = list(dict.fromkeys([*known, *(name.partition(".")[2] for name in known if "." in name)]))
    names = [one.name for one in ranges]
    for place, name in enumerate(names):
        if name not in known:
            raise unknown_error("range", "parameter", name, known)
        if name in names[:place]:
            raise field_error("range", name, "given once", "is given twice")


def find_meaning(scheme: str) -> tuple[object, ...]:
    """Returns a key that all texts of a scheme share: part names, the shaper's rate, all parameter values.

    Raises `MouseholeError` for a text that is no scheme.
    """
    names = tuple(scheme_name(part) for part in scheme.split("|"))
    return (names, find_shaper_rate(scheme), tuple(sorted(_engine.scheme_parameters(scheme).items())))


def _split_parts(template: str) -> list[_Part]:
    """Returns the parts of a scheme with the parameters that are given in it."""
    parts = []
    for text in without_rate(template).split("|"):
        inside = text.strip().partition("(")[2].removesuffix(")")
        items = [item for item in split_list(inside) if item] if inside else []
        given = {name.strip(): value.strip() for name, _, value in (item.partition("=") for item in items)}
        parts.append(_Part(scheme_name(text), given))
    return parts


def _list_dimensions(template: str, part: _Part, buffer: int, ranges: Mapping[str, Range]) -> list[Dimension]:
    """Returns the dimensions of a part: its parameters that are not given and are searched or in `ranges`.

    Raises `MouseholeError` for a range of a given parameter, and for a value that the engine refuses.
    """
    prefix = f"{part.name}." if "|" in template else ""
    named, parts = _list_parameters_by_name(_engine.schemes()), _list_parameters_by_name(_engine.parts())
    entries = ({**named, **parts} if "|" in template else {**parts, **named})[part.name]
    own_policy = bool(_engine.scheme_policies(part.name)) if "|" not in template else False
    unused = _list_unused_colours(template, part)
    is_wred = part.given.get("mode") == "total"
    found = []
    for entry in entries:
        name = entry["name"]
        asked = ranges.get(f"{prefix}{name}") or ranges.get(name)
        if name in part.given or name.startswith(unused):
            if asked is not None and name in part.given:
                fault = f"is given in {template}"
                raise field_error("range", name, "a parameter that the scheme leaves open", fault)
            continue
        if asked is None and not own_policy and _is_structure(name, entry, part):
            continue
        if asked is not None and asked.is_choice:
            _check_words(template, part, name, asked)
        dimension = _make_dimension(entry, f"{prefix}{name}", buffer, asked, is_wred)
        if dimension is not None:
            found.append(dimension)
    return found


def _check_words(template: str, part: _Part, name: str, asked: Range) -> None:
    """Raises `MouseholeError` for a value of a range that the engine refuses."""
    is_marker = "|" in template and part.name != scheme_name(template.rpartition("|")[2])
    for word in asked.words:
        try:
            _engine.scheme_parameters(f"{part.name}({name}={word}){'|droptail' if is_marker else ''}")
        except MouseholeError as error:
            raise error.renamed({error.field or "": "range"}) from None


def _list_parameters_by_name(entries: Sequence[Any]) -> dict[str, list[ParameterEntry]]:
    """Returns the parameters of schemes or parts by their names."""
    return {entry["name"]: entry["params"] for entry in entries}


def _list_unused_colours(template: str, part: _Part) -> tuple[str, ...]:
    """Returns the prefixes of the thresholds of colours that no packet has, such as `red_`.

    Empty for parts other than multi-red and priority-red.
    """
    if part.name not in ("multi-red", "priority-red"):
        return ()
    markers = [one.name for one in _split_parts(template)[:-1]]
    colours = int(part.given.get("colours", "3"))
    if markers and all(name in TWO_COLOURED for name in markers):
        colours = min(colours, 2)
    return tuple(f"{name}_" for name in ("green", "yellow", "red")[colours:])


def _is_structure(name: str, entry: ParameterEntry, part: _Part) -> bool:
    """Returns whether a parameter decides what the scheme is, so that it is searched only on request."""
    if name == "k":
        return part.name in TWO_COLOURED - {"s-sfd"} and part.given.get("promotion") != "one-of-k"
    is_auto = part.name == "ared" and part.given.get("auto") != "false"  # it sets what the rate decides
    if entry["doc"].startswith("not auto:" if is_auto else "auto:") or (is_auto and name == "gentle"):
        return True
    return name in STRUCTURE or entry["default"] == "never" or (name == "wq" and entry["default"] == "0")


def _make_dimension(
    entry: ParameterEntry, name: str, buffer: int, asked: Range | None, is_wred: bool
) -> Dimension | None:
    """Returns the dimension of a parameter; None if there is nothing to choose.

    Raises `MouseholeError` for a range that does not fit the parameter.
    """
    kind = _find_kind(entry, buffer, is_wred)
    if asked is not None and asked.is_choice:
        return Dimension(name, None, 0, 0, entry["default"], choices=asked.words)
    if kind is None:
        choices = _parse_choices(entry["unit"])
        if asked is not None:
            given = f"{asked.name}={'..'.join(asked.words)}"
            raise field_error("range", given, f"two or more of {', '.join(choices)}, with commas")
        return Dimension(name, None, 0, 0, entry["default"], choices=choices) if choices else None
    default = kind.read("1s" if entry["default"] == "never" else entry["default"])
    if asked is not None:
        low, high = _read_ends(asked, kind)
        return Dimension(name, kind, low, high, min(max(default, low), high), least=low, most=high)
    low, high = _choose_range(kind, entry, default, buffer)
    return Dimension(name, kind, low, high, default) if low < high else None


def _read_ends(asked: Range, kind: Kind) -> tuple[float, float]:
    """Returns the ends of a range as numbers of a kind, in rising order.

    Raises `MouseholeError` for texts of another form, and for ends that are not in order.
    """
    text = f"{asked.name}={'..'.join(asked.words)}"
    try:
        low, high = (kind.read(word) for word in asked.words)
    except (MouseholeError, ValueError):
        raise field_error("range", text, f"two values such as {kind.write(kind.read('1'))}" if kind.name in (
            "count", "number", "weight") else "two values with the parameter's unit") from None  # fmt: skip
    if kind.name == "weight":
        low, high = high, low
    if not (isfinite(low) and isfinite(high) and low < high) or (kind.is_log and low <= 0):
        raise field_error(
            "range", text, "a lower end below the upper one" + (", above 0" if kind.is_log else "")
        )
    return low, high


def _choose_range(kind: Kind, entry: ParameterEntry, default: float, buffer: int) -> tuple[float, float]:
    """Returns the range in which a parameter is searched unless the user gives one, in the unit of the kind.

    It may be empty: then the lower end is not below the upper one.
    """
    if kind.name == "share":
        return min(max(LEAST_SHARE, 100 * LEAST_UPPER / buffer), 99.5), 100.0
    if kind.name == "packets":
        return max(LEAST_UPPER, round(LEAST_SHARE * buffer / 100)), max(float(buffer), LEAST_UPPER + 1)
    if kind.name == "weight":
        return 1.0, 14.0
    if kind.name == "rate share":
        return 5.0, 100.0
    least, most = _parse_allowed_range(entry["unit"])
    low, high = max(default / kind.below, least), min(default * kind.above, most)
    if kind.is_whole:
        low, high = max(round(low), 1), max(round(high), 2)
    return low, high


def _parse_allowed_range(unit: str) -> tuple[float, float]:
    """Returns the least and the greatest number that the catalogue's text of a unit allows.

    Without a bound these are 0 and infinity.
    """
    _, _, said = unit.partition(";")
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", said)]
    if " to " in said and len(numbers) == 2:
        return numbers[0], numbers[1]
    least, most = 0.0, float("inf")
    if match := re.search(r"(?:above|at least) (\S+?)(?:,|\s|$)", said):
        least = float(match[1])
    if match := re.search(r"at most (\S+?)(?:,|\s|$)", said):
        most = float(match[1])
    return least, most


def _find_kind(entry: ParameterEntry, buffer: int, is_wred: bool) -> Kind | None:
    """Returns the kind of a parameter by the catalogue's text of its unit; None for one with choices."""
    unit = entry["unit"]
    if is_wred and entry["name"] == "wq":
        return WEIGHT
    if unit.startswith("packets (30p), or %"):
        kind = PACKETS if is_wred else SHARE
        return replace(kind, read=partial(_parse_threshold, kind.name, buffer))
    if unit.startswith("a rate") and entry["default"].endswith("%"):
        return RATE_SHARE
    if unit.startswith("a number") and "at most 1" in unit.replace("to 1", "at most 1"):
        return PART
    return next((kind for words, kind in BY_UNIT.items() if unit.startswith(words)), None)


def _parse_choices(unit: str) -> tuple[str, ...]:
    """Returns the choices of a unit such as `a, b or c`; empty for any other unit."""
    if re.fullmatch(r"[\w-]+(, [\w-]+)* or [\w-]+", unit) is None:
        return ()
    return tuple(word for words in unit.split(" or ") for word in words.split(", "))


def _tie_pairs(found: Sequence[Dimension], buffer: int) -> list[Dimension]:
    """Returns the dimensions with pairs tied: a threshold as a part of another, a size as a multiple.

    The order of the dimensions stays.
    """
    names = {dimension.name: dimension for dimension in found}
    made = dict(names)
    for name, lower in names.items():
        ending = next((one for one in UPPER_ENDS if re.search(rf"(^|[._]){one}$", name)), None)
        upper = names.get(f"{name.removesuffix(ending)}{UPPER_ENDS[ending]}") if ending else None
        if upper is None or lower.kind is None or upper.kind is None or lower.kind.name != upper.kind.name:
            continue
        if lower.kind.name in MOST_TIMES:
            made[upper.name] = replace(upper, low=1.0, high=MOST_TIMES[lower.kind.name], times=lower.name)
        else:
            gap = 1.0 if lower.kind.name == "packets" else max(SHARE_STEP, 150 / buffer)
            part = {"low": LEAST_PART, "high": MOST_PART}
            made[lower.name] = replace(lower, **part, part_of=upper.name, gap=gap)  # type: ignore[arg-type]
    return list(made.values())


def _order_dimensions(found: Iterable[Dimension]) -> list[Dimension]:
    """Returns the dimensions, those that depend on another one last."""
    return sorted(found, key=lambda dimension: dimension.part_of is not None or dimension.times is not None)


def _list_neighbours(dimension: Dimension, value: Value) -> list[Value]:
    """Returns the values next to a value that may be tried, rounded.

    Of a choice these are all choices, with the value itself.
    """
    kind = dimension.kind
    if kind is None:
        return list(dimension.choices)
    own = float(value)
    if kind.name in ("share", "packets"):
        others = [0.75 * own, 1.25 * own]
    elif kind.name == "weight":
        others = [own - 1, own + 1]
    elif kind.is_log:
        others = [own / 2, own * 2]
    else:
        others = [
            own - 0.25 * (dimension.high - dimension.low),
            own + 0.25 * (dimension.high - dimension.low),
        ]
    is_tied = dimension.part_of is not None or dimension.times is not None
    least, most = (0.0, 100.0 if kind.name in ("share", "percent") else float("inf"))
    if not is_tied:
        least, most = min(dimension.low, own), max(dimension.high, own)
    return [_round_value(kind, other) for other in others if least <= other <= most and other > 0]


def _round_value(kind: Kind, value: float) -> float:
    """Returns a value with the precision of its kind.

    Whole numbers and packets are at least 1, shares of the buffer at least one step. Other values have `FINE`
    significant digits.
    """
    if kind.is_whole or kind.name == "packets":
        return float(max(round(value), 1))
    if kind.name == "share":
        return max(round(value / SHARE_STEP), 1) * SHARE_STEP
    if value == 0:
        return 0.0
    return round(value, FINE - 1 - floor(log10(abs(value))))


def _parse_threshold(kind: str, buffer: int, text: str) -> float:
    """Returns a queue's threshold in percent of the buffer for kind `share`, else in packets.

    Raises `ValueError` for another text.
    """
    is_share = text.endswith("%")
    number = float(text.removesuffix("%") if is_share else text.removesuffix("p"))
    if kind == "share":
        return number if is_share else 100 * number / buffer
    return max(1.0, round(number / 100 * buffer)) if is_share else number


def _parse_size(text: str) -> float:
    """Returns the bytes of a size; packets count 1500."""
    if text.endswith("p"):  # SFD's threshold may be in packets
        return 1500.0 * int(text.removesuffix("p"))
    return float(_engine.parse_size("size", text))


def _write_size(value: float) -> str:
    """Returns a size in bytes as schemes take it."""
    whole = round(value)
    return f"{whole // 1000}kB" if whole % 1000 == 0 and whole else f"{whole}B"


def _write_time(value: float) -> str:
    """Returns a time in seconds as text for schemes, below a microsecond in whole nanoseconds."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{_write_plain(value / scale)}{unit}"
    return f"{round(value * 1e9)}ns"


def _parse_rate(text: str) -> float:
    """Returns the bits per second of a rate."""
    return float(_engine.parse_rate("rate", text))


def _write_plain(value: float) -> str:
    """Returns a number without an exponent and without trailing zeros."""
    return np.format_float_positional(float(f"{value:.12g}"), trim="-")


def _parse_percent(text: str) -> float:
    """Returns the number of a percentage, with or without its sign; raises `ValueError` for another text."""
    return float(text.removesuffix("%"))


SHAPE = Kind("percent", _parse_percent, lambda value: f"{_write_plain(value)}%", is_log=False)
SIZE = Kind("size", _parse_size, _write_size, above=64.0)
TIME = Kind("time", partial(_engine.parse_duration, "time"), _write_time)
SHARE = Kind("share", _parse_percent, lambda value: f"{_write_plain(value)}%", is_log=False)
PACKETS = Kind("packets", float, lambda value: f"{round(value)}", is_log=False, is_whole=True)
COUNT = Kind("count", float, lambda value: f"{round(value)}", is_whole=True)
PERCENT = Kind("percent", _parse_percent, _write_plain, is_log=False)
RATE = Kind("rate", _parse_rate, lambda value: f"{round(value)}bit")
RATE_SHARE = Kind("rate share", _parse_percent, lambda value: f"{_write_plain(value)}%")
NUMBER = Kind("number", float, _write_plain)
PART = Kind("number", float, _write_plain, below=50.0, above=50.0)
WEIGHT = Kind("weight", lambda text: float(max(0, round(-log2(float(text))))),
              lambda value: _write_plain(2.0**-value), is_log=False, is_whole=True)  # fmt: skip
BY_UNIT = {
    "bytes (15kB) or packets": SIZE, "a size": SIZE, "a time": TIME, "a whole number": COUNT,
    "percent": PERCENT, "a rate": RATE, "a number": NUMBER,
}  # fmt: skip
"""Kinds by what the catalogue's text of a unit begins with."""
