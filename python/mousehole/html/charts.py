"""How charts look on pages, light and dark, and how Vega-Altair's charts get there.

Colours of charts are written for light pages. Each has a counterpart for dark pages in `DARK`, which takes
its place wherever the text of a chart names it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import altair as alt

from mousehole.base import MouseholeError, address_space_bytes, looks
from mousehole.html.parts import Chart, Choice

ADDRESS_SPACE = 72_000_000_000
"""Bytes of address space that V8 reserves when it starts, and a little more."""

FORE, DIM, RULE, BACK = "#1a1a1a", "#5a5a5a", "#dddddd", "#ffffff"
"""Text, less important text, lines of the grid, and the page."""
BETTER, UNCLEAR, WORSE = "#1b6e3c", "#6b6b6b", "#a3262a"
"""Marks of what changed for the better, for neither, and for the worse."""
DIVERGING = ("#9b83d3", "#cdc2ea", "#f0f0ee", "#f5c993", "#e38b2f")
"""A scale from much less over no change to much more, with a middle that recedes."""
COLOURS = ("#000001", "#b07500", "#0072b2", "#2a8fcb", "#00805c", "#c94f00", "#b4558d", "#707070")
"""Colours of series, in the order of `looks`: those of the plots, with a contrast of 3 to a white page."""
DARK = {
    FORE: "#e8e6e3", DIM: "#a8a6a2", RULE: "#34373c", BACK: "#16181b",
    BETTER: "#6fce93", UNCLEAR: "#9c9a97", WORSE: "#ff8f8a",
    **dict(zip(DIVERGING, ("#5c46a0", "#403a66", "#2c2f34", "#5b3d1a", "#8a4b08"), strict=True)),
    **dict(zip(COLOURS, ("#f5f5f5", "#e69f00", "#4aa8e8", "#8fd0f7", "#2fc796", "#ff8b4d", "#e79ac6",
                         "#a6a6a6"), strict=True)),
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
"""Paths of Vega's symbols, for symbols beside text."""
DASHES = ([1, 0], [8, 2], [1, 0], [2, 2], [6, 2, 2, 2], [8, 2, 2, 2, 2, 2], [4, 3], [6, 3])
"""Dashes of series, in the order of `looks`."""
STILL_WIDTH = 620
"""Width of still pictures, in pixels; they are scaled to their place."""
SHOWN = "shown"
"""Parameter of charts that has the names of the series that the reader chose."""

CONFIG: dict[str, Any] = {
    "background": None,
    "font": "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": DIM, "titleColor": FORE, "titleFontWeight": "normal", "labelFontSize": 12,
        "titleFontSize": 12.5, "gridColor": RULE, "domainColor": DIM, "tickColor": DIM, "labelOverlap": True,
        "titlePadding": 8,
    },
    "axisX": {"labelFlush": True},
    "axisY": {"labelLimit": 220},
    "legend": {
        "orient": "bottom", "title": None, "labelColor": FORE, "titleColor": FORE, "labelFontSize": 12.5,
        "symbolSize": 90, "columns": 4, "labelLimit": 200, "symbolOpacity": 1, "symbolFillColor": None,
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


@dataclass(frozen=True)
class Series:
    """How several series, such as schemes, are told apart in every chart of a page."""

    names: Sequence[str]
    colours: Sequence[str]
    symbols: Sequence[str]
    dashes: Sequence[Sequence[int]]
    field: str = "scheme"
    """Column of the charts' data with the name of the series."""

    @property
    def choices(self) -> list[Choice]:
        """Returns the series for `Page.choices`."""
        return [
            Choice(name, colour, PATHS.get(symbol, symbol))
            for name, colour, symbol in zip(self.names, self.colours, self.symbols, strict=True)
        ]

    def colour(self, legend: bool = True) -> alt.Color:
        """Returns the encoding by colour; `legend` is False where an axis names the series."""
        scale = alt.Scale(domain=list(self.names), range=list(self.colours))
        return alt.Color(f"{self.field}:N", scale=scale, sort=None, legend=alt.Legend() if legend else None)

    def shape(self, legend: bool = True) -> alt.Shape:
        """Returns the encoding by symbol."""
        scale = alt.Scale(domain=list(self.names), range=list(self.symbols))
        return alt.Shape(f"{self.field}:N", scale=scale, sort=None, legend=alt.Legend() if legend else None)

    def dash(self, legend: bool = True) -> alt.StrokeDash:
        """Returns the encoding by dashes of lines."""
        scale = alt.Scale(domain=list(self.names), range=[list(dash) for dash in self.dashes])
        return alt.StrokeDash(
            f"{self.field}:N", scale=scale, sort=None, legend=alt.Legend() if legend else None
        )

    def without(self, name: str) -> "Series":
        """Returns the series without one of them, such as the one that the others are compared with."""
        kept = [place for place, other in enumerate(self.names) if other != name]
        return Series(
            [self.names[place] for place in kept],
            [self.colours[place] for place in kept],
            [self.symbols[place] for place in kept],
            [self.dashes[place] for place in kept],
            self.field,
        )

    def kept(self, chart: Any) -> Any:
        """Returns a chart, or a layer with data of series, with only those that the reader chose."""
        return chart.transform_filter(f"indexof({SHOWN}, datum.{self.field}) >= 0")

    def choosing(self, chart: Any) -> Any:
        """Returns the whole chart with the parameter that `kept` needs, which the page's boxes set."""
        return chart.add_params(alt.param(name=SHOWN, value=list(self.names)))


def of_schemes(schemes: Sequence[str]) -> Series:
    """Returns the series of schemes: each has the colour and the symbol that it has in every figure."""
    places = [looks.place(scheme, schemes) for scheme in schemes]
    return Series(
        schemes,
        [COLOURS[place.colour] for place in places],
        [SYMBOLS[place.line] for place in places],
        [DASHES[place.line] for place in places],
    )


def of_names(names: Sequence[str], field: str) -> Series:
    """Returns the series of other things than schemes, at most as many as there are colours, in order."""
    places = [number % looks.COUNT for number in range(len(names))]
    return Series(
        names, [COLOURS[place] for place in places], [SYMBOLS[place] for place in places],
        [DASHES[place] for place in places], field,
    )  # fmt: skip


def fluid(chart: Chart) -> dict[str, Any]:
    """Returns the chart's description in Vega-Lite, as wide as its place in the page."""
    spec = _spec(chart)
    if chart.is_fluid:
        spec["width"] = "container"
    return spec


def still(chart: Chart) -> str:
    """Returns the chart as an SVG element without script, in the colours of the page around it."""
    spec = _spec(chart)
    if chart.is_fluid:
        spec["width"] = STILL_WIDTH
    svg = _drawing().vegalite_to_svg(spec, config={**CONFIG, "font": "sans-serif"})
    svg = re.sub(r'\bid="', f'id="{chart.name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{chart.name}-", svg)
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: as_variable(found[0]), svg)


def as_variable(colour: str) -> str:
    """Returns a colour of this module as the variable that differs between light and dark pages."""
    return f"var(--chart-{colour[1:]})" if colour in DARK else colour


def variables() -> str:
    """Returns the style that gives every colour of charts its value on light and on dark pages."""
    light = "".join(f"--chart-{colour[1:]}:{colour};" for colour in DARK)
    dark = "".join(f"--chart-{colour[1:]}:{other};" for colour, other in DARK.items())
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


@cache
def bundle() -> str:
    """Returns Vega, Vega-Lite and Vega-Embed as one script; it is part of vl-convert."""
    script: str = _drawing().javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_version())
    return script


def _drawing() -> ModuleType:
    """Returns the library that draws, which runs JavaScript in V8.

    Raises `MouseholeError` where the limit on address space is below what V8 reserves, which would abort the
    process.
    """
    left = address_space_bytes()
    if left is not None and left < ADDRESS_SPACE:
        raise MouseholeError(
            f"cannot draw the charts of a page; they need {ADDRESS_SPACE / 1e9:.0f} GB of address space, and "
            f"the limit (ulimit -v) leaves {left / 1e9:.1f} GB"
        )
    import vl_convert

    return vl_convert


def _spec(chart: Chart) -> dict[str, Any]:
    picture = chart.picture
    spec: dict[str, Any] = picture if isinstance(picture, dict) else json.loads(picture.to_json(indent=None))
    height = {"height": chart.height} if chart.is_fluid else {}
    kept = {name: value for name, value in spec.items() if name not in ("config", "$schema", "usermeta")}
    return {**kept, **height}


def _version() -> str:
    """Returns the version of Vega-Lite that Altair writes for, as vl-convert names it."""
    major, minor, *_ = alt.SCHEMA_VERSION.removeprefix("v").split(".")
    return f"{major}.{minor}"
