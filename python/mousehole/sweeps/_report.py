"""A sweep as a document: what each scheme changes over all cells, along each axis, and over two axes."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
import polars as pl

from mousehole import quantities
from mousehole.base import change_text, counted, engine_text, signed, unit_text
from mousehole.charts import make_scheme_series
from mousehole.charts.marks import Datum
from mousehole.document import (
    INTERVALS,
    Block,
    Chart,
    Column,
    Document,
    Grid,
    Prose,
    Row,
    Section,
    Table,
    Verdict,
)
from mousehole.document import Cell as TableCell
from mousehole.html.common import make_provenance_section
from mousehole.html.figures import make_change_cell
from mousehole.html.pictures import list_choices
from mousehole.runs import none_to_nan
from mousehole.statistics import Estimate
from mousehole.sweeps._drawing import Drawing, draw_field_chart, draw_trend
from mousehole.sweeps._found import MOST_LEVELS, VALUE, Found
from mousehole.sweeps._quantities import average_changes
from mousehole.sweeps._views import What, write_title

MOST_DOTS = 4000
"""So many cells are drawn in all charts together; of more, every second, third, … is."""
MOST_ROWS = 500
"""So many cells and schemes are listed."""
NOTE = (
    "Means over cells are geometric. The changes of single cells are many comparisons without correction: "
    "they explore, and do not prove."
)


def make_document(
    found: Found, value: str = VALUE, against: str | None = None, command: Sequence[str] | None = None
) -> Document:
    """Returns the document of a sweep, whole or growing, for one measure and its change against a scheme.

    `against` is the first scheme by default. `command` is the command line as typed, None where Python was
    the caller. Raises `MouseholeError` for a measure or scheme that the rows do not have.
    """
    reference = against or found.schemes[0]
    cells = found.cells(value, against)
    drawing = Drawing(found, cells, What(value, reference))
    others = [scheme for scheme in found.schemes if scheme != reference]
    every = _make_cells_table(found, cells, value, reference, drawing.what.sides.less_is_better)
    return Document(
        title=write_title(found),
        subtitle=f"{found.finished:,} of {found.manifest['rows']:,} rows; axes: {', '.join(found.axes)}; "
        f"measure: {value}.",
        verdict=Verdict(_summarise_schemes(cells, value, reference, others), "open", "What was found"),
        choices=list_choices(make_scheme_series(found.schemes)),
        sections=[
            Section("axes", "Along each axis", _list_axis_blocks(drawing, reference), "Axes", "page"),
            *_list_surface_sections(drawing, reference),
            Section("effects", "What each value changes",
                    [_make_effects_table(found, value, reference, others), Prose(NOTE, "dim")], "Effects"),
            Section("cells", "The cells", [every], "Cells", "details"),
            make_provenance_section(found.manifest, command),
        ],
        footer=f"Mousehole {engine_text()}",
    )  # fmt: skip


def _summarise_schemes(cells: pl.DataFrame, value: str, reference: str, others: Sequence[str]) -> list[str]:
    """Returns a sentence per scheme on its change over all cells, or one that nothing is compared."""
    lines = []
    for scheme in others:
        changes = _list_changes(cells, scheme)
        if not len(changes):
            continue
        less = int(np.sum(changes < 0))
        lines.append(
            f"{scheme} changes the {_describe_measure(value)} by {signed(average_changes(changes))} % "
            f"against {reference} in the mean over {counted(len(changes), 'cell')}, from "
            f"{signed(changes.min())} to {signed(changes.max())} %; it is less in {less} of them."
        )
    nothing = "no cell has this measure of two schemes" if others else "there is no other scheme"
    return lines or [f"Nothing is compared with {reference}: {nothing}."]


def _list_axis_blocks(drawing: Drawing, reference: str) -> list[Block]:
    """Returns a grid of one chart of changes per axis, or a sentence if there is no change to draw.

    An axis on which no such cell has a value is left out.
    """
    known = drawing.cells.filter(pl.col("change").is_not_null())
    if not len(known):
        return [Prose("There is no change to draw: one scheme, or no cell that is whole.")]
    found = drawing.sweep
    charts = [_make_axis_chart(drawing, axis, place, reference) for place, axis in enumerate(found.axes)
              if known[axis].null_count() < len(known)]  # fmt: skip
    return [Grid(charts)]


def _make_axis_chart(drawing: Drawing, axis: str, place: int, reference: str) -> Chart:
    """Returns the changes along an axis: a dot for each cell, a line for the mean of each scheme."""
    value, most = drawing.what.value, MOST_DOTS // len(drawing.sweep.axes)
    picture, lines = draw_trend(drawing, axis, most)
    every = ceil(len(drawing.cells) / most)
    few = "" if every == 1 else f" Of {len(drawing.cells)} cells and schemes every {every}th is drawn."
    rows: list[Row] = [
        [TableCell(datum["label"], datum["x"]), datum["scheme"], TableCell(datum["text"], datum["y"])]
        for datum in lines
    ]
    columns = [Column(axis, False), Column("scheme", False), Column("mean change")]
    return Chart(
        f"axis-{place}",
        f"Along {axis}",
        f"Change of the {_describe_measure(value)} against {reference}: each dot is a cell, "
        f"lines are geometric means.{few}",
        picture,
        Table(f"Mean change along {axis}", columns, rows, [datum["scheme"] for datum in lines]),
        height=300,
    )


def _list_surface_sections(drawing: Drawing, reference: str) -> list[Section]:
    """Returns, as a list of one, the section on the mean change over the first two axes of few values.

    It has a chart for each scheme. The list is empty if there are no two such axes, or no known cell.
    """
    found, cells = drawing.sweep, drawing.cells
    few = [axis for axis in found.axes if 1 < cells[axis].n_unique() <= MOST_LEVELS]
    if len(few) < 2:
        return []
    across, down = few[:2]
    made = (_make_surface_chart(drawing, across, down, scheme, place, reference)
            for place, scheme in enumerate(drawing.schemes()))  # fmt: skip
    charts = [chart for chart in made if chart is not None]
    blocks: list[Block] = [Grid(charts)]
    return [Section("surface", f"Over {across} and {down}", blocks, "Surfaces", "page")] if charts else []


def _make_surface_chart(
    drawing: Drawing, across: str, down: str, scheme: str, place: int, reference: str
) -> Chart | None:
    """Returns the chart of a scheme's change over two axes as coloured fields; None without a known cell."""
    own = drawing.own(scheme, drawing.cells).drop_nulls([across, down])
    data: list[Datum] = []
    for (x, y), part in own.group_by([across, down], maintain_order=True):
        mean = average_changes(part["change"].to_numpy())
        data.append({"x": str(x), "y": str(y), "value": mean, "text": f"{signed(mean)} %"})
    if not data:
        return None
    names = {axis: _order_values(drawing.sweep, drawing.cells, axis) for axis in (across, down)}
    by_place = {(datum["x"], datum["y"]): datum for datum in data}
    rows: list[Row] = [
        [low, *(_make_surface_cell(by_place.get((left, low))) for left in names[across])]
        for low in names[down]
    ]
    return Chart(
        f"surface-{place}",
        scheme,
        f"Mean change of the {_describe_measure(drawing.what.value)} against {reference} in percent over all "
        "other axes: violet is less, orange more. The colours end at a factor of four.",
        draw_field_chart(drawing, data, (across, names[across]), (down, names[down])),
        Table(f"{scheme}: mean change by {down} and {across}",
              [Column(down, False), *map(Column, names[across])], rows),
        height=34 * len(names[down]),
    )  # fmt: skip


def _make_surface_cell(datum: Datum | None) -> TableCell:
    """Returns a table cell with the mean change of a field; a dash for None."""
    return TableCell("–", None) if datum is None else TableCell(datum["text"], datum["value"])


def _make_effects_table(found: Found, value: str, reference: str, others: Sequence[str]) -> Table:
    """Returns a table with a row per value of each axis: the reference's mean, and the changes of others.

    Ranges stand for the values of an axis with many.
    """
    rows: list[Row] = []
    for (axis, label), part in found.effects(value, reference).group_by("axis", "value", maintain_order=True):
        entries = {row["scheme"]: row for row in part.iter_rows(named=True)}
        mean = _make_measure_cell(entries[reference]["mean"] if reference in entries else None, value)
        changes = [_change_over_cells(entries.get(scheme), value) for scheme in others]
        rows.append([str(axis), str(label), mean, *changes])
    columns = [
        Column("axis", False), Column("value", False), Column(reference),
        *map(Column, others),
    ]  # fmt: skip
    return Table(
        f"Mean over cells, and change against {reference}", columns, rows,
        ends="In parentheses: the least and the most of a cell.", gives_way=[INTERVALS],
    )  # fmt: skip


def _change_over_cells(row: dict[str, Any] | None, value: str) -> TableCell:
    """Returns a table cell with a scheme's mean change and those of single cells, or else its mean.

    `row` is None if no cell has the scheme.
    """
    if row is None or row["change"] is None:
        return _make_measure_cell(None if row is None else row["mean"], value)
    return TableCell(change_text(row["change"], row["change_least"], row["change_most"]), row["change"])


def _make_cells_table(
    found: Found, cells: pl.DataFrame, value: str, reference: str, less_is_better: bool
) -> Table:
    """Returns a table of the first `MOST_ROWS` cells with settings, mean and change, a row per scheme."""
    rows: list[Row] = []
    shown = cells.head(MOST_ROWS)
    for row in shown.iter_rows(named=True):
        mean, low, high = (none_to_nan(row[name]) for name in ("change", "change_low", "change_high"))
        settings = ["–" if row[axis] is None else str(row[axis]) for axis in found.axes]
        rows.append([
            TableCell(str(row["cell"]), row["cell"]), row["scheme"], *settings,
            _make_measure_cell(row["mean"], value),
            make_change_cell(Estimate(mean, low, high, row["replications"]), less_is_better),
        ])  # fmt: skip
    columns = [
        Column("cell", False), Column("scheme", False), *(Column(axis) for axis in found.axes),
        Column("mean"), Column(f"change to {reference} (95 %)"),
    ]  # fmt: skip
    note = "" if len(shown) == len(cells) else f"The first {len(shown)} of {len(cells)}; --cells writes all."
    return Table("The cells", columns, rows, shown["scheme"].to_list(), note)


def _describe_measure(value: str) -> str:
    """Returns the measure of a column as text, such as `mean response time of short transfers`."""
    return quantities.find_measure(value).description


def _make_measure_cell(number: float | None, value: str) -> TableCell:
    """Returns a table cell with a number in the unit of a measure; None has no value."""
    return TableCell(unit_text(quantities.find_measure(value).quantity.unit, number), number)


def _list_changes(cells: pl.DataFrame, scheme: str) -> Any:
    """Returns the known changes of a scheme over the cells, as an array."""
    return cells.filter(pl.col("scheme") == scheme)["change"].drop_nulls().to_numpy()


def _list_names(cells: pl.DataFrame, axis: str) -> list[str]:
    """Returns the values of an axis as texts, in the order of the cells."""
    return [str(name) for name in cells[axis].drop_nulls().unique(maintain_order=True)]


def _order_values(found: Found, cells: pl.DataFrame, axis: str) -> list[str]:
    """Returns the values of an axis as texts, in the order of their numbers where the axis has numbers."""
    column = found.number_column(axis)
    return _list_names(cells if column is None else cells.sort(column), axis)
