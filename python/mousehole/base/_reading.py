"""Texts that people write: scenarios and sweeps."""

from pathlib import Path

from mousehole.base._errors import file_error

MOST_BYTES = 16_000_000
"""Largest file; its parser takes some 40 times as much memory."""


def read_text(path: Path, what: str) -> str:
    """Returns the text of a file; `what` names it in errors, such as "the scenario".

    Raises `MouseholeError` for one that is missing or unreadable, longer than `MOST_BYTES`, or not in UTF-8.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise file_error(path, f"cannot read {what}; {reason}") from None
    if len(content) > MOST_BYTES:
        raise file_error(
            path, f"cannot read {what}; it is longer than {MOST_BYTES // 1_000_000} MB; give files of traffic"
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise file_error(path, f"cannot read {what}; it is not UTF-8 text") from None
