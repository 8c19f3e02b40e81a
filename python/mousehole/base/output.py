"""Output files: checked before the long work, and replaced as a whole so that none is half-written."""

import errno
import fcntl
import os
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mousehole.base._errors import MouseholeError, conflict_error, field_error
from mousehole.base._extras import require_extra
from mousehole.base._options import require_path
from mousehole.base._standard_output import OutputLostError

PLOT_SUFFIXES = (".png", ".svg", ".pdf")
PAGE_SUFFIXES = (".html", ".htm")
TABLE_SUFFIXES = (".parquet", ".csv")
SUFFIXES: dict[str, tuple[str, ...]] = {
    "json": (), "save_scenario": (), "pcapng": (), "html": PAGE_SUFFIXES,
    **dict.fromkeys(("plot", "heatmap", "surface"), PLOT_SUFFIXES),
    **dict.fromkeys(("records", "trace", "samples", "cells"), TABLE_SUFFIXES),
}  # fmt: skip
"""Fields of a command's outputs that name files, with the suffixes that are allowed; none are any."""
LOCK = ".lock"
"""The file of a folder of temporary files that its process has locked."""
JUST_MADE_S = 60.0
"""Seconds in which a temporary file without its name is taken for one that is just being made."""
_UNNAMED = "~"
"""Ends the name of a temporary file until it is locked."""
MOST_STEM = 200
"""Characters of a file's name that its draft has as well, so that the draft's name is not too long."""


written: list[str] = []
"""The files that this process has written, for what is said when it is stopped."""


def check_outputs(outputs: dict[str, str | None], inputs: Iterable[str | Path] = ()) -> None:
    """Raises `MouseholeError` for outputs that cannot be written, share a file or would overwrite an input.

    `outputs` maps the option's name to the path given; `-` is standard output, None means no output.
    """
    # Unlike Path.resolve, realpath lets links that lead in a circle pass; the reader refuses them.
    taken: dict[str, str] = {os.path.realpath(name): "an input file" for name in inputs}
    streamed = [option for option, given in outputs.items() if given == "-"]
    if len(streamed) > 1:
        raise conflict_error(streamed[1], "-", f"{streamed[0]} -", "only one can have standard output")
    for option, given in outputs.items():
        if given is None or given == "-":
            continue
        if not given:
            raise field_error(option, given, "the name of a file")
        _check_writable(option, Path(given))
        place = os.path.realpath(given)
        if place in taken and (Path(place).is_file() or not Path(place).exists()):
            raise field_error(option, given, "a file of its own", f"is also {taken[place]}")
        taken[place] = f"the file of {option}"


def check_suffix(option: str, given: str | None, allowed: tuple[str, ...]) -> None:
    """Raises `MouseholeError` for a file name without one of the allowed suffixes; None is accepted.

    It also raises it if the library that draws pictures and pages, or that writes tables, is not installed.
    """
    if given is not None and Path(given).suffix.lower() not in allowed:
        endings = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        raise field_error(option, given, f"a file name that ends in {endings}")
    if given is not None and allowed in (PLOT_SUFFIXES, PAGE_SUFFIXES):
        require_extra("report", option)
    if given is not None and allowed == TABLE_SUFFIXES:
        require_extra("frames", option)


def check_result(outputs: object, inputs: Iterable[str | Path] = ()) -> None:
    """Raises `MouseholeError` as `check_suffix` and `check_outputs` do, for the files of `outputs`.

    `outputs` has fields of `SUFFIXES`; others are ignored. `inputs` are files that must not be overwritten.
    """
    given = {name: getattr(outputs, name) for name in SUFFIXES if hasattr(outputs, name)}
    options = {f"--{name.replace('_', '-')}": file for name, file in given.items()}
    for option, name in zip(options, given, strict=True):
        if SUFFIXES[name]:
            check_suffix(option, given[name], SUFFIXES[name])
    check_outputs(options, inputs)


def _check_writable(option: str, path: Path) -> None:
    """Raises `MouseholeError`, with `option` as its field, unless a file can be written at `path`."""
    folder = path.parent
    if "\0" in str(path):
        raise _unwritable_error(option, path, "a name has no NUL character")
    try:
        path.lstat()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise _unwritable_error(option, path, str(error.strerror).lower()) from None
    if not folder.is_dir():
        raise _unwritable_error(option, path, f"the directory {folder} does not exist")
    if path.is_dir():
        raise _unwritable_error(option, path, "it is a directory, a file name is needed")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise _unwritable_error(option, path, "permission denied")


def check_folder(option: str, given: str | None) -> None:
    """Raises `MouseholeError` for a folder that cannot be written to, before any work.

    Nothing is made; None is accepted.
    """
    if given is None:
        return
    place = Path(given)
    if place.exists() and not place.is_dir():
        raise field_error(option, given, "a folder", "is a file")
    existing = next(folder for folder in (place, *place.absolute().parents) if folder.is_dir())
    if not given or not os.access(existing, os.W_OK):
        raise field_error(option, given, "a folder that can be written to")


def _unwritable_error(option: str, path: Path, reason: str) -> MouseholeError:
    """Returns the error for an output file that cannot be written, with `option` as its field."""
    return MouseholeError(f"cannot write {path}; {reason}", kind="file", field=option, value=str(path))


def list_write_errors() -> tuple[type[Exception], ...]:
    """Returns the exceptions of writing a file: `OSError`, and `PolarsError` if polars is loaded."""
    polars = sys.modules.get("polars")
    return (OSError,) if polars is None else (OSError, polars.exceptions.PolarsError)


def explain_write_error(error: Exception) -> str:
    """Returns in one line why a file could not be written."""
    lines = str(error).strip().splitlines()
    return getattr(error, "strerror", None) or (lines[0] if lines else type(error).__name__)


@contextmanager
def name_write_errors(target: str | Path) -> Iterator[None]:
    """Turns an exception of `list_write_errors` in the block into a `MouseholeError` that names `target`.

    `OutputLostError` passes unchanged.
    """
    try:
        yield
    except OutputLostError:
        raise
    except list_write_errors() as error:
        raise MouseholeError(f"cannot write {target}; {explain_write_error(error)}", kind="file") from error


@contextmanager
def replace_atomically(path: str | Path) -> Iterator[Path]:
    """Yields the path of a draft that replaces `path` if the block succeeds and is deleted if it fails.

    A symbolic link stays, and its target is replaced. Drafts that a killed process left of the same file are
    deleted. A device or a pipe is yielded itself and written directly. Raises `MouseholeError` if the file
    cannot be written.
    """
    target = require_path("path", path)
    if target.exists() and not target.is_file():  # a device or pipe cannot be replaced
        with name_write_errors(target):
            yield target
        return
    with name_write_errors(target):
        real = Path(os.path.realpath(target))
        _delete_abandoned_drafts(target)
        part = target.with_name(f".{target.stem[:MOST_STEM]}.{secrets.token_hex(6)}.part{target.suffix}")
        draft = _make_locked_file(part, 0o666)
        try:
            yield part
            part.replace(real)
            written.append(str(path))
        finally:
            os.close(draft)
            part.unlink(missing_ok=True)


def _make_locked_file(path: Path, mode: int) -> int:
    """Makes a new file that is locked before it gets its name; returns its handle, which holds the lock.

    The handle is for writing, and the caller closes it. Raises `OSError`, and then leaves no file.
    """
    unnamed = path.with_name(f"{path.name}{_UNNAMED}")
    # Drafts have names that nobody can guess, so that no link of somebody else's is followed.
    handle = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        unnamed.replace(path)
    except BaseException:
        os.close(handle)
        unnamed.unlink(missing_ok=True)
        raise
    return handle


def _delete_abandoned_drafts(target: Path) -> None:
    """Deletes the drafts of this file whose processes, and so their locks, have ended.

    Does nothing more after the first fault of the system.
    """
    name = re.compile(
        rf"\.{re.escape(target.stem[:MOST_STEM])}\.[0-9a-f]{{12}}\.part{re.escape(target.suffix)}"
        rf"({re.escape(_UNNAMED)})?\Z"
    )
    with suppress(OSError):
        for path in [path for path in target.parent.iterdir() if name.match(path.name)]:
            if is_abandoned(path):
                path.unlink(missing_ok=True)


def is_abandoned(path: Path) -> bool:
    """Returns whether the process that made a file with `_make_locked_file` has ended.

    False for a file that cannot be opened, and for one without its name that is younger than
    `JUST_MADE_S`.
    """
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            is_young = time.time() - os.fstat(handle).st_mtime < JUST_MADE_S
            if is_young and path.name.endswith(_UNNAMED):
                return False  # it may not be locked yet
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        finally:
            os.close(handle)
    return False


def write_text(path: str, text: str) -> None:
    """Writes `text` to `path`, or to standard output if `path` is `-`, in UTF-8 whatever the locale.

    Raises `MouseholeError` for a file that cannot be written, `OutputLostError` for standard output.
    """
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.flush()
    else:
        write_with(path, lambda part: part.write_text(text, encoding="utf-8"))


def write_with(path: str | Path, write: Callable[[Path], object]) -> None:
    """Calls `write` with a temporary path, then replaces `path` by the file written.

    Raises `MouseholeError` as `replace_atomically` does; `path` is then unchanged.
    """
    with replace_atomically(path) as part:
        write(part)


def write_all(writers: Iterable[tuple[str | None, Callable[[str], object]]]) -> None:
    """Calls each function with its path if that is not None; one that fails does not prevent the others.

    `writers` are pairs of a path and its function. Raises one `MouseholeError` that names all that failed,
    after all were tried. `OutputLostError` passes at once.
    """
    faults: list[MouseholeError] = []
    for place, write in writers:
        try:
            if place is not None:
                write(place)
        except OutputLostError:
            raise
        except MouseholeError as error:
            faults.append(error)
        except Exception as error:
            faults.append(
                MouseholeError(f"cannot write {place}; {type(error).__name__}: {explain_write_error(error)}")
            )
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise MouseholeError("; ".join(map(str, faults)), kind="file")


@contextmanager
def make_scratch_folder(purpose: str) -> Iterator[Path]:
    """Yields a new folder for temporary files, which is deleted at the end of the block.

    Faults of deleting are ignored. Folders for the same purpose that a killed process of this user has left
    are deleted as well.
    """
    prefix = f"mousehole-{purpose}-"
    delete_abandoned_folders(prefix)
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        handle = _make_locked_file(Path(name) / LOCK, 0o600)
        try:
            yield Path(name)
        finally:
            os.close(handle)


def delete_abandoned_folders(prefix: str) -> None:
    """Deletes the folders of `make_scratch_folder` under a prefix that no process of this user uses.

    A folder without a lock is deleted once it is older than `JUST_MADE_S`. Faults of the system are
    ignored.
    """
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            status = folder.lstat()
            if status.st_uid != os.getuid() or not folder.is_dir():
                continue
            lock = folder / LOCK
            is_old = time.time() - status.st_mtime >= JUST_MADE_S
            if is_abandoned(lock) if lock.exists() else is_old:
                shutil.rmtree(folder, ignore_errors=True)
