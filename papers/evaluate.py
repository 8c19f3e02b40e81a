"""Evaluates measured runs: a claim's judgements, a table's cells and a figure's curves."""

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
from papers.judge import Judgement, Word, find_worst, judge_band, judge_exact, judge_order
from papers.runs import Measured, Request, Runs

Floats = NDArray[np.float64]

AS_TAKEN = Reading(name=TAKEN, says="")


@dataclass(frozen=True)
class Check:
    """One judgement of a claim, with the label of the cell that it judges."""

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
        """Returns the verdict on the whole claim: that of its worst judgement, None if one has none."""
        if self.claim.kind == "lost":
            return Word.LOST
        return find_worst([check.judgement.word for check in self.checks])


class Published:
    """The numbers of published.toml, with a record of which were read."""

    def __init__(self, path: Path) -> None:
        """Reads the published numbers, none if the file does not exist.

        Raises `MouseholeError` as `read_toml` does.
        """
        self.numbers = read_toml(path) if path.exists() else {}
        self.read: set[str] = set()

    def find(self, key: str, labels: Cell) -> Any:
        """Returns the entry at the dotted key, and marks it as read; None if there is none.

        `{axis}` in the key stands for the label of that axis; a label may itself have dots. Raises `KeyError`
        for an axis that `labels` lacks.
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

    def list_unread(self) -> list[str]:
        """Returns the keys of all entries that were read neither by themselves nor as a part of another."""

        def leaves(table: Json, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
            """Yields the path of every entry that is no table, in the order of the file."""
            for name, value in table.items():
                if isinstance(value, dict):
                    yield from leaves(value, (*path, name))
                else:
                    yield (*path, name)

        def is_read(path: tuple[str, ...]) -> bool:
            """Returns whether the entry, or a table that it is in, was read."""
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

    def list_requests(self, value: Value, grid: str, labels: Cell) -> list[Request]:
        """Returns the requests for the cells that a value needs, the cell `of` first.

        `labels` are those of the row or of `each`.
        """
        return [self._make_request(grid, cell) for cell in self.definition.list_cells(value, grid, labels)]

    def values(self, value: Value, grid: str, labels: Cell) -> NDArray[np.float64]:
        """Returns the value of every replication, one array dimension more if the value is an array.

        Runs what has not been run. Without a grid there is one value, of a function with the arguments `args`
        only. Raises `NotAvailableError` for data that is not on this machine, `MouseholeError` for an unknown
        field.
        """
        if not grid:
            function = self._functions[value.value]
            return np.array([function(**fill_labels(value.args, labels))], np.float64)
        requests = self.list_requests(value, grid, labels)
        measured = [self._replications(request) for request in requests]
        given = replace(value, args=fill_labels(value.args, dict(requests[0].cell)))
        per_run = zip(*measured, strict=True)
        return np.array([self._compute_value(given, cells) for cells in per_run], np.float64)

    def estimate(self, value: Value, grid: str, labels: Cell, comparisons: float = 1.0) -> Estimate:
        """Returns a value's mean over the replications with its interval, by the statistics of `compare`.

        A relative change is the geometric mean of the replications' ratios, less one. The interval allows for
        the variance between captures, and for `comparisons` that hold together. Runs and raises as `values`
        does.
        """
        values = self.values(value, grid, labels)
        if not grid:
            return t_interval(values)
        own = capture_design(self.runs.scenario(self.list_requests(value, grid, labels)[0]))
        design = Design(comparisons, capture_share=own.capture_share, capture_freedom=own.capture_freedom)
        if value.change == "relative":
            return log_ratio(1 + values, np.ones_like(values), design).as_change()
        return t_interval(values, design)

    @property
    def design(self) -> Design:
        """Returns the statistical design of the judgements: sequential if there are several looks."""
        return Design(is_sequential=True, first_look=self.looked[0]) if self.looked else Design()

    def _replications(self, request: Request) -> Sequence[Measured]:
        """Returns the measurements of a request in the replications of this look.

        Runs what has not been run.
        """
        if self.looked is None:
            return self.runs.measure(request)[: self.runs.replications(request.grid)]
        return self.runs.measure(request, self.looked[1])[: self.looked[1]]

    def list_claim_requests(self, claim: Claim) -> list[Request]:
        """Returns the requests for all cells that a claim needs; empty for a claim without a grid."""
        if not claim.grid:
            return []
        return [
            request
            for labels in self.definition.list_combinations(claim)
            for cell in claim.order or ({},)
            for request in self.list_requests(claim, claim.grid, {**labels, **cell})
        ]

    def judge(self, claim: Claim) -> Judged:
        """Returns the claim with its judgements, after running what has not been run.

        Where its data is not on this machine, its one judgement is `NOT_RUN`, with the reason as label. A
        claim that is lost has none.
        """
        fitted = self._list_fitted(claim)
        if claim.kind == "lost":
            return Judged(claim, [], fitted)
        try:
            checks = [
                check
                for labels in self.definition.list_combinations(claim)
                for check in self._judge_cells(claim, labels)
            ]
        except NotAvailableError as error:
            nothing = Judgement(Word.NOT_RUN, Estimate(nan, nan, nan, 0))
            return Judged(claim, [Check(str(error), None, nothing)], fitted)
        return Judged(claim, checks, fitted)

    def with_trial(self, trial: Trial) -> "Evaluator":
        """Returns a copy of the evaluator that also makes the changes of a trial in every scenario."""
        return replace(self, trials=(*self.trials, trial))

    def with_reading(self, reading: Reading) -> "Evaluator":
        """Returns a copy of the evaluator under a reading of the whole paper.

        It has the trials of the reading in place of its own.
        """
        return replace(self, reading=reading, trials=self.definition.list_trials(reading))

    def select_trials(self, claim: Claim) -> list[tuple[Open, Trial]]:
        """Returns the trials that apply to a claim, except of parameters that the reading sets."""
        opens = [one for one in self.definition.opens if one.name not in self.reading.values]
        return [(one, trial) for one in opens for trial in one.select_trials(claim)]

    def list_table_requests(self, table: TableItem) -> list[Request]:
        """Returns the requests for all cells that a table needs, row by row.

        Empty for a table without a grid.
        """
        if not table.grid:
            return []
        return [
            request
            for labels in list_row_labels(table)
            for column in table.columns
            for request in self.list_requests(column, table.grid, labels)
        ]

    def list_figure_requests(self, figure: FigureItem) -> list[Request]:
        """Returns the requests for all cells that a figure needs."""
        return [
            request
            for panel in figure.panels
            for name in figure.names
            for labels in self.list_point_labels(figure, panel, name)
            for request in self.list_requests(panel, figure.grid, labels)
        ]

    def list_point_labels(self, figure: FigureItem, panel: Panel, name: str) -> list[dict[str, str]]:
        """Returns the labels of each point of a curve, in the order of the abscissae.

        There is one set if `x` is no axis, else one for each label of it.
        """
        fixed = {**figure.of, **panel.of, figure.curves: name}
        axes = self.definition.grids[figure.grid].axes
        return [{**fixed, panel.x: label} for label in axes[panel.x]] if panel.x in axes else [fixed]

    @cached_property
    def _functions(self) -> Mapping[str, Any]:
        """Returns the functions of `quantities.py` by name."""
        return {name: one for name, one in vars(self.quantities).items() if callable(one)}

    def _make_request(self, grid: str, cell: Labels) -> Request:
        """Returns the request for a cell under the evaluator's trials."""
        change = merge_changes(self.trials, cell)
        return Request(grid, cell, json.dumps(change, sort_keys=True) if change else "{}")

    def _list_fitted(self, claim: Claim) -> tuple[str, ...]:
        """Returns the names of parameters that were chosen with knowledge of the claim's outcome.

        These are parameters, the reading, and a cut of the claim itself.
        """
        own = [one.name for one in self.definition.opens
               if one.was_fitted_to(claim) and one.name not in self.reading.values]  # fmt: skip
        reading = [f"reading {self.reading.name}"] if self.reading.was_fitted_to(claim) else []
        return (*own, *reading, *([claim.seen] if claim.seen else []))

    def _compute_value(self, value: Value, cells: Sequence[Measured]) -> Any:
        """Returns a value from the measurements of its cells in one replication.

        Raises `MouseholeError` for a value that is neither measured nor a function.
        """
        function = self._functions.get(value.value)
        if function is not None and not value.change:
            return function(*cells, **value.args)
        if function is not None:
            single = [function(cell, **value.args) for cell in cells]
        else:
            single = [self._find_field(value, cell) for cell in cells]
        return compare_values(value.change, *single) if value.change else single[0]

    def _find_field(self, value: Value, measured: Measured) -> Any:
        """Returns a measured field; raises `MouseholeError` with the known names if there is none."""
        if value.value not in measured:
            raise MouseholeError(
                f'paper {self.definition.name}: "{value.value}" is neither measured nor a function of '
                f"quantities.py; measured are {', '.join(measured)}"
            )
        return measured[value.value]

    def _judge_cells(self, claim: Claim, labels: Mapping[str, str]) -> Iterator[Check]:
        """Yields the judgements of a claim for one combination of labels.

        Raises `MouseholeError` for a published number that is missing, and as `values` does.
        """
        name = ", ".join(labels.values())
        if claim.kind == "order":
            yield from self._judge_order(claim, labels, name)
            return
        published = self._find_published(claim, labels)
        least, most, unclear, inside = choose_band(claim, published)
        if not claim.grid:
            value = float(self._functions[claim.value](**claim.args))
            yield Check(name, published, judge_exact(value, least, most))
            return
        values = self.values(claim, claim.grid, labels)
        if claim.kind == "exact":
            yield Check(name, published, judge_exact(float(values[0]), least, most))
            return
        yield Check(name, published, judge_band(values, least, most, unclear, inside, self.design))

    def _judge_order(self, claim: Claim, labels: Mapping[str, str], name: str) -> Iterator[Check]:
        """Yields a judgement for each step of an order; `name` is put before the labels of the steps."""
        values = [self.values(claim, claim.grid, {**labels, **cell}) for cell in claim.order]
        steps = [after - before for before, after in pairwise(values)]
        for place, judgement in enumerate(judge_order(steps, self.design)):
            before, after = (", ".join(cell.values()) for cell in claim.order[place : place + 2])
            yield Check(": ".join(filter(None, [name, f"{before} < {after}"])), None, judgement)

    def _find_published(self, claim: Claim, labels: Cell) -> tuple[float, float] | None:
        """Returns the published range of a claim in the claim's unit, or None if it has none.

        A single number is both ends of its range. Raises `MouseholeError` for a key that published.toml
        lacks.
        """
        given = claim.published
        if isinstance(given, str):
            found = self.published.find(given, {**claim.of, **labels})
            if found is None:
                raise MouseholeError(
                    f'paper {self.definition.name}: claim {claim.id}: published.toml has no "{given}" for '
                    f"{', '.join(labels.values()) or 'it'}"
                )
            given = found
        return None if given is None else list_ends(given)


def list_ends(value: Any) -> tuple[float, float]:
    """Returns both ends of a published range; they are equal for a single number.

    Raises `ValueError` or `TypeError` for anything but a number and a pair.
    """
    if isinstance(value, int | float):
        return float(value), float(value)
    low, high = value
    return float(low), float(high)


def choose_band(claim: Claim, published: tuple[float, float] | None) -> tuple[float, float, Word, Word]:
    """Returns the ends of a claim's band, the word for an interval that crosses one, and that for one inside.

    The expectation must lie between the ends. Raises `MouseholeError` if the kind needs a published number
    and there is none.
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


def fill_labels(args: Json, cell: Cell) -> Json:
    """Returns a copy of the arguments with `{axis}` in text replaced by the cell's label.

    Raises `KeyError` for an axis that the cell lacks.
    """
    return {name: one.format_map(cell) if isinstance(one, str) else one for name, one in args.items()}


def compare_values(change: str, one: Any, other: Any) -> Any:
    """Returns the difference, ratio, relative change or reduction of `one` against `other`.

    Both are numbers or arrays. Raises `KeyError` for another `change`.
    """
    if change == "difference":
        return one - other
    ratio = np.divide(one, other)
    return {"ratio": ratio, "relative": ratio - 1, "reduction": 1 - ratio}[change]


def list_row_labels(table: TableItem) -> list[dict[str, str]]:
    """Returns the labels of each row of a table; the last axis changes fastest."""
    return [dict(zip(table.rows, labels, strict=True)) for labels in product(*table.rows.values())]
