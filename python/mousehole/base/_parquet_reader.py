"""One Parquet table as text; only `parquet` imports this, once polars is known to be there."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from mousehole import _engine
from mousehole.base._errors import MouseholeError, file_error

ROWS = 500_000
"""Rows that are held in memory at once."""


def read_table(file: Path) -> tuple[str, Callable[[], bytes]]:
    """Returns SHA-256 of a file, and a function for its next bytes as CSV.

    The function returns empty bytes after the last row, and lets errors of polars pass. Columns that the
    engine does not know are left out. Raises `MouseholeError` for a damaged file, and for one without a known
    column.
    """
    try:
        frame = pl.scan_parquet(file)
        columns = [
            _as_text(name, kind) for name, kind in frame.collect_schema().items() if _is_read(name, kind)
        ]
        rows = frame.select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged_file_error(file, error) from None
    if not columns:
        raise file_error(file, "no column of the Parquet table has a known name; docs/traffic.md lists them")
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    chunks = _yield_chunks(frame.select(columns), rows)
    return digest, lambda: next(chunks, b"")


def _yield_chunks(frame: pl.LazyFrame, rows: int) -> Iterator[bytes]:
    """Yields the table as CSV, `ROWS` rows at a time; the first piece begins with the header."""
    for first in range(0, max(rows, 1), ROWS):
        part = frame.slice(first, ROWS).collect()
        yield part.write_csv(include_header=first == 0).encode()


def _is_read(name: str, kind: pl.DataType) -> bool:
    """Returns whether the engine reads a column of this name and polars type; not nested or binary ones."""
    return _engine.is_traffic_column(name) and not kind.is_nested() and kind not in (pl.Binary, pl.Object)


def _as_text(name: str, kind: pl.DataType) -> pl.Expr:
    """Returns a column in the form of text tables: times in UTC as ISO 8601, time spans in seconds.

    Other columns stay as they are.
    """
    column = pl.col(name)
    if isinstance(kind, pl.Datetime):
        if kind.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return column.dt.to_string("%Y-%m-%dT%H:%M:%S%.9fZ")
    if isinstance(kind, pl.Duration):
        return column.dt.total_nanoseconds() / 1e9
    return column


def _damaged_file_error(file: Path, error: Exception) -> MouseholeError:
    """Returns the error for a Parquet file that polars cannot read."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return file_error(file, f"the Parquet file cannot be read ({lines[0][:200]})")
