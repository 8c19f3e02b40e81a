"""The page of a sweep: what each axis changes, with charts and tables, as one self-contained HTML file."""

from collections.abc import Iterable, Sequence
from math import isfinite, nan
from typing import Any

import altair as alt
import polars as pl

from mousehole.html import Cell, Chart, Column, Page, Prose, Row, Section, Table, Verdict
from mousehole.html.axes import SIZE_LABEL, TIME_LABEL, change_axis, log_axis, zero_line
from mousehole.html.charts import Series, of_schemes
from mousehole.html.common import made_section
from mousehole.html.figures import change_cell, change_datum, estimate_datum, rounded
from mousehole.manifest import engine_text
from mousehole.statistics import Estimate
from mousehole.sweeps.found import VALUE, Found
from mousehole.sweeps.rows import FAULT
from mousehole.sweeps.views import Scale, What, scale_of, title_of, trend
from mousehole.texts import counted, rate_text, signed, time_text

MOST_POINTS = 1500
"""Cells and schemes in a chart; of more, evenly chosen ones."""
MOST_LINES = 600
"""Lines of the table of cells; of more, evenly chosen ones."""
RATE_LABEL = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, '~g') + ' Gb/s' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' Mb/s' : "
    "format(datum.value / 1e3, '~g') + ' kb/s'"
)
LABELS = {"s": TIME_LABEL, "bytes": SIZE_LABEL, "bps": RATE_LABEL}
"""How the values of an axis are written, by its unit."""
PLAIN_LABEL = "format(datum.value, '~g')"


def page(
    found: Found, value: str = VALUE, against: str | None = None, command: Sequence[str] | None = None
) -> Page:
    """Returns the page of a sweep; `command` is what was typed, None where Python was the caller.

    Raises `MouseholeError` as `Found.cells` does.
    """
    what = What.of(found, value, against, absolute=False)
    cells = found.cells(value, against)
    every = of_schemes(found.schemes)
    series = every if what.of_change is None else every.without(what.of_change)
    charts = [_axis_chart(found, cells, what, axis, series) for axis in found.axes]
    return Page(
        title=title_of(found),
        subtitle=f"{_capital(what.words)}, in {counted(len(cells['cell'].unique()), 'cell')}.",
        verdict=_verdict(cells, what, series),
        choices=series.choices,
        sections=[
            Section("axes", "What each axis changes", [Prose(HOW), *charts], "Axes"),
            Section("cells", "The cells", [_cell_table(found, cells, what)], "Cells"),
            *_fault_sections(found),
            made_section(found.manifest, command),
        ],
        footer=f"Mousehole {engine_text()}",
    )


HOW = (
    "Each small point is a cell; the line is the mean of the cells at that value, or of an equal number of "
    "cells around it, over all other axes. The intervals of single cells are 95 % each, without correction "
    "for their number: they explore, and do not prove."
)


def _verdict(cells: pl.DataFrame, what: What, series: Series) -> Verdict:
    """Returns a sentence for each scheme: its mean over the cells, and in how many it is better."""
    lines = []
    for scheme in series.names:
        own = cells.filter(pl.col("scheme") == scheme)[what.column].drop_nulls()
        if not len(own):
            continue
        if what.of_change is None:
            lines.append(
                f"{scheme}: {what.words} {_number(_mean(own), what)} over {counted(len(own), 'cell')}."
            )
            continue
        mean, least, most = what.mean(own.to_numpy()), _end(own.min()), _end(own.max())
        lower = int((own < 0).sum())
        lines.append(
            f"{scheme}: {signed(mean)} % over {counted(len(own), 'cell')} "
            f"({signed(least)} to {signed(most)} % in one of them); "
            f"below {what.of_change} in {lower} of {len(own)}."
        )
    return Verdict([f"{_capital(what.words)}:", *lines])


def _axis_chart(found: Found, cells: pl.DataFrame, what: What, axis: str, series: Series) -> Chart:
    """Returns the cells along one axis, with the trend of each scheme."""
    scale = scale_of(found, cells, axis)
    shown = cells.filter(pl.col("scheme").is_in(list(series.names)) & pl.col(what.column).is_not_null())
    shown = shown.drop_nulls(axis)
    chosen = _some(shown, MOST_POINTS)
    places = _places(chosen, scale)
    points = [
        _datum(row, place, what) for row, place in zip(chosen.iter_rows(named=True), places, strict=True)
    ]
    lines: list[dict[str, Any]] = []
    rows: list[Row] = []
    keys: list[str] = []
    for scheme in series.names:
        own = shown.filter(pl.col("scheme") == scheme)
        if not len(own):
            continue
        at, means = trend(scale.places(own), own[what.column].to_numpy(), what, scale)
        for place, mean in zip(at, means, strict=True):
            estimate = Estimate(mean, nan, nan, 1)
            datum = (
                change_datum("scheme", scheme, estimate) if what.of_change else _plain(scheme, estimate, what)
            )
            lines.append({**datum, "x": _x(place, scale)})
            rows.append([scheme, Cell(_place_text(place, scale), place), Cell(_number(mean, what), mean)])
            keys.append(scheme)
    x, y = _across(points, scale), _up(points, what)
    tips = [alt.Tooltip("scheme:N"), alt.Tooltip("cell:N"), alt.Tooltip("text:N", title=what.value)]
    base = series.kept(alt.Chart(alt.InlineData(values=points))).encode(color=series.colour(), tooltip=tips)
    means_of = series.kept(alt.Chart(alt.InlineData(values=lines))).encode(color=series.colour())
    layers = [
        *([zero_line(alt.Y)] if what.of_change else []),
        base.mark_point(size=22, opacity=0.45, filled=True).encode(x=x, y=y("mean", alt.Y)),
        means_of.mark_line(strokeWidth=2).encode(x=x, y=y("mean", alt.Y), strokeDash=series.dash()),
        means_of.mark_point(size=70, opacity=1).encode(x=x, y=y("mean", alt.Y), shape=series.shape()),
    ]
    columns = [Column("scheme", is_number=False), Column(axis), Column(what.words)]
    name = "".join(char if char.isalnum() else "-" for char in axis.lower())
    return Chart(
        f"axis-{name}",
        f"Along {axis}",
        f"{_capital(what.words)} along {axis}: a point per cell, a line per scheme.",
        series.choosing(alt.layer(*layers)),
        Table(f"{_capital(what.words)} along {axis}, mean over all other axes", columns, rows, keys),
    )


def _cell_table(found: Found, cells: pl.DataFrame, what: What) -> Table:
    """Returns a line per cell and scheme with its settings, mean and change."""
    shown = _some(cells, MOST_LINES)
    head = [Column("scheme", is_number=False), *(Column(axis) for axis in found.axes), Column("mean")]
    head += [Column(f"change against {what.of_change}")] if what.of_change else []
    rows: list[Row] = []
    for row in shown.iter_rows(named=True):
        line: list[Cell | str] = [row["scheme"]]
        for axis in found.axes:
            number = row.get(found.number_column(axis) or axis)
            text = (
                "–"
                if row[axis] is None
                else f"{row[axis]:g}"
                if isinstance(row[axis], float)
                else str(row[axis])
            )
            line.append(Cell(text, number))
        line.append(Cell(_number(row["mean"], What(what.value, None)), row["mean"]))
        if what.of_change:
            line.append(change_cell(_change(row)))
        rows.append(line)
    left = len(cells) - len(shown)
    note = f"{left:,} more lines are left out; mousehole sweep show --cells has all." if left else ""
    return Table("Settings, mean and change of every cell", head, rows, shown["scheme"].to_list(), note)


def _fault_sections(found: Found) -> list[Section]:
    faulty = (
        found.rows.filter(pl.col(FAULT).is_not_null())
        .select("cell", "replication", "scheme", FAULT)
        .collect()
    )
    if not len(faulty):
        return []
    columns = [
        Column("cell"),
        Column("replication"),
        Column("scheme", is_number=False),
        Column("why", is_number=False),
    ]
    rows: list[Row] = [[Cell(str(cell), cell), Cell(str(number), number), scheme, reason]
                       for cell, number, scheme, reason in faulty.iter_rows()]  # fmt: skip
    return [
        Section("faults", "Rows without numbers", [Table("Rows that were given up", columns, rows)], "Faults")
    ]


def _datum(row: dict[str, Any], place: float | str, what: What) -> dict[str, Any]:
    if what.of_change:
        datum = change_datum("scheme", row["scheme"], _change(row))
    else:
        mean, low, high = (nan if row[name] is None else row[name] for name in ("mean", "low", "high"))
        datum = _plain(row["scheme"], Estimate(mean, low, high, row["replications"]), what)
    return {**datum, "x": place, "cell": row["cell"]}


def _plain(scheme: str, estimate: Estimate, what: What) -> dict[str, Any]:
    return {"scheme": scheme, **estimate_datum(estimate, lambda number, _=False: _number(number, what))}


def _change(row: dict[str, Any]) -> Estimate:
    mean, low, high = (
        nan if row[name] is None else row[name] for name in ("change", "change_low", "change_high")
    )
    return Estimate(mean, low, high, row["replications"])


def _across(points: Sequence[dict[str, Any]], scale: Scale) -> Any:
    """Returns the encoding of an axis of the sweep."""
    if scale.column is None:
        return alt.X("x:N", sort=list(scale.names), title=scale.setting, axis=alt.Axis(labelAngle=0))
    unit = "" if scale.column == scale.setting else scale.column.rpartition("_")[2]
    label = LABELS.get(unit, PLAIN_LABEL)
    if scale.is_log:
        return log_axis([point["x"] for point in points], scale.setting, label)("x", alt.X)
    axis = alt.Axis(labelExpr=label)
    return alt.X("x:Q", title=scale.setting, axis=axis, scale=alt.Scale(zero=False))


def _up(points: Sequence[dict[str, Any]], what: What) -> Any:
    """Returns what encodes the measure: changes on a scale of ratios."""
    if what.of_change:
        return change_axis([point["mean"] for point in points], f"change against {what.of_change} (↓ less)")
    label = TIME_LABEL if what.value.endswith("_s") else PLAIN_LABEL
    return log_axis([point["mean"] for point in points], what.value, label)


def _places(cells: pl.DataFrame, scale: Scale) -> Iterable[float | str]:
    return (_x(place, scale) for place in scale.places(cells))


def _x(place: float, scale: Scale) -> float | str:
    return scale.names[round(place)] if scale.column is None else rounded(float(place))


def _place_text(place: float, scale: Scale) -> str:
    return scale.names[round(place)] if scale.column is None else scale.text(place)


def _some(cells: pl.DataFrame, most: int) -> pl.DataFrame:
    """Returns at most so many rows, evenly chosen."""
    return cells if len(cells) <= most else cells[[place * len(cells) // most for place in range(most)]]


def _number(number: float | None, what: What) -> str:
    if number is None or not isfinite(number):
        return "–"
    if what.of_change:
        return f"{signed(number)} %"
    if what.value.endswith("_bps"):
        return rate_text(number)
    return time_text(number) if what.value.endswith("_s") else f"{number:.4g}"


def _mean(values: pl.Series) -> float:
    return float(values.to_numpy().mean())


def _end(value: Any) -> float:
    return float(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
