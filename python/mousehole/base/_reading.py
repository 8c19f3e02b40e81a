"""Texts that people write: scenarios and sweeps."""

from pathlib import Path

from mousehole.base._errors import MouseholeError

MOST_BYTES = 16_000_000
"""Largest file; its parser takes some 40 times as much memory."""


def read_text(path: Path, what: str) -> str:
    """Returns the text of a file; `what` says what it is to be, such as "the scenario".

    Raises `MouseholeError` for one that is not there, too large, no file, or not in UTF-8.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MouseholeError(f"cannot read {what}; {reason}", kind="file", file=str(path)) from None
    if len(content) > MOST_BYTES:
        raise MouseholeError(
            f"cannot read {what}; it is longer than {MOST_BYTES // 1_000_000} MB; give files of traffic",
            kind="file", file=str(path),
        )  # fmt: skip
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise MouseholeError(
            f"cannot read {what}; it is not UTF-8 text", kind="file", file=str(path)
        ) from None
