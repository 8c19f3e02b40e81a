"""What pictures and pages of a sweep share: axes of settings, what is shown along them, and trends."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mousehole import quantities
from mousehole.charts.axes import TIMES, Sides
from mousehole.sweeps._found import MOST_LEVELS, Found
from mousehole.sweeps._quantities import average_changes, format_number, read_unit

WINDOWS = 8
"""Points at which the trend of scattered cells is taken."""


@dataclass(frozen=True)
class Scale:
    """An axis of a picture: the setting, its column of numbers or its names in order."""

    setting: str
    column: str | None
    names: tuple[str, ...]
    is_log: bool

    def places(self, cells: pl.DataFrame) -> Any:
        """Returns the positions of cells on the axis: their numbers, or the indices of their names.

        Null becomes NaN. Raises `ValueError` for a name that the axis lacks.
        """
        if self.column is not None:
            return cells[self.column].cast(pl.Float64).to_numpy()
        return np.array([self.names.index(str(name)) for name in cells[self.setting]], float)

    def text(self, value: float) -> str:
        """Returns a number of the axis as text with its unit."""
        return format_number(value, read_unit(self.column, self.setting))


@dataclass(frozen=True)
class What:
    """What is drawn: a measure, or its change against a scheme."""

    value: str
    of_change: str | None

    @classmethod
    def choose(cls, sweep: Found, value: str, against: str | None, absolute: bool) -> "What":
        """Returns the measure, or its change against `against` or the first scheme.

        It is the measure itself if `absolute`, or if there is one scheme only. Raises `MouseholeError` for an
        unknown measure or scheme.
        """
        sweep.require(value, against)
        reference = against or sweep.schemes[0]
        return cls(value, None if absolute or len(sweep.schemes) < 2 else reference)

    @property
    def column(self) -> str:
        """Returns the column of `Found.cells` that is drawn."""
        return "mean" if self.of_change is None else "change"

    @property
    def ends(self) -> tuple[str, str]:
        """Returns the columns of `Found.cells` with the ends of its interval."""
        return ("low", "high") if self.of_change is None else ("change_low", "change_high")

    @property
    def unit(self) -> str:
        """Returns the unit of the measure, such as `seconds`."""
        return quantities.find_measure(self.value).quantity.unit

    @property
    def description(self) -> str:
        """Returns the measure, or the change of it, as text."""
        named = quantities.find_measure(self.value).description
        return named if self.of_change is None else f"change of the {named} against {self.of_change}"

    @property
    def sides(self) -> Sides:
        """Returns the names of less and more of the measure, and whether less is better."""
        if self.unit == "seconds":
            return TIMES
        better = quantities.find_measure(self.value).quantity.better
        return Sides("less", "more", less_is_better=better != "more")

    def mean(self, values: Any) -> float:
        """Returns the mean over cells: arithmetic for a measure, geometric for changes, which are ratios."""
        if self.of_change is None:
            return float(np.mean(values))
        return average_changes(values)


def choose_scale(sweep: Found, cells: pl.DataFrame, setting: str) -> Scale:
    """Returns the axis of a picture for a setting; it is logarithmic where its values span a factor of 8.

    Values of 0 or less make it linear.
    """
    column = sweep.number_column(setting)
    names = tuple(str(name) for name in cells[setting].drop_nulls().unique(maintain_order=True))
    if column is None:
        return Scale(setting, None, names, False)
    values = np.sort(cells[column].drop_nulls().cast(pl.Float64).unique().to_numpy())
    is_log = len(values) > 1 and values[0] > 0 and values[-1] / values[0] >= 8
    return Scale(setting, column, names, bool(is_log))


@dataclass(frozen=True)
class Trend:
    """A point of the trend of cells: where, their mean, and how many they are."""

    place: float
    mean: float
    count: int


def compute_trend(places: Any, values: Any, what: What, scale: Scale) -> list[Trend]:
    """Returns the means of cells at each position, or in windows of about equally many cells, rising.

    `places` are the positions of `values` on the axis; windows stand for more than `MOST_LEVELS` of them.
    """
    own = np.unique(places)
    if len(own) <= MOST_LEVELS:
        parts = [np.flatnonzero(places == place) for place in own]
    else:
        order = np.argsort(places, kind="stable")
        parts = np.array_split(order, min(WINDOWS, max(2, len(order) // 3)))
    return [Trend(_find_middle(places[part], scale), what.mean(values[part]), len(part)) for part in parts]


def write_title(sweep: Found) -> str:
    """Returns traffic, cells and seeds as text, and the number of rows so far if some are missing."""
    traffic = sweep.manifest["sweep"]["traffic"]
    names = traffic if isinstance(traffic, list) else [traffic]
    cells, seeds = sweep.manifest["cells"], sweep.manifest["sweep"]["seeds"]
    whole = sweep.finished == sweep.manifest["rows"]
    progress = "" if whole else f"  ·  {sweep.finished:,} of {sweep.manifest['rows']:,} rows"
    return f"{', '.join(Path(name).name for name in names)}  ·  {cells:,} cells × {seeds} seeds{progress}"


def _find_middle(places: Any, scale: Scale) -> float:
    """Returns the mean of positions on an axis, of which there is at least one.

    It is the geometric mean on a logarithmic scale.
    """
    return float(np.exp(np.mean(np.log(places)))) if scale.is_log else float(np.mean(places))
