"""Prints the figures of applications: one line per scheme, one column per figure."""

from collections.abc import Container
from math import isfinite

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mousehole import quantities
from mousehole.answer import tables
from mousehole.base import signed, unit_text
from mousehole.runs import Cell, GroupRow, Results

COLUMNS_PER_TABLE = 3


def print_groups(
    console: Console, results: Results, cell: Cell, elsewhere: Container[tuple[str, str]], details: bool
) -> None:
    """Prints the tables of one cell, without the figures `elsewhere`; nothing if no figure applies.

    Without `details` there is only what users of an application feel first.
    """
    rows = [row for row in tables.group_rows(results, cell) if details or row.is_primary]
    keys = [key for key in dict.fromkeys((row.group, row.what) for row in rows) if key not in elsewhere]
    for first in range(0, len(keys), COLUMNS_PER_TABLE):
        continued = ", continued" if first else ""
        title = f"By application, change against {results.plan.baseline}{continued}"
        console.print(Text(title, style="bold"))
        console.print(_table(results, rows, keys[first : first + COLUMNS_PER_TABLE]))


def _table(results: Results, rows: list[GroupRow], keys: list[tuple[str, str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("scheme", overflow="fold")
    for group, what in keys:
        table.add_column(f"{group}: {quantities.find('application', what).axis}", justify="right")
    for scheme in results.plan.schemes:
        own = {(row.group, row.what): row for row in rows if row.scheme == scheme}
        table.add_row(Text(scheme), *(_cell(own[key]) for key in keys))
    return table


def _cell(row: GroupRow) -> Text:
    value, change = value_text(row.what, row.value.mean), row.change
    if row.is_baseline or not isfinite(change.mean):
        return Text(value)
    if not change.has_interval:
        return Text(f"{value}  {signed(change.mean)} %")
    is_better = (change.high < 0) == quantities.find("application", row.what).less_is_better
    style = "" if change.low <= 0 <= change.high else "green" if is_better else "red"
    return Text(f"{value}  {signed(change.mean)} % ({signed(change.low)}…{signed(change.high)})", style=style)


def value_text(what: str, value: float) -> str:
    """Returns a figure of an application as text."""
    return unit_text(quantities.find("application", what).unit, value)
