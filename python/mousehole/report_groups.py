"""The figures of applications for people: a line for each scheme, a column for each figure."""

from collections.abc import Container
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mousehole import tables
from mousehole.comparison import Comparison
from mousehole.groups import FIGURES, LESS_IS_BETTER
from mousehole.plan import Cell
from mousehole.texts import rate_text, share_text, signed, time_text

Row = dict[str, Any]

ABREAST = 3
"""Columns that fit beside each other."""


def print_groups(
    console: Console, comparison: Comparison, cell: Cell, elsewhere: Container[tuple[str, str]] = ()
) -> None:
    """The tables of one cell, without what stands elsewhere; nothing where there is nothing to tell apart."""
    rows = tables.group_rows(comparison.results, cell)
    keys = list(dict.fromkeys((row["group"], row["what"]) for row in rows))
    keys = [key for key in keys if key not in elsewhere]
    for first in range(0, len(keys), ABREAST):
        console.print(_table(comparison, rows, keys[first : first + ABREAST], first > 0))


def _table(comparison: Comparison, rows: list[Row], keys: list[tuple[str, str]], goes_on: bool) -> Table:
    title = f"By application, change against {comparison.plan.baseline}{', continued' if goes_on else ''}"
    table = Table(
        title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1),
        pad_edge=False,
    )  # fmt: skip
    table.add_column("scheme", overflow="fold")
    for group, what in keys:
        table.add_column(f"{group}: {FIGURES[what]}", justify="right")
    for scheme in comparison.plan.schemes:
        own = {(row["group"], row["what"]): row for row in rows if row["scheme"] == scheme}
        table.add_row(Text(scheme), *(_cell(own[key]) for key in keys))
    return table


def _cell(row: Row) -> Text:
    value = _value(row["what"], row["value"])
    change, low, high = row["change"], row["change_low"], row["change_high"]
    if row["is_baseline"] or change is None:
        return Text(value)
    if low is None:
        return Text(f"{value}  {signed(change)} %")
    less = LESS_IS_BETTER[row["what"]]
    style = "" if low <= 0 <= high else "green" if (high < 0) == less else "red"
    return Text(f"{value}  {signed(change)} % ({signed(low)}…{signed(high)})", style=style)


def _value(what: str, value: float | None) -> str:
    if what == "goodput_bps":
        return rate_text(value)
    return share_text(value) if what == "loss_share" else time_text(value)
