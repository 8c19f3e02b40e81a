"""From what was measured to a claim's judgements, a table's cells and a figure's curves."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from math import inf, nan
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from mousehole.base import MouseholeError
from mousehole.statistics import Design, Estimate, log_ratio, t_interval
from numpy.typing import NDArray

from papers.captures import capture_design
from papers.definition import (
    TAKEN,
    Cell,
    Claim,
    Definition,
    FigureItem,
    Json,
    Labels,
    NotAvailableError,
    Open,
    Panel,
    Reading,
    TableItem,
    Trial,
    Value,
    merge_changes,
    read_toml,
)
from papers.judge import Judgement, Word, judge_band, judge_exact, judge_order, worst
from papers.runs import Measured, Request, Runs

Floats = NDArray[np.float64]

AS_TAKEN = Reading(name=TAKEN, says="")


@dataclass(frozen=True)
class Check:
    """One judgement of a claim, with what it is about."""

    label: str
    """The labels of `each`, or the two neighbours of an order; empty if the claim is judged once."""
    published: tuple[float, float] | None
    """The published value or range, without its tolerance; both ends are equal for a single number."""
    judgement: Judgement


@dataclass(frozen=True)
class Judged:
    """A claim with all its judgements."""

    claim: Claim
    checks: Sequence[Check]
    fitted: tuple[str, ...] = ()
    """The open parameters whose value was chosen while looking at this claim."""

    @property
    def word(self) -> Word | None:
        """Returns the word for the whole claim: that of its worst part."""
        if self.claim.kind == "lost":
            return Word.LOST
        return worst([check.judgement.word for check in self.checks])


class Published:
    """The numbers of published.toml; notes which of them were read."""

    def __init__(self, path: Path) -> None:
        self.numbers = read_toml(path) if path.exists() else {}
        self.read: set[str] = set()

    def find(self, key: str, labels: Cell) -> Any:
        """Returns the entry that the dotted key leads to, None if there is none.

        `{axis}` in the key stands for the label of that axis; a label may itself have dots.
        """
        found: Any = self.numbers
        path = []
        for part in key.split("."):
            name = part.format_map(labels) if "{" in part else part
            path.append(name)
            found = found.get(name) if isinstance(found, dict) else None
            if found is None:
                return None
        self.read.add("\0".join(path))
        return found

    def unread(self) -> list[str]:
        """Returns the keys of all entries that nothing has read, themselves or as a part of another."""

        def leaves(table: Json, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
            for name, value in table.items():
                if isinstance(value, dict):
                    yield from leaves(value, (*path, name))
                else:
                    yield (*path, name)

        def is_read(path: tuple[str, ...]) -> bool:
            return any("\0".join(path[: n + 1]) in self.read for n in range(len(path)))

        return [".".join(path) for path in leaves(self.numbers, ()) if not is_read(path)]


@dataclass
class Evaluator:
    """Evaluates the items of one paper on its runs."""

    definition: Definition
    published: Published
    quantities: ModuleType
    runs: Runs
    reading: Reading = AS_TAKEN
    trials: tuple[Trial, ...] = ()
    """What is changed in every scenario."""
    looked: tuple[int, int] | None = None
    """Where replications are added until words are settled: how many the first look had, and this one."""

    def requests(self, value: Value, grid: str, labels: Cell) -> list[Request]:
        """Returns the cells that a value needs; `labels` are those of the row or of `each`."""
        return [self._request(grid, cell) for cell in self.definition.list_cells(value, grid, labels)]

    def values(self, value: Value, grid: str, labels: Cell) -> NDArray[np.float64]:
        """Returns the value of every replication; arrays of arrays where the value is an array.

        Without a grid there is one value, of a function that is given `args` alone.
        """
        if not grid:
            function = self._functions[value.value]
            return np.array([function(**labelled(value.args, labels))], np.float64)
        requests = self.requests(value, grid, labels)
        measured = [self._replications(request) for request in requests]
        given = replace(value, args=labelled(value.args, dict(requests[0].cell)))
        per_run = zip(*measured, strict=True)
        return np.array([self._value(given, cells) for cells in per_run], np.float64)

    def estimate(self, value: Value, grid: str, labels: Cell, comparisons: float = 1.0) -> Estimate:
        """Returns a value over the replications with its interval, by the statistics of `compare`.

        A relative change is the geometric mean of the replications' ratios, less one. The interval allows for
        what another capture would differ by, and for `comparisons` that hold together.
        """
        values = self.values(value, grid, labels)
        if not grid:
            return t_interval(values)
        own = capture_design(self.runs.scenario(self.requests(value, grid, labels)[0]))
        design = Design(comparisons, capture_share=own.capture_share, capture_freedom=own.capture_freedom)
        if value.change == "relative":
            return log_ratio(1 + values, np.ones_like(values), design).as_change()
        return t_interval(values, design)

    @property
    def design(self) -> Design:
        """Returns what the intervals of judgements allow for."""
        return Design(is_sequential=True, first_look=self.looked[0]) if self.looked else Design()

    def _replications(self, request: Request) -> Sequence[Measured]:
        """Returns what is measured of a request in the replications of this look."""
        if self.looked is None:
            return self.runs.measure(request)[: self.runs.replications(request.grid)]
        return self.runs.measure(request, self.looked[1])[: self.looked[1]]

    def claim_requests(self, claim: Claim) -> list[Request]:
        """Returns all cells that a claim needs."""
        if not claim.grid:
            return []
        return [
            request
            for labels in self.definition.combinations(claim)
            for cell in claim.order or ({},)
            for request in self.requests(claim, claim.grid, {**labels, **cell})
        ]

    def judged(self, claim: Claim) -> Judged:
        """Returns the claim with its judgements."""
        fitted = self._fitted(claim)
        if claim.kind == "lost":
            return Judged(claim, [], fitted)
        try:
            checks = [
                check
                for labels in self.definition.combinations(claim)
                for check in self._checks(claim, labels)
            ]
        except NotAvailableError as error:
            nothing = Judgement(Word.NOT_RUN, Estimate(nan, nan, nan, 0))
            return Judged(claim, [Check(str(error), None, nothing)], fitted)
        return Judged(claim, checks, fitted)

    def under(self, trial: Trial) -> "Evaluator":
        """Returns an evaluator that makes the change of a trial as well in every scenario."""
        return replace(self, trials=(*self.trials, trial))

    def by(self, reading: Reading) -> "Evaluator":
        """Returns an evaluator that reads the whole paper so."""
        return replace(self, reading=reading, trials=self.definition.trials_in(reading))

    def select_trials(self, claim: Claim) -> list[tuple[Open, Trial]]:
        """Returns the trials that concern a claim, but for parameters that the reading gives a value."""
        opens = [one for one in self.definition.opens if one.name not in self.reading.values]
        return [(one, trial) for one in opens for trial in one.select_trials(claim)]

    def table_requests(self, table: TableItem) -> list[Request]:
        """Returns all cells that a table needs."""
        if not table.grid:
            return []
        return [
            request
            for labels in list_row_labels(table)
            for column in table.columns
            for request in self.requests(column, table.grid, labels)
        ]

    def figure_requests(self, figure: FigureItem) -> list[Request]:
        """Returns all cells that a figure needs."""
        return [
            request
            for panel in figure.panels
            for name in figure.names
            for labels in self.along(figure, panel, name)
            for request in self.requests(panel, figure.grid, labels)
        ]

    def along(self, figure: FigureItem, panel: Panel, name: str) -> list[dict[str, str]]:
        """Returns the labels of each point of a curve: one for all, or one for each label of the axis `x`."""
        fixed = {**figure.of, **panel.of, figure.curves: name}
        axes = self.definition.grids[figure.grid].axes
        return [{**fixed, panel.x: label} for label in axes[panel.x]] if panel.x in axes else [fixed]

    @cached_property
    def _functions(self) -> Mapping[str, Any]:
        return {name: one for name, one in vars(self.quantities).items() if callable(one)}

    def _request(self, grid: str, cell: Labels) -> Request:
        change = merge_changes(self.trials, cell)
        return Request(grid, cell, json.dumps(change, sort_keys=True) if change else "{}")

    def _fitted(self, claim: Claim) -> tuple[str, ...]:
        """Returns what was chosen while looking at the claim: parameters, the reading, a cut of its own."""
        own = [one.name for one in self.definition.opens
               if one.was_fitted_to(claim) and one.name not in self.reading.values]  # fmt: skip
        reading = [f"reading {self.reading.name}"] if self.reading.was_fitted_to(claim) else []
        return (*own, *reading, *([claim.seen] if claim.seen else []))

    def _value(self, value: Value, cells: Sequence[Measured]) -> Any:
        function = self._functions.get(value.value)
        if function is not None and not value.change:
            return function(*cells, **value.args)
        if function is not None:
            single = [function(cell, **value.args) for cell in cells]
        else:
            single = [self._field(value, cell) for cell in cells]
        return changed(value.change, *single) if value.change else single[0]

    def _field(self, value: Value, measured: Measured) -> Any:
        if value.value not in measured:
            raise MouseholeError(
                f'paper {self.definition.name}: "{value.value}" is neither measured nor a function of '
                f"quantities.py; measured are {', '.join(measured)}"
            )
        return measured[value.value]

    def _checks(self, claim: Claim, labels: Mapping[str, str]) -> Iterator[Check]:
        name = ", ".join(labels.values())
        if claim.kind == "order":
            yield from self._order_checks(claim, labels, name)
            return
        published = self._published(claim, labels)
        least, most, unclear, inside = band(claim, published)
        if not claim.grid:
            value = float(self._functions[claim.value](**claim.args))
            yield Check(name, published, judge_exact(value, least, most))
            return
        values = self.values(claim, claim.grid, labels)
        if claim.kind == "exact":
            yield Check(name, published, judge_exact(float(values[0]), least, most))
            return
        yield Check(name, published, judge_band(values, least, most, unclear, inside, self.design))

    def _order_checks(self, claim: Claim, labels: Mapping[str, str], name: str) -> Iterator[Check]:
        values = [self.values(claim, claim.grid, {**labels, **cell}) for cell in claim.order]
        steps = [after - before for before, after in pairwise(values)]
        for place, judgement in enumerate(judge_order(steps, self.design)):
            before, after = (", ".join(cell.values()) for cell in claim.order[place : place + 2])
            yield Check(": ".join(filter(None, [name, f"{before} < {after}"])), None, judgement)

    def _published(self, claim: Claim, labels: Cell) -> tuple[float, float] | None:
        given = claim.published
        if isinstance(given, str):
            found = self.published.find(given, {**claim.of, **labels})
            if found is None:
                raise MouseholeError(
                    f'paper {self.definition.name}: claim {claim.id}: published.toml has no "{given}" for '
                    f"{', '.join(labels.values()) or 'it'}"
                )
            given = found
        return None if given is None else ends(given)


def ends(value: Any) -> tuple[float, float]:
    """Returns both ends of a published range, which are equal for a number."""
    if isinstance(value, int | float):
        return float(value), float(value)
    low, high = value
    return float(low), float(high)


def band(claim: Claim, published: tuple[float, float] | None) -> tuple[float, float, Word, Word]:
    """Returns the ends between which the expectation must lie, the word for an interval that reaches over one
    of them, and the word for an interval between them.
    """
    if claim.kind == "sign":
        least, most = (0.0, inf) if claim.sign == "+" else (-inf, 0.0)
        return least, most, Word.UNDECIDED, Word.AGREES
    if claim.kind == "equivalent":
        return -claim.margin, claim.margin, Word.COMPATIBLE, Word.EQUIVALENT
    if claim.kind == "bound":
        least = -inf if claim.least is None else claim.least
        most = inf if claim.most is None else claim.most
        return least, most, Word.COMPATIBLE, Word.AGREES
    if published is None:
        raise MouseholeError(f'claim {claim.id}: kind {claim.kind} needs "published"')
    low, high = published
    if claim.kind == "factor":
        return low / claim.factor, high * claim.factor, Word.COMPATIBLE, Word.AGREES
    slack_low, slack_high = (claim.margin + claim.tolerance * abs(end) for end in published)
    return low - slack_low, high + slack_high, Word.COMPATIBLE, Word.AGREES


def labelled(args: Json, cell: Cell) -> Json:
    """Returns the arguments with the cell's labels in the place of `{axis}` in those that are text."""
    return {name: one.format_map(cell) if isinstance(one, str) else one for name, one in args.items()}


def changed(change: str, one: Any, other: Any) -> Any:
    """Returns how `one` compares with `other`."""
    if change == "difference":
        return one - other
    ratio = np.divide(one, other)
    return {"ratio": ratio, "relative": ratio - 1, "reduction": 1 - ratio}[change]


def list_row_labels(table: TableItem) -> list[dict[str, str]]:
    """Returns the labels of each row of a table."""
    return [dict(zip(table.rows, labels, strict=True)) for labels in product(*table.rows.values())]
