"""Puts charts into pages: as still pictures in the page's colours, and as descriptions for its script."""

import json
import re
from typing import Any

from mousehole.charts import writing
from mousehole.charts.style import DARK, PATHS, SHOWN, Series, wrap_name
from mousehole.document.blocks import Chart, Choice

STILL_WIDTH = 620
"""Width of still pictures, in pixels; they are scaled to their place."""
SPARE = 1.6
"""Pixels for each letter of a name that the reader's letters may be wider than those of vl-convert."""


def list_choices(series: Series) -> list[Choice]:
    """Returns the choices of `Document.choices` for series, in their order, with symbols as SVG paths."""
    return [
        Choice(name, colour, PATHS.get(symbol, symbol))
        for name, colour, symbol in zip(series.names, series.colours, series.symbols, strict=True)
    ]


def make_fluid(chart: Chart) -> dict[str, Any]:
    """Returns the chart in Vega-Lite for the page's script.

    It is as wide as its container if it `is_fluid`, and otherwise has its own width.
    """
    spec = _set_size(chart)
    if chart.is_fluid:
        spec["width"] = "container"
    return spec


def render_svg(chart: Chart) -> str:
    """Returns the chart as an SVG element in the colours of the page, for readers without script."""
    spec = _set_size(chart)
    if chart.is_fluid:
        spec["width"] = STILL_WIDTH
    spec["padding"] = {
        "left": 5 + round(SPARE * _measure_longest_name(chart)),
        "top": 5,
        "right": 8,
        "bottom": 5,
    }
    return recolour_svg(writing.as_svg(spec), chart.name)


def recolour_svg(svg: str, name: str) -> str:
    """Returns the SVG element with variables of the page as colours; `name` is put before its ids.

    Only colours of charts change.
    """
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: to_variable(found[0]), svg)


def to_variable(colour: str) -> str:
    """Returns a colour of charts as the variable that differs between light and dark pages."""
    return f"var(--chart-{colour[1:]})" if colour in DARK else colour


def render_colour_variables() -> str:
    """Returns the CSS that gives every colour of charts its value on light and on dark pages."""
    light = "".join(f"--chart-{colour[1:]}:{colour};" for colour in DARK)
    dark = "".join(f"--chart-{colour[1:]}:{other};" for colour, other in DARK.items())
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _measure_longest_name(chart: Chart) -> int:
    """Returns the number of letters of the longest line of a name in the first column of the numbers."""
    heads = (row[0] for row in chart.numbers.rows)
    names = (head if isinstance(head, str) else head.text for head in heads)
    return max((len(line) for name in names for line in wrap_name(name)), default=0)


def _set_size(chart: Chart) -> dict[str, Any]:
    """Returns the chart in Vega-Lite, with its height in pixels if it is fluid.

    If the reader can choose series, the parameter `SHOWN` has all of them at first.
    """
    spec = writing.to_specification(chart.picture)
    if chart.is_fluid:
        spec["height"] = chart.height
    if f"indexof({SHOWN}" in json.dumps(spec):  # the page's boxes set it
        series = list(dict.fromkeys(chart.numbers.keys))
        spec["params"] = [*spec.get("params", []), {"name": SHOWN, "value": series}]
    return spec
