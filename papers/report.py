"""Lays out a paper's results as a document, and those of all papers as a page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from pathlib import Path

from mousehole.base import engine_text
from mousehole.charts.style import BACK
from mousehole.document import (
    Block,
    Column,
    Details,
    Document,
    Facts,
    Prose,
    Raw,
    Section,
    Tone,
)
from mousehole.document import Table as DocumentTable
from mousehole.html.pictures import recolour_svg

from papers.definition import Definition
from papers.judge import MEANING, Word, find_worst
from papers.parts import (
    BASES,
    ClaimPart,
    Heading,
    Line,
    Part,
    Picture,
    Summary,
    Table,
    TrialPart,
    count_agreeing,
    format_word,
)
from papers.text import count_words

TONES: Mapping[Word, Tone] = {
    Word.AGREES: "good",
    Word.EQUIVALENT: "good",
    Word.COMPATIBLE: "open",
    Word.UNDECIDED: "open",
    Word.DIFFERS: "bad",
}
"""How a word is coloured; the others are grey. The word itself always stands beside the colour."""
SIGNS: Mapping[Tone, str] = {"good": "✓", "open": "~", "bad": "✗", "dim": "–"}
FITTED = (
    "a parameter that the paper does not print was chosen while looking at this number: it is no evidence"
)
Pair = tuple[str, str, Tone]
"""A name, its value and the name's tone."""


@dataclass(frozen=True)
class Reported:
    """A paper with the parts of its results."""

    definition: Definition
    parts: Sequence[Part]
    details: bool = False
    """Whether p-values are shown."""

    @property
    def claims(self) -> list[ClaimPart]:
        """Returns the claims among the parts."""
        return [part for part in self.parts if isinstance(part, ClaimPart)]


def make_document(paper: Reported) -> Document:
    """Returns the document of a paper's results."""
    own = paper.definition
    section = Section(own.name, own.title, list(_list_blocks(paper)))
    return Document(f"{own.name}: {own.title}", "", [section], footer=f"Mousehole {engine_text()}")


def make_page(papers: Sequence[Reported]) -> Document:
    """Returns the document of the full results of several papers; reads the drawings of the parts."""
    engine = engine_text()
    meanings = [
        (f"{_choose_sign(word)} {word.value}", MEANING[word], _choose_tone(word)) for word in reversed(Word)
    ]
    summary: list[Block] = [
        Prose(
            f"Published numbers beside those of Mousehole {engine}. Intervals hold 95 %, over replications "
            "with common random numbers.",
            "dim",
        ),
        Details("What the words mean", [_make_facts([*meanings, ("fitted", FITTED, "open")])]),
        *(Raw(_make_matrix(paper)) for paper in papers),
    ]
    return Document(
        title="The papers, claim by claim",
        subtitle="",
        sections=[Section("claims", "All claims", summary, "All claims"), *map(_make_section, papers)],
        footer=f"Mousehole {engine}",
    )


def _make_matrix(paper: Reported) -> str:
    """Returns HTML with a link to each claim, one per id, and the number of its cells that agree."""
    chips = []
    for name, parts in _group_by_id(paper.claims).items():
        words = [part.word for part in parts]
        word = find_worst(words)
        cells = [line.word for part in parts for line in part.lines]
        share = count_agreeing(cells) if len(cells) > 1 else ""
        text = f"{len(parts)} statements: {count_words(words)}" if len(parts) > 1 else format_word(word)
        text += f"; {share} agree" if share else ""
        chips.append(
            f'<a class="{_choose_tone(word)}" href="#{escape(_make_anchor(paper.definition.name, name))}" '
            f'title="{escape(text)}" aria-label="{escape(f"{name}: {text}")}">'
            f"{escape(name)} {_choose_sign(word)} {share}".rstrip()
            + "</a>"
        )
    definition, words_of = paper.definition, count_words([part.word for part in paper.claims])
    return (
        f'<p><a href="#{escape(definition.name)}"><strong>{escape(definition.name)}</strong></a> '
        f'<span class="dim">{escape(definition.authors)}: {escape(words_of)}</span></p>'
        f'<div class="matrix">{"".join(chips)}</div>'
    )


def _make_section(paper: Reported) -> Section:
    """Returns a paper's section of the page, with a table of its open parameters if it has any."""
    own = paper.definition
    blocks = [
        Prose(f"mousehole paper {own.name} prints the claims; with claim ID, table N or figure N, that."),
        *_list_blocks(paper),
    ]
    if own.opens:
        rows = [[one.name, one.taken, one.why, ", ".join(one.fitted) or "–"] for one in own.opens]
        columns = [Column(heading, is_number=False) for heading in ("open", "taken", "why", "fitted to")]
        blocks.append(DocumentTable("What the paper leaves open", columns, rows))
    return Section(own.name, f"{own.authors}, {own.title}", blocks, own.name)


def _list_blocks(paper: Reported) -> Iterator[Block]:
    """Yields a block for each part of the results; the first part of a claim's id has an anchor."""
    named = set[str]()
    for part in paper.parts:
        match part:
            case Heading(text) | Summary(text):
                yield Prose(text, "dim")
            case Table():
                columns = [
                    Column(name, is_number=place >= part.labels) for place, name in enumerate(part.columns)
                ]
                yield DocumentTable(part.title, columns, part.rows, note=part.note)
            case ClaimPart():
                anchor = "" if part.id in named else _make_anchor(part.paper, part.id)
                yield _make_claim(part, anchor, paper.details)
                named.add(part.id)
            case TrialPart():
                pairs = [(format_word(line.word), _format_numbers(line, paper.details),
                          _choose_tone(line.word))
                         for line in part.lines]  # fmt: skip
                yield _make_facts(pairs, f"{part.id} with {part.open}: {part.trial}")
            case Picture():
                yield _make_picture(part)


def _make_claim(part: ClaimPart, name: str, details: bool) -> Facts:
    """Returns a claim with its verdict, its numbers, and remarks; `name` is its anchor, or empty."""
    pairs: list[Pair] = [
        (
            f"{_choose_sign(line.word)} {_format_word(line)}",
            _format_numbers(line, details),
            _choose_tone(line.word),
        )
        for line in part.lines
    ]
    if len(pairs) != 1:
        nothing = MEANING[part.word] if part.word is not None else "too few replications"
        text = f"{count_agreeing([line.word for line in part.lines])} agree" if pairs else nothing
        pairs.insert(
            0, (f"{_choose_sign(part.word)} {format_word(part.word)}", text, _choose_tone(part.word))
        )
    fitted = f"chosen while looking at it: {', '.join(part.fitted)}" if part.fitted else ""
    cause = "why" if part.word == Word.DIFFERS else "because"
    rests = BASES[part.basis] if part.basis != "evidence" else ""
    remarks: list[Pair] = [
        ("fitted", fitted, "open"), ("rests on", rests, "open"), ("note", part.note, "dim"),
        (cause, part.cause, "dim"),
    ]  # fmt: skip
    title = f"{part.id}: {part.says} [{part.place}]"
    return _make_facts([*pairs, *(pair for pair in remarks if pair[1])], title, name)


def _format_word(line: Line) -> str:
    """Returns the verdict with the tolerance that it was judged by."""
    text = format_word(line.word)
    return f"{text} ({line.bar})" if line.bar and line.word is not None else text


def _format_numbers(line: Line, details: bool) -> str:
    """Returns published and measured numbers as text; with `details` also the p-value."""
    texts = [
        line.label,
        f"published {line.published}" if line.published else "",
        f"ours {line.ours}",
        f"{line.p_name} {line.p_value:.2g}" if details and isfinite(line.p_value) else "",
    ]
    return " · ".join(filter(None, texts))


def _make_picture(part: Picture) -> Block:
    """Returns a figure as a block: the drawing if it is SVG, else a sentence with the path of its file.

    Reads the file of the drawing. Without a file the sentence says why.
    """
    if part.path is None:
        return Prose(f"figure {part.number}: {Word.NOT_RUN}: {part.reason}")
    if part.path.suffix != ".svg":
        return Prose(f"wrote {part.path}")
    title = escape(part.title)
    return Raw(
        f"<h3>Figure {escape(part.number)}: {title}</h3>"
        f'<figure class="drawing" role="img" aria-label="{title}">'
        f'<div class="scroll">{inline_svg(part.path)}</div></figure>'
    )


def inline_svg(path: Path) -> str:
    """Returns the SVG element of a file, with colours that follow the page's theme.

    Raises `OSError`, and `ValueError` for a file without such an element.
    """
    text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :].replace(f'fill="{BACK}"', 'fill="none"')
    return recolour_svg(svg, path.stem)


def _make_facts(pairs: Sequence[Pair], title: str = "", name: str = "") -> Facts:
    """Returns a block of pairs, each with its tone, under a title and with an anchor if these are given."""
    return Facts([(left, right) for left, right, _ in pairs], title, [tone for *_, tone in pairs], name)


def _group_by_id(claims: Iterable[ClaimPart]) -> Mapping[str, list[ClaimPart]]:
    """Returns the parts of each claim by the claim's id."""
    found: dict[str, list[ClaimPart]] = {}
    for part in claims:
        found.setdefault(part.id, []).append(part)
    return found


def _make_anchor(paper: str, claim: str) -> str:
    """Returns the name by which pages link to a claim."""
    return f"{paper}-{claim}"


def _choose_tone(word: Word | None) -> Tone:
    """Returns the tone of a verdict; `dim` for one that `TONES` lacks and for None."""
    return TONES.get(word, "dim") if word is not None else "dim"


def _choose_sign(word: Word | None) -> str:
    """Returns the sign of a verdict, for readers who see no colours."""
    return SIGNS[_choose_tone(word)]
