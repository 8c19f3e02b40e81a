"""The charts of a comparison's page that show what schemes gain and lose, with their numbers."""

from collections.abc import Iterable, Sequence
from math import isfinite, log2
from typing import Any

import altair as alt

from mousehole.answer import overview, tables
from mousehole.base import Summary, change_text, size_text
from mousehole.html import Cell as TableCell
from mousehole.html import Chart, Column, Row, Table
from mousehole.html.axes import change_axis, name_axis, zero_line
from mousehole.html.charts import DIVERGING, FORE, Series
from mousehole.html.figures import (
    Point,
    change_cell,
    change_datum,
    interval_chart,
    plane_chart,
    rounded,
    told,
)
from mousehole.runs import BucketRow, Cell, Plan, Results

LEAST_TRANSFERS = 20
"""A field with fewer transfers over all replications is not drawn."""
LOW_STEP = 28
"""Height of a scheme's line in the heat map, in pixels."""


def change_chart(
    name: str, title: str, results: Results, role: Summary, rows: Iterable[BucketRow], what: str
) -> Chart:
    """Returns the change of the mean response time against the baseline: a line per scheme."""
    plan = results.plan
    own = [row for row in rows if row.bucket.role == role and not row.is_baseline]
    changes = {row.scheme: row.response_mean_change for row in own}
    return interval_chart(
        name,
        title,
        f"Change of the mean response time of {what} against {plan.baseline}",
        changes,
        told(changes, what, plan.baseline),
    )


def trade_off_chart(results: Results, cells: Sequence[Cell], series: Series) -> Chart:
    """Returns what short transfers gain against what long ones pay, a point per scheme and cell."""
    plan, points = results.plan, []
    for cell in cells:
        found = {(row.scheme, row.bucket.role): row for row in tables.bucket_rows(results, cell)}
        points += [
            Point(
                scheme,
                cell.title if len(cells) > 1 else "",
                found[scheme, "short"].response_mean_change,
                found[scheme, "long"].response_mean_change,
            )
            for scheme in plan.schemes
            if scheme != plan.baseline
        ]
    return plane_chart(
        "trade-off", points, *size_words(plan), plan.baseline, series.without(plan.baseline), "cell"
    )


def heat_chart(results: Results, cell: Cell) -> Chart:
    """Returns the change by transfer size and scheme against FQ-CoDel, as colours with numbers."""
    series = Series(results.plan.schemes, (), (), ())
    plan, reference = results.plan, overview.heat_reference(results.plan)
    rows = overview.by_size_rows(results, cell)
    sizes = list(dict.fromkeys(row.bucket for row in rows))
    shown = [row for row in rows if row.count >= LEAST_TRANSFERS and isfinite(row.response_mean_change.mean)]
    data = []
    for row in shown:
        change = row.response_mean_change
        is_own = row.scheme == reference
        log = 0.0 if is_own else log2(1 + change.mean)
        unclear = not isfinite(change.low) or change.low <= 0 <= change.high
        data.append(
            {
                "scheme": row.scheme,
                "size": row.bucket,
                "change": rounded(max(min(log, 2.0), -2.0)),
                "label": "·" if is_own else f"{100 * change.mean:+.0f}".replace("-", "−"),
                "weight": "normal" if unclear or is_own else "bold",
                "text": "reference" if is_own else change_text(change.mean, change.low, change.high),
            }
        )
    scale = alt.Scale(domain=[-2, -1, 0, 1, 2], range=list(DIVERGING), interpolate="rgb")
    base = series.kept(alt.Chart(alt.InlineData(values=data))).encode(
        x=alt.X(
            "size:N",
            sort=sizes,
            title="transfer size",
            axis=alt.Axis(labelAngle=0, domain=False, ticks=False),
        ),
        y=name_axis("scheme", plan.schemes),
        tooltip=[alt.Tooltip("scheme:N"), alt.Tooltip("size:N"), alt.Tooltip("text:N", title="change")],
    )
    layers = [
        base.mark_rect().encode(color=alt.Color("change:Q", scale=scale, legend=None)),
        *(
            base.mark_text(fontSize=11.5, fontWeight=weight, color=FORE)
            .transform_filter(f"datum.weight == '{weight}'")
            .encode(text="label:N")
            for weight in ("normal", "bold")
        ),
    ]
    by_place = {(row.scheme, row.bucket): row for row in shown}
    columns = [Column("scheme", is_number=False), *(Column(size) for size in sizes)]
    lines: list[Row] = [
        [scheme, *(_heat_cell(by_place.get((scheme, size)), reference) for size in sizes)]
        for scheme in plan.schemes
    ]
    doubt = "95 % interval" if rows and rows[0].response_mean_change.is_interval else "range of replications"
    return Chart(
        figure_name("sizes", results, cell),
        f"Change by transfer size, against {reference}",
        f"Change of the mean response time in percent, by size: violet is faster than {reference}, orange "
        f"slower; bold where the {doubt} excludes zero. The colours end at a factor of four.",
        series.choosing(alt.layer(*layers)),
        Table(f"Change of the mean response time against {reference}", columns, lines, list(plan.schemes)),
        height=LOW_STEP * len(plan.schemes),
    )


def grid_charts(results: Results, series: Series) -> list[Chart]:
    """Returns the change of short and of long transfers over the grid of buffers and loads."""
    plan, series = results.plan, series.without(results.plan.baseline)
    roles: tuple[tuple[Summary, str], ...] = (("short", size_words(plan)[0]), ("long", size_words(plan)[1]))
    over_buffer = len(plan.buffers) > 1
    charts: list[Chart] = []
    for role, words in roles:
        rows = [row for row in tables.bucket_rows(results) if row.bucket.role == role and not row.is_baseline]
        data = [
            {
                **change_datum("scheme", row.scheme, row.response_mean_change),
                "x": row.buffer if over_buffer else _load_text(row.load),
                "panel": _panel(row, plan),
            }
            for row in rows
            if isfinite(row.response_mean_change.mean)
        ]
        y = change_axis(
            [datum[end] for datum in data for end in ("low", "mean", "high")],
            f"change against {plan.baseline} (↓ faster)",
        )
        order = (
            [str(buffer) for buffer in plan.buffers]
            if over_buffer
            else [_load_text(load) for load in plan.loads]
        )
        x = alt.X("x:N", sort=order, title="buffer" if over_buffer else "load", axis=alt.Axis(labelAngle=0))
        for panel in dict.fromkeys(datum["panel"] for datum in data):
            own = [datum for datum in data if datum["panel"] == panel]
            base = series.kept(alt.Chart(alt.InlineData(values=own))).encode(
                x=x,
                color=series.colour(),
                xOffset=alt.XOffset("scheme:N", sort=list(series.names)),
                tooltip=[
                    alt.Tooltip("scheme:N"),
                    alt.Tooltip("x:N", title="buffer" if over_buffer else "load"),
                    alt.Tooltip("text:N", title="change (95 %)"),
                ],
            )
            layers = [
                zero_line(alt.Y),
                base.mark_rule(strokeWidth=2.5).encode(y=y("low", alt.Y), y2="high:Q"),
                base.mark_point(size=80, opacity=1).encode(y=y("mean", alt.Y), shape=series.shape()),
            ]
            columns = [Column("scheme", is_number=False), *(Column(place) for place in order)]
            by_place = {
                (row.scheme, row.buffer if over_buffer else _load_text(row.load)): row
                for row in rows
                if _panel(row, plan) == panel
            }
            schemes = [scheme for scheme in plan.schemes if scheme != plan.baseline]
            lines: list[Row] = [
                [scheme, *(change_cell(by_place[scheme, place].response_mean_change) for place in order)]
                for scheme in schemes
            ]
            at = f", {panel}" if panel else ""
            charts.append(
                Chart(
                    f"grid-{role}-{len(charts)}",
                    f"Mean response time of {words}{at}",
                    f"Change against {plan.baseline} with 95 % intervals, over the "
                    f"{'buffer' if over_buffer else 'load'}; on the line nothing changes.",
                    series.choosing(alt.layer(*layers)),
                    Table(
                        f"Change of the mean response time of {words} against {plan.baseline}{at}",
                        columns,
                        lines,
                        schemes,
                    ),
                )
            )
    return charts


def size_words(plan: Plan) -> tuple[str, str]:
    """Returns what short and long transfers are, in words."""
    return f"transfers ≤ {size_text(plan.short_bytes)}", f"transfers > {size_text(plan.long_bytes)}"


def figure_name(name: str, results: Results, cell: Cell) -> str:
    """Returns the name of a figure, which is unique in the page."""
    return name if len(results.plan.cells) == 1 else f"{name}-{results.plan.cells.index(cell)}"


def _heat_cell(row: Any, reference: str) -> TableCell:
    if row is None:
        return TableCell("few", None)
    return TableCell("reference", 0.0) if row.scheme == reference else change_cell(row.response_mean_change)


def _panel(row: BucketRow, plan: Plan) -> str:
    """Returns the load of a row where loads and buffers make a grid, empty otherwise."""
    return f"load {_load_text(row.load)}" if len(plan.loads) > 1 and len(plan.buffers) > 1 else ""


def _load_text(load: float | None) -> str:
    return "own" if load is None else f"{load:g}"
