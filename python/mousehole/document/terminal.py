"""Prints documents on a terminal: the answer, then sentences and tables that fit; charts are left out."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table as TextTable
from rich.text import Text

from mousehole.base import dense, print_fitting, say
from mousehole.document.blocks import (
    Block,
    Cell,
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


def print_document(console: Console, document: Document, details: bool = False) -> None:
    """Prints a document; `details` adds the sections and blocks that are folded otherwise."""
    console.print(Text(document.title, style="bold"))
    if document.verdict is not None:
        _print_verdict(console, document.verdict)
    for section in document.sections:
        if section.shown == "always" or (section.shown == "details" and details):
            if section.is_ruled:
                console.rule(Text(section.title), align="left")
            _print_blocks(console, section.blocks, details)
    if not details:
        say(console, Text(MORE, style="dim"))


def _print_verdict(console: Console, verdict: Verdict) -> None:
    for place, line in enumerate(verdict.lines):
        if isinstance(line, Code):
            _print_code(console, line)
        else:
            say(console, Text(line, style="" if place else STYLES[verdict.tone]))
    console.print()


def _print_blocks(console: Console, blocks: Sequence[Block], details: bool) -> None:
    for block in blocks:
        if isinstance(block, Grid) or (isinstance(block, Details) and details):
            _print_blocks(console, block.blocks, details)
        for kind, show in _PRINTERS.items():
            if isinstance(block, kind):
                show(console, block)


def _print_prose(console: Console, block: Prose) -> None:
    for text in block.text.split("\n\n"):
        say(console, Text(text, style=STYLES[block.tone]))


def _print_items(console: Console, block: Items) -> None:
    for text in block.texts:
        say(console, Text(text, style=STYLES[block.tone]))


def _print_facts(console: Console, block: Facts) -> None:
    for name, value in block.pairs:
        say(console, Text(f"{name}: {value}"))


def _print_code(console: Console, block: Code) -> None:
    for line in block.text.splitlines():
        console.print(Text(line), soft_wrap=True)


def _print_table(console: Console, block: Table) -> None:
    print_fitting(console, _forms(block))
    if block.note:
        say(console, Text(block.note, style="dim"))


def _forms(block: Table) -> Iterator[tuple[TextTable, str]]:
    """Yields the table with ever fewer columns, then likewise without the ends of intervals."""
    for with_ends in (True, False):
        for count in range(len(block.gives_way) + 1):
            left_out = block.gives_way[:count]
            missing = [*left_out, *([] if with_ends else ["the intervals"])]
            yield _text_table(block, left_out, with_ends), ", ".join(missing)


def _text_table(block: Table, left_out: Sequence[str], with_ends: bool) -> TextTable:
    kept = [place for place, column in enumerate(block.columns) if column.heading not in left_out]
    table = dense(block.caption)
    for place in kept:
        column = block.columns[place]
        table.add_column(column.heading, justify="right" if column.is_number else "left", overflow="fold")
    for row in block.rows:
        table.add_row(*(_text(row[place], with_ends) for place in kept))
    return table


def _text(cell: Cell | str, with_ends: bool) -> Text:
    own = cell if isinstance(cell, Cell) else Cell(cell, cell)
    return Text(own.text if with_ends else ENDS.sub("", own.text), style=STYLES[own.tone])


_PRINTERS: dict[type, Callable[[Console, Any], None]] = {
    Prose: _print_prose,
    Items: _print_items,
    Facts: _print_facts,
    Code: _print_code,
    Table: _print_table,
}
