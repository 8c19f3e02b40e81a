"""Parquet tables as text: what the engine reads as a table with a header of named columns."""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from mousehole import _engine
from mousehole.base._errors import MouseholeError

MAGIC = b"PAR1"
ROWS = 500_000
"""Rows that are held in memory at once."""
_forked = False


def _note_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_note_fork)  # polars' threads do not survive a fork, and it waits for them


def tables(names: list[str]) -> dict[int, tuple[str, Callable[[], bytes]]]:
    """Returns SHA-256, and a function for the next bytes of CSV, of each file that is Parquet, by its place.

    Raises `MouseholeError` for a damaged file.
    """
    return {place: _table(Path(name)) for place, name in enumerate(names) if _is_parquet(Path(name))}


def _is_parquet(file: Path) -> bool:
    """Returns whether a file is Parquet by its content; of one that cannot be read the engine says why."""
    try:
        with file.open("rb") as stream:
            return file.is_file() and stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _table(file: Path) -> tuple[str, Callable[[], bytes]]:
    if _forked:
        raise MouseholeError(
            "Parquet cannot be read in a process that was forked after mousehole was imported; start it "
            'by the context "spawn" of multiprocessing, or give the file as CSV',
            kind="file", file=str(file),
        )  # fmt: skip
    try:
        frame = pl.scan_parquet(file)
        columns = [
            _as_text(name, kind) for name, kind in frame.collect_schema().items() if _is_read(name, kind)
        ]
        rows = frame.select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(file, error) from None
    if not columns:
        raise MouseholeError(
            "no column of the Parquet table has a known name; docs/traffic.md lists them",
            kind="file", file=str(file),
        )  # fmt: skip
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    chunks = _chunks(frame.select(columns), rows)
    return digest, lambda: next(chunks, b"")


def _chunks(frame: pl.LazyFrame, rows: int) -> Iterator[bytes]:
    """Yields the table as CSV, the header first."""
    for first in range(0, max(rows, 1), ROWS):
        part = frame.slice(first, ROWS).collect()
        yield part.write_csv(include_header=first == 0).encode()


def _is_read(name: str, kind: pl.DataType) -> bool:
    return _engine.is_traffic_column(name) and not kind.is_nested() and kind not in (pl.Binary, pl.Object)


def _as_text(name: str, kind: pl.DataType) -> pl.Expr:
    """Returns a column in a form that the text of a table has: times in UTC as ISO 8601, spans in seconds."""
    column = pl.col(name)
    if isinstance(kind, pl.Datetime):
        if kind.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return column.dt.to_string("%Y-%m-%dT%H:%M:%S%.9fZ")
    if isinstance(kind, pl.Duration):
        return column.dt.total_nanoseconds() / 1e9
    return column


def _damaged(file: Path, error: Exception) -> MouseholeError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return MouseholeError(f"the Parquet file cannot be read ({lines[0][:200]})", kind="file", file=str(file))
