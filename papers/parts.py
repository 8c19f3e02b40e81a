"""What a paper's items yield: headings, tables, claims with their words, pictures; as text and as JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from mousehole.statistics import Estimate
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from papers.judge import Word

STYLES: dict[str | None, str] = {
    Word.AGREES: "green",
    Word.EQUIVALENT: "green",
    Word.COMPATIBLE: "yellow",
    Word.NOT_TOLD_APART: "yellow",
    Word.DIFFERS: "red",
}

NAME_WIDTH = 5
"""Columns of the terminal for the id of a claim."""


@dataclass(frozen=True)
class Heading:
    """How the items were run."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table whose first columns hold labels and whose other columns hold numbers."""

    number: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int
    """How many columns hold labels."""
    note: str = ""


@dataclass(frozen=True)
class Line:
    """One judgement of a claim."""

    label: str
    published: str
    ours: str
    word: Word | None
    p_value: float
    """NaN where the word is not definite."""
    estimate: Estimate
    adjusted: bool = False
    """Whether the p-value is adjusted by Holm's procedure, over all claims of the paper."""

    @property
    def p_name(self) -> str:
        """Returns what the p-value is called."""
        return "Holm p" if self.adjusted else "p"


@dataclass(frozen=True, kw_only=True)
class ClaimPart:
    """A statement of the paper with the word for it."""

    paper: str
    id: str
    part: str
    place: str
    says: str
    kind: str
    word: Word | None
    lines: Sequence[Line]
    fitted: Sequence[str]
    """Open parameters whose value was chosen while looking at this claim: then it is no evidence."""
    cause: str
    note: str


@dataclass(frozen=True)
class TrialPart:
    """What becomes of a claim when an open parameter has another value."""

    id: str
    open: str
    trial: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Picture:
    """A figure that was written to a file, or was not drawn because its data is not on this machine."""

    number: str
    title: str
    path: Path | None
    """None where it was not drawn."""
    reason: str = ""
    """Why it was not drawn."""


@dataclass(frozen=True)
class Summary:
    """How many claims have which word."""

    text: str


Part = Heading | Table | ClaimPart | TrialPart | Picture | Summary


def show(console: Console, part: Part) -> None:
    """Prints one part."""
    match part:
        case Heading(text) | Summary(text):
            console.print(Text(text, style="dim"))
        case Table():
            console.print(_rich(part))
        case ClaimPart():
            console.print(_claim(part))
        case TrialPart():
            console.print(_trial(part))
        case Picture():
            console.print(picture_text(part), highlight=False, markup=False)


def as_json(part: Part) -> str:
    """Returns one part as a line of JSON: `kind` is that of the part, `claim_kind` a claim's; NaN is null."""
    kind = type(part).__name__.removesuffix("Part").lower()
    fields = {name: _plain(value) for name, value in asdict(part).items()}
    return json.dumps({"kind": kind, **{f"claim_{k}" if k == "kind" else k: v for k, v in fields.items()}},
                      ensure_ascii=False)  # fmt: skip


def word_text(word: Word | None) -> str:
    """Returns the word as text, or that there is none."""
    return "no word" if word is None else word.value


def picture_text(part: Picture) -> str:
    """Returns which file a figure was written to, or why it was not."""
    return (
        f"figure {part.number}: {Word.NOT_RUN}: {part.reason}" if part.path is None else f"wrote {part.path}"
    )


def _claim(part: ClaimPart) -> RichTable:
    """Returns the claim with its id at the left and everything about it in a column beside it."""
    head = Text.assemble(
        (word_text(part.word), STYLES.get(part.word, "")),
        *([(" (fitted)", "yellow")] if part.fitted else []),
        f"  {part.says}",
        (f"  [{part.place}]", "dim"),
    )
    rows: list[RenderableType] = [head]
    if part.lines:
        rows.append(_lines(part.lines))
    if part.fitted:
        rows.append(Text(f"chosen while looking at it: {', '.join(part.fitted)}", style="dim"))
    why = "why: " if part.word == Word.DIFFERS else ""
    rows += [Text(text, style="dim") for text in (part.note, part.cause and why + part.cause) if text]
    return _beside(Text(part.id, style="bold"), Group(*rows))


def _beside(name: Text, content: RenderableType) -> RichTable:
    table = RichTable.grid(padding=(0, 1))
    table.add_column(width=NAME_WIDTH)
    table.add_column()
    table.add_row(name, content)
    return table


def _trial(part: TrialPart) -> RichTable:
    table = RichTable.grid(padding=(0, 2))
    for line in part.lines:
        table.add_row(
            Text(f"{part.open}: {part.trial}" + (f", {line.label}" if line.label else ""), style="dim"),
            line.ours,
            Text(word_text(line.word), style=STYLES.get(line.word, "")),
        )
    return _beside(Text(), table)


def _lines(lines: Sequence[Line]) -> RichTable:
    table = RichTable.grid(padding=(0, 2))
    for line in lines:
        cells = [Text(line.label)] if any(one.label for one in lines) else []
        cells.append(Text(f"published {line.published}" if line.published else ""))
        cells.append(Text(f"ours {line.ours}"))
        if len(lines) > 1:
            cells.append(Text(word_text(line.word), style=STYLES.get(line.word, "")))
        known = math.isfinite(line.p_value)
        cells.append(Text(f"{line.p_name} {line.p_value:.2g}" if known else "", style="dim"))
        table.add_row(*cells)
    return table


def _rich(part: Table) -> RichTable:
    shown = RichTable(
        title=Text(part.title, style="bold"),
        title_justify="left",
        box=box.SIMPLE,
        pad_edge=False,
        caption=Text(part.note) if part.note else None,
        caption_justify="left",
    )
    for position, column in enumerate(part.columns):
        shown.add_column(column, justify="left" if position < part.labels else "right")
    for row in part.rows:
        shown.add_row(*[Text(cell) for cell in row])
    return shown


def _plain(value: object) -> object:
    """Returns the value with paths as text and with None for what is no finite number."""
    match value:
        case StrEnum():
            return value.value
        case Estimate():
            return _plain(value.as_dict())
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case Path():
            return str(value)
        case float() if not math.isfinite(value):
            return None
    return value
