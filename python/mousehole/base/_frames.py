"""Rows and columns as data: the frames that users get, where polars is installed, and plain rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mousehole.base._extras import require_extra

if TYPE_CHECKING:
    from mousehole.base._polars import Frame


def make_frame(
    data: Any, types: Mapping[str, str] | None = None, *, clients: Sequence[str] | None = None
) -> Frame:
    """Returns columns by name, rows as dictionaries, or a polars frame as a frame for users.

    `types` has polars' names of types of columns that may be empty or hold no value. `clients` are the names
    of clients that take the place of their numbers in the column `client`. Raises `MouseholeError` where
    polars is not installed.
    """
    require_extra("frames", "a data frame")
    import polars as pl

    from mousehole.base._polars import Frame

    overrides = {name: getattr(pl, kind) for name, kind in (types or {}).items()}
    frame = Frame(data, schema_overrides=overrides or None, infer_schema_length=None)
    if clients is None or "client" not in frame.columns:
        return frame
    names = pl.Series("client", clients, dtype=pl.String).gather(frame["client"])
    return Frame(frame.with_columns(names.alias("client")))


def transpose_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns columns of equal length as rows of plain Python values.

    Raises `ValueError` if lengths differ.
    """
    plain = [values.tolist() if isinstance(values, np.ndarray) else values for values in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]
