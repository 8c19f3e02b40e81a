"""Every scheme in one table, next to drop-tail, RED and FQ-CoDel, and its change by transfer size."""

from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from mousehole import _engine
from mousehole.answer._install import Link, find_installation, find_link_of_cell
from mousehole.answer.tables import table_rows
from mousehole.base import Summary
from mousehole.engine_types import Floats
from mousehole.runs import Cell, Change, Results, SizeRow, is_ideal
from mousehole.statistics import log_ratio

IN_LINUX, WITH_LIVE, BY_NOBODY, IDEALS = "tc or routers", "mousehole-live", "nothing installs", "ideals"
"""What installs schemes on the link of a cell."""
MANY_SCHEMES = 8
"""With more schemes than this, the report is one table, and sentences are printed only on request."""


def list_references(results: Results) -> list[str]:
    """Returns the baseline, and drop-tail, RED and FQ-CoDel if they are compared, in the order of schemes."""
    return results.compared(results.plan.cells[0]).overview_references()


def find_size_reference(results: Results) -> str:
    """Returns the reference of the change by size: FQ-CoDel if it is among the schemes, else the baseline."""
    return results.compared(results.plan.cells[0]).size_reference()


def _make_size_row(buffer: str, load: float | None, response_mean_change: Any, **row: Any) -> SizeRow:
    """Returns a row of the change by size from the engine's row and the cell's buffer and load."""
    return SizeRow(buffer, load, **row, response_mean_change=Change(*response_mean_change))


by_size_rows = table_rows("size", _make_size_row)
"""One row per scheme and size bucket: the change of the mean response time against FQ-CoDel."""


def _mean_of_finite(values: Floats) -> float:
    """Returns the mean of the finite values, NaN if there are none."""
    known = values[np.isfinite(values)]
    return float(np.mean(known)) if known.size else nan


@dataclass(frozen=True)
class GridTime:
    """The mean response time of a class of transfers under one scheme with one buffer."""

    scheme: str
    buffer: str
    mean_s: float
    change: Change | None
    """Against the baseline with the first buffer; None of that itself."""


def grid_times(results: Results, role: Summary, load: float | None) -> list[GridTime]:
    """Returns the mean times of all schemes with all buffers at a load: by scheme, then by buffer.

    Buffers are in the plan's order, and `load` is one of the plan's. Without such transfers a time is NaN.
    All changes are against one cell, the baseline with the buffer that was named first, so that buffers can
    be compared with each other.
    """
    plan = results.plan
    cells = [cell for cell in plan.cells if cell.load == load]
    place = [bucket.role for bucket in plan.buckets].index(role)

    def times(cell: Cell, scheme: str) -> list[float]:
        """Returns the mean of each replication in seconds, NaN without such transfers."""
        return [float(run.statistics["response_mean_s"][place]) for run in results.runs(cell, scheme)]

    base = f"{plan.baseline} {cells[0].buffer}"
    family = {
        f"{scheme} {cell.buffer}": np.array(times(cell, scheme)) for scheme in plan.schemes for cell in cells
    }

    def change(cell: Cell, scheme: str) -> Change | None:
        """Returns the change against the first cell's baseline; None for that itself."""
        own, first = times(cell, scheme), times(cells[0], plan.baseline)
        if (cell, scheme) == (cells[0], plan.baseline):
            return None
        # The cells are of one family: all are read against the same one.
        ratio = log_ratio(own, first, results.design(cell, family if role == "short" else None, base))
        return Change(*_engine.make_change(ratio, np.array(own), np.array(first)))

    return [
        GridTime(scheme, cell.buffer, _mean_of_finite(np.array(times(cell, scheme))), change(cell, scheme))
        for scheme in plan.schemes
        for cell in cells
    ]


def select_best_times(times: list[GridTime]) -> list[GridTime]:
    """Returns the smallest mean time of all schemes but ideals, once for each buffer with the same time.

    Empty if there were no such transfers.
    """
    known = [one for one in times if isfinite(one.mean_s) and not is_ideal(one.scheme)]
    if not known:
        return []
    best = min(known, key=lambda one: one.mean_s)
    return [one for one in known if (one.scheme, one.mean_s) == (best.scheme, best.mean_s)]


def group_schemes(results: Results, cell: Cell) -> dict[str, list[str]]:
    """Returns the schemes by what installs them: Linux or routers, `mousehole-live`, nothing; ideals last.

    Empty groups are left out. Within a group the scheme with the least mean time of short transfers is first,
    and schemes without such transfers are last.
    """
    link = find_link_of_cell(results, cell)
    means = {scheme: _short_mean(results, cell, scheme) for scheme in results.plan.schemes}
    groups: dict[str, list[str]] = {name: [] for name in (IN_LINUX, WITH_LIVE, BY_NOBODY, IDEALS)}
    for scheme in sorted(means, key=lambda scheme: means[scheme] if isfinite(means[scheme]) else inf):
        groups[_choose_group(scheme, link)].append(scheme)
    return {name: schemes for name, schemes in groups.items() if schemes}


def _choose_group(scheme: str, link: Link | None) -> str:
    """Returns the group of a scheme; without a link of constant rate (None) nothing installs it."""
    if is_ideal(scheme):
        return IDEALS
    way = None if link is None else find_installation(scheme, link)
    if way is None:
        return BY_NOBODY
    return WITH_LIVE if any(line.startswith("mousehole-live") for line in way.lines) else IN_LINUX


def _short_mean(results: Results, cell: Cell, scheme: str) -> float:
    """Returns the mean response time of short transfers over the replications, in seconds.

    NaN without any.
    """
    return _mean_of_finite(results.bucket_values(cell, scheme, "short", "response_mean_s"))
