"""A paper as data: what `papers/NAME/paper.toml` may hold, read into dataclasses and checked.

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

from papers.schemes import merged, tried_on

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
    """Raised where a value needs data that is not on this machine: what asks for it is not run."""


@dataclass(frozen=True, kw_only=True)
class Value:
    """A number per replication: a measured field, or a function of `quantities.py`, of one or more cells."""

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
        """Returns the id with the name of the part, if it has one."""
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
        """Returns what it changes in the scenario of a cell; nothing if it does not concern it."""
        if not self.only.items() <= cell.items():
            return {}
        change = self.change
        for axis, label in cell.items():
            change = merged(change, self.labels.get(axis, {}).get(label, {}))
        return change


@dataclass(frozen=True, kw_only=True)
class Open:
    """A parameter that the paper does not print: what is taken, what was tried, why."""

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
        """Returns whether the value was chosen while looking at this claim."""
        return _names(self.fitted, claim)

    def select_trials(self, claim: Claim) -> tuple[Trial, ...]:
        """Returns the trials that are made for this claim."""
        if not self.was_fitted_to(claim) and not _names(self.claims, claim):
            return ()
        return tuple(trial for trial in self.tried if not _names(trial.skip, claim))


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
        """Returns whether the reading was chosen while looking at this claim."""
        return _names(self.fitted, claim)


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Scenarios that differ along axes, and the measure that is taken of their runs."""

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
    """How long runs are and how many there are."""

    replications: int
    scenario: Json = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """All of `paper.toml`."""

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
        """Returns the reading of this name; raises `MouseholeError` naming what there is."""
        for one in self.readings:
            if one.name == name:
                return one
        raise unknown_error(f"paper {self.name}", "reading", name, [one.name for one in self.readings])

    def trials_in(self, reading: Reading) -> tuple[Trial, ...]:
        """Returns the trials that a reading takes, in the order of the open parameters."""
        return tuple(
            trial for one in self.opens for trial in one.tried if trial.name == reading.values.get(one.name)
        )

    def cells(self, grid: str, *labels: Cell) -> Labels:
        """Returns the cell that the labels given add up to; later ones replace earlier ones.

        An axis without a label has only one. Raises `MouseholeError` if it has more.
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

    def combinations(self, claim: Claim) -> list[dict[str, str]]:
        """Returns the labels of `each` in all combinations that the claim speaks of."""
        if not claim.each:
            return [{}]
        axes = self.grids[claim.grid].axes
        every = [
            dict(zip(claim.each, labels, strict=True))
            for labels in product(*(axes[name] for name in claim.each))
        ]
        return [labels for labels in every if not any(cell.items() <= labels.items() for cell in claim.skip)]

    def list_cells(self, value: Value, grid: str, labels: Cell) -> list[Labels]:
        """Returns the cells that a value needs; `labels` are those of the row or of `each`."""
        others = [*([value.against] if value.against is not None else []), *value.also]
        return [self.cells(grid, labels, value.of, one) for one in ({}, *others)]

    def changed(self, scenario: Json, grid: str, cell: Labels, *, full: bool = False) -> Json:
        """Returns a scenario as the grid and the labels of a cell change it."""
        own = self.grids[grid]
        changes = [own.change, own.full if full else own.quick]
        for change in (*changes, *(self.axes[axis][label] for axis, label in cell)):
            scenario = merged(scenario, change)
        return scenario


def read_toml(path: Path) -> Json:
    """Returns the contents of a TOML file; raises `MouseholeError` naming the file and the line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise MouseholeError(f"{path}: {error}") from None


def read_definition(path: Path) -> Definition:
    """Returns the definition of a paper; raises `MouseholeError` for what is unknown, missing or unfit."""
    return _Reader(path).definition(read_toml(path))


@dataclass
class _Reader:
    """Turns tables of one file into dataclasses."""

    path: Path

    def definition(self, data: Json) -> Definition:
        known = ["axis", "claim", "figure", "full", "grid", "open", "paper", "quick", "reading", "scheme",
                 "table"]  # fmt: skip
        self._only_known(data, known, "the file")
        axes = {name: self._axis(name, one) for name, one in data.get("axis", {}).items()}
        grids = {name: self._grid(name, one, axes) for name, one in data.get("grid", {}).items()}
        definition = Definition(
            **self._checked(data, "paper", ("name", "title", "authors", "source")),
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

    def _checked(self, data: Json, name: str, wanted: tuple[str, ...]) -> Json:
        table = data.get(name, {})
        self._only_known(table, list(wanted), name)
        for key in wanted:
            if key not in table:
                raise self._error(name, f'"{key}" is missing')
        return dict(table)

    def _axis(self, name: str, table: Json) -> dict[str, Json]:
        """Returns what each label changes; `path` and `values` are short for one key with several values."""
        if set(table) == {"path", "values"}:
            return {
                format_label(value): _nested(table["path"].split("."), value) for value in table["values"]
            }
        for label, change in table.items():
            if not isinstance(change, dict):
                raise self._error(f"axis {name}", f'"{label}" is not a table of changes')
        return dict(table)

    def _grid(self, name: str, table: Json, axes: Mapping[str, Mapping[str, Json]]) -> Grid:
        where, chosen = f"grid {name}", {}
        for axis, labels in table.get("axes", {}).items():
            self._known(axis, list(axes), "axis", where)
            chosen[axis] = tuple(axes[axis]) if labels == "all" else tuple(map(format_label, labels))
            for label in chosen[axis]:
                self._known(label, list(axes[axis]), "label", f"{where}, axis {axis}")
        return self._make(Grid, {**table, "axes": chosen}, where)

    def _claim(self, table: Json, grids: Mapping[str, Grid]) -> Claim:
        where = f"claim {table.get('id', '?')}"
        made = self._make(Claim, self._with_cells(table), where)
        self._known(made.kind, list(KINDS), "kind", where)
        self._known(made.unit, list(UNITS), "unit", where)
        self._known(made.basis, list(BASES), "basis", where)
        if made.kind == "lost":
            return made
        if not made.value:
            raise self._error(where, '"value" is missing')
        if made.kind == "exact" and not made.grid:
            return made
        self._known(made.grid, list(grids), "grid", where)
        self._check_value(made, grids[made.grid], where, each=made.each)
        for cell in made.order:
            self._check_cell(cell, grids[made.grid], where)
        return made

    def _open(self, table: Json) -> Open:
        where = f"open {table.get('name', '?')}"
        tried = tuple(
            self._make(Trial, {**one, "only": _cell(one.get("only", {}))}, where)
            for one in table.get("tried", [])
        )
        return self._make(Open, {**table, "tried": tried}, where)

    def _check_opens(self, definition: Definition) -> None:
        names = list(dict.fromkeys(name for claim in definition.claims for name in (claim.id, claim.name)))
        for one in definition.opens:
            where = f"open {one.name}"
            for entry in (*one.fitted, *one.claims, *(name for trial in one.tried for name in trial.skip)):
                if not any(_names((entry,), claim) for claim in definition.claims):
                    self._known(entry, names, "claim", where)
            for claim in definition.claims:
                for trial in one.select_trials(claim):
                    self._check_trial(definition, claim, (trial,), f"{where}, tried {trial.name}")
        if len({one.name for one in definition.opens}) < len(definition.opens):
            raise self._error("open", "two open parameters have the same name")

    def _check_readings(self, definition: Definition) -> None:
        tried = {one.name: [trial.name for trial in one.tried] for one in definition.opens}
        for one in definition.readings:
            where = f"reading {one.name}"
            for name, value in one.values.items():
                self._known(name, list(tried), "open parameter", where)
                self._known(value, tried[name], "trial", f"{where}, {name}")
            for claim in definition.claims:
                self._check_trial(definition, claim, definition.trials_in(one), where)

    def _check_trial(self, definition: Definition, claim: Claim, trials: Sequence[Trial], where: str) -> None:
        """Refuses trials under which two different cells of a claim become one scenario."""
        if not claim.grid or not trials:
            return
        cells = dict.fromkeys(
            cell
            for labels in definition.combinations(claim)
            for one in claim.order or ({},)
            for cell in definition.list_cells(claim, claim.grid, {**labels, **one})
        )
        known: dict[str, tuple[str, Labels]] = {}
        for cell in cells:
            plain = definition.changed({"scheme": ""}, claim.grid, cell)
            text, tried = _text(plain), _text(tried_on(plain, merge_changes(trials, cell)))
            before, other = known.setdefault(tried, (text, cell))
            if before != text:
                names = " and ".join(", ".join(label for _, label in one) for one in (other, cell))
                raise self._error(
                    where, f"it makes one scenario of {names}, which claim {claim.name} compares; change "
                    "single parameters, give labels, or skip the claim"
                )  # fmt: skip

    def _table(self, table: Json, grids: Mapping[str, Grid]) -> TableItem:
        where = f"table {table.get('number', '?')}"
        columns = tuple(
            self._make(Column, self._with_cells(one), f"{where}, column {one.get('title', '?')}")
            for one in table.get("columns", [])
        )
        rows = {axis: tuple(map(format_label, labels)) for axis, labels in table.get("rows", {}).items()}
        made = self._make(TableItem, {**_numbered(table), "columns": columns, "rows": rows}, where)
        if not made.grid:
            return made
        self._known(made.grid, list(grids), "grid", where)
        for axis, labels in rows.items():
            self._check_cells(axis, labels, grids[made.grid], where)
        for column in columns:
            self._check_value(column, grids[made.grid], where, each=tuple(rows))
        return made

    def _figure(self, table: Json, grids: Mapping[str, Grid]) -> FigureItem:
        where = f"figure {table.get('number', '?')}"
        panels = tuple(
            self._make(Panel, self._with_cells(one), f"{where}, panel") for one in table.get("panel", [])
        )
        given = {key: value for key, value in self._with_cells(_numbered(table)).items() if key != "panel"}
        made = self._make(FigureItem, {**given, "panels": panels}, where)
        self._known(made.grid, list(grids), "grid", where)
        self._check_cells(made.curves, made.names, grids[made.grid], where)
        for panel in panels:
            self._known(panel.kind, list(FIGURE_KINDS), "kind", where)
            self._check_value(panel, grids[made.grid], where, each=())
        return made

    def _with_cells(self, table: Json) -> Json:
        """Returns the table with labels of cells as text, whatever TOML type they were written in."""
        made = dict(table)
        for key in ("of", "against"):
            if key in made:
                made[key] = _cell(made[key])
        for key in ("also", "order", "skip"):
            if key in made:
                made[key] = tuple(_cell(one) for one in made[key])
        return made

    def _check_value(self, value: Value, grid: Grid, where: str, each: tuple[str, ...]) -> None:
        if value.change:
            self._known(value.change, list(CHANGES), "change", where)
        for axis in each:
            self._known(axis, list(grid.axes), "axis", where)
        for cell in (value.of, value.against or {}, *value.also):
            self._check_cell(cell, grid, where)

    def _check_cell(self, cell: Cell, grid: Grid, where: str) -> None:
        for axis, label in cell.items():
            self._check_cells(axis, (label,), grid, where)

    def _check_cells(self, axis: str, labels: Iterable[str], grid: Grid, where: str) -> None:
        self._known(axis, list(grid.axes), "axis", where)
        for label in labels:
            self._known(label, list(grid.axes[axis]), "label", f"{where}, axis {axis}")

    def _make(self, kind: type[T], table: Json, where: str) -> T:
        """Returns a dataclass from a table whose keys are its fields; lists become tuples."""
        known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
        self._only_known(table, list(known), where)
        for name, one in known.items():
            needed = one.default is MISSING and one.default_factory is MISSING
            if needed and name not in table:
                raise self._error(where, f'"{name}" is missing')
        return kind(**{key: _frozen(value) for key, value in table.items()})

    def _only_known(self, table: Json, known: list[str], where: str) -> None:
        for key in table:
            self._known(key, known, "key", where)

    def _known(self, name: str, known: list[str], what: str, where: str) -> None:
        if name not in known:
            raise unknown_error(f"{self.path}: {where}", what, name, known)

    def _error(self, where: str, text: str) -> MouseholeError:
        return MouseholeError(f"{self.path}: {where}: {text}")


def format_label(value: object) -> str:
    """Returns the label of a value: numbers as they are written shortest, text as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def merge_changes(trials: Iterable[Trial], cell: Labels) -> Json:
    """Returns what trials change together in the scenario of a cell; later ones replace earlier ones."""
    change: Json = {}
    for trial in trials:
        change = merged(change, trial.merge_changes(dict(cell)))
    return change


def _names(entries: Iterable[str], claim: Claim) -> bool:
    """Returns whether an entry is the claim's id, or fits its id and part."""
    return any(entry == claim.id or fnmatchcase(claim.name, entry) for entry in entries)


def _text(scenario: Json) -> str:
    return json.dumps(scenario, sort_keys=True)


def _cell(table: Mapping[str, object]) -> dict[str, str]:
    return {axis: format_label(label) for axis, label in table.items()}


def _numbered(table: Json) -> Json:
    """Returns the table with its number as text: figures may be called `8a`."""
    return {**table, **({"number": format_label(table["number"])} if "number" in table else {})}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _nested(keys: list[str], value: object) -> Json:
    """Returns tables within tables that hold `value` under these keys."""
    nested: Any = value
    for key in reversed(keys):
        nested = {key: nested}
    return dict(nested)
