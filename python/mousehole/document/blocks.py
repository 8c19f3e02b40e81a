"""What a document consists of, as data: sections of prose, tables, charts and commands.

All texts are plain; the renderers escape them. Only `Raw` holds HTML.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Tone = Literal["", "good", "open", "bad", "dim"]
"""How a text is coloured: for the better, open, for the worse. The words must say it too."""
Shown = Literal["always", "details", "page"]
"""Whether a terminal shows a section: always, with the details only, or never."""


class Block(Protocol):
    """A part of a document. The renderers know the classes of this module."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, and the value by which its column is sorted.

    None and NaN stand for no value, which comes last. A cell given as a plain text is sorted by that text.
    """

    text: str
    value: float | str | None
    tone: Tone = ""
    shade: float | None = None
    """Logarithm to the base 2 of a ratio, which a terminal shows as the cell's background."""


INTERVALS = "the intervals"
"""Stands in `Table.gives_way` for the ends of intervals."""
Row = Sequence[Cell | str]
"""A row of a table; its first cell is its heading."""


@dataclass(frozen=True)
class Column:
    """A column of a table. Numbers stand to the right. A heading may have several lines."""

    heading: str
    is_number: bool = True


@dataclass(frozen=True)
class Table:
    """A table that readers sort by its headings and, if it is long, search.

    `keys` has the series, such as the scheme, of each row; rows of series that are not chosen in
    `Document.choices` are hidden. `gives_way` are headings of columns that a narrow terminal leaves out, in
    this order; the ends of intervals give way after them, or where `INTERVALS` stands among them.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    keys: Sequence[str] = ()
    ends: str = ""
    """What the numbers in parentheses are; left out with them."""
    note: str = ""
    """Text below the table."""
    gives_way: Sequence[str] = ()


@dataclass(frozen=True)
class Prose:
    """Paragraphs, separated by empty lines."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    texts: Sequence[str]
    tone: Tone = ""


@dataclass(frozen=True)
class Facts:
    """Names with their values, perhaps under a title; `tones` are those of the names, `name` its anchor."""

    pairs: Sequence[tuple[str, str]]
    title: str = ""
    tones: Sequence[Tone] = ()
    name: str = ""


@dataclass(frozen=True)
class Code:
    """A command or a document as it is, with a button that copies it; `label` names it."""

    text: str
    label: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart of Vega-Altair with its text alternative.

    `picture` is an `altair` chart without size and configuration, which the page gives it: as wide as its
    place, in the colours of the page. Where it has colours of its own, they must be those of `charts`,
    which have counterparts on dark pages. `description` explains in one or two sentences the axes and
    what can be seen; `numbers` has the same data as a table, for those who do not see the chart.
    """

    name: str
    """Name of the figure in the page, for links and saved files: small letters and hyphens, unique."""
    title: str
    description: str
    picture: Any
    numbers: Table
    height: int = 320
    """In pixels, without axes and legend."""
    is_fluid: bool = True
    """Whether the chart is made as wide as its place; False for facets, which keep their own width."""
    printed: Literal["never", "details", "always"] = "never"
    """Whether a terminal prints its numbers: never, with the details only, or always."""


@dataclass(frozen=True)
class Grid:
    """Parts side by side where there is room for two."""

    blocks: Sequence[Block]


@dataclass(frozen=True)
class Details:
    """Parts behind a summary that opens them; with `is_open` pages show them from the beginning.

    A terminal shows them with the details only.
    """

    summary: str
    blocks: Sequence[Block]
    is_open: bool = False


@dataclass(frozen=True)
class Raw:
    """HTML that the caller has escaped."""

    text: str


@dataclass(frozen=True)
class Section:
    """A section; `name` is its anchor. Without a short `label` the contents do not name it."""

    name: str
    title: str
    blocks: Sequence[Block]
    label: str = ""
    shown: Shown = "always"
    is_ruled: bool = False
    """Whether a terminal shows its title."""


@dataclass(frozen=True)
class Verdict:
    """The answer that a page begins with: the first line is what readers see first."""

    lines: Sequence[str | Code]
    tone: Tone = ""
    heading: str = "The answer"


@dataclass(frozen=True)
class Choice:
    """A series that readers show or hide: its name, its colour (of `charts`) and its symbol (an SVG path)."""

    name: str
    colour: str
    symbol: str


@dataclass(frozen=True)
class Document:
    """A document: its title, the answer, then sections.

    `choices` are the series that charts (`charts.Series.filter_chosen`) and tables (`Table.keys`) have; with
    fewer than two nothing can be chosen.
    """

    title: str
    subtitle: str
    sections: Sequence[Section]
    verdict: Verdict | None = None
    choices: Sequence[Choice] = ()
    choices_label: str = "Schemes shown"
    footer: str = ""


def read_block(given: Mapping[str, Any]) -> Block:
    """Returns a block that the engine gives as data (`answer/src/report/blocks.rs`).

    Raises `ValueError` for another kind than prose, facts, details and table.
    """
    kind, parts = given["kind"], {name: value for name, value in given.items() if name != "kind"}
    match kind:
        case "prose":
            return Prose(**parts)
        case "facts":
            return Facts(**parts)
        case "details":
            return Details(**parts | {"blocks": [read_block(one) for one in parts["blocks"]]})
        case "table":
            columns = [Column(**one) for one in parts["columns"]]
            rows = [[one if isinstance(one, str) else Cell(**one) for one in row] for row in parts["rows"]]
            return Table(**parts | {"columns": columns, "rows": rows})
    raise ValueError(f"no block is of the kind {kind}")
