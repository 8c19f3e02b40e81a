"""The charts of a comparison that show what schemes gain and lose, with their numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite, log2
from typing import Any

import altair as alt

from mousehole.answer import overview, tables
from mousehole.base import Summary, change_text, size_text, whole_percent
from mousehole.charts import Series
from mousehole.charts.axes import change_axis, name_axis, zero_line
from mousehole.charts.marks import (
    CLEAR,
    DIMMED,
    UNCLEAR_NUMBER,
    UNKNOWN,
    Datum,
    change_datum,
    draw_fields,
    empty_chart,
    make_chart,
    round_digits,
)
from mousehole.document import INTERVALS, Chart, Column, Row, Table
from mousehole.document import Cell as TableCell
from mousehole.html.figures import (
    Point,
    describe_changes,
    make_change_cell,
    make_interval_chart,
    make_plane_chart,
)
from mousehole.runs import BucketRow, Cell, Plan, Results, SizeRow

LEAST_TRANSFERS = 20
"""A field with fewer transfers over all replications is not drawn."""
SPARE = ("2–5 kB", "50–150 kB", "15–50 kB", "> 1 MB")
"""Sizes that a narrow terminal leaves out of the numbers, in this order."""
LOW_STEP = 28
"""Height of a scheme's line in the heat map, in pixels."""


def _make_change_chart(
    name: str, title: str, results: Results, role: Summary, rows: Iterable[BucketRow], what: str
) -> Chart:
    """Returns the change of the mean response time of class `role` against the baseline: a line per scheme.

    `what` names the transfers.
    """
    plan = results.plan
    own = [row for row in rows if row.bucket.role == role and not row.is_baseline]
    changes = {row.scheme: row.response_mean_change for row in own}
    return make_interval_chart(
        name,
        title,
        f"Change of the mean response time of {what} against {plan.baseline}",
        changes,
        describe_changes(changes, what, plan.baseline),
    )


def list_change_charts(results: Results, cell: Cell) -> list[Chart]:
    """Returns the changes of short and of long transfers against the baseline, with their intervals."""
    plan = results.plan
    rows = tables.bucket_rows(results, cell)
    short, long = name_sizes(plan)
    return [
        _make_change_chart("short-change", "Short transfers", results, "short", rows, short),
        _make_change_chart("long-change", "Long transfers", results, "long", rows, long),
    ]


def make_trade_off_chart(results: Results, cells: Sequence[Cell], series: Series) -> Chart:
    """Returns the chart of gains of short transfers against costs of long ones, a point per scheme and cell.

    `series` is of all schemes; the baseline has no point.
    """
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
    return make_plane_chart(
        "trade-off", points, *name_sizes(plan), plan.baseline, series.without(plan.baseline), "cell"
    )


def make_heat_chart(results: Results, cell: Cell) -> Chart:
    """Returns the change by transfer size and scheme against FQ-CoDel, as colours with numbers.

    Without FQ-CoDel it is against the baseline. Schemes stand in groups by what installs them, ideals last;
    in each, the one that serves short transfers best is first. Fields of fewer than `LEAST_TRANSFERS`
    transfers have no number.
    """
    reference = overview.find_size_reference(results)
    rows = overview.by_size_rows(results, cell)
    groups = overview.group_schemes(results, cell)
    schemes = [scheme for group in groups.values() for scheme in group]
    sizes = list(dict.fromkeys(row.bucket for row in rows))
    shown = [row for row in rows if row.count >= LEAST_TRANSFERS and isfinite(row.response_mean_change.mean)]
    few = [size for size in sizes if size not in {row.bucket for row in shown}]
    by_place = {(row.scheme, row.bucket): row for row in shown}
    columns = [Column("scheme", is_number=False), Column("group", is_number=False), *map(Column, sizes)]
    lines: list[Row] = [
        [scheme, group, *(_make_heat_cell(by_place.get((scheme, size)), reference) for size in sizes)]
        for group, own in groups.items()
        for scheme in own
    ]
    doubt = "95 % interval" if rows and rows[0].response_mean_change.is_interval else "range of replications"
    left_out = f" Too few transfers: {', '.join(few)}." if few and shown else ""
    return Chart(
        name_figure("sizes", results, cell),
        f"Change by transfer size, against {reference}",
        f"Change of the mean response time in percent, by size: violet is faster than {reference}, orange "
        f"slower; bold where the {doubt} excludes zero. The colours end at a factor of four.{left_out}",
        _draw_heat_fields(shown, groups, sizes, few),
        Table(
            f"By transfer size: change of the mean response time against {reference}",
            columns,
            lines,
            schemes,
            gives_way=["group", INTERVALS, *(size for size in SPARE if size in sizes)],
        ),
        height=LOW_STEP * (len(schemes) + len(groups)),
        printed="always" if len(schemes) > overview.MANY_SCHEMES else "details",
    )


def _draw_heat_fields(
    shown: Sequence[SizeRow], groups: dict[str, list[str]], sizes: Sequence[str], few: Sequence[str]
) -> Any:
    """Returns the fields of the heat map, with a line for the name of each group if there are several.

    Sizes in `few` have no column. Without fields the chart is a text that says so.
    """
    if not shown:
        return empty_chart(f"no size has {LEAST_TRANSFERS} transfers under any scheme")
    names = [name for group, own in groups.items() for name in (group, *own)]
    if len(groups) == 1:
        names = names[1:]
    wide = [size for size in sizes if size not in few]
    x = alt.X("size:N", sort=wide, title="transfer size",
              axis=alt.Axis(labelAngle=0, labelFlush=False, domain=False, ticks=False))  # fmt: skip
    y = name_axis("scheme", names, bold=list(groups)).scale(domain=names)
    tip = [alt.Tooltip("scheme:N"), alt.Tooltip("size:N"), alt.Tooltip("text:N", title="change")]
    known = {(row.scheme, row.bucket) for row in shown}
    data = [_make_heat_datum(row) for row in shown]
    data += [
        {"scheme": scheme, "size": size, "label": "few", "weight": UNKNOWN, "text": "too few transfers"}
        for own in groups.values() for scheme in own for size in wide if (scheme, size) not in known
    ]  # fmt: skip
    return draw_fields(data, x, y, tip, Series((), (), (), ()))


def _make_heat_datum(row: SizeRow) -> Datum:
    """Returns the datum of a field of the heat map; `change` is log2 of the ratio.

    Its number is pale where the interval covers no change, or where there is none.
    """
    change, is_own = row.response_mean_change, row.scheme == row.reference
    unclear = not isfinite(change.low) or change.low <= 0 <= change.high
    return {
        "scheme": row.scheme,
        "size": row.bucket,
        "change": 0.0 if is_own else round_digits(log2(1 + change.mean)),
        "label": "–" if is_own else whole_percent(change.mean),
        "weight": DIMMED if is_own else UNCLEAR_NUMBER if unclear else CLEAR,
        "text": "reference" if is_own else change_text(change.mean, change.low, change.high),
    }


def list_grid_charts(results: Results, series: Series) -> list[Chart]:
    """Returns the change of short and of long transfers over the grid of buffers and loads.

    There is a chart for each of the two classes and, if both axes have several values, for each load; those
    of short transfers come first. `series` is of all schemes.
    """
    plan, series = results.plan, series.without(results.plan.baseline)
    over = "buffer" if len(plan.buffers) > 1 else "load"
    order = (
        [str(buffer) for buffer in plan.buffers] if over == "buffer" else list(map(write_load, plan.loads))
    )
    roles: tuple[tuple[Summary, str], ...] = (
        ("short", name_sizes(plan)[0]),
        ("long", name_sizes(plan)[1]),
    )
    found: list[Chart] = []
    for role, words in roles:
        rows = [row for row in tables.bucket_rows(results) if row.bucket.role == role and not row.is_baseline]
        places = [_make_grid_datum(row, plan, over) for row in rows]
        data = [datum for row, datum in zip(rows, places, strict=True)
                if isfinite(row.response_mean_change.mean)]  # fmt: skip
        y = change_axis(
            [datum[end] for datum in data for end in ("low", "mean", "high")],
            f"change against {plan.baseline} (↓ faster)",
        )
        for panel in dict.fromkeys(datum["panel"] for datum in places):
            own = [datum for datum in data if datum["panel"] == panel]
            cells = {(row.scheme, datum["x"]): make_change_cell(row.response_mean_change)
                     for row, datum in zip(rows, places, strict=True) if datum["panel"] == panel}  # fmt: skip
            lines: list[Row] = [[scheme, *(cells[scheme, place] for place in order)]
                                for scheme in series.names]  # fmt: skip
            at = f", {panel}" if panel else ""
            found.append(
                Chart(
                    f"grid-{role}-{len(found)}",
                    f"Mean response time of {words}{at}",
                    f"Change against {plan.baseline} with 95 % intervals, over the {over}; on the line "
                    "nothing changes.",
                    _draw_grid_lines(own, y, over, order, series),
                    Table(
                        f"Change of the mean response time of {words} against {plan.baseline}{at}",
                        [Column("scheme", is_number=False), *(Column(f"{over} {place}") for place in order)],
                        lines,
                        list(series.names),
                    ),
                    printed="always",
                )
            )
    return found


def _draw_grid_lines(own: Sequence[Datum], y: Any, over: str, order: Sequence[str], series: Series) -> Any:
    """Returns the change over one axis of the grid, a line per scheme; an empty chart without data.

    `over` is the title of the axis and `order` that of its values.
    """
    if not own:
        return empty_chart("too few transfers to compare")
    base = series.filter_chosen(make_chart(own)).encode(
        x=alt.X("x:N", sort=list(order), title=over, axis=alt.Axis(labelAngle=0),
                scale=alt.Scale(paddingInner=0.35)),
        color=series.colour(),
        xOffset=alt.XOffset("scheme:N", sort=list(series.names)),
        tooltip=[
            alt.Tooltip("scheme:N"),
            alt.Tooltip("x:N", title=over),
            alt.Tooltip("text:N", title="change (95 %)"),
        ],
    )  # fmt: skip
    return alt.layer(
        zero_line(alt.Y),
        base.mark_line(strokeWidth=1.2, opacity=0.6).encode(y=y("mean", alt.Y), strokeDash=series.dash()),
        base.mark_rule(strokeWidth=2.5).encode(y=y("low", alt.Y), y2="high:Q"),
        base.mark_point(size=80, opacity=1).encode(y=y("mean", alt.Y), shape=series.shape()),
    )


def _make_grid_datum(row: BucketRow, plan: Plan, over: str) -> Datum:
    """Returns the datum of a point of the grid's chart; `over` is `buffer` or `load`, its axis."""
    is_both = len(plan.loads) > 1 and len(plan.buffers) > 1
    return {
        **change_datum("scheme", row.scheme, row.response_mean_change),
        "x": str(row.buffer) if over == "buffer" else write_load(row.load),
        "panel": f"load {write_load(row.load)}" if is_both else "",
    }


def name_sizes(plan: Plan) -> tuple[str, str]:
    """Returns the names of short and of long transfers, such as `transfers ≤ 15 kB`."""
    return f"transfers ≤ {size_text(plan.short_bytes)}", f"transfers > {size_text(plan.long_bytes)}"


def name_figure(name: str, results: Results, cell: Cell) -> str:
    """Returns the name of a figure with the number of its cell, so that it is unique in the page."""
    return name if len(results.plan.cells) == 1 else f"{name}-{results.plan.cells.index(cell)}"


def _make_heat_cell(row: Any, reference: str) -> TableCell:
    """Returns a cell of the heat map's table; a dash for no row (None), a dot for the reference.

    It has no shade for a change of −100 % or less.
    """
    if row is None:
        return TableCell("–", None)
    if row.scheme == reference:
        return TableCell("·", 0.0, "dim")
    change = row.response_mean_change
    return replace(make_change_cell(change), shade=log2(1 + change.mean) if change.mean > -1 else None)


def write_load(load: float | None) -> str:
    """Returns a load of the grid as text; `own` for the native load."""
    return "own" if load is None else f"{load:g}"
