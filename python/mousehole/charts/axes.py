"""Axes that charts share: changes as ratios, times and sizes on logarithmic scales, names."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from mousehole.charts import looks
from mousehole.charts.style import DIM, label_expression

TIME_LABEL = (
    "datum.value < 0.9995 ? format(1000 * datum.value, '~g') + ' ms' : format(datum.value, '~g') + ' s'"
)
SIZE_LABEL = (
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' MB' : "
    "datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' kB' : format(datum.value, '~g') + ' B'"
)
SHARE_LABEL = "format(100 * datum.value, '~g') + ' %'"
CHANGE_LABEL = (
    "abs(datum.value) < 1e-6 ? '0 %' : "
    "replace(format(100 * (pow(2, datum.value) - 1), '+.0f'), '-', '−') + ' %'"
)
"""How the labels of an axis are made of its values: seconds, bytes, shares, log2 of ratios."""


@dataclass(frozen=True)
class Sides:
    """What less and more of a quantity are called, and whether less is better."""

    less: str
    more: str
    less_is_better: bool = True

    @property
    def title(self) -> str:
        """Returns the title of an axis of changes, less on the left and more on the right."""
        return f"change (← {self.less}, {self.more} →)"


TIMES = Sides("faster", "slower")
"""The sides of times."""

Encoding = Callable[..., Any]
"""Makes the encoding of a field: called with the field and perhaps `altair.X` or `altair.Y`."""


def change_axis(places: Sequence[float], title: str) -> Encoding:
    """Returns a function for the encoding of log2 of ratios, labelled as changes in percent.

    `places` are all values that must fit, in log2. Half and twice as much are equally far from no change. The
    function takes the field, and the channel, which is x unless `altair.Y` is given.
    """
    low, high = min([*places, -0.1]), max([*places, 0.1])
    margin = 0.04 * (high - low)
    low, high = low - margin, high + margin

    def encoding(field: str, kind: Any = alt.X) -> Any:
        """Returns the encoding of a field on this axis."""
        axis = alt.Axis(values=looks.ratio_ticks(low, high), labelExpr=CHANGE_LABEL)
        return kind(f"{field}:Q", scale=alt.Scale(domain=[low, high], nice=False), title=title, axis=axis)

    return encoding


def core_range(places: Sequence[float]) -> tuple[float, float]:
    """Returns the least and the greatest value without outliers, which would squeeze all others.

    Outliers are at most a quarter of the values, at one end, that lie farther from the others than these
    reach; they are removed until there are none. Raises `IndexError` if there are no values.
    """
    kept = sorted(places)
    while (ends := _remove_outliers(kept)) is not None:
        kept = ends
    return kept[0], kept[-1]


def _remove_outliers(places: list[float]) -> list[float] | None:
    """Returns sorted values without the outliers at one end; None if there are no outliers."""
    for count in range(1, len(places) // 4 + 1):
        low, high = places[count:], places[:-count]
        if places[-count] - high[-1] > high[-1] - high[0]:
            return high
        if low[0] - places[count - 1] > low[-1] - low[0]:
            return low
    return None


def log_axis(places: Sequence[float], title: str, label: str) -> Encoding:
    """Returns a function for the encoding of positive numbers on a logarithmic scale, as `change_axis` does.

    `label` is one of this module's. Numbers that are not positive do not count; without any other the axis is
    from 0.1 to 1.
    """
    known = [place for place in places if place > 0]
    low, high = (min(known), max(known)) if known else (0.1, 1.0)
    low, high = low / 1.06, high * 1.06

    def encoding(field: str, kind: Any = alt.X) -> Any:
        """Returns the encoding of a field on this axis."""
        scale = alt.Scale(type="log", domain=[low, high], nice=False)
        axis = alt.Axis(values=looks.log_ticks(low, high), labelExpr=label)
        return kind(f"{field}:Q", scale=scale, title=title, axis=axis)

    return encoding


def label_ticks(ticks: Sequence[float], names: Sequence[str]) -> str:
    """Returns the Vega expression that labels each of `ticks` with the name at the same index."""
    return f"{json.dumps(list(names), ensure_ascii=False)}[indexof({json.dumps(list(ticks))}, datum.value)]"


def name_axis(field: str, names: Sequence[str], bold: Sequence[str] = ()) -> alt.Y:
    """Returns the encoding of y with one line per name, in the given order; those in `bold` are bold."""
    weight: Any = alt.Undefined
    if bold:
        is_bold = f"indexof({json.dumps(list(bold))}, datum.value) >= 0"
        weight = {"condition": {"test": is_bold, "value": "bold"}, "value": "normal"}
    axis = alt.Axis(ticks=False, domain=False, grid=False, labelExpr=label_expression(names),
                    labelFontWeight=weight)  # fmt: skip
    return alt.Y(f"{field}:N", sort=list(names), title=None, axis=axis)


def zero_line(kind: Any = alt.X) -> Any:
    """Returns a layer with the line of no change: vertical for `altair.X`, horizontal for `altair.Y`."""
    line = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=DIM, strokeWidth=1)
    return line.encode(x="zero:Q") if kind is alt.X else line.encode(y="zero:Q")
