"""Charts of one run over time: what waits at each link, what is sent and dropped, congestion windows."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from mousehole.base import time_text
from mousehole.charts import Panel, arrange_picture
from mousehole.charts.marks import empty_chart, make_chart, round_digits
from mousehole.charts.style import BETTER, COLOURS, DIM, QUIET, WORSE
from mousehole.engine_types import RunSummary, Scenario

PLACES = 500
"""Points of a line at most: no screen shows more."""
MOST_LINES = 8
"""Congestion windows of more flows are drawn in one colour, without a legend."""
WIDTH, HEIGHT = 760, 120
"""Size of a panel in pixels."""
STATES = ("backlog_s", "capacity_bps", "connections", "cwnd_segments")
"""Samples of states: of several the mean is drawn."""
COUNTS = ("dropped", "marked")
"""Samples of packets counted: of several the sum is drawn."""
OF_COLOURS = {"green": BETTER, "yellow": COLOURS[1], "red": WORSE}
"""How the colours of packets are drawn."""


def draw_series(series: pl.DataFrame, scenario: Scenario, summary: RunSummary) -> alt.VConcatChart:
    """Returns the samples of a run as panels below each other, with a common axis of time.

    `series` is `Records.series` with samples. A dashed line is where the measured window begins.
    """
    begin = summary["window_begin_s"]
    span = (0.0, summary["window_end_s"])
    shown = _thin_out(series.filter(pl.col("name").is_in([*STATES, *COUNTS, "sent_bps"])), span)
    links = list(dict.fromkeys(name for name in shown["link"] if name))
    panels = [panel for link in links for panel in _link_panels(shown.filter(pl.col("link") == link), link)]
    panels += _sender_panels(shown.filter(pl.col("link") == ""))
    rows = [[_finish_panel(panel, begin, span, is_last=panel is panels[-1])] for panel in panels]
    return arrange_picture(f"{scenario['scheme']} over time", rows)


def _thin_out(series: pl.DataFrame, span: tuple[float, float]) -> pl.DataFrame:
    """Returns about `PLACES` values of each line: means of states and rates, sums of counts.

    `span` is the beginning and end of the axis of time, seconds. A value is at the time of its last sample.
    """
    bin_s = max((span[1] - span[0]) / PLACES, 1e-9)
    # A sample stands for the interval that ends with it, so one on an edge belongs to the bin before.
    place = ((pl.col("time_s") - span[0]) / bin_s - 1e-6).floor()
    values = pl.col("value")
    return (
        series.with_columns(place.alias("place"))
        .group_by("link", "name", "colour", "flow", "place", maintain_order=True)
        .agg(
            pl.col("time_s").last(),
            pl.when(pl.col("name").first().is_in(COUNTS)).then(values.sum()).otherwise(values.mean()),
        )
    )


def _link_panels(series: pl.DataFrame, link: str) -> list[Panel]:
    """Returns the panels of a link: queue and rate, and drops and marks if there are any."""
    waits = _list_data(series.filter(pl.col("name") == "backlog_s"), 1000)
    sent = _list_data(series.filter(pl.col("name") == "sent_bps"), 1e-6)
    rate = _list_data(series.filter(pl.col("name") == "capacity_bps"), 1e-6)
    drawn = [
        Panel(f"What waits at link {link}, in time to send it", _draw_area(waits, "ms"), WIDTH, HEIGHT),
        Panel(f"Sent by link {link}, by colour; the line is its rate",
              alt.layer(_draw_stacked(sent, "Mb/s"), _draw_steps(rate)), WIDTH, HEIGHT),
    ]  # fmt: skip
    for name, what in (("dropped", "Dropped at"), ("marked", "Marked (ECN) at")):
        counts = _list_data(series.filter((pl.col("name") == name) & (pl.col("value") > 0)), 1)
        if counts:
            drawn.append(Panel(f"{what} link {link}, by colour", _draw_bars(counts), WIDTH, HEIGHT))
    return drawn


def _sender_panels(series: pl.DataFrame) -> list[Panel]:
    """Returns the congestion windows of long-lived flows, if there are any, and the number of connections."""
    windows = series.filter(pl.col("name") == "cwnd_segments")
    connections = _list_data(series.filter(pl.col("name") == "connections"), 1)
    panels = [Panel("Open connections", _draw_area(connections, "connections"), WIDTH, HEIGHT)]
    if len(windows):
        panels.insert(
            0, Panel("Congestion windows of long-lived flows", _draw_windows(windows), WIDTH, HEIGHT)
        )
    return panels


def _list_data(series: pl.DataFrame, factor: float) -> list[dict[str, Any]]:
    """Returns the rows of a chart: times, values multiplied by `factor`, colours.

    Numbers have six significant digits.
    """
    return [
        {
            "t": round_digits(row["time_s"], 6),
            "v": round_digits(row["value"] * factor, 6),
            "colour": row["colour"],
        }
        for row in series.iter_rows(named=True)
    ]


def _make_y_axis(title: str, **more: Any) -> alt.Y:
    """Returns the encoding of the values `v` on an axis that includes zero; `more` are further properties."""
    return alt.Y("v:Q", title=title, axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=True), **more)


def _draw_area(rows: Sequence[Mapping[str, Any]], title: str) -> Any:
    """Returns rows `t` and `v` as an area over time; `title` names the values."""
    marks = make_chart([dict(row) for row in rows]).mark_area(
        line={"color": COLOURS[2], "strokeWidth": 1}, color=COLOURS[2], fillOpacity=0.25, interpolate="linear"
    )
    return marks.encode(y=_make_y_axis(title))


def _draw_stacked(rows: Sequence[Mapping[str, Any]], title: str) -> Any:
    """Returns areas by colour of packets on top of each other; an empty chart without rows."""
    if not rows:
        return empty_chart("nothing was sent")
    marks = _make_ranked_chart(rows).mark_area(interpolate="step-before", fillOpacity=0.75)
    return marks.encode(
        y=_make_y_axis(title, stack="zero"), color=_encode_packet_colour(rows), order="rank:Q"
    )


def _draw_bars(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Returns bars over time, by colour of packets on top of each other."""
    marks = _make_ranked_chart(rows).mark_bar(size=WIDTH / PLACES + 0.5)
    return marks.encode(
        y=_make_y_axis("packets", stack="zero"), color=_encode_packet_colour(rows), order="rank:Q"
    )


def _draw_steps(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Returns a line of steps over time."""
    line = make_chart([dict(row) for row in rows]).mark_line(
        color=DIM, strokeWidth=1.2, interpolate="step-before"
    )
    return line.encode(y="v:Q")


def _make_ranked_chart(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Returns a chart of rows whose field `rank` is the position of their colour, green first.

    The rows stay as they are. Raises `KeyError` for an unknown colour.
    """
    ranks = {name: rank for rank, name in enumerate(OF_COLOURS)}
    return make_chart([{**row, "rank": ranks[row["colour"]]} for row in rows])


def _encode_packet_colour(rows: Sequence[Mapping[str, Any]]) -> alt.Color:
    """Returns the encoding by colour of packets; a single colour has no legend."""
    names = [name for name in OF_COLOURS if any(row["colour"] == name for row in rows)]
    scale = alt.Scale(domain=names, range=[OF_COLOURS[name] for name in names])
    return alt.Color("colour:N", scale=scale, legend=alt.Legend() if len(names) > 1 else None)


def _draw_windows(series: pl.DataFrame) -> Any:
    """Returns a line per flow; flows are numbered in the order in which they first appear.

    They differ in colour up to `MOST_LINES` flows.
    """
    flows = series["flow"].unique(maintain_order=True).to_list()
    number = {flow: place + 1 for place, flow in enumerate(flows)}
    rows = [
        {
            "t": round_digits(row["time_s"], 6),
            "v": round_digits(row["value"], 6),
            "flow": f"flow {number[row['flow']]}",
        }
        for row in series.iter_rows(named=True)
    ]
    base = make_chart(rows)
    if len(flows) > MOST_LINES:
        marks = base.mark_line(strokeWidth=1, color=QUIET, opacity=0.7)
        return marks.encode(y=_make_y_axis("segments"), detail="flow:N")
    names = [f"flow {place + 1}" for place in range(len(flows))]
    scale = alt.Scale(domain=names, range=list(COLOURS[: len(names)]))
    legend = alt.Legend() if len(names) > 1 else None
    marks = base.mark_line(strokeWidth=1.2)
    return marks.encode(y=_make_y_axis("segments"), color=alt.Color("flow:N", scale=scale, legend=legend))


def _finish_panel(panel: Panel, begin: float, span: tuple[float, float], is_last: bool) -> Panel:
    """Returns a panel with an axis of time, named below the last one, and a line where the window begins.

    `begin` and `span` are in seconds; the line is missing if the window begins with the axis.
    """
    scale = alt.Scale(domain=list(span), nice=False, padding=0)
    x = alt.X("t:Q", title="time in s" if is_last else None, scale=scale)
    layers = panel.chart.layer if isinstance(panel.chart, alt.LayerChart) else [panel.chart]
    timed = [layer.encode(x=x) for layer in layers]
    if begin > span[0]:
        tip = f"the measured window begins after {time_text(begin)}"
        rule = make_chart([{"t": begin, "tip": tip}]).mark_rule(color=DIM, strokeDash=[4, 3])
        timed.append(rule.encode(x=x, tooltip="tip:N"))
    return Panel(panel.title, alt.layer(*timed), panel.width, panel.height, panel.subtitle)
