"""Remarks on a cell: where no difference can be expected, and where parameters do not fit the link.

`answer/src/notes.rs` makes them.
"""

from mousehole._engine import UNLOADED as UNLOADED
from mousehole.answer._setting import find_surroundings
from mousehole.answer.tables import allow_all_cells
from mousehole.runs import Cell, Results


@allow_all_cells
def cell_notes(results: Results, cell: Cell) -> list[str]:
    """Returns the remarks on a cell, one or two sentences each; for None, those of all cells."""
    return results.compared(cell).notes(find_surroundings(results, cell))
