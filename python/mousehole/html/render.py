"""Turns the parts of a page into HTML."""

import json
import re
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from mousehole.document.blocks import (
    Block,
    Cell,
    Chart,
    Code,
    Column,
    Details,
    Facts,
    Grid,
    Items,
    Prose,
    Raw,
    Section,
    Table,
    Verdict,
)
from mousehole.html.common import escape

LONG = 40
"""Longer texts in tables need a wide column."""
UNIT = re.compile(r"(?<=\d) (?=(?:%|ms|s|[kMG]?B|[kMG]?b/s)(?!\w))")
"""The space between a number and its unit."""


def render_section(part: Section) -> str:
    """Returns a section with its heading in HTML."""
    name = escape(part.name)
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{escape(part.title)}</h2>'
        f"{render_blocks(part.blocks)}</section>\n"
    )


def render_blocks(parts: Sequence[Block]) -> str:
    """Returns the blocks in HTML, one after another; raises `TypeError` for a part that is no block."""
    return "".join(_render_block(part) for part in parts)


def render_verdict(part: Verdict) -> str:
    """Returns the answer in HTML as a section of its own, with its first line large."""
    lines = [
        render_code(line)
        if isinstance(line, Code)
        else f"<p{' class=lead' * (not place)}>{escape_prose(line)}</p>"
        for place, line in enumerate(part.lines)
    ]
    return (
        f'<section class="verdict {part.tone}" aria-labelledby="verdict-title">'
        f'<h2 id="verdict-title">{escape(part.heading)}</h2>{"".join(lines)}</section>\n'
    )


def render_table(part: Table) -> str:
    """Returns a table in HTML, inside a box that scrolls where the table is too wide.

    Raises `ValueError` if keys and rows differ in number.
    """
    head = "".join(
        f'<th scope="col"{_render_alignment(column)}>{escape(column.heading)}</th>' for column in part.columns
    )
    keys = part.keys or [""] * len(part.rows)
    body = "".join(
        f"<tr{_render_attribute('data-key', key)}>{_render_row(row, part.columns)}</tr>\n"
        for row, key in zip(part.rows, keys, strict=True)
    )
    below = f"{part.ends} {part.note}".strip()
    note = f'<p class="dim">{escape_prose(below)}</p>' if below else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(part.caption)}">'
        f'<table class="sortable"><caption><span>{escape(part.caption)}</span></caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>{note}\n"
    )


def render_code(part: Code) -> str:
    """Returns a command or document in HTML, in letters of one width."""
    label = _render_attribute("aria-label", part.label)
    role = ' role="group"' if part.label else ""
    return f'<div class="code"{role}{label}><pre>{escape(part.text)}</pre></div>\n'


def render_chart(part: Chart) -> str:
    """Returns a chart in HTML: a still picture, the description that the script draws, and its numbers."""
    from mousehole.html import pictures

    name = escape(part.name)
    spec = escape_json_for_script(pictures.make_fluid(part))
    still = pictures.render_svg(part)
    return (
        f'<figure class="chart" id="{name}"><figcaption><h3>{escape(part.title)}</h3>'
        f'<p id="{name}-description">{escape_prose(part.description)}</p></figcaption>'
        f'<div class="picture" role="img" aria-label="{escape(part.title)}"'
        f' aria-describedby="{name}-description">'
        f'<div class="static">{still}</div><div class="live" hidden></div></div>'
        f"<details><summary>The numbers</summary>{render_table(part.numbers)}</details>"
        f'<script type="application/json" class="spec">{spec}</script></figure>\n'
    )


def escape_json_for_script(document: object) -> str:
    """Returns a document as JSON in which no text can end the script element."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")


def escape_code_for_script(text: str) -> str:
    """Returns JavaScript in which no text can end the script element or begin a comment of HTML."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def escape_prose(text: str) -> str:
    """Returns a sentence escaped for HTML, in which units stay on the line of their numbers."""
    return UNIT.sub("\u00a0", escape(text))


def _render_block(part: Block) -> str:
    """Returns a block as HTML; raises `TypeError` for a part that is no block."""
    for kind, render in _RENDERERS.items():
        if isinstance(part, kind):
            return render(part)
    raise TypeError(f"{type(part).__name__} is no part of a page")


def _render_prose(part: Prose) -> str:
    """Returns paragraphs in HTML."""
    tone = f' class="{part.tone}"' if part.tone else ""
    return "".join(f"<p{tone}>{escape_prose(text)}</p>\n" for text in part.text.split("\n\n"))


def _render_items(part: Items) -> str:
    """Returns sentences as a list in HTML."""
    return f"<ul>{''.join(f'<li>{escape_prose(text)}</li>' for text in part.texts)}</ul>\n"


def _render_facts(part: Facts) -> str:
    """Returns pairs of names and values as a description list in HTML, under their title if they have one."""
    tones = part.tones or [""] * len(part.pairs)
    pairs = "".join(
        f"<dt{_render_attribute('class', tone)}>{escape(name)}</dt><dd>{escape(value)}</dd>"
        for (name, value), tone in zip(part.pairs, tones, strict=True)
    )
    place = _render_attribute("id", part.name)
    title = f"<p{place} class=facts><strong>{escape_prose(part.title)}</strong></p>" if part.title else ""
    return f"{title}<dl>{pairs}</dl>\n"


def _render_grid(part: Grid) -> str:
    """Returns blocks in HTML, side by side where there is room."""
    return f'<div class="grid">{render_blocks(part.blocks)}</div>\n'


def _render_details(part: Details) -> str:
    """Returns blocks in HTML behind a summary that opens them."""
    state = " open" if part.is_open else ""
    return (
        f"<details{state}><summary>{escape(part.summary)}</summary>{render_blocks(part.blocks)}</details>\n"
    )


def _render_raw(part: Raw) -> str:
    """Returns HTML as it is."""
    return part.text


_RENDERERS: dict[type, Callable[[Any], str]] = {
    Prose: _render_prose,
    Items: _render_items,
    Facts: _render_facts,
    Code: render_code,
    Table: render_table,
    Chart: render_chart,
    Grid: _render_grid,
    Details: _render_details,
    Raw: _render_raw,
}


def _render_row(row: Sequence[Cell | str], columns: Sequence[Column]) -> str:
    """Returns the cells of a row in HTML; the first one is the row's heading."""
    return "".join(
        _render_cell(cell, column, is_head=place == 0)
        for place, (cell, column) in enumerate(zip(row, columns, strict=True))
    )


def _render_cell(given: Cell | str, column: Column, is_head: bool) -> str:
    """Returns a cell in HTML with its classes, and its value for sorting if the text is another."""
    cell = given if isinstance(given, Cell) else Cell(given, given)
    kind = "number" if column.is_number else "long" if len(cell.text) > LONG else ""
    classes = " ".join(filter(None, (kind, cell.tone)))
    value = "" if cell.value == cell.text else f' data-value="{_render_sort_value(cell.value)}"'
    tag, scope = ("th", ' scope="row"') if is_head else ("td", "")
    text = escape(cell.text)
    if kind == "long":  # the parameters of a scheme may be broken after commas and bars
        text = re.sub(r"([,|])(?=\S)", r"\1<wbr>", text)
    return f"<{tag}{scope}{_render_attribute('class', classes)}{value}>{text}</{tag}>"


def _render_sort_value(value: float | str | None) -> str:
    """Returns the value that a cell is sorted by as an attribute has it; empty for None and NaN."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return ""
    return escape(value if isinstance(value, str) else repr(float(value)))


def _render_alignment(column: Column) -> str:
    """Returns the class attribute of a column of numbers; empty for texts."""
    return ' class="number"' if column.is_number else ""


def _render_attribute(name: str, value: str) -> str:
    """Returns an attribute with a space before it; empty for an empty value."""
    return f' {name}="{escape(value)}"' if value else ""
