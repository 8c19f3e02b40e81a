"""One self-contained page of the papers' claims, tables and figures, in the frame of all pages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from pathlib import Path

from mousehole.charts.style import BACK
from mousehole.document import Block, Cell, Column, Document, Prose, Raw, Row, Section, Tone
from mousehole.document import Table as PageTable
from mousehole.html import write
from mousehole.html.pictures import in_colours_of_page
from mousehole.html.render import blocks, table, words

from papers.definition import Definition
from papers.judge import MEANING, Word, worst
from papers.parts import ClaimPart, Heading, Line, Part, Picture, Table, word_text
from papers.text import tally

CLASSES: Mapping[Word, Tone] = {
    Word.AGREES: "good",
    Word.EQUIVALENT: "good",
    Word.COMPATIBLE: "open",
    Word.NOT_TOLD_APART: "open",
    Word.DIFFERS: "bad",
}
"""How a word is coloured; the others are grey. The word itself always stands beside the colour."""
SIGNS: Mapping[Tone, str] = {"good": "✓", "open": "~", "bad": "✗", "dim": "–"}


@dataclass(frozen=True)
class Reported:
    """A paper with all parts that its items yielded."""

    definition: Definition
    parts: Sequence[Part]

    def of(self, kind: type[Part]) -> list[Part]:
        """Returns the parts of one kind."""
        return [part for part in self.parts if isinstance(part, kind)]

    @property
    def claims(self) -> list[ClaimPart]:
        """Returns the claims."""
        return [part for part in self.parts if isinstance(part, ClaimPart)]


def page(papers: Sequence[Reported], engine: str) -> Document:
    """Returns the page; `engine` names the engine's version and revision."""
    summary: list[Block] = [
        Prose(
            f"Published numbers beside those of Mousehole {engine}. Intervals hold 95 %, over replications "
            "with common random numbers.",
            "dim",
        ),
        Raw(_words()),
        *(Raw(_matrix(paper)) for paper in papers),
    ]
    return Document(
        title="The papers, claim by claim",
        subtitle="",
        sections=[Section("claims", "All claims", summary, "All claims"), *map(_paper, papers)],
        footer=f"Mousehole {engine}",
    )


def _words() -> str:
    """Returns what the words mean."""
    rows = "".join(
        f'<dt class="word {_class(word)}">{_sign(word)} {word.value}</dt><dd>{escape(MEANING[word])}</dd>'
        for word in reversed(Word)
    )
    fitted = (
        "<dt>fitted</dt><dd>a parameter that the paper does not print was chosen while looking at this "
        "number: it is no evidence</dd>"
    )
    return f"<details><summary>What the words mean</summary><dl>{rows}{fitted}</dl></details>"


def _matrix(paper: Reported) -> str:
    """Returns a row of cells, one per claim id, that lead to the claims."""
    cells = []
    for name, parts in _by_id(paper.claims).items():
        words = [part.word for part in parts]
        word = worst(words)
        text = f"{len(parts)} statements: {tally(words)}" if len(parts) > 1 else word_text(word)
        cells.append(
            f'<a class="{_class(word)}" href="#{_anchor(paper, name)}" title="{escape(text)}" '
            f'aria-label="{escape(f"{name}: {text}")}">{escape(name)} {_sign(word)}</a>'
        )
    definition, told = paper.definition, tally([part.word for part in paper.claims])
    return (
        f'<p><a href="#{escape(definition.name)}"><strong>{escape(definition.name)}</strong></a> '
        f'<span class="dim">{escape(definition.authors)}: {escape(told)}</span></p>'
        f'<div class="matrix">{"".join(cells)}</div>'
    )


def _paper(paper: Reported) -> Section:
    definition, name = paper.definition, paper.definition.name
    parts: list[Block] = [Prose(part.text, "dim") for part in paper.parts if isinstance(part, Heading)]
    if definition.opens:
        rows = [[one.name, one.taken, one.why, ", ".join(one.fitted) or "–"] for one in definition.opens]
        columns = [Column(heading, is_number=False) for heading in ("open", "taken", "why", "fitted to")]
        parts.append(PageTable("What the paper leaves open", columns, rows))
    parts.append(Raw(f"<h3>Claims</h3><p>{_command(name, '')}</p>"))
    parts += [Raw(_claim_group(paper, one, own)) for one, own in _by_id(paper.claims).items()]
    for part in paper.parts:
        if isinstance(part, Table):
            parts += _table(name, part)
        if isinstance(part, Picture):
            parts.append(Raw(_figure(name, part)))
    return Section(name, f"{definition.authors}, {definition.title}", parts, definition.name)


def _claim_group(paper: Reported, name: str, parts: Sequence[ClaimPart]) -> str:
    inside = "".join(_claim(part) for part in parts)
    return f'<article id="{_anchor(paper, name)}">{inside}</article>'


def _claim(part: ClaimPart) -> str:
    fitted = f' <span class="open">fitted ({escape(", ".join(part.fitted))})</span>' if part.fitted else ""
    head = (
        f"<p><strong>{escape(part.id)}</strong> "
        f'<span class="word {_class(part.word)}">{_sign(part.word)} {word_text(part.word)}</span>{fitted} · '
        f'{words(part.says)} <span class="dim">({escape(part.place)})</span></p>'
    )
    remarks = [part.note, (f"Why: {part.cause}" if part.cause else "")]
    return head + _lines(part) + blocks([Prose(text, "dim") for text in remarks if text])


def _lines(part: ClaimPart) -> str:
    """Returns what was published beside what was measured, a table if there are several such lines."""
    lines = part.lines
    if not lines:
        return ""
    if len(lines) == 1 and not lines[0].label:
        return _one_line(lines[0])
    labelled, several = any(line.label for line in lines), len(lines) > 1
    columns = [
        *([Column("of", is_number=False)] if labelled else []),
        Column("published"),
        Column("ours (95 %)"),
        *([Column("word", is_number=False)] if several else []),
        Column(lines[0].p_name),
    ]
    rows = [_row(line, labelled, several) for line in lines]
    return table(PageTable(f"{part.id}: published beside ours", columns, rows))


def _row(line: Line, labelled: bool, several: bool) -> Row:
    word = f"{_sign(line.word)} {word_text(line.word)}"
    known = isfinite(line.p_value)
    p_value = Cell(f"{line.p_value:.2g}" if known else "", line.p_value if known else None)
    return [
        *([line.label] if labelled else []),
        line.published,
        line.ours,
        *([Cell(word, word, _class(line.word))] if several else []),
        p_value,
    ]


def _one_line(line: Line) -> str:
    told = [f"published <strong>{words(line.published)}</strong>"] if line.published else []
    told.append(f"ours <strong>{words(line.ours)}</strong>")
    if isfinite(line.p_value):
        told.append(f'<span class="dim">{line.p_name} {line.p_value:.2g}</span>')
    return f"<p>{' · '.join(told)}</p>"


def _table(paper: str, part: Table) -> list[Block]:
    columns = [Column(name, is_number=place >= part.labels) for place, name in enumerate(part.columns)]
    head = f"<h3>{escape(part.title)}</h3><p>{_command(paper, f'--table {part.number}')}</p>"
    return [Raw(head), PageTable(part.title, columns, part.rows, note=part.note)]


def _figure(paper: str, part: Picture) -> str:
    head = (
        f"<h3>Figure {escape(part.number)}: {escape(part.title)}</h3>"
        f"<p>{_command(paper, f'--figure {part.number}')}</p>"
    )
    if part.path is None:
        return f"{head}<p>{Word.NOT_RUN}: {words(part.reason)}</p>"
    return (
        f'{head}<figure class="drawing" role="img" aria-label="{escape(part.title)}">'
        f'<div class="scroll">{inline_svg(part.path)}</div></figure>'
    )


def inline_svg(path: Path) -> str:
    """Returns an SVG file as an element in the colours of the page around it."""
    text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :].replace(f'fill="{BACK}"', 'fill="none"')
    return in_colours_of_page(svg, path.stem)


def _command(paper: str, item: str) -> str:
    return f"<code>{escape(f'mousehole paper {paper} {item}'.rstrip())}</code>"


def _by_id(claims: Iterable[ClaimPart]) -> Mapping[str, list[ClaimPart]]:
    found: dict[str, list[ClaimPart]] = {}
    for part in claims:
        found.setdefault(part.id, []).append(part)
    return found


def _anchor(paper: Reported, claim: str) -> str:
    return escape(f"{paper.definition.name}-{claim}")


def _class(word: Word | None) -> Tone:
    return CLASSES.get(word, "dim") if word is not None else "dim"


def _sign(word: Word | None) -> str:
    return SIGNS[_class(word)]


def write_page(papers: Iterator[Reported] | Sequence[Reported], folder: Path, engine: str) -> Path:
    """Writes `index.html` into the folder, whole or not at all, and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    write(page(list(papers), engine), path)
    return path
