"""Prints documents on a terminal: the answer, sentences, tables that fit, and of some charts the numbers."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table as TextTable
from rich.text import Text

from mousehole.base import OutputConsole, make_dense_table, measure_width, print_fitting, say
from mousehole.document.blocks import (
    INTERVALS,
    Block,
    Cell,
    Chart,
    Code,
    Details,
    Document,
    Facts,
    Grid,
    Items,
    Prose,
    Table,
    Tone,
    Verdict,
)

STYLES: dict[Tone, str] = {"": "", "good": "green", "open": "yellow", "bad": "red", "dim": "dim"}
ENDS = re.compile(r" \([^()]*…[^()]*\)")
"""The ends of an interval behind a number."""
MORE = "--details prints everything."
WIDEST = 110
LONG = 40
"""Longer texts in tables are sentences."""
MOST_LINES = 12
"""Number of lines up to which the commands of an answer are printed in full."""
FASTER, SLOWER = ("#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac", "#542788"), (
    "#f7f7f7", "#fee0b6", "#fdb863", "#e08214", "#b35806")  # fmt: skip
"""Background colours, from no change to a factor of four."""


def make_report_console(stderr: bool = False) -> Console:
    """Returns a console of at most 110 columns, and of exactly 110 if the output is not a terminal."""
    console = OutputConsole(stderr=stderr, highlight=False)
    console.width = min(console.width, WIDEST) if console.is_terminal else WIDEST
    return console


def print_document(console: Console, document: Document, details: bool = False, more: str = MORE) -> None:
    """Prints a document; `details` adds the sections and blocks that are folded otherwise.

    Without `details`, `more` is printed at the end if something is folded.
    """
    console.print(Text(document.title, style="bold"))
    if document.verdict is not None:
        _print_verdict(console, document.verdict, details)
    for section in document.sections:
        if section.shown == "always" or (section.shown == "details" and details):
            if section.is_ruled:
                console.rule(Text(section.title), align="left")
            _print_blocks(console, list(_select_blocks(section.blocks, details)))
    if not details and _is_folded(document):
        say(console, Text(more, style="dim"))


def _is_folded(document: Document) -> bool:
    """Returns whether `details` would print more of the document."""
    sections = [section for section in document.sections if section.shown != "page"]
    return any(
        section.shown == "details"
        or list(map(id, _select_blocks(section.blocks, True)))
        != list(map(id, _select_blocks(section.blocks, False)))
        for section in sections
    )


def _select_blocks(blocks: Sequence[Block], details: bool) -> Iterator[Block]:
    """Yields the blocks to print: those within grids, and with `details` those within folded blocks.

    A chart that is printed is replaced by its numbers. Other charts and folded blocks remain, and the
    printers pass over them.
    """
    for block in blocks:
        if isinstance(block, Grid) or (isinstance(block, Details) and details):
            yield from _select_blocks(block.blocks, details)
        elif isinstance(block, Chart) and block.printed in ("always", *(["details"] if details else [])):
            yield block.numbers
        else:
            yield block


def _print_verdict(console: Console, verdict: Verdict, details: bool) -> None:
    """Prints the answer; commands of more than `MOST_LINES` lines only with `details`."""
    for place, line in enumerate(verdict.lines):
        if isinstance(line, Code):
            count = len(line.text.splitlines())
            if details or count <= MOST_LINES:
                _print_code(console, line)
            else:
                say(console, Text(f"  {count} lines, which --details prints"))
        else:
            say(console, Text(line, style="" if place else STYLES[verdict.tone]))
    console.print()


def _print_blocks(console: Console, blocks: Sequence[Block]) -> None:
    """Prints blocks, with empty lines between texts and tables.

    Charts, folded blocks and `Raw` are not printed.
    """
    before: Block | None = None
    for block in blocks:
        if isinstance(before, Prose | Items) and isinstance(block, Table | Facts):
            console.print()
        if isinstance(before, Facts) and not before.title:
            console.print()
        for kind, show in _PRINTERS.items():
            if isinstance(block, kind):
                show(console, block)
        before = block


def _print_prose(console: Console, block: Prose) -> None:
    """Prints paragraphs, a sentence or more each."""
    for text in block.text.split("\n\n"):
        say(console, Text(text, style=STYLES[block.tone]))


def _print_items(console: Console, block: Items) -> None:
    """Prints sentences, each on a line of its own."""
    for text in block.texts:
        say(console, Text(text, style=STYLES[block.tone]))


def _print_facts(console: Console, block: Facts) -> None:
    """Prints names with their values: in two columns, or under a title one sentence each."""
    if not block.title:
        columns = TextTable.grid(padding=(0, 2, 0, 0))
        for name, value in block.pairs:
            columns.add_row(Text(name), Text(value))
        console.print(columns)
        return
    console.print(Text(block.title, style="bold"))
    tones: Sequence[Tone] = block.tones or [""] * len(block.pairs)
    for (name, value), tone in zip(block.pairs, tones, strict=True):
        say(console, Text(f"{name}: ", style=STYLES[tone]) + Text(value, style="none"), indent=2)
    console.print()


def _print_code(console: Console, block: Code) -> None:
    """Prints a command or a document line by line, without wrapping."""
    for line in block.text.splitlines():
        console.print(Text(line), soft_wrap=True)


def _print_table(console: Console, block: Table) -> None:
    """Prints the fullest form that fits; where none does, columns of text fold, and numbers follow below.

    Texts below the table are printed with it.
    """
    forms = list(_fallback_forms(block))
    if not _fits_width(console, _make_text_table(block, *forms[-1])) and not _has_long_texts(block):
        _print_in_parts(console, block)
        return
    left_out = print_fitting(
        console, ((_make_text_table(block, *form), _name_left_out(*form)) for form in forms)
    )
    _print_below(console, block, has_ends=INTERVALS not in left_out)


def _print_below(console: Console, block: Table, has_ends: bool) -> None:
    """Prints the texts below a table; that on the ends of intervals only with `has_ends`."""
    below = f"{block.ends if has_ends else ''} {block.note}".strip()
    if below:
        say(console, Text(f"{below}\n", style="dim"))


def _fits_width(console: Console, table: TextTable) -> bool:
    """Returns whether the console is wide enough for the table."""
    return measure_width(console, table) <= console.width


def _has_long_texts(block: Table) -> bool:
    """Returns whether a column after the first one holds sentences, which can be folded."""
    places = [place for place, column in enumerate(block.columns) if place and not column.is_number]
    return any(len(_render_cell(row[place], True)) > LONG for row in block.rows for place in places)


def _print_in_parts(console: Console, block: Table) -> None:
    """Prints a table that is too wide in any form as several, each with the first column."""
    kept = [place for place, column in enumerate(block.columns) if column.heading not in block.gives_way]
    names, rest, heading = kept[:1], kept[1:], block.caption
    while rest:
        count = len(rest)
        while count > 1 and not _fits_width(console, _select_columns(block, [*names, *rest[:count]])):
            count -= 1
        console.print(Text(heading, style="bold"))
        table = _select_columns(block, [*names, *rest[:count]])
        table.title = None  # it would be folded to the width of the table
        console.print(table)
        console.print()
        rest, heading = rest[count:], f"{block.caption}, continued"
    _print_below(console, block, has_ends=True)


def _fallback_forms(block: Table) -> Iterator[tuple[Sequence[str], bool]]:
    """Yields the forms of a table, the fullest first: columns to leave out, and whether ends are shown.

    Columns are given by heading; the ends are those of intervals. A table without `gives_way` has one
    form.
    """
    names = list(block.gives_way)
    if not names:
        yield [], True
        return
    if INTERVALS in names:
        for count in range(len(names) + 1):
            yield [name for name in names[:count] if name != INTERVALS], INTERVALS not in names[:count]
        return
    for with_ends in (True, False):
        for count in range(len(names) + 1):
            yield names[:count], with_ends


def _name_left_out(left_out: Sequence[str], with_ends: bool) -> str:
    """Returns the names of the columns and ends that a form leaves out, with commas; empty if none."""
    return ", ".join(name.replace("\n", " ") for name in [*left_out, *([] if with_ends else [INTERVALS])])


def _make_text_table(block: Table, left_out: Sequence[str], with_ends: bool) -> TextTable:
    """Returns the form of a table without the columns `left_out`."""
    shown = [index for index, column in enumerate(block.columns) if column.heading not in left_out]
    return _select_columns(block, shown, with_ends)


def _select_columns(block: Table, kept: Sequence[int], with_ends: bool = True) -> TextTable:
    """Returns the table with the columns at these indices; without `with_ends` its intervals have no ends."""
    table = make_dense_table(block.caption)
    for place in kept:
        column = block.columns[place]
        table.add_column(column.heading, justify="right" if column.is_number else "left", overflow="fold")
    for row in block.rows:
        table.add_row(*(_render_cell(row[place], with_ends) for place in kept))
    return table


def _render_cell(cell: Cell | str, with_ends: bool) -> Text:
    """Returns a cell in its colour; without `with_ends` the ends of its interval are left out."""
    own = cell if isinstance(cell, Cell) else Cell(cell, cell)
    text = own.text if with_ends else ENDS.sub("", own.text)
    if own.shade is not None:
        return Text(f" {text} ", style=_choose_background(own.shade))
    return Text(text, style=STYLES[own.tone])


def _choose_background(shade: float) -> str:
    """Returns a style whose strength grows with the logarithm of a ratio up to a factor of four.

    `shade` is log2 of the ratio; beyond a factor of four the style stays the same.
    """
    shades = FASTER if shade < 0 else SLOWER
    place = min(round(abs(shade) / 2 * (len(shades) - 1) + 0.25), len(shades) - 1)
    return f"{'white' if place > 2 else 'black'} on {shades[place]}"


_PRINTERS: dict[type, Callable[[Console, Any], None]] = {
    Prose: _print_prose,
    Items: _print_items,
    Facts: _print_facts,
    Code: _print_code,
    Table: _print_table,
}
