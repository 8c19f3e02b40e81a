"""How charts look: colours, light and dark, symbols and dashes of series, and the configuration of all.

Colours of charts are written for light pages. Each has a counterpart for dark pages in `DARK`, which takes
its place wherever the text of a chart names it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from mousehole.charts import looks

FORE, DIM, RULE, BACK = "#1a1a1a", "#5a5a5a", "#dddddd", "#ffffff"
"""Text, less important text, lines of the grid, and the page."""
BETTER, UNCLEAR, WORSE = "#1b6e3c", "#6b6b6b", "#a3262a"
"""Marks of what changed for the better, for neither, and for the worse."""
DIVERGING = ("#9b83d3", "#cdc2ea", "#f0f0ee", "#f5c993", "#e38b2f")
"""A scale from much less over no change to much more, with a middle that recedes."""
STRONG = ("#542788", "#b2abd2", "#f0f0ee", "#fdb863", "#b35806")
"""The same scale for fields without numbers in them."""
SEQUENTIAL = ("#f0f0ee", "#9b83d3")
"""A scale from little to much."""
COLOURS = ("#000001", "#b07500", "#00558f", "#2e9bdb", "#00805c", "#c93400", "#b4558d", "#707070")
"""Colours of series, in the order of `looks`: near Okabe & Ito's, with a contrast of 3 to a white page."""
QUIET = "#b9b9ba"
"""Colour of the series that a picture of many does not distinguish."""
DARK = {
    FORE: "#e8e6e3", DIM: "#a8a6a2", RULE: "#34373c", BACK: "#16181b",
    BETTER: "#6fce93", UNCLEAR: "#9c9a97", WORSE: "#ff8f8a",
    **dict(zip(DIVERGING, ("#5c46a0", "#403a66", "#2c2f34", "#5b3d1a", "#8a4b08"), strict=True)),
    **dict(zip(COLOURS, ("#f5f5f5", "#e69f00", "#3f8fe0", "#9bdcff", "#2fc796", "#ff8b4d", "#e79ac6",
                         "#a6a6a6"), strict=True)),
    QUIET: "#55585c",
}  # fmt: skip
"""The counterpart of every colour on dark pages."""
SYMBOLS = (
    "circle",
    "square",
    "triangle-up",
    "triangle-down",
    "diamond",
    "M-1,-0.6L-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0Z",
    "cross",
    "M0,-1L0.26,-0.36L0.95,-0.31L0.42,0.14L0.59,0.81L0,0.44L-0.59,0.81L-0.42,0.14L-0.95,-0.31L-0.26,-0.36Z",
)
"""Symbols of series, in the order of `looks`: names of Vega's, or paths."""
PATHS = {
    "circle": "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z",
    "square": "M-0.9,-0.9H0.9V0.9H-0.9Z",
    "triangle-up": "M0,-1L1,0.8H-1Z",
    "triangle-down": "M0,1L1,-0.8H-1Z",
    "diamond": "M0,-1.1L0.9,0L0,1.1L-0.9,0Z",
    "cross": "M-1,-0.35H-0.35V-1H0.35V-0.35H1V0.35H0.35V1H-0.35V0.35H-1Z",
}
"""Paths of Vega's symbols, for symbols in text."""
DASHES = ([1, 0], [8, 2], [1, 0], [2, 2], [6, 2, 2, 2], [8, 2, 2, 2, 2, 2], [4, 3], [6, 3])
"""Dashes of series, in the order of `looks`."""
SHOWN = "shown"
"""Parameter of charts that has the names of the series that the reader chose."""

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
"""Liberation Sans is as wide as Arial and is part of vl-convert, so that pictures have text everywhere."""

CONFIG: dict[str, Any] = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": DIM, "titleColor": FORE, "titleFontWeight": "normal", "labelFontSize": 12,
        "titleFontSize": 12.5, "gridColor": RULE, "domainColor": DIM, "tickColor": DIM, "labelOverlap": True,
        "titlePadding": 8,
    },
    "axisX": {"labelFlush": True},
    "axisY": {"labelLimit": 0},
    "legend": {
        "orient": "bottom", "title": None, "labelColor": FORE, "titleColor": FORE, "labelFontSize": 12.5,
        "symbolSize": 90, "columns": 4, "columnPadding": 22, "labelLimit": 0,
        "symbolOpacity": 1, "symbolFillColor": None,
    },
    "title": {"color": FORE, "subtitleColor": DIM, "anchor": "start", "fontSize": 13},
    "header": {"labelColor": FORE, "titleColor": FORE, "labelFontSize": 12.5},
    "text": {"color": FORE, "fontSize": 12},
    "rule": {"color": DIM},
    "line": {"strokeWidth": 2},
    "point": {"filled": True, "size": 60},
    "aria": False,
}  # fmt: skip
"""The look of all charts on light pages, as Vega-Lite's configuration; `aria` is off because a page gives
each chart one description and its numbers, in place of a word for each mark."""


LETTER = 7.0
"""Width of a letter of names, in pixels, a little more than most have."""
LEGEND = 600
"""Width of a legend, in pixels, into which columns must fit."""
LONG_NAME = 34
"""Longer names are broken after commas and bars."""


@dataclass(frozen=True)
class Series:
    """How several series, such as schemes, are distinguished in every chart of a page or picture."""

    names: Sequence[str]
    colours: Sequence[str]
    symbols: Sequence[str]
    dashes: Sequence[Sequence[int]]
    field: str = "scheme"
    """Column of the charts' data with the name of the series."""
    named: Sequence[str] | None = None
    """The series that legends name; all if None."""

    def colour(self, legend: bool = True) -> Any:
        """Returns the encoding by colour; `legend` is False where an axis names the series."""
        return self._encoding(alt.Color, self.colours, legend)

    def shape(self, legend: bool = True) -> Any:
        """Returns the encoding by symbol."""
        return self._encoding(alt.Shape, self.symbols, legend)

    def dash(self) -> alt.StrokeDashValue:
        """Returns the encoding by dashes of lines; no scale, as that would dash the legend's symbols."""
        own = [
            {"test": f"datum.{self.field} === {json.dumps(name)}", "value": list(dash)}
            for name, dash in zip(self.names, self.dashes, strict=True)
        ]
        return alt.StrokeDashValue(condition=own, value=[1, 0])

    def keep_named(self, chart: Any) -> Any:
        """Returns the chart with only the series that legends name; unchanged if they name all."""
        if self.named is None:
            return chart
        return chart.transform_filter(f"indexof({json.dumps(list(self.named))}, datum.{self.field}) >= 0")

    def order_quiet_first(self) -> list[str]:
        """Returns the names in the order of drawing: those that legends name come last, above the others."""
        return sorted(self.names, key=lambda name: self.named is not None and name in self.named)

    def without(self, name: str) -> "Series":
        """Returns the series without one of them, such as the one that the others are compared with.

        The series itself stays as it is; a name that it lacks changes nothing.
        """
        kept = [place for place, other in enumerate(self.names) if other != name]
        return Series(
            [self.names[place] for place in kept],
            [self.colours[place] for place in kept],
            [self.symbols[place] for place in kept],
            [self.dashes[place] for place in kept],
            self.field,
            self.named,
        )

    def quieten(self, loud: Sequence[str]) -> "Series":
        """Returns the series with all but `loud` in one grey, without dashes, which legends do not name."""
        places = [(place, name in loud) for place, name in enumerate(self.names)]
        colours = [self.colours[place] if is_loud else QUIET for place, is_loud in places]
        dashes = [self.dashes[place] if is_loud else [1, 0] for place, is_loud in places]
        return Series(self.names, colours, self.symbols, dashes, self.field, list(loud))

    def filter_chosen(self, chart: Any) -> Any:
        """Returns a chart, or a layer with data of series, with only those that the reader chose.

        The whole chart needs the parameter `SHOWN` with their names, which a page or `layout.arrange_picture`
        adds.
        """
        return chart.transform_filter(f"indexof({SHOWN}, datum.{self.field}) >= 0")

    def _encoding(self, kind: Any, marks: Sequence[Any], legend: bool) -> Any:
        """Returns the encoding of the series by one mark each; without `legend` it has no legend."""
        scale = alt.Scale(domain=list(self.names), range=list(marks))
        return kind(f"{self.field}:N", scale=scale, sort=None, legend=self._legend() if legend else None)

    def _legend(self) -> alt.Legend:
        """Returns a legend of the named series, in columns that fit `LEGEND` pixels.

        Long names have several lines.
        """
        names = list(
            self.names if self.named is None else [name for name in self.names if name in self.named]
        )
        widest = max((len(line) for name in names for line in wrap_name(name)), default=1)
        columns = max(1, min(len(names), int(LEGEND / (LETTER * widest + 48))))
        return alt.Legend(values=names, columns=columns, labelLimit=0, labelExpr=label_expression(names))


def make_scheme_series(schemes: Sequence[str]) -> Series:
    """Returns the series of schemes, no two of which look alike (see `looks.assign_looks`)."""
    return _make_series(schemes, looks.assign_looks(schemes), "scheme")


def make_series(names: Sequence[str], field: str) -> Series:
    """Returns the series of names that are not schemes, with colours and symbols in the order of the lists.

    Looks repeat after `COUNT` names. `field` is the column of the names in the data.
    """
    places = [number % looks.COUNT for number in range(len(names))]
    return _make_series(names, [looks.Place(place, place) for place in places], field)


def wrap_name(name: str) -> list[str]:
    """Returns a name as lines of at most `LONG_NAME` characters, which end after commas and bars.

    A piece without these stays whole, however long. Joined, the lines are the name.
    """
    lines = [""]
    for part in re.split(r"(?<=[,|])(?=\S)", name):
        if lines[-1] and len(lines[-1] + part) > LONG_NAME:
            lines.append("")
        lines[-1] += part
    return lines


def label_expression(names: Sequence[str]) -> Any:
    """Returns the Vega expression that breaks long names into lines; undefined if none is long."""
    if all(len(wrap_name(name)) == 1 for name in names):
        return alt.Undefined
    return f"{json.dumps({name: wrap_name(name) for name in names}, ensure_ascii=False)}[datum.value]"


def _make_series(names: Sequence[str], places: Sequence[looks.Place], field: str) -> Series:
    """Returns the series whose names have the looks at `places`; `field` is their column in the data."""
    return Series(
        names, [COLOURS[place.colour] for place in places], [SYMBOLS[place.line] for place in places],
        [DASHES[place.line] for place in places], field,
    )  # fmt: skip
