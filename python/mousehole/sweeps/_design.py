"""The cells of a sweep by number: of a grid, a list or a Latin hypercube."""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from mousehole.base import MouseholeError, require_extra
from mousehole.sweeps._description import MOST_CELLS, TRAFFIC, Axis, Description, Range, list_parts
from mousehole.sweeps._quantities import Value


class Cells:
    """The cells of a sweep. A cell has a value on each axis; it is made when it is asked for."""

    def __init__(self, made: Description) -> None:
        """Raises `MouseholeError` if there are too many cells, rows counted."""
        self._made = made
        # Reading traffic takes longest, so its axes change slowest.
        self._axes: dict[str, Axis] = dict(
            sorted(made.axes.items(), key=lambda item: not _is_about_traffic(item[0]))
        )
        rows = len(self) * len(made.schemes) * made.seeds
        if rows > MOST_CELLS:
            sizes = " × ".join(
                f"{name} {len(axis)}" for name, axis in self._axes.items() if isinstance(axis, tuple)
            )
            of = f" ({sizes})" if made.design == "grid" else ""
            raise MouseholeError(
                f"{len(self):,} cells{of} × {len(made.schemes)} schemes × {made.seeds} seeds "
                f"are {rows:,} rows; "
                f"at most {MOST_CELLS:,} are allowed; a Latin hypercube covers many axes with few cells",
                kind="value", field="axes", value=str(rows),
            )  # fmt: skip

    def __len__(self) -> int:
        """Returns the number of cells, without creating them."""
        if self._made.design == "grid":
            return prod(len(axis) for axis in self._axes.values() if isinstance(axis, tuple))
        return self._made.count or len(self._made.cells)

    @property
    def axes(self) -> Mapping[str, Axis]:
        """Returns the axes, those of traffic first; in a grid the last one changes fastest."""
        return self._axes

    def settings(self, number: int) -> dict[str, Value]:
        """Returns the values of a cell by axis; cells are numbered from 0 in the order of `axes`.

        The first call for a Latin hypercube draws all of its cells.
        """
        if self._made.design == "list":
            return self._made.cells[number]
        if self._made.design == "grid":
            places = self._places(number)
            return {name: axis[places[name]] for name, axis in self._axes.items() if isinstance(axis, tuple)}
        shares = self._hypercube[number]
        return {
            name: _draw_value(name, axis, share)
            for (name, axis), share in zip(self._axes.items(), shares, strict=True)
        }

    def schemes(self, number: int) -> list[str]:
        """Returns the schemes that are run in a cell.

        In a grid, a scheme that lacks the part of some axes is run only at the first value of these axes; so
        there may be none.
        """
        if self._made.design != "grid":
            return list(self._made.schemes)
        places = self._places(number)
        return [
            scheme for scheme in self._made.schemes if all(places[name] == 0 for name in self.foreign(scheme))
        ]

    def foreign(self, scheme: str) -> list[str]:
        """Returns the axes that are parameters of parts which a scheme does not have."""
        parts = list_parts(scheme)
        return [name for name, part in self._made.part_axes.items() if part not in parts]

    def digest(self) -> str:
        """Returns the SHA-256 of a hypercube's cells; another version of scipy might draw others.

        That of a grid and of a list is the digest of nothing.
        """
        whole = hashlib.sha256()
        for number in range(len(self)) if self._made.design == "latin-hypercube" else ():
            whole.update(json.dumps(self.settings(number), sort_keys=True).encode())
        return whole.hexdigest()

    def _places(self, number: int) -> dict[str, int]:
        """Returns the index of a grid's cell on each axis."""
        places: dict[str, int] = {}
        for name, axis in reversed(self._axes.items()):
            if isinstance(axis, tuple):
                number, places[name] = divmod(number, len(axis))
        return places

    @cached_property
    def _hypercube(self) -> NDArray[np.float64]:
        """Returns the draws of a Latin hypercube, a row per cell, a column per axis, in [0, 1).

        Raises `MouseholeError` where scipy is missing. Equal `draw_seed` and scipy give equal draws.
        """
        require_extra("sweep", "a Latin hypercube")
        from scipy.stats import qmc  # takes a second to load

        draws = np.random.default_rng(self._made.draw_seed)
        made: NDArray[np.float64] = qmc.LatinHypercube(d=len(self._axes), rng=draws).random(len(self))
        return made


def _is_about_traffic(name: str) -> bool:
    """Returns whether a setting changes the traffic that is read."""
    return name in (TRAFFIC, "payload") or name.startswith(("params.", "traffic."))


def _draw_value(name: str, axis: Axis, share: float) -> Value:
    """Returns the value of an axis at a share of it, 0 to 1."""
    if isinstance(axis, Range):
        return axis.at(name, float(share))
    return axis[min(int(share * len(axis)), len(axis) - 1)]
