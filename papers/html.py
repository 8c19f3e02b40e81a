"""One self-contained page of the papers' claims, tables and figures: no network, no script."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from papers.definition import Definition
from papers.judge import MEANING, Word, worst
from papers.parts import ClaimPart, Heading, Line, Part, Picture, Table, word_text
from papers.text import tally

CLASSES = {
    Word.AGREES: "good",
    Word.EQUIVALENT: "good",
    Word.COMPATIBLE: "open",
    Word.NOT_TOLD_APART: "open",
    Word.DIFFERS: "bad",
}
"""How a word is coloured; the others are grey. The word itself always stands beside the colour."""
SIGNS = {"good": "✓", "open": "~", "bad": "✗", "none": "–"}
STYLE = """
:root { color-scheme: light dark; --back: #fff; --fore: #1a1a1a; --dim: #5a5a5a; --line: #d5d5d5;
  --soft: #f4f4f2; --good: #1b6e3c; --open: #7a5b00; --bad: #a3262a; --none: #5a5a5a; --link: #0b57a4 }
@media (prefers-color-scheme: dark) { :root { --back: #16181b; --fore: #e8e6e3; --dim: #a8a6a2;
  --line: #3a3d42; --soft: #212428; --good: #6fce93; --open: #e3c067; --bad: #ff8f8a; --none: #a8a6a2;
  --link: #8fc1ff } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 74rem; padding: 1rem; background: var(--back); color: var(--fore);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word }
h1 { font-size: 1.6rem; line-height: 1.2 }
h2 { margin-top: 3rem; border-top: 2px solid var(--line); padding-top: 1rem }
h3 { margin: 2rem 0 .5rem } a { color: var(--link) } .dim { color: var(--dim) }
code { font: .9em ui-monospace, monospace; background: var(--soft); padding: .1em .35em; border-radius: 3px }
.matrix { display: flex; flex-wrap: wrap; gap: .3rem; margin: .3rem 0 1rem }
.matrix a { min-width: 3.6rem; padding: .2rem .4rem; border: 1px solid; border-left-width: 5px;
  border-radius: 3px;  text-decoration: none; font-variant-numeric: tabular-nums; white-space: nowrap }
.good { color: var(--good) } .open { color: var(--open) } .bad { color: var(--bad) }
.none { color: var(--none) }
.scroll { overflow-x: auto; margin: .5rem 0; max-width: 100% }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
td.number, th.number { text-align: right; white-space: nowrap }
thead th { border-bottom: 2px solid var(--dim) }
caption { text-align: left; color: var(--dim); padding-bottom: .3rem }
article { border-bottom: 1px solid var(--line); padding: .7rem 0; scroll-margin-top: 1rem }
article p { margin: .2rem 0 } .word { font-weight: 600 }
article:target { background: var(--soft); box-shadow: 0 0 0 .5rem var(--soft) }
figure { margin: 1rem 0 } figure svg { max-width: 100%; height: auto; color: var(--fore) }
figure svg text { fill: currentColor } .word, td.good, td.open, td.bad { white-space: nowrap }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem } dd { margin: 0 }
@media print { body { max-width: none } article, figure, tr { break-inside: avoid } }
@media (max-width: 36rem) { dl { grid-template-columns: 1fr } dd { margin-bottom: .5rem } }
"""


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


def page(papers: Sequence[Reported], engine: str) -> str:
    """Returns the page as HTML; `engine` names the engine's version and revision."""
    title = "The papers, claim by claim"
    body = "".join(
        [
            f"<h1>{title}</h1>",
            f'<p class="dim">Published numbers beside those of Mousehole {escape(engine)}. '
            "Intervals hold 95 %, over replications with common random numbers.</p>",
            _words(),
            *(_matrix(paper) for paper in papers),
            *(_paper(paper) for paper in papers),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{title}</title><style>{STYLE}</style></head>\n'
        f"<body>{body}</body></html>\n"
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


def _paper(paper: Reported) -> str:
    definition, name = paper.definition, paper.definition.name
    headings = "".join(
        f'<p class="dim">{escape(part.text)}</p>' for part in paper.parts if isinstance(part, Heading)
    )
    opens = "".join(
        f"<tr><td>{escape(one.name)}</td><td>{escape(one.taken)}</td><td>{escape(one.why)}</td>"
        f"<td>{escape(', '.join(one.fitted) or '–')}</td></tr>"
        for one in definition.opens
    )
    table = (
        '<h3>What the paper leaves open</h3><div class="scroll" tabindex="0"><table><thead><tr><th>open</th>'
        f"<th>taken</th><th>why</th><th>fitted to</th></tr></thead><tbody>{opens}</tbody></table></div>"
    )
    return "".join(
        [
            f'<section><h2 id="{escape(name)}">{escape(definition.authors)}, '
            f"<cite>{escape(definition.title)}</cite></h2>",
            headings,
            table if definition.opens else "",
            f"<h3>Claims</h3><p>{_command(name, '')}</p>",
            *(_claim_group(paper, one, parts) for one, parts in _by_id(paper.claims).items()),
            *(_table(name, part) for part in paper.parts if isinstance(part, Table)),
            *(_figure(name, part) for part in paper.parts if isinstance(part, Picture)),
            "</section>",
        ]
    )


def _claim_group(paper: Reported, name: str, parts: Sequence[ClaimPart]) -> str:
    inside = "".join(_claim(part) for part in parts)
    return f'<article id="{_anchor(paper, name)}">{inside}</article>'


def _claim(part: ClaimPart) -> str:
    fitted = f' <span class="open">fitted ({escape(", ".join(part.fitted))})</span>' if part.fitted else ""
    head = (
        f"<p><strong>{escape(part.id)}</strong> "
        f'<span class="word {_class(part.word)}">{_sign(part.word)} {word_text(part.word)}</span>{fitted} · '
        f'{escape(part.says)} <span class="dim">({escape(part.place)})</span></p>'
    )
    remarks = [part.note, (f"Why: {part.cause}" if part.cause else "")]
    return (
        head + _lines(part.lines) + "".join(f'<p class="dim">{escape(text)}</p>' for text in remarks if text)
    )


def _lines(lines: Sequence[Line]) -> str:
    if not lines:
        return ""
    if len(lines) == 1 and not lines[0].label:
        return _one_line(lines[0])
    labelled = any(line.label for line in lines)
    head = (
        (["of"] if labelled else [])
        + ["published", "ours (95 %)"]
        + (["word"] if len(lines) > 1 else [])
        + ["Holm p"]
    )
    rows = []
    for line in lines:
        cells = [f"<td>{escape(line.label)}</td>"] if labelled else []
        cells += [
            f'<td class="number">{escape(line.published)}</td>',
            f'<td class="number">{escape(line.ours)}</td>',
        ]
        if len(lines) > 1:
            cells.append(f'<td class="{_class(line.word)}">{_sign(line.word)} {word_text(line.word)}</td>')
        cells.append(
            f'<td class="number">{f"{line.p_value:.2g}" if line.p_value == line.p_value else ""}</td>'
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    titles = "".join(f"<th{'' if t in ('of', 'word') else ' class=number'}>{t}</th>" for t in head)
    return (
        '<div class="scroll" tabindex="0"><table>'
        f"<thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _one_line(line: Line) -> str:
    adjusted = line.p_value
    told = [f"published <strong>{escape(line.published)}</strong>"] if line.published else []
    told.append(f"ours <strong>{escape(line.ours)}</strong>")
    told += [f'<span class="dim">Holm p {adjusted:.2g}</span>'] if adjusted == adjusted else []
    return f"<p>{' · '.join(told)}</p>"


def _table(paper: str, part: Table) -> str:
    head = "".join(
        f"<th{'' if place < part.labels else ' class=number'}>{escape(column)}</th>"
        for place, column in enumerate(part.columns)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{'' if place < part.labels else ' class=number'}>{escape(cell)}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in part.rows
    )
    note = f'<p class="dim">{escape(part.note)}</p>' if part.note else ""
    return (
        f"<h3>{escape(part.title)}</h3><p>{_command(paper, f'--table {part.number}')}</p>"
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _figure(paper: str, part: Picture) -> str:
    return (
        f"<h3>Figure {escape(part.number)}: {escape(part.title)}</h3>"
        f"<p>{_command(paper, f'--figure {part.number}')}</p>"
        f'<figure role="img" aria-label="{escape(part.title)}">'
        f'<div class="scroll">{inline_svg(part.path)}</div></figure>'
    )


def inline_svg(path: Path) -> str:
    """Returns an SVG file as an element whose black is the colour of the text around it."""
    text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :]
    return svg.replace("#000000", "currentColor").replace("#262626", "currentColor")


def _command(paper: str, item: str) -> str:
    return f"<code>{escape(f'mousehole paper {paper} {item}'.rstrip())}</code>"


def _by_id(claims: Iterable[ClaimPart]) -> Mapping[str, list[ClaimPart]]:
    found: dict[str, list[ClaimPart]] = {}
    for part in claims:
        found.setdefault(part.id, []).append(part)
    return found


def _anchor(paper: Reported, claim: str) -> str:
    return escape(f"{paper.definition.name}-{claim}")


def _class(word: Word | None) -> str:
    return CLASSES.get(word, "none") if word is not None else "none"


def _sign(word: Word | None) -> str:
    return SIGNS[_class(word)]


def write_page(papers: Iterator[Reported] | Sequence[Reported], folder: Path, engine: str) -> Path:
    """Writes `index.html` into the folder, whole or not at all, and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path, part = folder / "index.html", folder / "index.html.part"
    part.write_text(page(list(papers), engine), encoding="utf-8")
    part.replace(path)
    return path
