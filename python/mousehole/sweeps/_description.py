"""The description of a sweep in a TOML file or a dictionary: settings, axes, schemes, replications."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from mousehole import _engine
from mousehole.base import (
    MouseholeError,
    Options,
    field_error,
    file_error,
    missing_error,
    parse_texts,
    read_text,
    require_at_least,
    require_path,
    scheme_name,
    unknown_error,
)
from mousehole.engine_types import Scenario
from mousehole.inputs import traffic as traffics
from mousehole.sweeps._quantities import Value, interpolate

SCHEMA = "mousehole.sweep/1"
Design = Literal["grid", "list", "latin-hypercube"]
MOST_CELLS = 1_000_000
"""Largest number of cells of a sweep."""
MOST_STEPS = 10_000
"""Largest number of values of one axis."""

NO_AXES = {
    "class_",
    "dask",
    "executor",
    "format_",
    "jobs",
    "policy",
    "quick",
    "reporter",
    "schemes",
    "baseline",
    "seeds",
    "sequential",
    "params",
}
"""Options of `compare` that are no settings: they do not change a run, or have fields of their own."""
FOR_ALL = {"short", "long", "strict"}
"""Options that all cells share, since rows of different cells must mean the same."""
SECTIONS = ("link", "access", "tcp", "traffic", "server", "topology", "host_stage", "faults")
"""Sections of a scenario; a setting may be the path of a field in one of them."""
FIELDS = {
    "schema",
    "traffic",
    "schemes",
    "policy",
    "design",
    "cells",
    "seeds",
    "draw_seed",
    "options",
    "axes",
}
TRAFFIC, SCHEME = "traffic", "scheme"
"""Axes that are no option: the traffic itself, and the scheme."""
RANGE = {"from", "to", "steps", "scale"}


@dataclass(frozen=True)
class Range:
    """An axis between two ends."""

    low: Value
    high: Value
    is_log: bool

    def at(self, name: str, share: float) -> Value:
        """Returns the value at a share, 0 to 1, of the way from `low` to `high`.

        Raises `MouseholeError` as `interpolate` does.
        """
        return interpolate(f"axes.{name}", self.low, self.high, share, self.is_log)


Axis = tuple[Value, ...] | Range


@dataclass(frozen=True)
class Description:
    """A sweep before anything is enumerated; every name of a setting is known, values are not checked yet."""

    traffic: Value
    """Files, a model or a scenario; the first one of the axis `traffic`, where there is one."""
    schemes: tuple[str, ...]
    axes: dict[str, Axis]
    options: dict[str, Value]
    """Settings that all cells share."""
    design: Design
    cells: tuple[dict[str, Value], ...]
    """The cells of a list."""
    count: int
    """The cells of a Latin hypercube."""
    seeds: int
    draw_seed: int
    """Of the Latin hypercube's draws; the runs have the seed of the options."""
    policy: tuple[str, ...]
    folder: Path
    """The folder from which the names of files start."""

    @property
    def part_axes(self) -> dict[str, str]:
        """Returns the axes that are parameters of a scheme's part, with the name of that part."""
        return {name: name.partition(".")[0] for name in self.axes if is_part_setting(name)}

    def document(self) -> dict[str, Any]:
        """Returns everything that determines the cells and is no column of the rows, as plain data."""
        axes = [
            {"setting": name, "from": axis.low, "to": axis.high, "scale": "log" if axis.is_log else "linear"}
            if isinstance(axis, Range)
            else {"setting": name, "values": list(axis)}
            for name, axis in self.axes.items()
        ]
        return {
            "traffic": self.traffic, "schemes": list(self.schemes), "axes": axes, "options": self.options,
            "design": self.design, "seeds": self.seeds, "draw_seed": self.draw_seed,
            **({"cells": self.count} if self.design == "latin-hypercube" else {}),
            **({"cells_sha256": _digest(self.cells)} if self.design == "list" else {}),
        }  # fmt: skip


def read(source: str | Path | Mapping[str, Any]) -> Description:
    """Returns the description in a TOML file or in a dictionary with the same fields.

    Raises `MouseholeError` for a file that cannot be read, and for a field, setting or axis that is unknown
    or empty.
    """
    if isinstance(source, Mapping):
        return _make_description(source, Path())
    path = require_path("source", source, "a sweep's file (or a dictionary)")
    text = read_text(path, "the sweep")
    try:
        given = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise file_error(path, f"is not valid TOML; {error}") from None
    try:
        return _make_description(given, path.parent)
    except MouseholeError as error:
        raise _prefix_file(error, path) from None


def _prefix_file(error: MouseholeError, path: Path) -> MouseholeError:
    """Returns the error with the file's name before its field; unchanged if it has a file or no field."""
    if error.file is not None or error.field is None:
        return error
    return error.moved(f"{path}: {error.field}")


def _make_description(given: Mapping[str, Any], folder: Path) -> Description:
    """Returns the description of a sweep; names of files start from `folder`.

    Raises `MouseholeError` for a field that is unknown, missing or faulty.
    """
    for name in given:
        if name not in FIELDS:
            raise unknown_error("sweep", "field", str(name), sorted(FIELDS))
    schema = given.get("schema", SCHEMA)
    if schema != SCHEMA:
        raise field_error("schema", str(schema), f'"{SCHEMA}"')
    listed = given.get("cells")
    design = given.get("design", "list" if isinstance(listed, list) else "grid")
    if design not in get_args(Design):
        raise field_error("design", str(design), "grid, list or latin-hypercube")
    cells = _parse_list(listed) if design == "list" else ()
    axes = _parse_axes(given.get("axes", {}), design) if design != "list" else _collect_axes(cells)
    if design == "list" and "axes" in given:
        raise field_error("axes", "a table", "left out of a list; its cells have the settings")
    schemes = _parse_schemes(given.get("schemes"), axes)
    options = _flatten(_check_table("options", given.get("options", {})))
    traffic = given.get("traffic", axes[TRAFFIC][0] if isinstance(axes.get(TRAFFIC), tuple) else None)  # type: ignore[index]
    if traffic is None:
        raise missing_error("traffic", "a model, files or a scenario, such as web:sfd")
    policy = () if given.get("policy") is None else parse_texts("policy", given["policy"])
    made = Description(
        traffic=_check_value("traffic", traffic),
        schemes=schemes,
        axes={name: axis for name, axis in axes.items() if name != SCHEME},
        options={name: _check_value(f"options.{name}", value) for name, value in options.items()},
        design=design,
        cells=tuple({name: value for name, value in cell.items() if name != SCHEME} for cell in cells),
        count=_parse_cell_count(listed) if design == "latin-hypercube" else 0,
        seeds=require_at_least("seeds", given.get("seeds", 5), 1),
        draw_seed=require_at_least("draw_seed", given.get("draw_seed", 1), 0),
        policy=tuple(str(folder / one) for one in policy),
        folder=folder,
    )
    if design == "grid" and listed is not None:
        raise field_error("cells", str(listed), "left out of a grid, whose axes give the cells")
    _check_names(made)
    return made


def _parse_schemes(given: Any, axes: dict[str, Axis]) -> tuple[str, ...]:
    """Returns the schemes, from the list `schemes` or the axis `scheme`, which may repeat them.

    Raises `MouseholeError` for both or neither, and for an axis that is a range.
    """
    axis = axes.get(SCHEME)
    if axis is not None and given is not None:
        raise field_error("schemes", str(given), "left out where scheme is an axis")
    if axis is None:
        if given is None:
            raise missing_error("schemes", 'a list of schemes, such as ["droptail", "sfd"]')
        return parse_texts("schemes", given)
    if isinstance(axis, Range):
        raise field_error("axes.scheme", f"{axis.low} to {axis.high}", "a list of schemes")
    return parse_texts("axes.scheme", list(dict.fromkeys(map(str, axis))))


def _parse_cell_count(given: Any) -> int:
    """Returns the number of cells of a Latin hypercube.

    Raises `MouseholeError` unless it is a whole number of at least 1; None counts as missing.
    """
    if given is None:
        raise missing_error("cells", "the number of cells of the Latin hypercube")
    return require_at_least("cells", given, 1)


def _parse_list(given: Any) -> tuple[dict[str, Value], ...]:
    """Returns the settings of each cell of a sweep that lists them.

    Raises `MouseholeError` for no cells, for cells with different settings, and for a setting `scheme`.
    """
    if not isinstance(given, list) or not all(isinstance(cell, Mapping) for cell in given):
        raise missing_error("cells", "a list of tables with the settings of each cell: [[cells]]")
    if not given:
        raise field_error("cells", "[]", "a list of at least one cell")
    cells = []
    for number, cell in enumerate(given):
        flat = _flatten(cell)
        cells.append({name: _check_value(f"cells[{number}].{name}", value) for name, value in flat.items()})
        missing = sorted(cells[0].keys() ^ cells[number].keys())
        if missing:
            raise MouseholeError(
                f"the setting {missing[0]} is not in all cells; give every cell the same ones",
                field=f"cells[{number}]",
            )
        if SCHEME in flat:
            raise field_error(
                f"cells[{number}].scheme", str(flat[SCHEME]), "in schemes, which all cells have"
            )
    return tuple(cells)


def _collect_axes(cells: tuple[dict[str, Value], ...]) -> dict[str, Axis]:
    """Returns the axes of a list: the values that its cells have, each once, in the order of the cells."""
    return {
        name: tuple(json.loads(text) for text in dict.fromkeys(json.dumps(cell[name]) for cell in cells))
        for name in cells[0]
    }


def _parse_axes(given: Any, design: str) -> dict[str, Axis]:
    """Returns the axes by name; raises `MouseholeError` for none and for a faulty one."""
    flat = _flatten(_check_table("axes", given), ranges=True)
    if not flat:
        raise field_error("axes", "{}", "a table of at least one axis, such as load = [0.5, 0.9]", "is empty")
    return {name: _parse_axis(f"axes.{name}", name, value, design) for name, value in flat.items()}


def _parse_axis(field: str, name: str, given: Any, design: str) -> Axis:
    """Returns an axis: the values of a list or of a grid's range, or the range of a Latin hypercube.

    Raises `MouseholeError` for anything else, for a list that is empty or longer than `MOST_STEPS`, and for a
    value that is given twice.
    """
    if isinstance(given, Mapping):
        return _parse_range(field, name, given, design)
    if not isinstance(given, list):
        raise field_error(field, str(given), "a list of values, or a range: {from = …, to = …}")
    values = tuple(_check_value(field, value) for value in given)
    if not values:
        raise field_error(
            field, "[]", "a list of at least one value", "is empty, so that the sweep has no cell"
        )
    if len(values) > MOST_STEPS:
        raise field_error(field, f"a list of {len(values)}", f"a list of at most {MOST_STEPS} values")
    texts = [json.dumps(value) for value in values]
    for place, text in enumerate(texts):
        if text in texts[:place]:
            raise field_error(field, str(values[place]), "in the list once", "is given twice")
    return values


def _parse_range(field: str, name: str, given: Mapping[str, Any], design: str) -> Axis:
    """Returns the values of a grid's range, or the range itself for a Latin hypercube.

    Raises `MouseholeError` for fields that are unknown, missing, faulty or of the other design.
    """
    for key in given:
        if key not in RANGE:
            raise unknown_error(field, "field", str(key), sorted(RANGE))
    for key in ("from", "to"):
        if key not in given:
            raise missing_error(f"{field}.{key}", "an end of the range")
    scale = given.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise field_error(f"{field}.scale", str(scale), "linear or log")
    made = Range(_check_value(field, given["from"]), _check_value(field, given["to"]), scale == "log")
    made.at(name, 0.0)  # refuses ends of different units
    if design == "latin-hypercube":
        if "steps" in given:
            raise field_error(f"{field}.steps", str(given["steps"]), "left out of a Latin hypercube")
        return made
    if "steps" not in given:
        raise missing_error(f"{field}.steps", "the number of values between the ends of a grid's range")
    steps = require_at_least(f"{field}.steps", given["steps"], 2)
    if steps > MOST_STEPS:
        raise field_error(f"{field}.steps", steps, f"at most {MOST_STEPS}")
    return tuple(dict.fromkeys(made.at(name, step / (steps - 1)) for step in range(steps)))


def _check_table(field: str, given: Any) -> Mapping[str, Any]:
    """Returns `given` if it is a table; raises `MouseholeError` for anything else."""
    if not isinstance(given, Mapping):
        raise field_error(field, str(given), "a table")
    return given


def _flatten(given: Mapping[str, Any], prefix: str = "", ranges: bool = False) -> dict[str, Any]:
    """Returns the settings of nested tables by their paths: `{tcp: {min_rto: …}}` is `tcp.min_rto`.

    With `ranges`, a table that has `from` is a value.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping) and not (ranges and "from" in value):
            found |= _flatten(value, f"{path}.", ranges)
        else:
            found[path] = value
    return found


def _check_value(field: str, given: Any) -> Value:
    """Returns `given` if a setting may have it: a text, a number, true or false, or a list of texts.

    Raises `MouseholeError` for anything else.
    """
    if isinstance(given, str | bool | int | float):
        return given
    if isinstance(given, list) and given and all(isinstance(item, str) for item in given):
        return list(given)
    raise field_error(field, str(given), "a text, a number, true or false")


def list_options() -> list[str]:
    """Returns the names of the options of `compare` that are settings of a cell."""
    return [item.name for item in fields(Options) if item.name not in NO_AXES | FOR_ALL]


def is_part_setting(name: str) -> bool:
    """Returns whether a setting is a parameter of a scheme's part, such as `sfd.th`."""
    head, dot, _ = name.partition(".")
    return bool(dot) and head not in (*SECTIONS, "params")


def list_parts(scheme: str) -> list[str]:
    """Returns the names of the parts of a scheme as it is written: `sfd` and `cake` of `sfd|cake`."""
    return [scheme_name(part) for part in scheme.split("|")]


def _check_names(made: Description) -> None:
    """Raises `MouseholeError` for an unknown setting, and for one that is both an axis and an option.

    It does so too for an axis that must be an option (`FOR_ALL`).
    """
    parts = sorted({part for scheme in made.schemes for part in list_parts(scheme)})
    shared = [*list_options(), *sorted(FOR_ALL)]
    top = [name for name in Scenario.__annotations__ if name not in (*SECTIONS, "schema", "replication")]
    for field, names, options in (("axes", made.axes, list_options()), ("options", made.options, shared)):
        known = list(dict.fromkeys([*options, *top, *([TRAFFIC, SCHEME] if field == "axes" else [])]))
        for name in names:
            head, dot, _ = name.partition(".")
            if name in known or (dot and head in (*SECTIONS, "params", *parts)):
                continue
            if field == "axes" and name in FOR_ALL:
                raise field_error("axes", name, "in options: rows of all cells must mean the same")
            raise unknown_error(field, "setting", name, _suggest_names(name, known, parts))
    both = sorted(made.axes.keys() & made.options.keys())
    if both:
        raise field_error("options", both[0], "given once", "is also an axis")


def _suggest_names(name: str, known: list[str], parts: list[str]) -> list[str]:
    """Returns the names to suggest for an unknown one: `known`, or paths if it is a path.

    `parts` are those whose parameters may be meant.
    """
    if "." not in name:
        return known
    head, _, rest = name.partition(".")
    of_parts = [f"{part}.{param}" for part in parts for param in _list_part_parameters(part)]
    named = [f"{section}.{rest}" for section in (*SECTIONS, "params")]
    return [*(path for path in of_parts if rest in path or head in path), *named] or known


def _list_part_parameters(part: str) -> list[str]:
    """Returns the names of the parameters of a part or scheme; empty for an unknown one."""
    known = {entry["name"]: entry["params"] for entry in [*_engine.parts(), *_engine.schemes()]}
    return [entry["name"] for entry in known.get(part, [])]


def list_traffic_names(value: Value) -> list[str]:
    """Returns the value of the setting `traffic` as a list of names."""
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def resolve_traffic(made: Description, value: Value) -> list[str]:
    """Returns the names of a traffic, those of files and scenarios with the description's folder.

    Models, places and standard input stay as they are.
    """
    names = list_traffic_names(value)
    return [
        name if traffics.is_model_or_place(name) or name == "-" else str(made.folder / name) for name in names
    ]


def _digest(cells: tuple[dict[str, Value], ...]) -> str:
    """Returns the SHA-256 of the cells of a list as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()
