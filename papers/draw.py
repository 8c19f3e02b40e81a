"""Draws a paper's figures: our curves with their intervals, and the published points as crosses."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import altair as alt
from mousehole import charts
from mousehole.base import MouseholeError
from mousehole.charts import Series, looks
from mousehole.charts.marks import Datum, make_chart, round_digits
from mousehole.charts.style import DIM
from mousehole.statistics import Estimate

from papers.definition import FigureItem, Panel
from papers.text import SCALES

BESIDE = [4, 2]
"""Dashes of the second value of a panel."""
FEW = 30
"""Curves of at most so many points have marks."""
PUBLISHED = "×: published"


@dataclass(frozen=True)
class Curve:
    """One curve: our estimate at each abscissa, and the published points."""

    name: str
    x: Sequence[float]
    y: Sequence[Estimate]
    published: Sequence[tuple[float, float]] = ()
    beside: Sequence[float] = ()
    """The panel's second value at each abscissa."""


def draw(item: FigureItem, panels: Sequence[tuple[Panel, Sequence[Curve]]], picture: Path) -> None:
    """Draws all panels next to each other and writes the picture, in the format of its suffix.

    Makes the folder. Raises `MouseholeError` if a panel has fewer curves than the figure has names, and if
    the file cannot be written.
    """
    for panel, curves in panels:
        missing = set(item.names) - {curve.name for curve in curves if len(curve.x)}
        if missing:
            raise MouseholeError(
                f"figure {item.number}, {panel.ylabel}: no curve for {', '.join(sorted(missing))}"
            )
    picture.parent.mkdir(parents=True, exist_ok=True)
    # The page has a heading of its own.
    heading = "" if picture.suffix == ".svg" else f"Figure {item.number}: {item.title}"
    drawn = [
        charts.Panel(
            panel.title, _make_panel_chart(panel, curves, item), 360, 290, [_describe(panel, curves)]
        )
        for panel, curves in panels
    ]
    charts.write_chart(charts.arrange_picture(heading, [drawn], item.names), picture)


def _describe(panel: Panel, curves: Sequence[Curve]) -> str:
    """Returns the caption of a panel: the meaning of crosses and dashes, if it has any."""
    parts = [PUBLISHED] if any(curve.published for curve in curves) else []
    parts += [f"dashed: {panel.beside_name}"] if panel.beside else []
    return "; ".join(parts)


def _make_panel_chart(panel: Panel, curves: Sequence[Curve], item: FigureItem) -> Any:
    """Returns the chart of one panel: our curves, the published points, and the second value."""
    series = charts.make_series(item.names, "curve")
    scale = SCALES.get(panel.unit, 1.0)
    points = [datum for curve in curves for datum in _list_points(panel, curve, scale)]
    printed = [{"curve": curve.name, "x": float(x), "y": round_digits(scale * y)}
               for curve in curves for x, y in curve.published]  # fmt: skip
    beside = [{"curve": curve.name, "x": float(x), "y": round_digits(scale * y)}
              for curve in curves if curve.beside
              for x, y in zip(curve.x, curve.beside, strict=True)]  # fmt: skip
    shown = [datum for datum in (*points, *printed, *beside) if isfinite(datum["x"] + datum["y"])]
    x = _make_axis(alt.X, panel.xlabel, "x" in panel.log, [datum["x"] for datum in shown])
    ends = [datum[end] for datum in points for end in ("low", "high") if datum[end] is not None]
    heights = [*(datum["y"] for datum in shown), *(ends if panel.kind == "lines" else [])]
    y = _make_axis(alt.Y, panel.ylabel, "y" in panel.log, heights, panel.top)
    return alt.layer(*_make_change_line(panel), *_make_layers(panel, (points, printed, beside), x, y, series))


def _make_layers(panel: Panel, data: Sequence[list[Datum]], x: Any, y: Any, series: Series) -> list[Any]:
    """Returns the layers of our points, of the published ones and of the second value."""
    points, printed, beside = data
    base, crosses, dashed = (
        make_chart(own).encode(x=x("x"), y=y("y"), color=series.colour()) for own in data
    )
    layers = [base.mark_line(clip=True).encode(strokeDash=series.dash(), order="place:Q")]
    if panel.kind == "lines":
        is_few = max((datum["place"] for datum in points), default=0) < FEW
        bands = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_area(
            opacity=0.12, clip=True
        )
        marks = base.mark_point(size=36 if is_few else 0, opacity=1, clip=True)
        layers += [bands.encode(y=y("low"), y2="high:Q"), marks.encode(shape=series.shape())]
    else:
        layers.append(base.mark_point(opacity=0).encode(shape=series.shape()))
    layers += [dashed.mark_line(strokeDash=BESIDE, strokeWidth=1.1, clip=True)] if beside else []
    cross = crosses.mark_text(text="×", fontSize=18, fontWeight="bold", clip=True)
    return layers + ([cross] if printed else [])


def _list_points(panel: Panel, curve: Curve, scale: float) -> list[Datum]:
    """Returns the points of a curve with finite means; of a distribution, values lie on the abscissa.

    Numbers are multiplied by `scale`; ends of intervals that are not finite are None.
    """
    data = []
    for place, (x, one) in enumerate(zip(curve.x, curve.y, strict=True)):
        mean, low, high = (
            round_digits(scale * value) if isfinite(value) else None
            for value in (one.mean, one.low, one.high)
        )
        if mean is None:
            continue
        datum = {"curve": curve.name, "x": float(x), "y": mean, "low": low, "high": high, "place": place}
        if panel.kind != "lines":
            datum |= {"x": mean, "y": float(x) if panel.kind == "cdf" else 1 - float(x)}
        data.append(datum)
    return data


def _make_axis(kind: Any, title: str, is_log: bool, places: list[float], top: float | None = None) -> Any:
    """Returns a function that encodes a field on this axis.

    A linear ordinate begins at 0 if no value is negative. On a logarithmic scale only positive values count.
    `top` is the upper end, None for that of the values.
    """
    if is_log:
        known = [place for place in places if place > 0] or [0.1, 1.0]
        low, high = min(known) / 1.1, (top or max(known) * 1.1)
        axis = alt.Axis(values=looks.log_ticks(low, high), format="~g" if high < 1e5 else "~s")
        scale = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    else:
        starts_at_zero = kind is alt.Y and min(places, default=0) >= 0
        low, high = min(places, default=0.0), max(places, default=1.0)
        room = 0.03 * (high - low)
        domain = [0.0 if starts_at_zero else low - room, high + room if top is None else top]
        axis, scale = alt.Axis(tickCount=6), alt.Scale(domain=domain, nice=False)
    return lambda field: kind(f"{field}:Q", title=title, scale=scale, axis=axis)


def _make_change_line(panel: Panel) -> list[Any]:
    """Returns a list with the line of no change; empty unless the panel draws changes on a linear scale."""
    if not panel.change or "y" in panel.log:
        return []
    at = make_chart([{"at": 1.0 if panel.change == "ratio" else 0.0}])
    return [at.mark_rule(color=DIM).encode(y="at:Q")]
