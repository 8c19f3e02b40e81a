"""One plain sentence per scheme: better, worse, equal, or undecided; `answer/src/findings.rs` makes them."""

from dataclasses import replace

from mousehole import _engine, quantities
from mousehole._engine import NOT_JUDGED as NOT_JUDGED
from mousehole._engine import Endpoint as Endpoint
from mousehole._engine import Source
from mousehole.answer.tables import allow_all_cells
from mousehole.quantities import Measure
from mousehole.runs import Cell, Finding, Results

PAGES = ("pages", "page_mean_s")
"""The figure of applications that is an endpoint: the mean time of a page."""
BETTER, WORSE, NO_BENEFIT, UNDECIDED = "better", "worse", "equal within 5 %", "undecided"
UNCLEAR = "no clear change"
"""Outcome of an exploratory endpoint whose interval contains zero."""
verdict = _engine.judge


def find_source(measure: Measure) -> Source:
    """Returns the source of a measure's values: its quantity, and the role or the kind of transfers."""
    return Source(measure.quantity, role=measure.role, kind=measure.kind)


def list_endpoints(short_bytes: int, long_bytes: int, has_pages: bool = False) -> tuple[Endpoint, ...]:
    """Returns the primary endpoint, then those of what other transfers gain or pay.

    Limits of short and long transfers are in bytes. `has_pages` adds the endpoint of whole pages.
    """
    return tuple(_engine.endpoints(quantities.table(), short_bytes, long_bytes, has_pages))


@allow_all_cells
def findings(results: Results, cell: Cell) -> list[Finding]:
    """Returns every scheme against the baseline, and against FQ-CoDel if that is among the schemes.

    For None, the rows are those of all cells.
    """
    return [Finding(cell.buffer, cell.load, **one) for one in results.compared(cell).findings()]


def with_endpoint(results: Results) -> Results:
    """Returns a copy of the results whose manifest names the primary endpoint.

    That is the first cell's, if cells differ.
    """
    primary = results.primary(results.plan.cells[0]).description
    statistics = {**results.manifest["statistics"], "primary_endpoint": primary}
    return replace(results, manifest={**results.manifest, "statistics": statistics})


def first_cell(results: Results) -> _engine.ComparedCell:
    """Returns the first cell of the plan with its runs; its notes hold for all cells."""
    return results.compared(results.plan.cells[0])
