"""Reads a paper's definition, `papers/NAME/paper.toml`, into dataclasses, and checks it.

Every mistake in the file raises `MouseholeError` with the file, the entry and the key.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from mousehole.base import MouseholeError, unknown_error

from papers.schemes import apply_trial, merge

Json = dict[str, Any]
Labels = tuple[tuple[str, str], ...]
"""The labels of a cell, in the order of the grid's axes."""
Cell = Mapping[str, str]
"""The label of each axis of a grid, by the name of the axis."""
T = TypeVar("T")

KINDS = ("exact", "value", "factor", "bound", "sign", "order", "equivalent", "lost")
CHANGES = ("difference", "ratio", "relative", "reduction")
UNITS = ("", "%", "s", "ms", "packets", "KB", "Mb/s")
FIGURE_KINDS = ("lines", "cdf", "ccdf")
LEFT = "left"
BASES = ("evidence", "rule", "finding", LEFT)
"""What a word rests on: the paper's statement; our own rule, held against ourselves; other people's data; an
experiment that the paper leaves to others."""
TAKEN = "taken"
"""The name of the reading in which every open parameter has the value that is taken."""


class NotAvailableError(MouseholeError):
    """Raised if a value needs data that is not on this machine; the item that needs it is then not run."""


@dataclass(frozen=True, kw_only=True)
class Value:
    """A number per replication of one or more cells: a measured field, or a function of `quantities.py`."""

    value: str
    of: Cell = field(default_factory=dict)
    against: Cell | None = None
    """The second cell; what it does not name is as in `of`."""
    also: tuple[Cell, ...] = ()
    """More cells, for functions of more than two; what they do not name is as in `of`."""
    change: str = ""
    """How `of` is compared with `against` where `value` takes one cell: one of `CHANGES`."""
    args: Json = field(default_factory=dict)
    """Further keyword arguments of the function; in text, `{axis}` stands for the label of the cell `of`."""


@dataclass(frozen=True, kw_only=True)
class Claim(Value):
    """A statement of the paper, or a part of one, and how it is judged."""

    id: str
    part: str = ""
    place: str
    says: str
    kind: str
    grid: str = ""
    value: str = ""
    """Nothing where the claim is lost."""
    order: tuple[Cell, ...] = ()
    """Of kind order: cells from the least value to the greatest."""
    each: tuple[str, ...] = ()
    """Axes of the grid: the claim is judged once for each combination of their labels."""
    skip: tuple[Cell, ...] = ()
    """Combinations of `each` that the claim does not speak of."""
    published: Any = None
    """A number, a range of two, or a key of published.toml in which `{axis}` stands for the cell's label."""
    tolerance: float = 0.0
    """Relative tolerance of the published value."""
    margin: float = 0.0
    """Absolute tolerance; of kind equivalent, the largest difference that does not matter."""
    factor: float = 1.0
    """Of kind factor: how many times greater or smaller than published still agrees."""
    least: float | None = None
    most: float | None = None
    sign: str = ""
    """Of kind sign: `+` or `-`."""
    unit: str = ""
    digits: int = 0
    cause: str = ""
    """Why our number differs, where that is known: what was found with one thing changed at a time."""
    note: str = ""
    """How the statement is read where that is not obvious, or why nothing can be compared."""
    basis: str = "evidence"
    """One of `BASES`."""
    seen: str = ""
    """What of the claim itself, such as a cut or a margin, was chosen while looking at our numbers."""

    @property
    def name(self) -> str:
        """Returns the id, followed by the name of the part if it has one."""
        return f"{self.id} {self.part}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One value of an open parameter that was tried."""

    name: str
    change: Json = field(default_factory=dict)
    """What it changes in every scenario of the claims it is tried on."""
    only: Cell = field(default_factory=dict)
    """Only the cells with these labels are changed."""
    labels: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """What it changes in the scenarios of some cells: by axis and label."""
    skip: tuple[str, ...] = ()
    """Claims of the open parameter that it is not tried on, because it takes away what they compare."""

    def merge_changes(self, cell: Cell) -> Json:
        """Returns the trial's changes to the scenario of a cell; none if it does not apply to the cell.

        `cell` has the labels by axis.
        """
        if not self.only.items() <= cell.items():
            return {}
        change = self.change
        for axis, label in cell.items():
            change = merge(change, self.labels.get(axis, {}).get(label, {}))
        return change


@dataclass(frozen=True, kw_only=True)
class Open:
    """A parameter that the paper does not print: the value taken, the values tried, and the reason."""

    name: str
    taken: str
    why: str
    fitted: tuple[str, ...] = ()
    """Claims that were looked at when the value was chosen: they are no evidence then.

    `H4` is all of a claim, `H4 mixed` only its part of that name, `H4 *mixed*` all whose names have the word.
    """
    claims: tuple[str, ...] = ()
    """Claims that each trial is repeated for, besides those fitted."""
    tried: tuple[Trial, ...] = ()

    def was_fitted_to(self, claim: Claim) -> bool:
        """Returns whether the value was chosen with knowledge of this claim's outcome, by `fitted`."""
        return _matches(self.fitted, claim)

    def select_trials(self, claim: Claim) -> tuple[Trial, ...]:
        """Returns the trials that apply to this claim.

        Empty for a claim that was not fitted to and that `claims` does not match.
        """
        if not self.was_fitted_to(claim) and not _matches(self.claims, claim):
            return ()
        return tuple(trial for trial in self.tried if not _matches(trial.skip, claim))


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A value for each of some open parameters, the same for the whole paper."""

    name: str
    says: str
    values: Mapping[str, str] = field(default_factory=dict)
    """The trial that is taken, by the name of the open parameter; the others are as `taken`."""
    fitted: tuple[str, ...] = ()
    """Claims that were looked at when the reading was put together, written as those of `Open`."""

    def was_fitted_to(self, claim: Claim) -> bool:
        """Returns whether the reading was chosen with knowledge of this claim's outcome."""
        return _matches(self.fitted, claim)


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Scenarios that differ along axes, and the measure that is applied to their runs."""

    scenario: str
    axes: Mapping[str, tuple[str, ...]]
    change: Json = field(default_factory=dict)
    quick: Json = field(default_factory=dict)
    full: Json = field(default_factory=dict)
    measure: str = "measure"
    build: str = ""
    """A function of measures.py that is given the scenario and the cell and returns the scenario to run."""
    replications: int | None = None
    """Replications of quick runs where they are not the paper's usual ones."""


@dataclass(frozen=True, kw_only=True)
class Column(Value):
    """A column of a table."""

    title: str
    published: str = ""
    """A key of published.toml in which `{axis}` stands for the row's label; without it, ours alone."""
    unit: str = ""
    digits: int = 0


@dataclass(frozen=True, kw_only=True)
class TableItem:
    """A table of the paper: a row for each combination of the axes' labels."""

    number: str
    title: str
    grid: str = ""
    """Nothing where no run is needed: rows may have any labels then, and functions get `args` alone."""
    rows: Mapping[str, tuple[str, ...]]
    columns: tuple[Column, ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Panel(Value):
    """One coordinate system of a figure."""

    title: str = ""
    kind: str = "lines"
    x: str = ""
    """The axis along which single numbers are drawn, or the measured field that holds the abscissae."""
    xlabel: str
    ylabel: str
    log: str = ""
    """`x`, `y` or `xy`: which scales are logarithmic."""
    published: str = ""
    """A key of published.toml with points [x, y]; `{curve}` stands for the name of the curve.

    Where `x` is an axis and the key names it in braces, the key leads to the ordinate at each of its labels.
    """
    beside: str = ""
    """A second value, with the same `args`, drawn dashed beside each curve, such as a model's."""
    beside_name: str = ""
    """What the legend calls it."""
    unit: str = ""
    top: float | None = None
    """Upper end of the ordinate."""


@dataclass(frozen=True, kw_only=True)
class FigureItem:
    """A figure of the paper: a curve for each label of one axis."""

    number: str
    title: str
    grid: str
    curves: str
    """The axis whose labels are the curves."""
    names: tuple[str, ...]
    panels: tuple[Panel, ...]
    of: Cell = field(default_factory=dict)
    """Labels of the grid's other axes."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Length:
    """The length of runs and the number of replications."""

    replications: int
    scenario: Json = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """The whole content of `paper.toml`."""

    name: str
    title: str
    authors: str
    source: str
    quick: Length
    full: Length
    axes: Mapping[str, Mapping[str, Json]]
    """Every axis with what each of its labels changes in a scenario."""
    grids: Mapping[str, Grid]
    claims: tuple[Claim, ...]
    schemes: Mapping[str, Json] = field(default_factory=dict)
    """What all schemes of the paper have in common of a part, by its name."""
    opens: tuple[Open, ...] = ()
    readings: tuple[Reading, ...] = ()
    tables: tuple[TableItem, ...] = ()
    figures: tuple[FigureItem, ...] = ()

    def reading(self, name: str) -> Reading:
        """Returns the reading of this name; raises `MouseholeError` with the known names if there is none."""
        for one in self.readings:
            if one.name == name:
                return one
        raise unknown_error(f"paper {self.name}", "reading", name, [one.name for one in self.readings])

    def list_trials(self, reading: Reading) -> tuple[Trial, ...]:
        """Returns the trials that a reading takes, in the order of the open parameters."""
        return tuple(
            trial for one in self.opens for trial in one.tried if trial.name == reading.values.get(one.name)
        )

    def find_cell(self, grid: str, *labels: Cell) -> Labels:
        """Returns the cell of a grid that the given labels select; later labels replace earlier ones.

        An axis without a label must have only one. Raises `MouseholeError` if it has more.
        """
        axes, given = self.grids[grid].axes, dict[str, str]()
        for one in labels:
            given.update(one)
        for axis, known in axes.items():
            if axis not in given and len(known) != 1:
                raise MouseholeError(
                    f"paper {self.name}: grid {grid}: which {axis} is meant? There are {', '.join(known)}"
                )
        return tuple((axis, given.get(axis, known[0])) for axis, known in axes.items())

    def list_combinations(self, claim: Claim) -> list[dict[str, str]]:
        """Returns the combinations of the labels of `each` that a claim covers, last axis fastest.

        Without `each` there is one, without labels. Those of `skip` are left out.
        """
        if not claim.each:
            return [{}]
        axes = self.grids[claim.grid].axes
        every = [
            dict(zip(claim.each, labels, strict=True))
            for labels in product(*(axes[name] for name in claim.each))
        ]
        return [labels for labels in every if not any(cell.items() <= labels.items() for cell in claim.skip)]

    def list_cells(self, value: Value, grid: str, labels: Cell) -> list[Labels]:
        """Returns the cells that a value needs; `labels` are those of the table row or of `each`.

        The cell `of` is the first. Raises `MouseholeError` as `find_cell` does.
        """
        others = [*([value.against] if value.against is not None else []), *value.also]
        return [self.find_cell(grid, labels, value.of, one) for one in ({}, *others)]

    def apply_changes(self, scenario: Json, grid: str, cell: Labels, *, full: bool = False) -> Json:
        """Returns a copy of a scenario with the changes of a grid and of a cell's labels, which come last.

        `full` chooses the changes of the full length, else those of the quick one are made.
        """
        own = self.grids[grid]
        changes = [own.change, own.full if full else own.quick]
        for change in (*changes, *(self.axes[axis][label] for axis, label in cell)):
            scenario = merge(scenario, change)
        return scenario


def read_toml(path: Path) -> Json:
    """Returns the content of a TOML file.

    Raises `MouseholeError` with the file and the line if it is invalid. `OSError` passes.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise MouseholeError(f"{path}: {error}") from None


def read_definition(path: Path) -> Definition:
    """Returns the definition of a paper from its file, after all checks.

    Raises `MouseholeError` for unknown, missing or invalid entries.
    """
    return _Reader(path).definition(read_toml(path))


@dataclass
class _Reader:
    """Converts the tables of one file into dataclasses, with checks."""

    path: Path

    def definition(self, data: Json) -> Definition:
        """Returns the definition from the file's content; raises `MouseholeError` for any fault in it."""
        known = ["axis", "claim", "figure", "full", "grid", "open", "paper", "quick", "reading", "scheme",
                 "table"]  # fmt: skip
        self._require_only_known(data, known, "the file")
        axes = {name: self._axis(name, one) for name, one in data.get("axis", {}).items()}
        grids = {name: self._grid(name, one, axes) for name, one in data.get("grid", {}).items()}
        definition = Definition(
            **self._read_checked(data, "paper", ("name", "title", "authors", "source")),
            quick=self._make(Length, data.get("quick", {}), "quick"),
            full=self._make(Length, data.get("full", {}), "full"),
            axes=axes,
            grids=grids,
            claims=tuple(self._claim(one, grids) for one in data.get("claim", [])),
            schemes=data.get("scheme", {}),
            opens=tuple(self._open(one) for one in data.get("open", [])),
            readings=tuple(
                self._make(Reading, one, f"reading {one.get('name', '?')}")
                for one in [
                    {"name": TAKEN, "says": "every open parameter as it is taken"},
                    *data.get("reading", []),
                ]
            ),
            tables=tuple(self._table(one, grids) for one in data.get("table", [])),
            figures=tuple(self._figure(one, grids) for one in data.get("figure", [])),
        )
        self._check_opens(definition)
        self._check_readings(definition)
        return definition

    def _read_checked(self, data: Json, name: str, wanted: tuple[str, ...]) -> Json:
        """Returns the table `name` if it has exactly the wanted keys; raises `MouseholeError` otherwise."""
        table = data.get(name, {})
        self._require_only_known(table, list(wanted), name)
        for key in wanted:
            if key not in table:
                raise self._error(name, f'"{key}" is missing')
        return dict(table)

    def _axis(self, name: str, table: Json) -> dict[str, Json]:
        """Returns for each label its changes to a scenario.

        `path` and `values` are a short form for one key with several values. Raises `MouseholeError` for a
        label whose value is no table.
        """
        if set(table) == {"path", "values"}:
            return {format_label(value): _nest(table["path"].split("."), value) for value in table["values"]}
        for label, change in table.items():
            if not isinstance(change, dict):
                raise self._error(f"axis {name}", f'"{label}" is not a table of changes')
        return dict(table)

    def _grid(self, name: str, table: Json, axes: Mapping[str, Mapping[str, Json]]) -> Grid:
        """Returns a grid; raises `MouseholeError` for an unknown axis, label or key."""
        where, chosen = f"grid {name}", {}
        for axis, labels in table.get("axes", {}).items():
            self._require_known(axis, list(axes), "axis", where)
            chosen[axis] = tuple(axes[axis]) if labels == "all" else tuple(map(format_label, labels))
            for label in chosen[axis]:
                self._require_known(label, list(axes[axis]), "label", f"{where}, axis {axis}")
        return self._make(Grid, {**table, "axes": chosen}, where)

    def _claim(self, table: Json, grids: Mapping[str, Grid]) -> Claim:
        """Returns a claim.

        Raises `MouseholeError` for an unknown kind, unit, basis, grid or cell, and for one without a value
        unless it is lost.
        """
        where = f"claim {table.get('id', '?')}"
        made = self._make(Claim, self._with_cells(table), where)
        self._require_known(made.kind, list(KINDS), "kind", where)
        self._require_known(made.unit, list(UNITS), "unit", where)
        self._require_known(made.basis, list(BASES), "basis", where)
        if made.kind == "lost":
            return made
        if not made.value:
            raise self._error(where, '"value" is missing')
        if made.kind == "exact" and not made.grid:
            return made
        self._require_known(made.grid, list(grids), "grid", where)
        self._check_value(made, grids[made.grid], where, each=made.each)
        for cell in made.order:
            self._check_cell(cell, grids[made.grid], where)
        return made

    def _open(self, table: Json) -> Open:
        """Returns an open parameter with its trials; raises `MouseholeError` for unknown or missing keys."""
        where = f"open {table.get('name', '?')}"
        tried = tuple(
            self._make(Trial, {**one, "only": _format_cell(one.get("only", {}))}, where)
            for one in table.get("tried", [])
        )
        return self._make(Open, {**table, "tried": tried}, where)

    def _check_opens(self, definition: Definition) -> None:
        """Raises `MouseholeError` for open parameters with unknown claims, invalid trials or equal names."""
        names = list(dict.fromkeys(name for claim in definition.claims for name in (claim.id, claim.name)))
        for one in definition.opens:
            where = f"open {one.name}"
            for entry in (*one.fitted, *one.claims, *(name for trial in one.tried for name in trial.skip)):
                if not any(_matches((entry,), claim) for claim in definition.claims):
                    self._require_known(entry, names, "claim", where)
            for claim in definition.claims:
                for trial in one.select_trials(claim):
                    self._check_trial(definition, claim, (trial,), f"{where}, tried {trial.name}")
        if len({one.name for one in definition.opens}) < len(definition.opens):
            raise self._error("open", "two open parameters have the same name")

    def _check_readings(self, definition: Definition) -> None:
        """Raises `MouseholeError` for readings with unknown parameters or trials, or with invalid trials."""
        tried = {one.name: [trial.name for trial in one.tried] for one in definition.opens}
        for one in definition.readings:
            where = f"reading {one.name}"
            for name, value in one.values.items():
                self._require_known(name, list(tried), "open parameter", where)
                self._require_known(value, tried[name], "trial", f"{where}, {name}")
            for claim in definition.claims:
                self._check_trial(definition, claim, definition.list_trials(one), where)

    def _check_trial(self, definition: Definition, claim: Claim, trials: Sequence[Trial], where: str) -> None:
        """Raises `MouseholeError` for trials under which two different cells of a claim have equal scenarios.

        Does nothing for a claim without a grid.
        """
        if not claim.grid or not trials:
            return
        cells = dict.fromkeys(
            cell
            for labels in definition.list_combinations(claim)
            for one in claim.order or ({},)
            for cell in definition.list_cells(claim, claim.grid, {**labels, **one})
        )
        known: dict[str, tuple[str, Labels]] = {}
        for cell in cells:
            plain = definition.apply_changes({"scheme": ""}, claim.grid, cell)
            text, tried = _to_text(plain), _to_text(apply_trial(plain, merge_changes(trials, cell)))
            before, other = known.setdefault(tried, (text, cell))
            if before != text:
                names = " and ".join(", ".join(label for _, label in one) for one in (other, cell))
                raise self._error(
                    where, f"it makes one scenario of {names}, which claim {claim.name} compares; change "
                    "single parameters, give labels, or skip the claim"
                )  # fmt: skip

    def _table(self, table: Json, grids: Mapping[str, Grid]) -> TableItem:
        """Returns a table; raises `MouseholeError` for an unknown grid, row, column or key.

        The cells of a table without a grid are not checked.
        """
        where = f"table {table.get('number', '?')}"
        columns = tuple(
            self._make(Column, self._with_cells(one), f"{where}, column {one.get('title', '?')}")
            for one in table.get("columns", [])
        )
        rows = {axis: tuple(map(format_label, labels)) for axis, labels in table.get("rows", {}).items()}
        made = self._make(TableItem, {**_format_number(table), "columns": columns, "rows": rows}, where)
        if not made.grid:
            return made
        self._require_known(made.grid, list(grids), "grid", where)
        for axis, labels in rows.items():
            self._check_cells(axis, labels, grids[made.grid], where)
        for column in columns:
            self._check_value(column, grids[made.grid], where, each=tuple(rows))
        return made

    def _figure(self, table: Json, grids: Mapping[str, Grid]) -> FigureItem:
        """Returns a figure; raises `MouseholeError` for an unknown grid, curve, panel or key."""
        where = f"figure {table.get('number', '?')}"
        panels = tuple(
            self._make(Panel, self._with_cells(one), f"{where}, panel") for one in table.get("panel", [])
        )
        given = {
            key: value for key, value in self._with_cells(_format_number(table)).items() if key != "panel"
        }
        made = self._make(FigureItem, {**given, "panels": panels}, where)
        self._require_known(made.grid, list(grids), "grid", where)
        self._check_cells(made.curves, made.names, grids[made.grid], where)
        for panel in panels:
            self._require_known(panel.kind, list(FIGURE_KINDS), "kind", where)
            self._check_value(panel, grids[made.grid], where, each=())
        return made

    def _with_cells(self, table: Json) -> Json:
        """Returns the table with all labels of cells as text, whatever their TOML type."""
        made = dict(table)
        for key in ("of", "against"):
            if key in made:
                made[key] = _format_cell(made[key])
        for key in ("also", "order", "skip"):
            if key in made:
                made[key] = tuple(_format_cell(one) for one in made[key])
        return made

    def _check_value(self, value: Value, grid: Grid, where: str, each: tuple[str, ...]) -> None:
        """Raises `MouseholeError` for a value with an unknown change, axis or cell."""
        if value.change:
            self._require_known(value.change, list(CHANGES), "change", where)
        for axis in each:
            self._require_known(axis, list(grid.axes), "axis", where)
        for cell in (value.of, value.against or {}, *value.also):
            self._check_cell(cell, grid, where)

    def _check_cell(self, cell: Cell, grid: Grid, where: str) -> None:
        """Raises `MouseholeError` for a cell with an axis or label that the grid lacks."""
        for axis, label in cell.items():
            self._check_cells(axis, (label,), grid, where)

    def _check_cells(self, axis: str, labels: Iterable[str], grid: Grid, where: str) -> None:
        """Raises `MouseholeError` for an axis, or labels on it, that the grid lacks."""
        self._require_known(axis, list(grid.axes), "axis", where)
        for label in labels:
            self._require_known(label, list(grid.axes[axis]), "label", f"{where}, axis {axis}")

    def _make(self, kind: type[T], table: Json, where: str) -> T:
        """Returns a dataclass from a table whose keys are its fields; lists become tuples.

        `where` names the table in errors. Raises `MouseholeError` for an unknown or a missing key; types of
        values are not checked.
        """
        known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
        self._require_only_known(table, list(known), where)
        for name, one in known.items():
            needed = one.default is MISSING and one.default_factory is MISSING
            if needed and name not in table:
                raise self._error(where, f'"{name}" is missing')
        return kind(**{key: _freeze(value) for key, value in table.items()})

    def _require_only_known(self, table: Json, known: list[str], where: str) -> None:
        """Raises `MouseholeError` for a table with unknown keys."""
        for key in table:
            self._require_known(key, known, "key", where)

    def _require_known(self, name: str, known: list[str], what: str, where: str) -> None:
        """Raises `MouseholeError` with suggestions if a name is unknown."""
        if name not in known:
            raise unknown_error(f"{self.path}: {where}", what, name, known)

    def _error(self, where: str, text: str) -> MouseholeError:
        """Returns the error of entry `where` of the file, with the file's path before it; raises nothing."""
        return MouseholeError(f"{self.path}: {where}: {text}")


def format_label(value: object) -> str:
    """Returns a value as the label of an axis: numbers in their shortest form, text unchanged."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def merge_changes(trials: Iterable[Trial], cell: Labels) -> Json:
    """Returns the merged changes of trials to the scenario of a cell; later ones replace earlier ones."""
    change: Json = {}
    for trial in trials:
        change = merge(change, trial.merge_changes(dict(cell)))
    return change


def _matches(entries: Iterable[str], claim: Claim) -> bool:
    """Returns whether an entry is the claim's id, or a pattern that fits its id and part.

    A pattern is of `fnmatch`, with respect to case.
    """
    return any(entry == claim.id or fnmatchcase(claim.name, entry) for entry in entries)


def _to_text(scenario: Json) -> str:
    """Returns the scenario as JSON with sorted names: equal scenarios have equal texts."""
    return json.dumps(scenario, sort_keys=True)


def _format_cell(table: Mapping[str, object]) -> dict[str, str]:
    """Returns the labels of a cell by axis, as text."""
    return {axis: format_label(label) for axis, label in table.items()}


def _format_number(table: Json) -> Json:
    """Returns the table with its number as text, since figures may be called `8a`."""
    return {**table, **({"number": format_label(table["number"])} if "number" in table else {})}


def _freeze(value: Any) -> Any:
    """Returns a list as a tuple, any other value unchanged."""
    return tuple(value) if isinstance(value, list) else value


def _nest(keys: list[str], value: object) -> Json:
    """Returns nested tables that hold `value` under these keys, the first outermost."""
    nested: Any = value
    for key in reversed(keys):
        nested = {key: nested}
    return dict(nested)
