"""Reproduces a paper: runs a table, a figure or claims of it, and yields the parts of the result."""

import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import numpy as np
from mousehole.base import MouseholeError, unknown_error
from mousehole.statistics import Estimate, holm, t_interval

import papers
from papers.definition import (
    LEFT,
    TAKEN,
    Claim,
    Definition,
    FigureItem,
    NotAvailableError,
    Panel,
    TableItem,
    read_definition,
)
from papers.evaluate import Evaluator, Judged, Published, list_ends, list_row_labels
from papers.judge import Word
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
    describe_basis,
)
from papers.readings import Read, tabulate_scores, tabulate_words
from papers.runs import Options, Request, Runs
from papers.text import count_words, format_estimate, format_published

N = TypeVar("N", TableItem, FigureItem)
ROMAN = {"i": 1, "v": 5, "x": 10}
OPEN = (Word.COMPATIBLE, Word.UNDECIDED)
"""Words of claims that more replications may settle."""
ENOUGH = 640
"""Replications that leave few words open (docs/seeds.md)."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The items of a paper to run: one table, one figure, one claim, a log, or else all claims."""

    table: str | None = None
    figure: str | None = None
    claim: str | None = None
    section: str | None = None
    """The claims that stand in this section, or in a part of it."""
    log: Path | None = None
    """A log whose pages the paper's formula is applied to, by the table called `log`."""
    everything: bool = False
    """All claims, tables and figures."""
    readings: bool = False
    """The claims under every reading of the paper beside each other, and the score of each."""
    tried: bool = False
    """With a claim: also what becomes of it with open parameters as they were tried."""
    pictures: Path = Path()
    """The folder for figures."""
    form: str = "png"
    """The format of figures: png or svg."""


def list_folders() -> list[Path]:
    """Returns the folders that hold papers, the user's first."""
    return [Path(place) for place in papers.__path__]


def list_names() -> list[str]:
    """Returns the sorted names of all papers, as users type them."""
    return sorted(
        {path.parent.name.replace("_", "-") for one in list_folders() for path in one.glob("*/paper.toml")}
    )


def find_paper(name: str) -> "Paper":
    """Returns the paper of this name, whose definition is read later.

    Raises `MouseholeError` with the known names if there is none.
    """
    if name not in list_names():
        raise unknown_error("paper", "paper", name, list_names())
    return Paper(name)


class Paper:
    """A paper, defined by one folder of `papers/`."""

    def __init__(self, name: str) -> None:
        """Finds the paper's folder; raises `StopIteration` for an unknown name."""
        self.name = name
        own = [place / name.replace("-", "_") for place in list_folders()]
        self.folder = next(one for one in own if (one / "paper.toml").exists())

    @cached_property
    def definition(self) -> Definition:
        """Returns the content of `paper.toml`, read and checked at the first use.

        Raises `MouseholeError` for a fault in it.
        """
        return read_definition(self.folder / "paper.toml")

    def modules(self) -> tuple[ModuleType, ModuleType]:
        """Imports and returns the paper's modules `measures` and `quantities`."""
        package = f"papers.{self.folder.name}"
        return importlib.import_module(f"{package}.measures"), importlib.import_module(
            f"{package}.quantities"
        )

    def evaluator(self, options: Options) -> Evaluator:
        """Returns an evaluator of the paper's items, without any runs yet.

        Raises `MouseholeError` for a faulty definition and for an unknown reading.
        """
        measures, quantities = self.modules()
        runs = Runs(self.definition, self.folder, measures, options)
        made = Evaluator(self.definition, Published(self.folder / "published.toml"), quantities, runs)
        return made.with_reading(self.definition.reading(options.reading))

    def list_items(self) -> str:
        """Returns the items of the paper as text, such as `table 3, 4; figure 6; claim S1 to S25`.

        Reads the definition; raises `MouseholeError` for a faulty one.
        """
        definition = self.definition
        kinds = [(kind, dict.fromkeys(one.number for one in items)) for kind, items in
                 (("table", definition.tables), ("figure", definition.figures))]  # fmt: skip
        given = [f"{kind} {', '.join(numbers)}" for kind, numbers in kinds if numbers]
        ids = list(dict.fromkeys(claim.id for claim in definition.claims))
        readings = [one.name for one in definition.readings if one.name != TAKEN]
        given += [f"claim {ids[0]} to {ids[-1]}"] if ids else []
        given += [f"--reading {', '.join(readings)}"] if readings else []
        return "; ".join(given)

    def reproduce(self, wanted: Wanted, options: Options) -> Iterator[Part]:
        """Runs the wanted items and yields their parts; all claims if none is wanted.

        The heading comes first. Claims, tables and figures whose data is not on this machine say so instead
        of raising. Figures are written to `wanted.pictures`. Raises `MouseholeError` for an unknown item.
        """
        evaluator = self.evaluator(options)
        tables, figures, claims = self._choose_items(wanted, options.full)
        yield self._make_heading(evaluator)
        requests: list[Request] = []
        for table in tables:
            requests += evaluator.list_table_requests(table)
        for figure in figures:
            requests += evaluator.list_figure_requests(figure)
        for claim in claims:
            requests += evaluator.list_claim_requests(claim)
        evaluator.runs.run(requests, available=True)
        yield from (make_table(evaluator, table) for table in tables)
        yield from (self._draw_figure(evaluator, figure, wanted) for figure in figures)
        if wanted.readings:
            yield from self._compare_readings(evaluator, claims)
        else:
            yield from self._judge_parts(evaluator, claims, wanted.tried)

    def _choose_items(
        self, wanted: Wanted, full: bool = False
    ) -> tuple[Sequence[TableItem], Sequence[FigureItem], Sequence[Claim]]:
        """Returns the wanted tables, figures and claims; a table or figure brings the claims that name it.

        Experiments that the paper leaves to others are among all claims at full length only. Raises
        `MouseholeError` for an item that the paper lacks.
        """
        definition = self.definition
        every = [one for one in definition.claims if full or one.basis != LEFT]
        if wanted.everything:
            return definition.tables, definition.figures, every
        if wanted.log is not None:
            return [self._make_log_table(wanted.log)], (), ()
        if wanted.claim is not None:
            claims = [one for one in definition.claims if one.id.lower() == wanted.claim.lower()]
            if not claims:
                ids = list(dict.fromkeys(one.id for one in definition.claims))
                raise unknown_error(f"paper {self.name}", "claim", wanted.claim, ids)
            return (), (), claims
        if wanted.section is not None:
            claims = [one for one in definition.claims if is_in_section(one, wanted.section)]
            if not claims:
                known = sorted({one for claim in definition.claims for one in list_sections(claim)})
                there = f"; there are claims in {', '.join(known)}" if known else "; claims name no sections"
                raise MouseholeError(f"paper {self.name}: no claim stands in section {wanted.section}{there}")
            return (), (), claims
        if wanted.table is not None:
            tables = self._find_numbered("table", wanted.table, definition.tables)
            return tables, (), self._find_claims_of("table", wanted.table, tables)
        if wanted.figure is not None:
            figures = self._find_numbered("figure", wanted.figure, definition.figures)
            return (), figures, self._find_claims_of("figure", wanted.figure, figures)
        if not definition.claims:
            raise MouseholeError(f"paper {self.name}: it states no claims; there are {self.list_items()}")
        return (), (), every

    def _find_numbered(self, kind: str, number: str, items: Sequence[N]) -> list[N]:
        """Returns the items of this number, which may be Roman; else its parts, such as 8a and 8b of 8.

        Raises `MouseholeError` if there is none.
        """
        asked = to_arabic(number.lower())
        found = [one for one in items if one.number.lower() == asked]
        found = found or [
            one for one in items if re.fullmatch(re.escape(asked) + "[a-z]", one.number.lower())
        ]
        if not found:
            raise MouseholeError(
                f"paper {self.name}: {kind} {number} is not reproduced; there are {self.list_items()}"
            )
        return found

    def _make_log_table(self, log: Path) -> TableItem:
        """Returns the table of pages computed from this log instead of the paper's.

        Raises `MouseholeError` for a log that cannot be opened, and for a paper without such a table.
        """
        for table in self.definition.tables:
            if table.number == "log":
                require_readable(log)
                columns = [
                    replace(column, args={**column.args, "log": str(log.resolve())})
                    for column in table.columns
                ]
                return replace(table, columns=tuple(columns), title=f"{table.title}: {log.name}")
        raise MouseholeError(f"--log: the paper {self.name} estimates nothing from a log; give sfd")

    def _find_claims_of(self, kind: str, number: str, items: Sequence[TableItem | FigureItem]) -> list[Claim]:
        """Returns the claims that name these tables or figures, as in `Figure 6` or `Figure 6, text`."""
        numbers = {to_arabic(number.lower()), *(one.number.lower() for one in items)}
        places = {f"{kind} {one}" for one in numbers}
        return [
            claim
            for claim in self.definition.claims
            if any(one.split(",")[0].strip().lower() in places for one in claim.place.split(";"))
        ]

    def _make_heading(self, evaluator: Evaluator) -> Heading:
        """Returns the heading: the paper, the length of runs and the reading."""
        definition, length = self.definition, evaluator.runs.length
        number = length.replications
        return Heading(
            f"{definition.authors}, {definition.title}, {definition.source}. "
            f"{number} replication{'s' if number > 1 else ''} of {length.says}. "
            f"{self._describe_reading(evaluator)}"
        )

    def _describe_reading(self, evaluator: Evaluator) -> str:
        """Returns a sentence on the reading."""
        if evaluator.reading.name == TAKEN:
            return f"What the paper leaves open is filled in as papers/{self.folder.name}/README.md says."
        return f"Reading {evaluator.reading.name}: {evaluator.reading.says}."

    def _draw_figure(self, evaluator: Evaluator, item: FigureItem, wanted: Wanted) -> Picture:
        """Draws a figure to a file; returns a picture without a file if its data is not on this machine.

        Raises `MouseholeError` if a curve is missing or the file cannot be written.
        """
        from papers import draw  # loads Altair

        panels = []
        try:
            for panel in item.panels:
                curves = [make_curve(evaluator, item, panel, name) for name in item.names]
                panels.append((panel, [draw.Curve(*one) for one in curves]))
        except NotAvailableError as error:
            return Picture(item.number, item.title, None, str(error))
        path = wanted.pictures / f"{self.name}-figure-{item.number}.{wanted.form}"
        draw.draw(item, panels, path)
        return Picture(item.number, item.title, path)

    def _judge_parts(self, evaluator: Evaluator, claims: Sequence[Claim], tried: bool) -> Iterator[Part]:
        """Yields the judged claims, with their trials if `tried`, and a summary of several.

        Runs what has not been run.
        """
        judged = judge_claims(evaluator, claims)
        every = len(claims) >= sum(one.basis != LEFT for one in self.definition.claims)
        parts = make_claim_parts(self.name, judged, adjusted=every)
        for part, one in zip(parts, judged, strict=True):
            yield part
            if tried and one.claim.grid:
                yield from make_trial_parts(evaluator, one.claim)
        if len(parts) > 1:
            yield Summary(write_summary(parts, settle=evaluator.runs.settle))

    def _compare_readings(self, evaluator: Evaluator, claims: Sequence[Claim]) -> Iterator[Part]:
        """Yields the table of claims by reading, and the readings' scores.

        Runs what has not been run under any of them.
        """
        under = [(one, evaluator.with_reading(one)) for one in self.definition.readings]
        requests = [
            request for _, own in under for claim in claims for request in own.list_claim_requests(claim)
        ]
        evaluator.runs.run(requests, available=True)
        reads = [Read(one, judge_claims(own, claims)) for one, own in under]
        yield tabulate_words(reads)
        yield tabulate_scores(reads)


def judge_claims(evaluator: Evaluator, claims: Sequence[Claim]) -> list[Judged]:
    """Judges the claims in their order, after running what has not been run.

    With `settle`, the replications of those whose verdict is open are doubled while they stay within that
    number; a first look may have more. The intervals then hold at every look.
    """
    most = evaluator.runs.settle
    if most is None:
        return [evaluator.judge(claim) for claim in claims]
    first = [evaluator.runs.replications(claim.grid) if claim.grid else 1 for claim in claims]
    looks, found = list(first), dict[int, Judged]()
    unsettled = list(range(len(claims)))
    while unsettled:
        for number in sorted({looks[place] for place in unsettled}):
            wanted = [claims[place] for place in unsettled if looks[place] == number]
            requests = [request for claim in wanted for request in evaluator.list_claim_requests(claim)]
            evaluator.runs.run(requests, available=True, replications=number)
        for place in unsettled:
            look = replace(evaluator, looked=(first[place], looks[place]))
            found[place] = look.judge(claims[place])
        unsettled = [place for place in unsettled if found[place].word in OPEN and 2 * looks[place] <= most]
        for place in unsettled:
            looks[place] *= 2
    return [found[place] for place in range(len(claims))]


def write_summary(parts: Sequence[ClaimPart], settle: int | None) -> str:
    """Returns the numbers of claims by verdict and basis as text, and a hint on how to settle open ones.

    `settle` is the limit of replications that was used, or None.
    """
    texts = [f"{len(parts)} statements."]
    for basis, name in BASES.items():
        words = [part.word for part in parts if describe_basis(part.basis, part.fitted) == basis]
        if words:
            texts.append(f"{name.capitalize()}, {len(words)}: {count_words(words)}.")
    number = sum(part.word in OPEN for part in parts)
    if number and settle is None:
        texts.append(f"{number} may be settled by more replications: --settle {ENOUGH}.")
    return " ".join(texts)


def make_claim_parts(paper: str, judged: Sequence[Judged], *, adjusted: bool) -> list[ClaimPart]:
    """Returns the claims as parts; if `adjusted`, p-values are by Holm's procedure over all of them.

    `adjusted` is set for all claims of a paper: over fewer, a p-value would depend on the choice of claims.
    p-values that are NaN stay so.
    """
    p_values = [check.judgement.p_value for one in judged for check in one.checks]
    p_value = iter(holm(p_values) if adjusted else p_values)
    parts = []
    for one in judged:
        lines = [replace(line, p_value=next(p_value), adjusted=adjusted) for line in list_judgements(one)]
        claim = one.claim
        told = {
            name: getattr(claim, name)
            for name in ("id", "part", "place", "says", "kind", "cause", "note", "basis")
        }
        parts.append(ClaimPart(paper=paper, word=one.word, lines=lines, fitted=one.fitted, **told))
    return parts


def list_judgements(judged: Judged) -> list[Line]:
    """Returns the judgements of a claim as lines of text and numbers."""
    claim, lines = judged.claim, []
    for check in judged.checks:
        judgement = check.judgement
        published = format_published(check.published, claim.unit, claim.digits) or write_bound(claim)
        text = format_estimate(judgement.ours, claim.unit, claim.digits)
        lines.append(
            Line(
                check.label, published, text, judgement.word, judgement.p_value, judgement.ours,
                write_tolerance(claim) if check.published is not None else "",
            )
        )  # fmt: skip
    return lines


def write_tolerance(claim: Claim) -> str:
    """Returns the distance from the published value at which ours still agrees, such as `±40 %` or `×÷ 2`.

    Empty if the claim has none.
    """
    if claim.kind == "factor":
        return f"×÷ {claim.factor:g}"
    own = format_published((claim.margin, claim.margin), claim.unit, claim.digits) if claim.margin else ""
    texts = [f"±{100 * claim.tolerance:g} %" if claim.tolerance else "", f"±{own}" if own else ""]
    return " ".join(filter(None, texts))


def write_bound(claim: Claim) -> str:
    """Returns the bound that a claim without a published number sets, empty if it sets none."""
    if claim.kind == "sign":
        return "above 0" if claim.sign == "+" else "below 0"
    if claim.kind == "equivalent":
        return f"0 ± {format_published((claim.margin, claim.margin), claim.unit, claim.digits)}"
    if claim.kind == "bound":
        ends_of = [("at least", claim.least), ("at most", claim.most)]
        given = [
            f"{name} {format_published((end, end), claim.unit, claim.digits)}"
            for name, end in ends_of
            if end is not None
        ]
        return ", ".join(given)
    return ""


def make_trial_parts(evaluator: Evaluator, claim: Claim) -> Iterator[TrialPart]:
    """Yields the claim under each value of an open parameter that was tried on it.

    The runs of a value are made when its part is asked for. Raises `NotAvailableError` as `run_judgements`
    does.
    """
    for one, trial in evaluator.select_trials(claim):
        yield TrialPart(claim.id, one.name, trial.name, run_judgements(evaluator.with_trial(trial), claim))


def run_judgements(evaluator: Evaluator, claim: Claim) -> list[Line]:
    """Runs all cells that a claim needs, and returns its judgements.

    Raises `NotAvailableError` if its data is not on this machine.
    """
    evaluator.runs.run(evaluator.list_claim_requests(claim))
    return list_judgements(evaluator.judge(claim))


def make_table(evaluator: Evaluator, table: TableItem) -> Table:
    """Returns a table, in which each column of ours follows the published one if there is any.

    Runs what has not been run. A cell whose data is not on this machine is not run; the note below the table
    says why.
    """
    columns = [*table.rows]
    for column in table.columns:
        columns += [f"{column.title}, published", "ours (95 %)"] if column.published else [column.title]
    rows: list[list[str]] = []
    reasons: dict[str, None] = {}
    for labels in list_row_labels(table):
        cells = list(labels.values())
        for column in table.columns:
            if column.published:
                found = evaluator.published.find(column.published, labels)
                cells.append(
                    format_published(None if found is None else list_ends(found), column.unit, column.digits)
                )
            try:
                estimate = evaluator.estimate(column, table.grid, labels)
            except NotAvailableError as error:
                reasons[f"{Word.NOT_RUN}: {error}"] = None
                cells.append(Word.NOT_RUN.value)
            else:
                cells.append(format_estimate(estimate, column.unit, column.digits))
        rows.append(cells)
    note = ". ".join(filter(None, [table.note, *reasons]))
    return Table(table.number, f"Table {table.number}: {table.title}", columns, rows, len(table.rows), note)


def select_known(estimates: Sequence[Estimate], everywhere: bool) -> list[int]:
    """Returns the indices of the estimates that have a mean, with `everywhere` in all replications.

    A quantile that only some replications have would be too small: in the others, too many transfers did not
    end.
    """
    most = max((one.count for one in estimates), default=0) if everywhere else 1
    return [place for place, one in enumerate(estimates) if one.count >= max(1, most)]


def make_curve(
    evaluator: Evaluator, item: FigureItem, panel: Panel, name: str
) -> tuple[str, list[float], list[Estimate], list[tuple[float, float]], list[float]]:
    """Returns name, abscissae, estimates, published points and second values of one curve.

    Of a distribution the abscissae are shares, from 0. Runs what has not been run; raises
    `NotAvailableError` for data that is not on this machine.
    """
    points = evaluator.list_point_labels(item, panel, name)
    second = replace(panel, value=panel.beside, against=None, change="")
    axes = evaluator.definition.grids[item.grid].axes
    beside: list[float] = []
    if panel.x in axes:
        x = [parse_leading_number(labels[panel.x]) for labels in points]
        y = [t_interval(evaluator.values(panel, item.grid, labels)) for labels in points]
        if panel.beside:
            beside = [float(np.mean(evaluator.values(second, item.grid, labels))) for labels in points]
    else:
        rows = evaluator.values(panel, item.grid, points[0])
        y = [t_interval(column) for column in rows.T]
        if panel.kind == "lines":
            x = list(
                evaluator.runs.measure(evaluator.list_requests(panel, item.grid, points[0])[0])[0][panel.x]
            )
        else:
            x = list(np.arange(len(y)) / len(y))
        if panel.beside:
            beside = list(evaluator.values(second, item.grid, points[0]).mean(axis=0))
    known = select_known(y, everywhere=panel.kind != "lines")
    published = list_published_points(evaluator, panel, name, points)
    if panel.kind == "lines" and panel.x not in axes:
        # points of larger sizes than the panel shows belong to another one
        published = [point for point in published if point[0] <= max(x, default=0.0)]
    return (
        name,
        [x[place] for place in known],
        [y[place] for place in known],
        published,
        [beside[place] for place in known] if beside else [],
    )


def list_published_points(
    evaluator: Evaluator, panel: Panel, name: str, points: Sequence[dict[str, str]]
) -> list[tuple[float, float]]:
    """Returns the published points of one curve; `points` has the labels of each of ours.

    Empty if nothing is published; a range gives a point for each end. The entries are marked as read.
    """
    key, found = panel.published, evaluator.published.find
    if not key:
        return []
    if f"{{{panel.x}}}" not in key:
        return [(x, y) for x, y in found(key, {"curve": name}) or []]
    printed = [
        (parse_leading_number(labels[panel.x]), found(key, {"curve": name, **labels})) for labels in points
    ]
    return [(x, end) for x, y in printed if y is not None for end in dict.fromkeys(list_ends(y))]


def require_readable(log: Path) -> None:
    """Raises `MouseholeError` if the user's log cannot be opened."""
    try:
        log.open("rb").close()
    except OSError as error:
        raise MouseholeError(f"{log}: {error.strerror or error}", field="log") from None


def is_in_section(claim: Claim, section: str) -> bool:
    """Returns whether a claim's place names a section or a part of it: `4.3` for `4`, `VI.C` for `vi`."""
    asked = section.lower().rstrip(".")
    named = [one.lower() for one in list_sections(claim)]
    return any(one == asked or one.startswith(f"{asked}.") for one in named)


def list_sections(claim: Claim) -> list[str]:
    """Returns the sections that a claim's place names, such as two for `sections 6 and 7`."""
    found = []
    for place in claim.place.split(";"):
        named = re.match(r"sections? ([\w.]+)(?: and ([\w.]+))?", place.strip())
        if named is not None:
            found += [one for one in named.groups() if one]
    return found


def to_arabic(number: str) -> str:
    """Returns a lower-case Roman number up to 39 in Arabic figures, and other text unchanged.

    An empty text counts as other text.
    """
    if not re.fullmatch(r"x{0,3}(ix|iv|v?i{0,3})", number) or not number:
        return number
    values = [ROMAN[letter] for letter in number]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return str(sum(-one if one < after else one for one, after in pairs))


def parse_leading_number(label: str) -> float:
    """Returns the number at the beginning of a label, such as 10 of `10mbit`.

    Raises `MouseholeError` if there is none.
    """
    found = re.match(r"[-+]?\d+(\.\d+)?", label)
    if found is None:
        raise MouseholeError(f'"{label}" does not begin with a number, so that it has no place on an axis')
    return float(found.group())
