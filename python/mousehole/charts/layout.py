"""Whole pictures: panels in rows, with titles and a heading."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from mousehole.charts.style import BACK, CONFIG, SHOWN


@dataclass(frozen=True)
class Panel:
    """One coordinate system of a picture; its size is that of the axes' frame, in pixels."""

    title: str
    chart: Any
    width: int = 420
    height: int = 300
    subtitle: Sequence[str] = ()


def arrange_picture(
    heading: str, rows: Sequence[Sequence[Panel]], names: Sequence[str] = (), one_legend: bool = False
) -> alt.VConcatChart:
    """Returns panels in rows under a heading, with the look of all charts.

    The panels of a row have one legend, so their colours must mean the same; with `one_legend` all rows have.
    `names` are those of all series.
    """
    lines = [
        alt.hconcat(*(_add_title(panel) for panel in row), spacing=28).resolve_scale(
            color="shared", shape="shared"
        )
        for row in rows
    ]
    title = alt.Title(heading, fontSize=15, fontWeight="bold", offset=12)
    how: Literal["shared", "independent"] = "shared" if one_legend else "independent"
    whole = alt.vconcat(*lines, spacing=26, title=title).resolve_scale(color=how, shape=how)
    look: Any = {**CONFIG, "background": BACK}
    made: alt.VConcatChart = whole.add_params(alt.param(name=SHOWN, value=list(names))).configure(**look)
    return made


def _add_title(panel: Panel) -> Any:
    """Returns the panel's chart with its title and size; a height of 0 leaves the height to the chart."""
    title = alt.Title(
        panel.title.split("\n"),
        subtitle=list(panel.subtitle) or alt.Undefined,
        fontWeight="bold",
        frame="group",
    )
    size = {"height": panel.height} if panel.height else {}
    return panel.chart.properties(title=title, width=panel.width, **size)
