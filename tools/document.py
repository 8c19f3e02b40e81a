"""Documents with a part that a make target writes, from a marker line to an end line or the end of
the file.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

COLUMNS = 100
UNDIVIDED = re.compile(r"\s*\||#|\S*\s*\S+$")
"""Lines of tables, headings, and lines without a space at which they could be divided."""
MARKER = re.compile(r"<!-- from here on written by make [^>]+ -->$")
END = "<!-- from here on written by people -->\n"


def make_marker(target: str) -> str:
    """Returns the line after which `make TARGET` writes."""
    return f"<!-- from here on written by make {target} -->\n"


def replace_part(text: str, target: str, body: str) -> str:
    """Returns the document with `body` as its generated part; raises `ValueError` if it has no marker."""
    head, line, rest = text.partition(make_marker(target))
    if not line:
        raise ValueError(f"the document has no line {make_marker(target).strip()}")
    _, end, tail = rest.partition(END)
    return head + line + body + end + tail


def renew(path: Path, target: str, body: str) -> None:
    """Replaces the generated part of a file; raises `ValueError` if it has no marker."""
    path.write_text(replace_part(path.read_text(encoding="utf-8"), target, body), encoding="utf-8")


def read_part(text: str, target: str) -> str:
    """Returns the generated part of a document, empty if it has no marker."""
    return text.partition(make_marker(target))[2].partition(END)[0]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a Markdown table, which ends with a line break; bars within cells are escaped."""
    escaped = [[cell.replace("|", r"\|") for cell in line] for line in [header, *rows]]
    lines = [f"| {' | '.join(line)} |" for line in escaped]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:], ""])


def wrap(paragraph: str, indent: str = "") -> str:
    """Returns a paragraph wrapped at 100 columns; code spans and links are not divided.

    `indent` precedes every line but the first.
    """
    kept = re.sub(r"`[^`]*`|\]\([^)]*\)", lambda span: span[0].replace(" ", "\0"), paragraph)
    lines = textwrap.fill(
        kept, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return lines.replace("\0", " ")


def find_long_lines(text: str) -> list[int]:
    """Returns the numbers, from 1, of the lines beyond 100 columns.

    Tables, headings, indivisible lines, generated parts and printed output are exempt.
    """
    found, is_made, is_printed = [], False, False
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        is_made = line != END and (is_made or MARKER.match(line) is not None)
        is_printed = line == "```text\n" or (is_printed and line != "```\n")
        if not is_made and not is_printed and len(line.rstrip("\n")) > COLUMNS and not UNDIVIDED.match(line):
            found.append(number)
    return found
