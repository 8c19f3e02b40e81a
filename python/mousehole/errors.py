"""The one error a user can cause, and the one a user can ask for."""

import unicodedata


class MouseholeError(ValueError):
    """A fault in the input, in one sentence: the file and line or the field, the value, what is allowed.

    What ends a line or steers a terminal is written out, as the engine does.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__("".join(map(_written_out, message)))


def _written_out(char: str) -> str:
    if unicodedata.category(char) not in {"Cc", "Zl", "Zp"}:
        return char
    return {"\n": r"\n", "\r": r"\r", "\t": r"\t"}.get(char, f"\\u{{{ord(char):x}}}")


class Stopped(KeyboardInterrupt):
    """The work was interrupted (Ctrl-C); the message says what was finished."""


def field_error(field: str, value: object, allowed: str) -> MouseholeError:
    """The error for a field or option holding a value that is not allowed, worded as the engine words it."""
    shown = f'"{value}"' if isinstance(value, str) else value
    return MouseholeError(f"{field}: {shown} is not allowed; {allowed}")
