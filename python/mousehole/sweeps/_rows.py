"""The columns of a sweep's rows: the cell, its settings, and the numbers of one run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from mousehole import _engine, quantities
from mousehole._engine import RunResult
from mousehole.base import Bucket
from mousehole.runs import nan_to_none, reduce_run
from mousehole.sweeps._description import Axis, Range
from mousehole.sweeps._quantities import Value, name_column, parse_numbers, write_value

FAULT = "fault"
"""The column that says why a row has no numbers; null for a row that has them."""

Numbers = Mapping[str, float | int | None]


def reduce_row(result: RunResult, buckets: tuple[Bucket, ...]) -> dict[str, float | int | None]:
    """Returns the numbers of a run by column of the rows; None stands for a number that is missing.

    Raises `RuntimeError` as `reduce_run` does.
    """
    facts = reduce_run(result, buckets)
    found: dict[str, float | int | None] = {}
    for place, bucket in enumerate(buckets):
        if bucket.role in quantities.CLASSES:
            found[f"{bucket.role}_count"] = int(facts.count[place])
            found[f"{bucket.role}_unfinished"] = int(facts.censored[place])
            for name, values in facts.statistics.items():
                found[f"{bucket.role}_{name}"] = nan_to_none(float(values[place]))
    found |= {name: nan_to_none(float(value)) for name, value in facts.scheme.items()}
    kinds = {one.name: (one.kind, one.quantity.name) for one in quantities.measures() if one.kind}
    averages = _engine.average_over_kinds(facts, list(kinds.values()))
    found |= {name: nan_to_none(float(value)) for name, value in zip(kinds, averages, strict=True)}
    achieved = facts.load["achieved"]
    return found | {
        "load_achieved": None if achieved is None else nan_to_none(float(achieved)),
        "window_load": nan_to_none(float(facts.window_load)),
        "simulated_s": nan_to_none(float(facts.simulated_s)),
    }


@dataclass(frozen=True)
class Columns:
    """The columns of the rows of one sweep."""

    axes: Mapping[str, Axis]

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """Returns the type of each column, by name, in the order of the columns."""
        settings: dict[str, pl.DataType] = {}
        for name, axis in self.axes.items():
            settings[name] = _choose_type(axis)
            column = name_number_column(name, axis)
            if column is not None and column != name:
                settings[column] = pl.Float64()
        return {
            "cell": pl.Int64(), "replication": pl.Int64(),
            "scheme": pl.String(), "scheme_as_run": pl.String(),
            **settings,
            **{count.name: pl.Int64() for count in quantities.counts()},
            **{measure.name: pl.Float64() for measure in quantities.measures()},
            FAULT: pl.String(),
        }  # fmt: skip

    def settings(self, values: Mapping[str, Value], foreign: list[str]) -> dict[str, Any]:
        """Returns the columns of a cell's settings.

        Those in `foreign`, which the scheme does not have, are None.
        """
        found: dict[str, Any] = {}
        for name, axis in self.axes.items():
            column, known = name_number_column(name, axis), name not in foreign
            if column is not None and column != name:
                parsed = parse_numbers([values[name]])
                found[column] = parsed[1][0] if known and parsed else None
            found[name] = _cast_value(values[name], _choose_type(axis)) if known else None
        return found

    def frame(self, rows: list[Mapping[str, Any]]) -> pl.DataFrame:
        """Returns a frame of rows with all columns; a column that a row lacks is null."""
        schema = self.schema
        return pl.DataFrame({name: [row.get(name) for row in rows] for name in schema}, schema=schema)


def name_number_column(name: str, axis: Axis) -> str | None:
    """Returns the name of an axis' column of numbers: `rate_bps`, or `load` itself; None for names."""
    found = parse_numbers([axis.low, axis.high] if isinstance(axis, Range) else list(axis))
    if found is None:
        return None
    return name_column(name, found[0])


def _choose_type(axis: Axis) -> pl.DataType:
    """Returns the type of an axis' column: text, unless all values are booleans or all are numbers."""
    values = [axis.low, axis.high] if isinstance(axis, Range) else list(axis)
    if all(isinstance(value, bool) for value in values):
        return pl.Boolean()
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return pl.Int64()
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return pl.Float64()
    return pl.String()


def _cast_value(value: Value, kind: pl.DataType) -> Any:
    """Returns a value in the type of its column: text, float, or as it is."""
    if kind == pl.String():
        return write_value(value)
    return float(value) if kind == pl.Float64() else value  # type: ignore[arg-type]
