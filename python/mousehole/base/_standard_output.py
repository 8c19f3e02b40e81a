"""Standard output whose faults have a name of their own, so that no other file's fault is taken for them."""

import io
import sys

TYPE_CHECKING = False  # the name that type checkers know; importing `typing` takes longer than the rest
if TYPE_CHECKING:
    from typing import Any


class OutputLostError(OSError):
    """Standard output cannot be written; `errno` and `strerror` say why."""


class _Guarded(io.FileIO):
    """A file whose faults in writing are `OutputLostError`."""

    def write(self, data: "Any", /) -> "Any":
        """Writes as a file does; raises `OutputLostError` for a fault."""
        try:
            return super().write(data)
        except OSError as error:
            raise OutputLostError(error.errno, error.strerror) from None


def guard_standard_output() -> None:
    """Replaces `sys.stdout`, after a flush, by a stream whose faults raise `OutputLostError`, whoever writes.

    An output that is not a file, or that is replaced already, is left as it is.
    """
    stream = sys.stdout
    if type(stream) is not io.TextIOWrapper or isinstance(getattr(stream.buffer, "raw", None), _Guarded):
        return
    stream.flush()
    raw = _Guarded(stream.fileno(), "wb", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=stream.encoding, errors=stream.errors,
        line_buffering=stream.isatty(),
    )  # fmt: skip
