"""Parquet tables as text: what the engine reads as a table with a header of named columns."""

import os
from collections.abc import Callable
from pathlib import Path

from mousehole.base._errors import file_error
from mousehole.base._extras import require_extra

MAGIC = b"PAR1"
_forked = False


def _note_fork() -> None:
    """Sets in a forked child the flag that it was forked, since polars would wait forever there."""
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_note_fork)  # polars waits for its threads, which do not survive


def read_tables(names: list[str]) -> dict[int, tuple[str, Callable[[], bytes]]]:
    """Returns SHA-256 and a reader of each Parquet file among `names`, by its index, as `read_table` does.

    The reader is a function that returns the next bytes of CSV, and no bytes at the end. Raises
    `MouseholeError` for a damaged file and for one without a known column; if any file is Parquet, also where
    polars is missing and in a process that was forked.
    """
    files = {place: Path(name) for place, name in enumerate(names) if _is_parquet(Path(name))}
    if not files:
        return {}
    require_extra("frames", "a Parquet table")
    if _forked:
        raise file_error(
            next(iter(files.values())),
            "Parquet cannot be read in a process that was forked after mousehole was imported; start it "
            'by the context "spawn" of multiprocessing, or give the file as CSV',
        )
    from mousehole.base._parquet_reader import read_table

    return {place: read_table(file) for place, file in files.items()}


def _is_parquet(file: Path) -> bool:
    """Returns whether a file begins as Parquet does; False for a pipe and for one that cannot be read.

    The engine then says why it cannot be read.
    """
    if not file.is_file():  # a pipe can be opened only once
        return False
    try:
        with file.open("rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
