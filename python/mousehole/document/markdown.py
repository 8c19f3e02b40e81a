"""Writes documents as Markdown: sections, tables and commands; of a chart its description and numbers."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mousehole.document.blocks import (
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
)


def as_markdown(document: Document) -> str:
    """Returns a document as Markdown of GitHub's kind, which has tables, with an end of line at the end."""
    parts = [f"# {_escape(document.title)}"]
    parts += [_escape(document.subtitle)] if document.subtitle else []
    if document.verdict is not None:
        parts.append(f"## {_escape(document.verdict.heading)}")
        parts += [
            "\n".join(_render_code(line)) if isinstance(line, Code) else _escape(line)
            for line in document.verdict.lines
        ]
    for section in document.sections:
        parts += [f"## {_escape(section.title)}", *_render_blocks(section.blocks)]
    parts += [_escape(document.footer)] if document.footer else []
    return "\n\n".join(parts) + "\n"


def _render_blocks(blocks: Sequence[Block]) -> Iterator[str]:
    """Yields blocks as Markdown; a chart becomes its title, its description and the table of its numbers.

    `Raw` is left out.
    """
    for block in blocks:
        if isinstance(block, Grid):
            yield from _render_blocks(block.blocks)
        elif isinstance(block, Details):
            yield f"### {_escape(block.summary)}"
            yield from _render_blocks(block.blocks)
        elif isinstance(block, Chart):
            yield f"### {_escape(block.title)}"
            yield _escape(block.description)
            yield "\n".join(_render_table(block.numbers))
        else:
            for kind, lines in _WRITERS.items():
                if isinstance(block, kind):
                    yield "\n".join(lines(block))


def _render_prose(block: Prose) -> list[str]:
    """Returns paragraphs as lines of Markdown."""
    return [_escape(block.text)]


def _render_items(block: Items) -> list[str]:
    """Returns sentences as a list in Markdown."""
    return [f"- {_escape(text)}" for text in block.texts]


def _render_facts(block: Facts) -> list[str]:
    """Returns names with values as a list in Markdown, below their title if they have one."""
    title = [f"**{_escape(block.title)}**", ""] if block.title else []
    return [*title, *(f"- {_escape(name)}: {_escape(value)}" for name, value in block.pairs)]


def _render_code(block: Code) -> list[str]:
    """Returns a text within fences that are longer than any fence in it."""
    longest = max((len(mark) for mark in block.text.split() if set(mark) == {"`"}), default=2)
    fence = "`" * max(3, longest + 1)
    return [fence, block.text, fence]


def _render_table(block: Table) -> list[str]:
    """Returns the lines of a table in Markdown, with the caption above and the notes below."""
    rows = [[cell.text if isinstance(cell, Cell) else cell for cell in row] for row in block.rows]
    lines = [
        f"**{_escape(block.caption)}**",
        "",
        _render_row([column.heading for column in block.columns]),
        "|" + "|".join("---:" if column.is_number else "---" for column in block.columns) + "|",
        *map(_render_row, rows),
    ]
    below = f"{block.ends} {block.note}".strip()
    return lines + (["", _escape(below)] if below else [])


def _render_row(cells: Sequence[str]) -> str:
    """Returns one row of a table in Markdown."""
    return "| " + " | ".join(_escape(cell).replace("\n", " ") for cell in cells) + " |"


def _escape(text: str) -> str:
    """Returns the text with a backslash before every character that Markdown gives a meaning."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in text)


_WRITERS: dict[type, Callable[[Any], list[str]]] = {
    Prose: _render_prose, Items: _render_items, Facts: _render_facts, Code: _render_code, Table: _render_table
}  # fmt: skip
