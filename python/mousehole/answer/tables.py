"""The rows of a comparison's tables; `answer/src/tables.rs` computes them."""

from collections.abc import Callable
from functools import wraps
from typing import Protocol, TypeVar, cast

from mousehole.engine_types import TableRows
from mousehole.runs import (
    BucketRow,
    CdfRow,
    Cell,
    ColourRow,
    CurveRow,
    EvidenceRow,
    GroupRow,
    LoadRow,
    Results,
    SchemeRow,
)

R = TypeVar("R")


class Rows(Protocol[R]):
    """Returns the rows of one cell, or for None those of all cells."""

    def __call__(self, results: Results, cell: Cell | None = None) -> list[R]:
        """Returns the rows of `cell`, or for None those of all cells in the order of the plan."""


def allow_all_cells(make: Callable[[Results, Cell], list[R]]) -> Rows[R]:
    """Returns a function that also takes None for the cell, which means all cells, in the plan's order.

    The rows of a cell are made by `make` once and stored in `Results.kept`; tables, plots and documents share
    the list, so callers do not change it.
    """

    @wraps(make)
    def rows(results: Results, cell: Cell | None = None) -> list[R]:
        """Returns the rows of a cell, or of all cells in the plan's order without one."""
        if cell is None:
            return [row for each in results.plan.cells for row in rows(results, each)]
        key = (make, cell)
        if key not in results.kept:
            results.kept[key] = cast("list[object]", make(results, cell))
        return cast("list[R]", results.kept[key])

    return rows


def table_rows(name: TableRows, make: Callable[..., R]) -> Rows[R]:
    """Returns the function for the rows of one of the engine's tables.

    It calls `make` with buffer and load of the cell and the engine's row as keywords, once per row.
    """

    def rows(results: Results, cell: Cell) -> list[R]:
        """Returns the rows of the engine's table for a cell."""
        return [make(cell.buffer, cell.load, **row) for row in results.compared(cell).rows(name)]

    return allow_all_cells(rows)


bucket_rows = table_rows("bucket", BucketRow)
"""One row per scheme and bucket."""
scheme_rows = table_rows("scheme", SchemeRow)
"""One row per scheme."""
colour_rows = table_rows("colour", ColourRow)
"""One row per scheme and colour: packets at the bottleneck, summed over replications."""
curve_rows = table_rows("curve", CurveRow)
"""One row per scheme and size bin that has transfers: the mean response time."""
cdf_rows = table_rows("cdf", CdfRow)
"""The distribution of the response time of short transfers: one row per scheme and time."""
group_rows = table_rows("group", GroupRow)
"""One row per scheme and figure of an application, what its users feel first before the rest."""


def load_row(results: Results, cell: Cell) -> LoadRow:
    """Returns native and achieved load, copies and dilation of a cell.

    They are means over the baseline's replications.
    """
    return LoadRow(**results.compared(cell).load())


def evidence_row(results: Results, cell: Cell) -> EvidenceRow | None:
    """Returns how much of a capture the verdicts of a cell rest on; None for a model."""
    found = results.compared(cell).evidence()
    return None if found is None else EvidenceRow(**found)
