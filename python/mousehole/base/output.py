"""Output files: checked before the long work, and replaced as a whole so that none is half-written."""

import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mousehole.base._errors import MouseholeError, conflict_error, field_error
from mousehole.base._extras import require_extra

PLOT_SUFFIXES = (".png", ".svg", ".pdf")
PAGE_SUFFIXES = (".html", ".htm")
SUFFIXES: dict[str, tuple[str, ...]] = {
    "json": (), "html": PAGE_SUFFIXES, "plot": PLOT_SUFFIXES, "heatmap": PLOT_SUFFIXES, "save_scenario": ()
}  # fmt: skip
"""Fields of a command's outputs that name files, with the suffixes that are allowed; none are any."""
TABLE_SUFFIXES = (".parquet", ".csv")


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

    It also does where what draws pictures and pages is not installed.
    """
    if given is not None and Path(given).suffix.lower() not in allowed:
        endings = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        raise field_error(option, given, f"a file name that ends in {endings}")
    if given is not None and allowed in (PLOT_SUFFIXES, PAGE_SUFFIXES):
        require_extra("report", option)


def check_result(outputs: object, inputs: Iterable[str | Path] = ()) -> None:
    """Raises `MouseholeError` as `check_suffix` and `check_outputs` do, for the files of `outputs`."""
    given = {name: getattr(outputs, name) for name in SUFFIXES if hasattr(outputs, name)}
    options = {f"--{name.replace('_', '-')}": file for name, file in given.items()}
    for option, name in zip(options, given, strict=True):
        if SUFFIXES[name]:
            check_suffix(option, given[name], SUFFIXES[name])
    check_outputs(options, inputs)


def _check_writable(option: str, path: Path) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise _unwritable(option, path, f"the directory {folder} does not exist")
    if path.is_dir():
        raise _unwritable(option, path, "it is a directory, a file name is needed")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise _unwritable(option, path, "permission denied")


def _unwritable(option: str, path: Path, reason: str) -> MouseholeError:
    return MouseholeError(f"cannot write {path}; {reason}", kind="file", field=option, value=str(path))


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Gives a temporary file that replaces `path` if the block succeeds and is deleted if it fails.

    Raises `MouseholeError` if the file cannot be written. A device or a pipe is written directly.
    """
    target = Path(path)
    if target.exists() and not target.is_file():  # a device or pipe cannot be replaced
        try:
            yield target
        except OSError as error:
            raise MouseholeError(f"cannot write {target}; {error.strerror}") from error
        return
    part = target.with_name(f".{target.stem}.{secrets.token_hex(6)}.part{target.suffix}")
    try:
        # Made anew under a name that nobody can guess, so that no link of somebody else's is followed.
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield part
        part.replace(os.path.realpath(target))
    except OSError as error:
        raise MouseholeError(f"cannot write {target}; {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def write_text(path: str, text: str) -> None:
    """Writes `text` to `path`, or to standard output if `path` is `-`, in UTF-8 whatever the locale."""
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.flush()
    else:
        write_with(path, lambda part: part.write_text(text, encoding="utf-8"))


def write_with(path: str | Path, write: Callable[[Path], object]) -> None:
    """Calls `write` with a temporary path, then replaces `path` by the file written."""
    with replacing(path) as part:
        write(part)


def write_all(writers: Iterable[tuple[str | None, Callable[[str], object]]]) -> None:
    """Calls each function with its place, if that is not None; one that fails does not prevent the others.

    Raises the first `MouseholeError` after all of them were tried.
    """
    faults: list[MouseholeError] = []
    for place, write in writers:
        try:
            if place is not None:
                write(place)
        except MouseholeError as error:
            faults.append(error)
        except Exception as error:
            faults.append(MouseholeError(f"cannot write {place}; {type(error).__name__}: {error}"))
    if faults:
        raise faults[0]
