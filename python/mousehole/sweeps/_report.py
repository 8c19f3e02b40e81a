"""A sweep as a page: what each scheme changes over all cells, along each axis, and over two axes."""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, log2
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from mousehole import quantities
from mousehole.base import change_text, counted, engine_text, signed, unit_text
from mousehole.html import Block, Chart, Column, Grid, Page, Prose, Row, Section, Table, Verdict
from mousehole.html import Cell as TableCell
from mousehole.html.axes import TIMES, Sides, change_axis, zero_line
from mousehole.html.charts import DIVERGING, FORE, Series, of_schemes
from mousehole.html.common import made_section
from mousehole.html.figures import Datum, change_cell, rounded
from mousehole.statistics import Estimate
from mousehole.sweeps._found import MOST_LEVELS, VALUE, Found
from mousehole.sweeps._quantities import text_of, unit_of

MOST_DOTS = 4000
"""So many cells are drawn in all charts together; of more, every second, third, … is."""
MOST_ROWS = 500
"""So many cells and schemes are listed."""
WINDOWS = 8
"""Points of the trend along an axis with many values."""
WIDE = 20.0
"""An axis whose largest value is so many times its smallest is logarithmic."""
END = 2.0
"""The colours of surfaces end at a factor of four, which is this power of two."""
NOTE = (
    "Means over cells are geometric. The changes of single cells are many comparisons without correction: "
    "they explore, and do not prove."
)


def page(
    found: Found, value: str = VALUE, against: str | None = None, command: Sequence[str] | None = None
) -> Page:
    """Returns the page of a sweep, whole or growing, for one measure and its change against a scheme.

    `command` is what was typed, None where Python was the caller. Raises `MouseholeError` for a measure or
    scheme that the rows do not have.
    """
    reference = against or found.schemes[0]
    series = of_schemes(found.schemes)
    cells = found.cells(value, against)
    total, number = found.manifest["rows"], found.manifest["cells"]
    others = [scheme for scheme in found.schemes if scheme != reference]
    return Page(
        title=f"A sweep of {number:,} cells",
        subtitle=f"{found.finished:,} of {total:,} rows; axes: {', '.join(found.axes)}.",
        verdict=Verdict(_over_all(cells, value, reference, others), "open", "What was found"),
        choices=series.choices,
        sections=[
            Section("axes", "Along each axis", _along(found, cells, value, reference, series), "Axes"),
            *_surfaces(found, cells, value, reference, others),
            Section("effects", "What each value changes", [_effects(found, value, against)], "Effects"),
            Section("cells", "The cells", [_cells(found, cells, value, reference)], "Cells"),
            made_section(found.manifest, command),
        ],
        footer=f"Mousehole {engine_text()}",
    )


def _over_all(cells: pl.DataFrame, value: str, reference: str, others: Sequence[str]) -> list[str]:
    """Returns a sentence per scheme on its change over all cells."""
    lines = []
    for scheme in others:
        changes = _changes(cells, scheme)
        if not len(changes):
            continue
        less = int(np.sum(changes < 0))
        lines.append(
            f"{scheme} changes {value} by {signed(_mean(changes))} % against {reference} in the mean over "
            f"{counted(len(changes), 'cell')}, from {signed(changes.min())} to {signed(changes.max())} %; it "
            f"is less in {less} of them."
        )
    return lines or [f"{value} of {reference} only: there is nothing to compare with."]


def _along(found: Found, cells: pl.DataFrame, value: str, reference: str, series: Series) -> list[Block]:
    charts = [
        chart
        for place, axis in enumerate(found.axes)
        if (chart := _axis_chart(found, cells, axis, place, value, reference, series)) is not None
    ]
    if not charts:
        return [Prose("There is no change to draw: one scheme, or no cell that is whole.")]
    return [Grid(charts), Prose(NOTE, "dim")]


def _axis_chart(
    found: Found, cells: pl.DataFrame, axis: str, place: int, value: str, reference: str, series: Series
) -> Chart | None:
    """Returns the changes along an axis: a dot for each cell, a line for the mean of each scheme."""
    column = found.number_column(axis)
    known = cells.filter(pl.col("change").is_not_null() & pl.col(axis).is_not_null())
    if not len(known):
        return None
    shown = known.gather_every(ceil(len(known) * len(found.axes) / MOST_DOTS))
    dots = [_dot(found, row, axis, column) for row in shown.iter_rows(named=True)]
    lines = _lines(found, known, axis, column)
    is_log = column is not None and _is_log(known[column])
    y = change_axis([datum["y"] for datum in (*dots, *lines)], f"{value} (↓ {_sides(value).less})")
    kind = "Q" if column is not None else "N"
    order: dict[str, Any] = {} if column is not None else {"sort": _names(known, axis)}
    scale = alt.Scale(type="log" if is_log else "linear", zero=False, nice=False, padding=12)
    largest = 0.0 if column is None else float(np.max(known[column].to_numpy()))
    form = "~s" if largest >= 1e4 else "~g"
    unit = unit_of(column, axis)
    title = f"{axis} ({unit})" if unit else axis
    x = (
        alt.X(f"x:{kind}", title=title, scale=scale, axis=alt.Axis(format=form, tickCount=5))
        if column is not None
        else alt.X(f"x:{kind}", title=title, **order)
    )
    tip = [alt.Tooltip("scheme:N"), alt.Tooltip("settings:N"), alt.Tooltip("text:N", title="change (95 %)")]
    base = [series.kept(alt.Chart(alt.InlineData(values=data))).encode(x=x, color=series.colour())
            for data in (dots, lines)]  # fmt: skip
    picture = alt.layer(
        zero_line(alt.Y),
        base[0].mark_point(opacity=0.3, size=22).encode(y=y("y", alt.Y), tooltip=tip),
        base[1].mark_line().encode(y=y("y", alt.Y), strokeDash=series.dash()),
        base[1]
        .mark_point(opacity=1, size=70)
        .encode(y=y("y", alt.Y), shape=series.shape(), tooltip=[tip[0], alt.Tooltip("text:N", title="mean")]),
    )
    few = "" if len(shown) == len(known) else f" Of {len(known)} cells and schemes {len(shown)} are drawn."
    rows: list[Row] = [
        [TableCell(str(datum["label"]), datum["x"]), datum["scheme"], TableCell(datum["text"], datum["y"])]
        for datum in lines
    ]
    columns = [Column(axis, False), Column("scheme", False), Column("mean change")]
    return Chart(
        f"axis-{place}",
        f"Along {axis}",
        f"Change of {value} against {reference}: each dot is a cell, lines are geometric means.{few}",
        series.choosing(picture),
        Table(f"Mean change along {axis}", columns, rows, [datum["scheme"] for datum in lines]),
        height=300,
    )


def _dot(found: Found, row: dict[str, Any], axis: str, column: str | None) -> Datum:
    settings = ", ".join(f"{name}={row[name]}" for name in found.axes if row[name] is not None)
    nan = float("nan")
    low, high = (nan if row[end] is None else row[end] for end in ("change_low", "change_high"))
    return {
        "scheme": row["scheme"],
        "x": row[column] if column is not None else str(row[axis]),
        "y": _log(row["change"]),
        "settings": settings,
        "text": change_text(row["change"], low, high),
    }


def _lines(found: Found, cells: pl.DataFrame, axis: str, column: str | None) -> list[Datum]:
    """Returns the mean change of each scheme at each value of an axis, or in windows of many values."""
    lines: list[Datum] = []
    for scheme in found.schemes:
        own = cells.filter(pl.col("scheme") == scheme)
        for x, label, part in _levels(own, axis, column):
            changes = part["change"].to_numpy()
            mean = _mean(changes)
            lines.append({"scheme": scheme, "x": x, "label": label, "y": _log(mean),
                          "text": f"{signed(mean)} % ({counted(len(changes), 'cell')})"})  # fmt: skip
    return lines


def _levels(own: pl.DataFrame, axis: str, column: str | None) -> list[tuple[Any, str, pl.DataFrame]]:
    """Returns the values of an axis with their labels and cells; windows of them where they are many."""
    if column is None:
        return [(name, name, own.filter(pl.col(axis).cast(pl.String) == name)) for name in _names(own, axis)]
    ordered = own.sort(column)
    values = ordered[column].unique().sort()
    unit = unit_of(column, axis)
    if len(values) <= MOST_LEVELS:
        parts = [ordered.filter(pl.col(column) == value) for value in values]
    else:
        ends = np.linspace(0, len(ordered), WINDOWS + 1).astype(int)
        parts = [ordered[int(first) : int(last)] for first, last in pairwise(ends)]
    places = [(float(np.median(part[column].to_numpy())), part) for part in parts if len(part)]
    return [(place, text_of(place, unit), part) for place, part in places]


def _surfaces(
    found: Found, cells: pl.DataFrame, value: str, reference: str, others: Sequence[str]
) -> list[Section]:
    """Returns the mean change over the first two axes that have few values, a chart for each scheme."""
    few = [axis for axis in found.axes if 1 < cells[axis].n_unique() <= MOST_LEVELS]
    if len(few) < 2 or not others:
        return []
    across, down = few[:2]
    charts = []
    for place, scheme in enumerate(others):
        own = cells.filter((pl.col("scheme") == scheme) & pl.col("change").is_not_null())
        data: list[Datum] = []
        for (x, y), part in own.drop_nulls([across, down]).group_by([across, down], maintain_order=True):
            mean = _mean(part["change"].to_numpy())
            data.append({
                across: str(x), down: str(y), "change": max(min(_log(mean), END), -END),
                "label": f"{100 * mean:+.0f}".replace("-", "−"), "text": f"{signed(mean)} %", "mean": mean,
            })  # fmt: skip
        if data:
            charts.append(_surface(data, across, down, cells, found, scheme, place, value, reference))
    blocks: list[Block] = [Grid(charts)]
    return [Section("surface", f"Over {across} and {down}", blocks, "Surfaces")] if charts else []


def _surface(
    data: list[Datum], across: str, down: str, cells: pl.DataFrame, found: Found, scheme: str, place: int,
    value: str, reference: str,
) -> Chart:  # fmt: skip
    names = {axis: _ordered(found, cells, axis) for axis in (across, down)}
    fields = {axis: axis.replace(".", "\\.") for axis in names}
    scale = alt.Scale(domain=[-END, -1, 0, 1, END], range=list(DIVERGING), interpolate="rgb")
    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X(f"{fields[across]}:N", sort=names[across], title=across, axis=alt.Axis(labelAngle=0)),
        y=alt.Y(f"{fields[down]}:N", sort=names[down][::-1], title=down),
        tooltip=[alt.Tooltip(f"{fields[across]}:N", title=across),
                 alt.Tooltip(f"{fields[down]}:N", title=down), alt.Tooltip("text:N", title="change")],
    )  # fmt: skip
    picture = alt.layer(
        base.mark_rect().encode(color=alt.Color("change:Q", scale=scale, legend=None)),
        base.mark_text(color=FORE).encode(text="label:N"),
    )
    by_place = {(datum[across], datum[down]): datum for datum in data}
    rows: list[Row] = [
        [low, *(_surface_cell(by_place.get((left, low))) for left in names[across])] for low in names[down]
    ]
    return Chart(
        f"surface-{place}",
        scheme,
        f"Mean change of {value} against {reference} in percent over all other axes: violet is less, orange "
        "more. The colours end at a factor of four.",
        picture,
        Table(f"{scheme}: mean change by {down} and {across}",
              [Column(down, False), *map(Column, names[across])], rows),
        height=34 * len(names[down]),
    )  # fmt: skip


def _surface_cell(datum: Datum | None) -> TableCell:
    return TableCell("–", None) if datum is None else TableCell(datum["text"], datum["mean"])


def _effects(found: Found, value: str, against: str | None) -> Table:
    rows: list[Row] = []
    keys = []
    for row in found.effects(value, against).iter_rows(named=True):
        rows.append([
            row["axis"], row["value"], row["scheme"], TableCell(str(row["cells"]), row["cells"]),
            _measure(row["mean"], value),
            *(_share(row[name]) for name in ("change", "change_least", "change_most")),
        ])  # fmt: skip
        keys.append(row["scheme"])
    columns = [
        Column("axis", False), Column("value", False), Column("scheme", False), Column("cells"),
        Column("mean"), Column("change"), Column("least of a cell"), Column("most of a cell"),
    ]  # fmt: skip
    return Table(f"{value} by the values of each axis", columns, rows, keys)


def _cells(found: Found, cells: pl.DataFrame, value: str, reference: str) -> Table:
    rows: list[Row] = []
    shown = cells.head(MOST_ROWS)
    nan = float("nan")
    for row in shown.iter_rows(named=True):
        mean, low, high = (
            nan if row[name] is None else float(row[name]) for name in ("change", "change_low", "change_high")
        )
        settings = ["–" if row[axis] is None else str(row[axis]) for axis in found.axes]
        rows.append([
            TableCell(str(row["cell"]), row["cell"]), row["scheme"], *settings, _measure(row["mean"], value),
            change_cell(Estimate(mean, low, high, row["replications"]), _sides(value).less_is_better),
        ])  # fmt: skip
    columns = [
        Column("cell", False), Column("scheme", False), *(Column(axis) for axis in found.axes),
        Column("mean"), Column(f"change to {reference} (95 %)"),
    ]  # fmt: skip
    note = "" if len(shown) == len(cells) else f"The first {len(shown)} of {len(cells)}; --cells writes all."
    return Table(f"{value} of every cell", columns, rows, shown["scheme"].to_list(), note)


def _measure(number: float | None, value: str) -> TableCell:
    if number is None:
        return TableCell("–", None)
    return TableCell(unit_text(quantities.find_measure(value).quantity.unit, number), number)


def _sides(value: str) -> Sides:
    """Returns what less and more of a measure are called."""
    quantity = quantities.find_measure(value).quantity
    return TIMES if quantity.unit == "seconds" else Sides("less", "more", quantity.better != "more")


def _share(change: float | None) -> TableCell:
    return TableCell("–", None) if change is None else TableCell(f"{signed(change)} %", change)


def _changes(cells: pl.DataFrame, scheme: str) -> Any:
    return cells.filter(pl.col("scheme") == scheme)["change"].drop_nulls().to_numpy()


def _mean(changes: Any) -> float:
    """Returns the geometric mean of changes."""
    return float(np.expm1(np.mean(np.log1p(changes))))


def _log(change: float) -> float:
    return rounded(log2(max(1 + change, 1e-3)))


def _is_log(values: pl.Series) -> bool:
    numbers = values.to_numpy()
    return bool(numbers.min() > 0 and numbers.max() / numbers.min() >= WIDE)


def _names(cells: pl.DataFrame, axis: str) -> list[str]:
    return [str(name) for name in cells[axis].drop_nulls().unique(maintain_order=True)]


def _ordered(found: Found, cells: pl.DataFrame, axis: str) -> list[str]:
    """Returns the values of an axis as texts, in the order of their numbers where they have some."""
    column = found.number_column(axis)
    return _names(cells if column is None else cells.sort(column), axis)
