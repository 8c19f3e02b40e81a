"""The results of a sweep so far: its rows, and frames of means, changes and effects."""

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mousehole import quantities
from mousehole.base import field_error, file_error, make_frame, require_path, unknown_error
from mousehole.statistics import log_ratio, positive_interval
from mousehole.sweeps._description import is_part_setting
from mousehole.sweeps._quantities import average_changes, format_number, read_unit
from mousehole.sweeps._rows import FAULT
from mousehole.sweeps._store import ROWS, read_manifest

VALUE = "short_response_mean_s"
"""The measure that is shown if none is named: the mean response time of short transfers."""
MOST_LEVELS = 12
"""An axis with more values than this is shown in `BINS` ranges of its values."""
BINS = 4


class Found:
    """The rows of a sweep's folder, also while it grows."""

    def __init__(self, folder: str | Path) -> None:
        """Raises `MouseholeError` if the folder holds no sweep."""
        self.folder = require_path("folder", folder, "a folder")
        self.manifest = read_manifest(self.folder)
        """Everything that determines the rows."""

    @property
    def rows(self) -> pl.LazyFrame:
        """Returns the rows in whole files, lazily: one per cell, scheme and replication (docs/sweep.md).

        Raises `MouseholeError` if no file is whole yet.
        """
        if not any((self.folder / ROWS).glob("*.parquet")):
            raise file_error(self.folder, "has no whole file of rows yet; run the sweep on")
        return pl.scan_parquet(self.folder / ROWS / "*.parquet")

    @cached_property
    def finished(self) -> int:
        """Returns the number of rows in whole files, counted at the first use.

        Raises `MouseholeError` if no file is whole yet.
        """
        return int(self.rows.select(pl.len()).collect().item())

    @property
    def schemes(self) -> list[str]:
        """Returns the schemes as they were given; the others are compared with the first one."""
        return list(self.manifest["sweep"]["schemes"])

    @property
    def axes(self) -> list[str]:
        """Returns the names of the axes, which are columns of the rows."""
        return [axis["setting"] for axis in self.manifest["sweep"]["axes"]]

    def number_column(self, axis: str) -> str | None:
        """Returns the column with an axis as numbers, None for an axis of names.

        Raises `KeyError` for an unknown axis, `MouseholeError` without a whole file of rows.
        """
        schema = self.rows.collect_schema()
        if schema[axis].is_numeric():
            return axis
        return next((name for name in schema if name.startswith(f"{axis}_") and schema[name].is_numeric()
                     and name not in _list_measures()), None)  # fmt: skip

    def cells(self, value: str = VALUE, against: str | None = None) -> pl.DataFrame:
        """Returns one row per cell and scheme: its settings, and mean and interval of a measure.

        `change` is the change against the scheme `against` (the first one) in the same cell, paired by
        replication, with the ends of its 95 % interval; it is null for that scheme itself. Intervals need
        five replications. Rows with a fault are left out; all others of whole files are read into memory.
        Raises `MouseholeError` for a measure or scheme that the rows do not have.
        """
        self.require(value, against)
        reference = against or self.schemes[0]
        own = list(dict.fromkeys(["cell", "scheme", "scheme_as_run", *self._settings()]))
        rows = (
            self.rows.filter(pl.col(FAULT).is_null())
            .select(*own, "replication", value)
            .collect()
            .sort("cell", "scheme", "replication")
        )
        keys = self._keys(reference, rows)
        base = dict(_group_rows(rows.filter(pl.col("scheme") == reference), keys))
        found: list[dict[str, Any]] = []
        for _, group in _group_rows(rows, ["cell", "scheme"]):
            first = group.row(0, named=True)
            mean = positive_interval(_to_floats(group[value]))
            entry = {name: first[name] for name in own}
            entry |= {"replications": len(group), "mean": mean.mean, "low": mean.low, "high": mean.high}
            other = base.get(tuple(first[key] for key in keys)) if first["scheme"] != reference else None
            entry |= dict.fromkeys(("change", "change_low", "change_high"))
            if other is not None:
                paired = group.join(other, on="replication", suffix="_base")
                change = log_ratio(_to_floats(paired[value]), _to_floats(paired[f"{value}_base"])).as_change()
                entry |= {"change": change.mean, "change_low": change.low, "change_high": change.high}
            found.append(entry)
        schema = {name: rows.schema[name] for name in own}
        numbers = dict.fromkeys(("mean", "low", "high", "change", "change_low", "change_high"), pl.Float64())
        frame = pl.DataFrame(found, schema={**schema, "replications": pl.Int64(), **numbers})
        return make_frame(frame.fill_nan(None))

    def effects(self, value: str = VALUE, against: str | None = None) -> pl.DataFrame:
        """Returns one row per axis, value of it and scheme: the mean over cells, and the changes there.

        Values of an axis with many are in ranges of equal numbers of cells. `change` is the geometric mean
        over the cells, `change_least` and `change_most` are those of single cells. Raises `MouseholeError` as
        `cells` does.
        """
        cells = self.cells(value, against)
        found: list[dict[str, Any]] = []
        for axis in self.axes:
            for label, part in self._levels(cells, axis):
                for scheme in self.schemes:
                    own = part.filter(pl.col("scheme") == scheme)
                    if len(own):
                        changes = own["change"].drop_nulls().to_numpy()
                        found.append({
                            "axis": axis, "value": label, "scheme": scheme, "cells": len(own),
                            "mean": own["mean"].mean(), **_summarise_changes(changes),
                        })  # fmt: skip
        return make_frame(found)

    def surface(
        self, x: str, y: str, scheme: str, value: str = VALUE, against: str | None = None
    ) -> pl.DataFrame:
        """Returns a scheme's cells with `x` and `y` as numbers, and mean and change of the measure.

        Cells without a value on either axis are left out. Raises `MouseholeError` for an axis that has no
        numbers, for an unknown scheme, and as `cells` does.
        """
        columns = [self.require_numbers("x", x), self.require_numbers("y", y)]
        if scheme not in self.schemes:
            raise unknown_error("scheme", "scheme", scheme, self.schemes)
        own = self.cells(value, against).filter(pl.col("scheme") == scheme)
        return make_frame(
            own.select(
                pl.col(columns[0]).cast(pl.Float64).alias("x"),
                pl.col(columns[1]).cast(pl.Float64).alias("y"),
                "mean", "change",
            ).drop_nulls(["x", "y"])
        )  # fmt: skip

    def require(self, value: str, against: str | None) -> None:
        """Raises `MouseholeError` for a measure or a scheme that the rows do not have."""
        if value not in _list_measures():
            raise unknown_error("value", "measure", value, _list_measures())
        if against is not None and against not in self.schemes:
            raise unknown_error("against", "scheme", against, self.schemes)

    def require_numbers(self, field: str, axis: str) -> str:
        """Returns the column with an axis as numbers; raises `MouseholeError` if there is none."""
        if axis not in self.axes:
            raise unknown_error(field, "setting", axis, self.axes)
        column = self.number_column(axis)
        if column is None:
            raise field_error(field, axis, "an axis of numbers with one unit")
        return column

    def __repr__(self) -> str:
        """Returns the numbers of cells and rows and the folder, as one line.

        Counts the rows as `finished` does, and raises as it does.
        """
        rows = self.manifest["rows"]
        return f"Sweep of {self.manifest['cells']} cells in {self.folder}: {self.finished} of {rows} rows"

    def _settings(self) -> list[str]:
        """Returns the columns of settings: each axis, then its column of numbers if it has one."""
        columns = [(axis, self.number_column(axis)) for axis in self.axes]
        return [name for axis, number in columns for name in (axis, number) if name is not None]

    def _keys(self, reference: str, rows: pl.DataFrame) -> list[str]:
        """Returns the columns in which a cell must agree with the cell of the reference.

        In a grid, a scheme without a swept part is run once for all values of the part's parameters, so that
        these do not count. In other designs it is the cell's number.
        """
        if self.manifest["sweep"]["design"] != "grid":
            return ["cell"]
        own = rows.filter(pl.col("scheme") == reference)
        return [
            name for name in self.axes if not (is_part_setting(name) and own[name].null_count() == len(own))
        ]

    def _levels(self, cells: pl.DataFrame, axis: str) -> Iterable[tuple[str, pl.DataFrame]]:
        """Yields the values of an axis, or ranges of them, with their cells.

        Ranges have about equal numbers of cells, and include their lower end; the last one has both.
        """
        column = self.number_column(axis)
        values = cells[axis].drop_nulls().unique(maintain_order=True)
        if column is None or len(values) <= MOST_LEVELS:
            ordered = cells.select(list({axis, column or axis})).drop_nulls().unique(maintain_order=True)
            if column is not None:
                ordered = ordered.sort(column)
            for text in ordered[axis]:
                yield (
                    (f"{text:g}" if isinstance(text, float) else str(text)),
                    cells.filter(pl.col(axis) == text),
                )
            return
        numbers = cells[column].drop_nulls().to_numpy()
        edges = np.quantile(numbers, np.linspace(0, 1, BINS + 1))
        for low, high in pairwise(edges):
            top = inf if high == edges[-1] else high
            part = cells.filter((pl.col(column) >= low) & (pl.col(column) < top))
            unit = read_unit(column, axis)
            yield f"{format_number(low, unit)} to {format_number(high, unit)}", part


def _list_measures() -> list[str]:
    """Returns the names of the columns of counts and measures."""
    return [one.name for one in (*quantities.counts(), *quantities.measures())]


def _group_rows(rows: pl.DataFrame, keys: list[str]) -> Iterable[tuple[tuple[Any, ...], pl.DataFrame]]:
    """Returns keys and rows of each group of rows, in the order of the rows; without keys, one group."""
    if not keys:
        return [((), rows)] if len(rows) else []
    return rows.group_by(keys, maintain_order=True)


def _to_floats(column: pl.Series) -> Any:
    """Returns a column as floating-point numbers, NaN for null."""
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _summarise_changes(changes: Any) -> dict[str, float | None]:
    """Returns the geometric mean of relative changes, the smallest and the largest, by column.

    Each is None without changes.
    """
    if not len(changes):
        return dict.fromkeys(("change", "change_least", "change_most"))
    return {
        "change": average_changes(changes),
        "change_least": float(changes.min()),
        "change_most": float(changes.max()),
    }
