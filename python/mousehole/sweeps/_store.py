"""The folder of a sweep: a manifest, the rows in Parquet files, and what is not yet a whole file.

`sweep.json` describes the sweep, and never changes. `rows/part-00000.parquet` has the rows of the
first cells; a file appears when all its rows are there, whole and in the order of the plan, so that its bytes
do not depend on how often the sweep was stopped. Rows of unfinished files are lines of
`unfinished/part-00000.jsonl`, which are appended as runs end; a line that was cut short is dropped when the
sweep is resumed.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mousehole import _engine
from mousehole.base import MAGIC, MouseholeError, file_error, output
from mousehole.sweeps._rows import Columns

MANIFEST, ROWS, UNFINISHED = "sweep.json", "rows", "unfinished"
METADATA = "mousehole.sweep"
"""The key of the manifest in the metadata of each file."""


class Store:
    """The folder of one sweep, which one process at a time writes."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any], columns: Columns) -> None:
        """Opens the folder, or makes it with its manifest, and locks it until `close`.

        Raises `MouseholeError` if it holds anything else, if another process writes it, or if it cannot be
        written.
        """
        self.folder, self._columns = folder, columns
        self._text = _engine.json_text(manifest)
        self._kept: dict[int, dict[int, str]] = {}
        self._lock: int | None = None
        self._require_same()
        with _Written(folder):
            (folder / ROWS).mkdir(parents=True, exist_ok=True)
            (folder / UNFINISHED).mkdir(exist_ok=True)
            if not (folder / MANIFEST).exists():
                _write_whole(folder / UNFINISHED / MANIFEST, folder / MANIFEST, self._text.encode())
            self._lock = os.open(folder / MANIFEST, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            self._lock = None
            raise file_error(
                folder, "another process is writing this sweep; wait for it, or stop it"
            ) from None

    def tidy(self) -> None:
        """Deletes the remains of a stop between two steps: drafts, and the lines of parts with whole files.

        Raises `OSError` for a fault of the system.
        """
        for path in (self.folder / UNFINISHED).iterdir():
            number = path.stem.removeprefix("part-")
            if path.suffix != ".jsonl" or (number.isdecimal() and self.is_written(int(number))):
                path.unlink()

    def is_written(self, part: int) -> bool:
        """Returns whether a part has a whole Parquet file, by the file's last bytes."""
        place = self._place(part)
        try:
            with place.open("rb") as stream:
                stream.seek(-len(MAGIC), os.SEEK_END)
                return stream.read() == MAGIC
        except OSError:
            return False

    def stored(self, part: int) -> set[int]:
        """Returns the indices of the stored rows of an unfinished part, whose rows stay in memory.

        The first call for a part reads its journal, and cuts off a last line that is not whole.
        """
        if part not in self._kept:
            self._kept[part] = self._read(self._journal(part))
        return set(self._kept[part])

    def count(self, part: int) -> int:
        """Returns the number of stored rows of an unfinished part, without loading them for later.

        Cuts off a last line that is not whole.
        """
        return len(self._kept[part] if part in self._kept else self._read(self._journal(part)))

    def add(self, part: int, place: int, row: Mapping[str, Any], size: int) -> None:
        """Stores a row of a part that has `size` rows; writes the part's file once all rows are stored.

        `stored` must have been called for the part before. Each row is in the journal before this returns,
        though it may not be on the disk yet. Raises `MouseholeError` if the disk is full; all stored rows are
        whole then, and the sweep can go on.
        """
        rows = self._kept[part]
        line = json.dumps([place, row], allow_nan=False)
        with _Written(self.folder):
            _append_line(self._journal(part), f"{line}\n".encode())
        rows[place] = line
        if len(rows) == size:
            self._finish(part)

    def finish_if_whole(self, part: int, size: int) -> None:
        """Writes the file of a part whose rows are all stored, as after a stop just before it was written.

        Does nothing if a row is missing.
        """
        if self.count(part) == size:
            self.stored(part)
            self._finish(part)

    def close(self) -> None:
        """Releases the lock; deletes the folder of unfinished parts if it is empty, and else leaves it."""
        with suppress(OSError):
            (self.folder / UNFINISHED).rmdir()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _finish(self, part: int) -> None:
        """Writes the Parquet file of a part whose rows are all stored, then deletes the part's journal.

        The file is whole or absent, also after a crash.
        """
        kept = self._kept.pop(part)
        rows = [json.loads(kept[place])[1] for place in sorted(kept)]
        frame, target = self._columns.frame(rows), self._place(part)
        draft = self.folder / UNFINISHED / target.name
        with _Written(self.folder):
            try:
                frame.write_parquet(draft, metadata={METADATA: self._text})
                _sync_to_disk(draft)
                draft.replace(target)
                _sync_to_disk(target.parent)
            finally:
                with suppress(OSError):
                    draft.unlink(missing_ok=True)
            self._journal(part).unlink(missing_ok=True)

    def _read(self, journal: Path) -> dict[int, str]:
        """Returns the lines of a journal by the index of their row; empty without a journal.

        Cuts off a last line that is not whole, and whatever follows a broken line.
        """
        found: dict[int, str] = {}
        whole = 0
        try:
            with journal.open("rb") as stream:
                for line in stream:
                    try:
                        place, _ = json.loads(line) if line.endswith(b"\n") else (None, None)
                    except ValueError:
                        place = None
                    if not isinstance(place, int):
                        break
                    found[place] = line.decode().rstrip("\n")
                    whole += len(line)
        except FileNotFoundError:
            return found
        with _Written(self.folder):
            os.truncate(journal, whole)
        return found

    def _require_same(self) -> None:
        """Raises `MouseholeError` if the folder holds anything but this sweep.

        A folder that is missing or empty passes.
        """
        manifest = self.folder / MANIFEST
        if self.folder.exists() and not self.folder.is_dir():
            raise self._folder_error("it is a file; a sweep needs a folder")
        if not manifest.exists():
            left = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
            if left - {ROWS, UNFINISHED}:
                raise self._folder_error("it is not empty and holds no sweep; give another folder")
            return
        try:
            text = manifest.read_text(encoding="utf-8")
            known = json.loads(text)
        except (OSError, ValueError):
            raise self._folder_error(f"its {MANIFEST} cannot be read; give another folder") from None
        if text != self._text:
            name, there, here = _find_difference(known, json.loads(self._text))
            raise self._folder_error(
                f"it holds another sweep: there {name} is {there}, here {here}; give another folder"
            )

    def _folder_error(self, reason: str) -> MouseholeError:
        """Returns the error about the folder; raises nothing."""
        return file_error(self.folder, reason)

    def _place(self, part: int) -> Path:
        """Returns the path of a part's Parquet file."""
        return self.folder / ROWS / f"part-{part:05}.parquet"

    def _journal(self, part: int) -> Path:
        """Returns the path of the journal of an unfinished part, one line per row."""
        return self.folder / UNFINISHED / f"part-{part:05}.jsonl"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Returns the manifest of a sweep's folder; raises `MouseholeError` if there is none."""
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise file_error(folder, f"holds no sweep, as it has no {MANIFEST} that can be read") from None
    return manifest


class _Written:
    """Turns a fault of writing into a `MouseholeError` that names the way to resume."""

    def __init__(self, folder: Path) -> None:
        """Reads nothing yet; `folder` is that of the sweep."""
        self._folder = folder

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Turns an error of writing into a `MouseholeError` about the sweep's folder; other errors pass."""
        if isinstance(error, output.list_write_errors()):
            raise file_error(
                self._folder,
                f"cannot be written; {output.explain_write_error(error)}; what is there is whole, and the "
                "same command goes on from it",
            ) from None


def _append_line(path: Path, line: bytes) -> None:
    """Appends a line; removes it again if only a piece of it could be written, and raises `OSError` then."""
    with path.open("ab", buffering=0) as stream:
        before = stream.seek(0, os.SEEK_END)
        try:
            rest = memoryview(line)
            while rest:  # a full disk takes a piece, and raises the error at the next one
                rest = rest[stream.write(rest) :]
        except OSError:
            os.truncate(path, before)
            raise


def _write_whole(draft: Path, target: Path, content: bytes) -> None:
    """Writes a file that is whole or absent, also after a crash, by way of a draft.

    Raises `OSError` for a fault of the system.
    """
    draft.write_bytes(content)
    _sync_to_disk(draft)
    draft.replace(target)


def _sync_to_disk(path: Path) -> None:
    """Waits until the content of a file, or the names in a folder, are on the disk; raises `OSError`."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _find_difference(there: Any, here: Any, name: str = "") -> tuple[str, str, str]:
    """Returns the path of the first field in which two documents differ, and both values as text."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in _list_keys(there, here):
            if there.get(key) != here.get(key):
                return _find_difference(there.get(key), here.get(key), f"{name}.{key}" if name else key)
    return name, _write_short(there), _write_short(here)


def _list_keys(there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterable[str]:
    """Returns the keys of two documents; `sweep`, which describes the sweep, is first."""
    return sorted({*there, *here}, key=lambda key: (key != "sweep", key))


def _write_short(value: Any) -> str:
    """Returns a value as JSON of at most 60 characters."""
    text = "not given" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
