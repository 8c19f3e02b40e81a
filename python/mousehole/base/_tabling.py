"""Prints tables that fit the terminal, and sentences: wrapped there, one line each in a file."""

import errno
import os
from collections.abc import Iterable
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mousehole.base._plain_text import STEERING, escape_controls, to_ascii
from mousehole.base._standard_output import OutputLostError

UNBOUNDED = 1000


class OutputConsole(Console):
    """A console that leaves it to its caller what to do if nobody reads its output.

    Where the output has no Unicode, texts become ASCII before they are laid out, so that columns fit.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Prints as rich does, after `fit_encoding` of every object, which changes tables in place."""
        super().print(*(fit_encoding(self, item) for item in objects), **options)

    def on_broken_pipe(self) -> None:
        """Raises `OutputLostError`; rich would end the process."""
        raise OutputLostError(errno.EPIPE, os.strerror(errno.EPIPE))


def fit_encoding(console: Console, item: Any) -> Any:
    """Returns a text in characters that the console's encoding can show; anything else is returned itself.

    The texts of a table, and those within a padding, are changed in place. Names of files and scenarios are
    among them, so characters that would steer the terminal become escapes.
    """
    if isinstance(item, str):
        shown = escape_controls(item)
        return shown if console.encoding.startswith("utf") else to_ascii(shown)
    if isinstance(item, Text):
        if console.encoding.startswith("utf") and not STEERING.search(item.plain):
            return item
        return Text(fit_encoding(console, item.plain), style=item.style)
    if isinstance(item, Padding):
        item.renderable = fit_encoding(console, item.renderable)
    if isinstance(item, Table):
        item.title = fit_encoding(console, item.title)
        for column in item.columns:
            column.header = fit_encoding(console, column.header)
            column._cells[:] = [fit_encoding(console, cell) for cell in column._cells]
    return item


def print_fitting(console: Console, forms: Iterable[tuple[Table, str]]) -> str:
    """Prints the first table that fits, else the last one, and the names of what it leaves out.

    Returns these names. `forms` are pairs of a table and of what it leaves out, the fullest table first;
    without any, nothing is printed and the result is empty. The printed table loses its title, which is
    printed above it, and texts of tables change as in `fit_encoding`.
    """
    chosen: tuple[Table, str] | None = None
    for chosen in forms:
        if measure_width(console, chosen[0]) <= console.width:
            break
    if chosen is None:
        return ""
    table, title = chosen[0], chosen[0].title
    table.title = None  # it would be folded to the table's width
    if title:
        console.print(title)
    console.print(table)
    if chosen[1]:
        console.print(Text(f"(too narrow for: {chosen[1]})", style="dim"))
    console.print()
    return chosen[1]


def say(console: Console, text: Text, indent: int = 0) -> None:
    """Prints a sentence: wrapped on a terminal, in one line where the output is a file or a pipe.

    `indent` is a number of columns.
    """
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, indent), expand=False))
    else:
        console.print(Text(" " * indent) + text, soft_wrap=True)


def measure_width(console: Console, table: Table) -> int:
    """Returns the number of terminal columns that the table needs if nothing is folded.

    The texts of the table are changed as in `fit_encoding`.
    """
    wide = console.options.update(max_width=UNBOUNDED)
    return Measurement.get(console, wide, fit_encoding(console, table)).maximum


def make_dense_table(title: str) -> Table:
    """Returns an empty table with little space between its columns."""
    return Table(
        title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0),
        pad_edge=False, show_edge=False,
    )  # fmt: skip
