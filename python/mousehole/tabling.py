"""Tables that fit the terminal: of several forms of a table, the fullest one that is narrow enough."""

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

UNBOUNDED = 1000


class OutputConsole(Console):
    """A console that leaves it to its caller what to do if nobody reads its output."""

    def on_broken_pipe(self) -> None:
        """Raises `BrokenPipeError`; rich would end the process."""
        raise BrokenPipeError


def print_fitting(console: Console, forms: Iterable[tuple[Table, str]]) -> None:
    """Prints the first table that fits, or else the last one, and under it the names of what it leaves out.

    `forms` are pairs of a table and of what it leaves out, the fullest table first.
    """
    chosen: tuple[Table, str] | None = None
    for chosen in forms:
        if natural_width(console, chosen[0]) <= console.width:
            break
    if chosen is None:
        return
    console.print(chosen[0])
    if chosen[1]:
        console.print(Text(f"(too narrow for: {chosen[1]})", style="dim"))
    console.print()


def natural_width(console: Console, table: Table) -> int:
    """Returns the number of terminal columns that the table needs without folding anything."""
    return Measurement.get(console, console.options.update(max_width=UNBOUNDED), table).maximum


def dense(title: str) -> Table:
    """Returns an empty table with little space between its columns."""
    return Table(
        title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0),
        pad_edge=False, show_edge=False,
    )  # fmt: skip
